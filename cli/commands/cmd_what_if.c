/* persik what-if: the recorded run's time if a part of it took more or less. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/change.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/recording/steps.h"
#include "cli/report/path_checks.h"
#include "cli/text/nearest.h"
#include "cli/text/table.h"
#include "critical-path/critical_path.h"

/* ---- options ---- */

enum { KEY_SCALE = 0xc000 };

struct what_if_options {
    struct common_options common;
    enum table_format format;
    struct changes changes;
    struct scale *scales; /* what each of them is of a recorded run */
};

static const struct argp_option options_list[] = {
    {"scale", KEY_SCALE, "NAME=FACTOR", 0,
     "parse=0.5: what parse() and its callees compute takes half; sleep:NAME, io:NAME: what it "
     "sleeps, or waits for disks; lock:NAME: whatever is done holding the lock; several are made "
     "at once",
     1},
    {0},
};

static void add_scale(struct what_if_options *options, const char *argument) {
    struct error error;
    if (changes_add_scale(&options->changes, argument, &error) != 0)
        usage_error("%s", error.text);
    if (options->changes.items[options->changes.count - 1].kind == CHANGE_SERVICE)
        usage_error("--scale '%s': a recorded run knows disks by who waits for them: io:NAME",
                    argument);
}

static error_t parse_what_if(int key, char *argument, struct argp_state *state) {
    struct what_if_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct what_if_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_SCALE:
        add_scale(options, argument);
        return 0;
    case ARGP_KEY_ARG:
        usage_error("what-if takes no argument '%s': name the recording's folder with -i",
                    argument);
    case ARGP_KEY_END:
        if (options->changes.count == 0)
            usage_error("what if what? --scale 'parse=0.5' halves what parse() computes");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp what_if_argp = {
    .options = options_list,
    .parser = parse_what_if,
    .doc = "Predicts, from the recorded run alone, its running time if functions, sleeps, disks or "
           "what is done under a lock took more or less. As recorded: locks, items and cores go to "
           "whom they went in the run.\v"
           "Examples:\n"
           "  persik what-if --scale 'parse=0.5'\n"
           "  persik what-if --scale 'lock:queue.mutex=0' --scale 'sleep:poll_loop=0.1'\n",
    .children = children,
};

/* ---- the answer ---- */

static enum scale_of scale_of(enum change_kind kind) {
    switch (kind) {
    case CHANGE_HOLD:
        return SCALE_HOLDING;
    case CHANGE_IO:
        return SCALE_DEVICE;
    case CHANGE_SLEEP:
        return SCALE_SLEEPS;
    default:
        return SCALE_COMPUTING;
    }
}

static struct scale *scales_of(const struct changes *changes) {
    struct scale *scales = memory_alloc(changes->count, sizeof *scales);
    for (size_t i = 0; i < changes->count; i++)
        scales[i] = (struct scale){.of = scale_of(changes->items[i].kind),
                                   .name = changes->items[i].name,
                                   .factor = changes->items[i].value};
    return scales;
}

static const char *const relations[] = {
    [SCALE_COMPUTING] = "computes in",
    [SCALE_SLEEPS] = "sleeps in",
    [SCALE_DEVICE] = "waits for a disk in",
    [SCALE_HOLDING] = "is done under",
};

/* Does each change meet something? -1 and `error`: one does not; what it may have meant. */
static int check_names(const struct what_if_options *options, const struct dependencies *all,
                       struct error *error) {
    for (size_t i = 0; i < options->changes.count; i++) {
        const struct scale *scale = &options->scales[i];
        if (scale->n_steps > 0)
            continue;
        size_t n;
        const char **names = scale_names(all, scale->of, &n);
        char *near = nearest_list(scale->name, names, n);
        error_set(error, "--scale: nothing was recorded that %s '%s': there are %s",
                  relations[scale->of], scale->name, near);
        free(near);
        free(names);
        return -1;
    }
    return 0;
}

static const struct table_column columns[] = {
    {"recorded_ns", "recorded"},
    {"predicted_ns", "as recorded, with the change"},
    {"change_share", "change"},
    {"unordered_ns", "locks in any order"},
};

#define PARTED 0.05 /* of the time: what hangs on the order alone is worth a word */

static void print_answer(const struct what_if_options *options, const struct critical_path *path,
                         const struct dependencies *all, const struct what_if *predicted) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    table_add_number(table, path->checks.traced_ns, UNIT_TIME);
    table_add_number(table, predicted->as_recorded_ns, UNIT_TIME);
    table_add_signed_share(table, predicted->as_recorded_ns / path->checks.traced_ns - 1);
    table_add_number(table, predicted->unordered_ns, UNIT_TIME);
    if (options->format == FORMAT_JSON) {
        json_t *json = json_pack("{s:o, s:o}", "checks", path_checks_json(&path->checks, all),
                                 "prediction", table_json(table));
        table_print_json(json, stdout);
    } else {
        bool for_people = options->format == FORMAT_TABLE;
        path_checks_print(&path->checks, all, for_people ? stdout : stderr);
        if (for_people)
            putchar('\n');
        table_print(table, options->format, stdout);
    }
    table_free(table);
}

static int answer(struct what_if_options *options, const struct dependencies *all,
                  struct error *error) {
    struct critical_path *path = critical_path_find(all, error);
    if (!path)
        return -1;
    struct what_if predicted = critical_path_predict(all, options->scales, options->changes.count);
    int status = check_names(options, all, error);
    if (status == 0 && all->lost > 0)
        status = error_set(error,
                           "%llu records or scheduling events were lost, so no gain can be "
                           "promised: record again",
                           (unsigned long long)all->lost);
    if (status == 0) {
        path_checks_warn(all);
        if (predicted.unordered_ns < (1 - PARTED) * predicted.as_recorded_ns)
            log_warning("much of that hangs on locks being taken in the order they were: where "
                        "threads may pass each other it is less");
        print_answer(options, path, all, &predicted);
        fflush(stdout);
    }
    critical_path_free(path);
    return status;
}

int command_what_if(int argc, char **argv) {
    struct what_if_options options;
    argp_parse(&what_if_argp, argc, argv, 0, NULL, &options);
    struct error error = {0};
    struct steps steps;
    options.scales = scales_of(&options.changes);
    int status = steps_open(options.common.directory, &steps, &error);
    if (status == 0) {
        status = answer(&options, steps.all, &error);
        steps_close(options.common.directory, &steps);
    }
    free(options.scales);
    changes_free(&options.changes);
    return status == 0 ? 0 : command_failed(&error);
}
