/* persik critical-path: what the running time of the recorded run hangs on. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/path_curve.h"
#include "cli/recording/steps.h"
#include "cli/report/path_checks.h"
#include "cli/text/table.h"
#include "critical-path/critical_path.h"

/* ---- options ---- */

enum { KEY_CURVE = 0xc000 };

struct path_options {
    struct common_options common;
    enum table_format format;
    const char *curve; /* NULL: the path is asked for */
};

static const struct argp_option options_list[] = {
    {"curve", KEY_CURVE, "NAME", 0,
     "instead: by how much the run gains if what NAME computes takes less (sleep:NAME, io:NAME, "
     "lock:NAME as in what-if --scale)",
     1},
    {0},
};

static error_t parse_path(int key, char *argument, struct argp_state *state) {
    struct path_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct path_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_CURVE:
        options->curve = argument;
        return 0;
    case ARGP_KEY_ARG:
        usage_error("critical-path takes no argument '%s': name the recording's folder with -i",
                    argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp path_argp = {
    .options = options_list,
    .parser = parse_path,
    .doc = "Prints the longest path through the recorded run: which functions, locks, hand-overs "
           "and waits for a core its running time hangs on, and how much longer each other one "
           "could take until the end moves (slack).\v"
           "Examples:\n"
           "  persik critical-path\n"
           "  persik critical-path --curve parse\n"
           "  persik critical-path --format csv | sort -t, -k2 -g\n",
    .children = children,
};

/* ---- tables ---- */

enum { SHOWN_ROWS = 12 }; /* to people */

static const char *const subjects[PATH_SUBJECTS] = {
    [PATH_COMPUTING] = "computing",
    [PATH_SLEEPING] = "sleeping",
    [PATH_DEVICE] = "waiting for a disk",
    [PATH_OUTSIDE] = "waiting for what comes from outside",
    [PATH_UNKNOWN] = "waiting, not known for what",
    [PATH_CORE] = "ready, while others of the program have the core",
    [PATH_WAKING] = "ready, until a core takes it up",
    [PATH_HAND_OVER] = "handed over by",
};

static const struct table_column path_columns[] = {
    {"share", "share"},
    {"path_ns", "on the path"},
    {"total_ns", "of all threads"},
    {"cpu_share", "of all CPU"},
    {"least_slack_ns", "least slack"},
    {"mean_slack_ns", "mean slack"},
    {"visits", "visits"},
    {"what", "what"},
    {"where", "where"},
};

static const struct table_column object_columns[] = {
    {"hand_overs", "hand-overs"}, {"held_share", "held"},      {"waited_ns", "waited for"},
    {"slack_ns", "slack"},        {"object", "lock or queue"},
};

static const struct table_column thread_columns[] = {
    {"share", "share"},
    {"cpu_ns", "computes"},
    {"slack_ns", "slack"},
    {"thread", "thread"},
};

#define N_COLUMNS(columns) (sizeof(columns) / sizeof *(columns))

static struct table *path_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(path_columns, N_COLUMNS(path_columns));
    TABLE_SPARE(table, "least_slack_ns", "mean_slack_ns", "cpu_share", "total_ns");
    for (size_t r = 0; r < path->n_rows && r < most; r++) {
        const struct path_row *row = &path->rows[r];
        bool computes = row->subject == PATH_COMPUTING && path->cpu_ns > 0;
        table_add_number(table, row->path_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, row->path_ns, UNIT_TIME);
        table_add_number(table, row->total_ns, UNIT_TIME);
        table_add_number(table, computes ? row->total_ns / path->cpu_ns : NAN, UNIT_SHARE);
        table_add_number(table, row->least_slack_ns, UNIT_TIME);
        table_add_number(table, row->mean_slack_ns, UNIT_TIME);
        table_add_integer(table, (long)row->visits);
        table_add_text(table, subjects[row->subject]);
        table_add_text(table, row->name);
    }
    return table;
}

static bool matters(const struct path_object *object) {
    return object->handed > 0 || object->held_ns > 0 || object->waited_ns > 0;
}

static int compare_objects(const void *left, const void *right) {
    const struct path_object *a = *(const struct path_object *const *)left;
    const struct path_object *b = *(const struct path_object *const *)right;
    if (a->handed != b->handed)
        return a->handed > b->handed ? -1 : 1;
    return (a->waited_ns < b->waited_ns) - (a->waited_ns > b->waited_ns);
}

static struct table *object_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(object_columns, N_COLUMNS(object_columns));
    const struct path_object **objects =
        memory_alloc(path->n_objects, sizeof(struct path_object *));
    size_t n = 0;
    for (size_t o = 0; o < path->n_objects; o++)
        if (matters(&path->objects[o]))
            objects[n++] = &path->objects[o];
    if (n > 0)
        qsort(objects, n, sizeof(struct path_object *), compare_objects);
    for (size_t o = 0; o < n && o < most; o++) {
        table_add_integer(table, (long)objects[o]->handed);
        table_add_number(table, objects[o]->held_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, objects[o]->waited_ns, UNIT_TIME);
        table_add_number(table, objects[o]->slack_ns, UNIT_TIME);
        table_add_text(table, objects[o]->name);
    }
    free(objects);
    return table;
}

static struct table *thread_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(thread_columns, N_COLUMNS(thread_columns));
    for (size_t t = 0; t < path->n_threads && t < most; t++) {
        const struct path_thread *thread = &path->threads[t];
        if (!isfinite(thread->slack_ns)) /* stands for a barrier */
            continue;
        table_add_number(table, thread->path_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, thread->cpu_ns, UNIT_TIME);
        table_add_number(table, thread->slack_ns, UNIT_TIME);
        table_add_text(table, thread->name);
    }
    return table;
}

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
    print_table(object_table(path, SHOWN_ROWS));
    print_table(thread_table(path, SHOWN_ROWS));
}

static json_t *take_json(struct table *table) {
    json_t *json = table_json(table);
    table_free(table);
    return json;
}

static void print_json(const struct critical_path *path, const struct dependencies *all) {
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "checks", path_checks_json(&path->checks, all),
                             "path", take_json(path_table(path, SIZE_MAX)), "objects",
                             take_json(object_table(path, SIZE_MAX)), "threads",
                             take_json(thread_table(path, SIZE_MAX)));
    table_print_json(json, stdout);
}

static void print_csv(const struct critical_path *path, const struct dependencies *all) {
    path_checks_print(&path->checks, all, stderr);
    struct table *table = path_table(path, SIZE_MAX);
    table_print_csv(table, stdout);
    table_free(table);
}

/* Names and gains; the checks, without which they are not to be believed, stand before them. */
static int print_curve(const struct path_options *options, const struct critical_path *path,
                       const struct dependencies *all, struct error *error) {
    struct table *table =
        all->lost == 0 ? path_curve(all, options->curve, error)
                       : (error_set(error,
                                    "%llu records or scheduling events were lost, so no gain "
                                    "can be promised: record again",
                                    (unsigned long long)all->lost),
                          NULL);
    if (!table)
        return -1;
    if (options->format == FORMAT_TABLE) {
        path_checks_print(&path->checks, all, stdout);
        putchar('\n');
    }
    table_print(table, options->format, stdout);
    table_free(table);
    return 0;
}

int command_critical_path(int argc, char **argv) {
    struct path_options options;
    argp_parse(&path_argp, argc, argv, 0, NULL, &options);
    struct error error = {0};
    struct steps steps;
    if (steps_open(options.common.directory, &steps, &error) != 0)
        return command_failed(&error);
    struct critical_path *path = critical_path_find(steps.all, &error);
    int status = path ? 0 : -1;
    if (path) {
        path_checks_warn(steps.all);
        if (options.curve)
            status = print_curve(&options, path, steps.all, &error);
        else if (options.format == FORMAT_JSON)
            print_json(path, steps.all);
        else if (options.format == FORMAT_CSV)
            print_csv(path, steps.all);
        else
            print_for_people(path, steps.all);
        fflush(stdout); /* what is kept for the next answer need not be waited for */
        critical_path_free(path);
    }
    steps_close(options.common.directory, &steps);
    return status == 0 ? 0 : command_failed(&error);
}
