/* persik critical-path: what the running time of the recorded run hangs on. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/arguments/asked_changes.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/path_candidates.h"
#include "cli/prediction/path_curve.h"
#include "cli/recording/steps.h"
#include "cli/report/chrome_path.h"
#include "cli/report/html_path.h"
#include "cli/report/path_checks.h"
#include "cli/report/path_stacks.h"
#include "cli/report/path_tables.h"
#include "cli/report/task_tables.h"
#include "cli/text/table.h"
#include "cli/text/text_page.h"
#include "critical-path/critical_path.h"

/* ---- options ---- */

enum { KEY_CURVE = 0xc000, KEY_BEST, KEY_CHAIN, KEY_TO, KEY_OF, KEY_FORMAT };

/* Those of other tables come first. */
enum path_format { PATH_FOLDED = FORMAT_CSV + 1, PATH_CHROME, PATH_HTML };

enum { MOST_PARTS = 1000 };

struct path_options {
    struct common_options common;
    int format;         /* enum table_format or path_format */
    const char *curve;  /* NULL: not asked for */
    size_t best, chain; /* 0: not asked for */
    double to;          /* what becomes of each bottleneck */
    double of;          /* the tasks above this quantile; NAN: not asked for */
    struct asked_changes asked;
};

static const struct argp_option options_list[] = {
    {"best", KEY_BEST, "N", 0,
     "instead: the N parts by which the run gains most if they take 10, 25, 50 or 100 % less", 1},
    {"chain", KEY_CHAIN, "N", 0,
     "instead: the part that gains most, what limits once that is gone, and so on, N times", 1},
    {"to", KEY_TO, "FACTOR", 0, "of --chain: each takes that much of its time (default: 0)", 1},
    {"curve", KEY_CURVE, "NAME", 0,
     "instead: by how much the run gains if what NAME computes takes less (sleep:NAME, io:NAME, "
     "lock:NAME as in what-if --scale)",
     1},
    {"of", KEY_OF, "p99|mean|max", 0,
     "instead: what the slowest tasks hang on (requests, marked tasks, jobs of a queue), those "
     "above "
     "that percentile, beside the average one",
     1},
    {"format", KEY_FORMAT, "table|json|csv|folded|chrome|html", 0,
     "how to print (default: table); folded: the path for flame graphs; chrome: for Perfetto; "
     "html: "
     "a page with a flame graph",
     80},
    {0},
};

static void parse_format(const char *word, struct path_options *options) {
    enum table_format format = FORMAT_TABLE;
    if (table_format_parse(word, &format) == 0)
        options->format = (int)format;
    else if (strcmp(word, "folded") == 0)
        options->format = PATH_FOLDED;
    else if (strcmp(word, "chrome") == 0)
        options->format = PATH_CHROME;
    else if (strcmp(word, "html") == 0)
        options->format = PATH_HTML;
    else
        usage_error("--format %s: give table, json, csv, folded, chrome or html", word);
}

/* Of "p99" 0.99; of "mean" all tasks, of "max" the slowest one. */
static double parse_of(const char *word) {
    if (strcmp(word, "mean") == 0)
        return 0;
    if (strcmp(word, "max") == 0)
        return 1;
    char *end;
    double percentile = word[0] == 'p' ? strtod(word + 1, &end) : NAN;
    if (!(percentile > 0 && percentile < 100) || *end)
        usage_error("--of %s: give mean, max, or a percentile such as p99", word);
    return percentile / 100;
}

static int n_questions(const struct path_options *options) {
    return (options->best > 0) + (options->chain > 0) + (options->curve != NULL) +
           !isnan(options->of);
}

static void check(const struct path_options *options) {
    bool is_changed = options->asked.changes.count > 0 || options->asked.cores > 0;
    bool is_asked = options->best > 0 || options->chain > 0;
    if (n_questions(options) > 1)
        usage_error("--best, --chain, --curve and --of are one question each: give one of them");
    if (is_changed && !is_asked)
        usage_error("--scale, --set and --cores change what --best and --chain start from: `persik "
                    "what-if` says what they do to the time");
    if (isfinite(options->to) && options->chain == 0)
        usage_error("--to is of --chain: give both");
    if (options->format > (int)FORMAT_CSV && n_questions(options) > 0)
        usage_error("--format folded, chrome and html are of the path: give table, json or csv");
}

static error_t parse_path(int key, char *argument, struct argp_state *state) {
    struct path_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct path_options){.format = FORMAT_TABLE, .to = NAN, .of = NAN};
        state->child_inputs[0] = &options->common;
        state->child_inputs[2] = &options->asked;
        return 0;
    case KEY_CURVE:
        options->curve = argument;
        return 0;
    case KEY_BEST:
        options->best = (size_t)option_integer("--best", argument, 1, MOST_PARTS);
        return 0;
    case KEY_CHAIN:
        options->chain = (size_t)option_integer("--chain", argument, 1, MOST_PARTS);
        return 0;
    case KEY_TO:
        options->to = option_number("--to", argument, 0, 1);
        return 0;
    case KEY_OF:
        options->of = parse_of(argument);
        return 0;
    case KEY_FORMAT:
        parse_format(argument, options);
        return 0;
    case ARGP_KEY_ARG:
        usage_error("critical-path takes no argument '%s': name the recording's folder with -i",
                    argument);
    case ARGP_KEY_END:
        check(options);
        return 0;
    case ARGP_KEY_SUCCESS:
        if (options->format == FORMAT_TABLE)
            text_page_begin();
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&wide_argp, 0, NULL, 0}, {&asked_changes_argp, 0, NULL, 0}, {0}};

static const struct argp path_argp = {
    .options = options_list,
    .parser = parse_path,
    .doc = "Prints the longest path through the recorded run: which functions, locks, hand-overs "
           "and waits for a core its running time hangs on, and how much longer each other one "
           "could take until the end moves (slack).\v"
           "Examples:\n"
           "  persik critical-path\n"
           "  persik critical-path --best 5\n"
           "  persik critical-path --chain 3\n"
           "  persik critical-path --chain 3 --to 0.1 --scale parse=0.5\n"
           "  persik critical-path --curve parse\n"
           "  persik critical-path --of p99\n"
           "  persik critical-path --format csv | sort -t, -k2 -g\n"
           "  persik critical-path --format folded | flamegraph.pl > path.svg\n"
           "  persik critical-path --format chrome > path.json\n"
           "  persik critical-path --format html > path.html\n",
    .children = children,
};

enum { SHOWN_ROWS = 12 }; /* to people */

/* ---- forms ---- */

static void print_table(struct table *table) {
    if (table_rows(table) > 0) {
        putchar('\n');
        table_print_text(table, stdout);
    }
    table_free(table);
}

static void print_for_people(const struct critical_path *path, const struct dependencies *all) {
    path_checks_print(&path->checks, all, stdout);
    print_table(path_table(path, SHOWN_ROWS));
    if (path->n_rows > SHOWN_ROWS)
        printf("... and %zu more: --format csv\n", path->n_rows - SHOWN_ROWS);
    print_table(path_object_table(path, SHOWN_ROWS));
    print_table(path_thread_table(path, SHOWN_ROWS));
}

static json_t *take_json(struct table *table) {
    json_t *json = table_json(table);
    table_free(table);
    return json;
}

static void print_json(const struct critical_path *path, const struct dependencies *all) {
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "checks", path_checks_json(&path->checks, all),
                             "path", take_json(path_table(path, SIZE_MAX)), "objects",
                             take_json(path_object_table(path, SIZE_MAX)), "threads",
                             take_json(path_thread_table(path, SIZE_MAX)));
    table_print_json(json, stdout);
}

static void print_csv_table(struct table *table) {
    table_print_csv(table, stdout);
    table_free(table);
}

static void print_csv(const struct critical_path *path, const struct dependencies *all) {
    path_checks_print(&path->checks, all, stderr);
    print_csv_table(path_table(path, SIZE_MAX));
}

/* ---- tasks ---- */

static void print_tasks_for_people(const struct task_path *tasks) {
    task_path_print(tasks, stdout);
    print_table(task_table(tasks, SHOWN_ROWS));
    if (tasks->n_rows > SHOWN_ROWS)
        printf("... and %zu more: --format csv\n", tasks->n_rows - SHOWN_ROWS);
    print_table(task_object_table(tasks, SHOWN_ROWS));
}

static void print_tasks_as_json(const struct task_path *tasks, json_t *checks) {
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "checks", checks, "tasks",
                             task_path_json(tasks), "path", take_json(task_table(tasks, SIZE_MAX)),
                             "objects", take_json(task_object_table(tasks, SIZE_MAX)));
    table_print_json(json, stdout);
}

static int print_tasks(const struct path_options *options, const struct critical_path *path,
                       const struct dependencies *all, struct error *error) {
    struct task_path *tasks = critical_path_of_tasks(all, options->of, error);
    if (!tasks)
        return -1;
    if (options->format == FORMAT_JSON) {
        print_tasks_as_json(tasks, path_checks_json(&path->checks, all));
    } else {
        bool for_people = options->format == FORMAT_TABLE;
        path_checks_print(&path->checks, all, for_people ? stdout : stderr);
        if (for_people) {
            print_tasks_for_people(tasks);
        } else {
            task_path_print(tasks, stderr);
            print_csv_table(task_table(tasks, SIZE_MAX));
        }
    }
    task_path_free(tasks);
    return 0;
}

/* ---- gains ---- */

/* They are not to be promised of every recording. */
static int check_gains(const struct dependencies *all, struct error *error) {
    if (all->lost > 0)
        return error_set(error,
                         "%llu records or scheduling events were lost, so no gain can be promised: "
                         "record again",
                         (unsigned long long)all->lost);
    return 0;
}

/* The changes to start from, each of which must meet something; -1 and `error`. */
static int make_changes(struct path_question *question, const struct changes *changes,
                        struct error *error) {
    question->n_made = changes->count;
    question->made = memory_alloc(changes->count, sizeof *question->made);
    for (size_t i = 0; i < changes->count; i++)
        question->made[i] = recorded_change(&changes->items[i]);
    if (changes->count > 0)
        critical_path_predict(question->all, question->made, question->n_made, question->cores);
    for (size_t i = 0; i < changes->count; i++)
        if (recorded_change_check(&changes->items[i], &question->made[i], question->all, error) < 0)
            return -1;
    return 0;
}

/* The best parts, or one after the other. NULL and `error`. */
static struct table *parts(const struct path_options *options, const struct critical_path *path,
                           const struct dependencies *all, struct error *error) {
    struct path_question question = {.all = all, .path = path, .cores = options->asked.cores};
    struct table *table = NULL;
    if (!all->has_operations)
        error_set(error, "the steps are those of an older persik, which do not say what threads do "
                         "to locks: record again");
    else if (make_changes(&question, &options->asked.changes, error) == 0)
        table = options->best > 0 ? path_candidates(&question, options->best)
                                  : path_chain(&question, options->chain,
                                               isfinite(options->to) ? options->to : 0);
    free(question.made);
    return table;
}

/* Names and gains; the checks, without which they are not to be believed, stand before them. */
static int print_gains(const struct path_options *options, const struct critical_path *path,
                       const struct dependencies *all, struct error *error) {
    if (check_gains(all, error) < 0)
        return -1;
    struct table *table =
        options->curve ? path_curve(all, options->curve, error) : parts(options, path, all, error);
    if (!table)
        return -1;
    if (options->format == FORMAT_TABLE) {
        path_checks_print(&path->checks, all, stdout);
        putchar('\n');
    }
    table_print(table, (enum table_format)options->format, stdout);
    table_free(table);
    return 0;
}

/* ---- the command ---- */

static void print_folded(const struct dependencies *all) {
    struct path_stacks stacks = path_stacks_of(all);
    path_stacks_print(&stacks, stdout);
    path_stacks_free(&stacks);
}

static void print_path(const struct path_options *options, const struct critical_path *path,
                       const struct dependencies *all) {
    switch (options->format) {
    case FORMAT_JSON:
        print_json(path, all);
        return;
    case FORMAT_CSV:
        print_csv(path, all);
        return;
    case PATH_FOLDED:
        path_checks_print(&path->checks, all, stderr);
        print_folded(all);
        return;
    case PATH_CHROME:
        path_checks_print(&path->checks, all, stderr);
        chrome_path_print(all, stdout);
        return;
    case PATH_HTML:
        html_path_print(stdout, path, all);
        return;
    default:
        print_for_people(path, all);
    }
}

static int answer(const struct path_options *options, struct dependencies *all,
                  struct error *error) {
    struct critical_path *path = critical_path_find(all, error);
    int status = path ? 0 : -1;
    if (path) {
        path_checks_warn(all);
        if (!isnan(options->of))
            status = print_tasks(options, path, all, error);
        else if (n_questions(options) > 0)
            status = print_gains(options, path, all, error);
        else
            print_path(options, path, all);
        fflush(stdout); /* what is kept for the next answer need not be waited for */
        critical_path_free(path);
    }
    return status;
}

int command_critical_path(int argc, char **argv) {
    struct path_options options;
    argp_parse(&path_argp, argc, argv, 0, NULL, &options);
    struct error error = {0};
    struct steps steps;
    int status = steps_open(options.common.directory, &steps, &error);
    if (status == 0) {
        status = answer(&options, steps.all, &error);
        steps_close(options.common.directory, &steps);
    }
    changes_free(&options.asked.changes);
    return status == 0 ? 0 : command_failed(&error);
}
