/* persik what-if: the recorded run's time if a part of it took more or less. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/arguments/asked_changes.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/judgement.h"
#include "cli/prediction/model_what_if.h"
#include "cli/prediction/path_interval.h"
#include "cli/prediction/recorded_change.h"
#include "cli/recording/steps.h"
#include "cli/report/path_checks.h"
#include "cli/text/quantity.h"
#include "cli/text/table.h"
#include "critical-path/critical_path.h"

/* ---- options ---- */

struct what_if_options {
    struct common_options common;
    enum table_format format;
    struct asked_changes asked;
    struct scale *scales; /* what each of them is of a recorded run */
};

static error_t parse_what_if(int key, char *argument, struct argp_state *state) {
    struct what_if_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct what_if_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->asked;
        return 0;
    case ARGP_KEY_ARG:
        usage_error("what-if takes no argument '%s': name the recording's folder with -i",
                    argument);
    case ARGP_KEY_END:
        if (options->asked.changes.count == 0 && options->asked.cores == 0)
            usage_error("what if what? --scale 'parse=0.5' halves what parse() computes");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {&asked_changes_argp, 0, NULL, 0}, {0}};

static const struct argp what_if_argp = {
    .parser = parse_what_if,
    .doc = "Predicts, from the recorded run alone, its running time if functions, sleeps, disks or "
           "what is done under a lock took more or less, or if there were more or fewer cores. The "
           "recorded steps are rescheduled: locks, items and cores go to who comes first. Beside "
           "it: as recorded, in the order of the run, and the model's prediction, if there is "
           "one.\v"
           "Examples:\n"
           "  persik what-if --scale 'parse=0.5'\n"
           "  persik what-if --scale 'lock:queue.mutex=0' --scale 'sleep:poll_loop=0.1'\n"
           "  persik what-if --set 'jobs.capacity=64'\n"
           "  persik what-if --cores 4\n",
    .children = children,
};

/* ---- the answer ---- */

static struct scale *scales_of(const struct changes *changes) {
    struct scale *scales = memory_alloc(changes->count, sizeof *scales);
    for (size_t i = 0; i < changes->count; i++)
        scales[i] = recorded_change(&changes->items[i]);
    return scales;
}

/* Does each change meet something? -1 and `error`: one does not. */
static int check_names(const struct what_if_options *options, const struct dependencies *all,
                       struct error *error) {
    for (size_t i = 0; i < options->asked.changes.count; i++)
        if (recorded_change_check(&options->asked.changes.items[i], &options->scales[i], all,
                                  error) < 0)
            return -1;
    return 0;
}

/* ---- printing ---- */

static bool are_parted(double a_ns, double b_ns) {
    return isfinite(a_ns) && isfinite(b_ns) && fabs(a_ns / b_ns - 1) > judgement.path_parted;
}

static const struct table_column columns[] = {
    {"recorded_ns", "recorded"},
    {"predicted_ns", "predicted"},
    {"half_width_ns", "+-"},
    {"change_share", "change"},
    {"as_recorded_ns", "as recorded"},
    {"rescheduled_ns", "rescheduled"},
    {"model_ns", "model"},
    {"taken", NULL},
    {"reordered", NULL},
};

struct answers {
    const struct critical_path *path;
    struct what_if predicted;
    struct model_what_if model;
    double answer_ns, half_width_ns;
};

static struct answers answers_of(const struct critical_path *path, struct what_if predicted,
                                 struct model_what_if model) {
    struct answers answers = {path, predicted, model, predicted.as_recorded_ns, NAN};
    if (isfinite(predicted.rescheduled_ns)) {
        answers.answer_ns = predicted.rescheduled_ns;
        answers.half_width_ns = path_half_width(&path->checks, &predicted, &model);
    }
    return answers;
}

static struct table *answer_table(const struct answers *answers) {
    double traced_ns = answers->path->checks.traced_ns;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    table_add_number(table, traced_ns, UNIT_TIME);
    table_add_number(table, answers->answer_ns, UNIT_TIME);
    table_add_number(table, answers->half_width_ns, UNIT_TIME);
    table_add_signed_share(table, answers->answer_ns / traced_ns - 1);
    table_add_number(table, answers->predicted.as_recorded_ns, UNIT_TIME);
    table_add_number(table, answers->predicted.rescheduled_ns, UNIT_TIME);
    table_add_number(table, answers->model.run_ns, UNIT_TIME);
    table_add_integer(table, (long)answers->predicted.taken);
    table_add_integer(table, (long)answers->predicted.reordered);
    return table;
}

static void print_several(const struct what_if_options *options) {
    for (size_t i = 0; i < options->asked.changes.count; i++)
        if (options->scales[i].n_objects > 1)
            printf("%s: %zu are called so, and all of them are meant\n",
                   options->asked.changes.items[i].text, options->scales[i].n_objects);
}

/* What lies between two calls may be of the changed function, or not. */
static void print_shares(const struct what_if *predicted, const struct dependencies *all) {
    char least[QUANTITY_BYTES], most[QUANTITY_BYTES];
    if (!are_parted(predicted->least_ns, predicted->as_recorded_ns) &&
        !are_parted(predicted->most_ns, predicted->as_recorded_ns))
        return;
    quantity_show(predicted->least_ns, UNIT_TIME, least);
    quantity_show(predicted->most_ns, UNIT_TIME, most);
    if (all->sampled)
        printf(
            "how much of what is computed between two calls is the function's, its samples leave "
            "open: %s to %s as recorded\n",
            least, most);
    else
        printf("what is computed before a function's first call may be its caller's: if all is, %s "
               "as recorded; `persik profile` samples, which tells\n",
               least);
}

/* What the figures alone do not say. */
static void print_comments(const struct what_if_options *options, const struct answers *answers,
                           const struct dependencies *all) {
    const struct what_if *predicted = &answers->predicted;
    if (!isfinite(predicted->rescheduled_ns)) {
        puts("\nthe steps are those of an older persik, which do not say what threads do to locks: "
             "not rescheduled");
        return;
    }
    printf("\n%llu of %llu locks, permits and items were taken by another thread than in the run\n",
           (unsigned long long)predicted->reordered, (unsigned long long)predicted->taken);
    print_several(options);
    if (predicted->forced > 0)
        printf("%llu waits had no end in the other order and were ended: the answer is uncertain\n",
               (unsigned long long)predicted->forced);
    print_shares(predicted, all);
    if (answers->model.why)
        printf("the model says nothing of it: %s\n", answers->model.why);
    if (are_parted(predicted->as_recorded_ns, predicted->rescheduled_ns))
        printf("as recorded and rescheduled part by more than 5 %%, most at %s%s%s\n",
               predicted->parted, predicted->parted_name ? " " : "",
               predicted->parted_name ? predicted->parted_name : "");
    if (are_parted(answers->model.run_ns, predicted->rescheduled_ns))
        puts("the model and rescheduled part by more than 5 %");
}

static void print_answer(const struct what_if_options *options, const struct answers *answers,
                         const struct dependencies *all) {
    struct table *table = answer_table(answers);
    const struct path_checks *checks = &answers->path->checks;
    if (options->format == FORMAT_JSON) {
        json_t *json = json_pack("{s:o, s:o}", "checks", path_checks_json(checks, all),
                                 "prediction", table_json(table));
        table_print_json(json, stdout);
    } else {
        bool for_people = options->format == FORMAT_TABLE;
        path_checks_print(checks, all, for_people ? stdout : stderr);
        if (for_people)
            putchar('\n');
        table_print(table, options->format, stdout);
        if (for_people)
            print_comments(options, answers, all);
    }
    table_free(table);
}

static int answer(struct what_if_options *options, struct dependencies *all, struct error *error) {
    struct critical_path *path = critical_path_find(all, error);
    if (!path)
        return -1;
    struct what_if predicted = critical_path_predict(
        all, options->scales, options->asked.changes.count, options->asked.cores);
    int status = check_names(options, all, error);
    if (status == 0 && all->lost > 0)
        status = error_set(error,
                           "%llu records or scheduling events were lost, so no gain can be "
                           "promised: record again",
                           (unsigned long long)all->lost);
    if (status == 0) {
        path_checks_warn(all);
        struct model_what_if model = model_what_if(options->common.directory, all,
                                                   &options->asked.changes, options->asked.cores);
        struct answers answers = answers_of(path, predicted, model);
        print_answer(options, &answers, all);
        fflush(stdout);
        free(model.why);
    }
    critical_path_free(path);
    return status;
}

int command_what_if(int argc, char **argv) {
    struct what_if_options options;
    argp_parse(&what_if_argp, argc, argv, 0, NULL, &options);
    struct error error = {0};
    struct steps steps;
    options.scales = scales_of(&options.asked.changes);
    int status = steps_open(options.common.directory, &steps, &error);
    if (status == 0) {
        status = answer(&options, steps.all, &error);
        steps_close(options.common.directory, &steps);
    }
    free(options.scales);
    changes_free(&options.asked.changes);
    return status == 0 ? 0 : command_failed(&error);
}
