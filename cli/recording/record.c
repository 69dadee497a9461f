#include "cli/recording/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/arguments/placeholder.h"
#include "cli/arguments/serving.h"
#include "cli/command.h"
#include "cli/recording/programs.h"
#include "cli/recording/stages.h"
#include "cli/recording/workspace.h"
#include "cli/text/quantity.h"
#include "tracer/tracer.h"

const struct argp_child record_children[] = {
    {&common_argp, 0, NULL, 0}, {&serving_argp, 0, NULL, 0}, {0}};
const struct argp_child record_children_without_run[] = {{&common_argp, 0, NULL, 0}, {0}};

static void settle_level(struct record_options *options) {
    bool thorough = options->level == RECORD_THOROUGH, once = options->level == RECORD_ONCE;
    if (once && options->plain_runs_given && options->plain_runs > 0)
        usage_error("--once: leave out --plain-runs, there is one run only");
    options->no_sample |= once;
    if (!options->plain_runs_given)
        options->plain_runs = thorough ? PLAIN_RUNS_ENOUGH : once ? 0 : PLAIN_RUNS_IF_UNCLEAR;
}

/* Each run of a server has to be asked: as few as tell what a model needs. One by hand. */
static void settle_runs(struct record_options *options) {
    options->plan.recorded = !options->follow;
    if (!serving_is_planned(&options->plan))
        return;
    if (!options->plain_runs_given)
        options->plain_runs = 0;
    options->no_evictions = true;
    options->no_sample |= serving_is_by_hand(&options->plan);
}

static bool is_listed(const struct int_list *list, size_t n, int number) {
    for (size_t i = 0; i < n; i++)
        if (list->items[i] == number)
            return true;
    return false;
}

/* "threads=1,2" */
static void parse_also(struct record_options *options, const char *text) {
    static const char prefix[] = "threads=";
    struct error error;
    free(options->also.items);
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        usage_error("--also-record: '%s' is not as in threads=1 or threads=1,2", text);
    if (int_list_parse("--also-record", text + sizeof prefix - 1, SWEEP_MAX_THREADS, &options->also,
                       &error) < 0)
        usage_error("%s", error.text);
    for (size_t i = 0; i < options->also.count; i++)
        if (is_listed(&options->also, i, options->also.items[i]))
            usage_error("--also-record: threads=%d is there twice", options->also.items[i]);
}

/* The program gets the number that it is recorded with first in the place of its mark. */
static void settle_numbers(struct record_options *options) {
    struct error error;
    if (options->also.count == 0)
        return;
    if (serving_is_planned(&options->plan) && !options->plan.load)
        usage_error("--also-record: not of a server that is asked from elsewhere: give --load");
    if (thread_number_find(options->program, &options->number, &error) < 0)
        usage_error("--also-record: %s", error.text);
    if (is_listed(&options->also, options->also.count, options->number.threads))
        usage_error("--also-record: with threads=%d the program is recorded anyway",
                    options->number.threads);
    options->marked = options->program;
    options->program =
        thread_number_replace(options->marked, &options->number, options->number.threads);
}

static void choose_level(struct record_options *options, enum record_level level) {
    if (options->level != RECORD_USUAL && options->level != level)
        usage_error("--once and --thorough exclude each other: leave out one");
    options->level = level;
}

error_t record_parse_without_run(int key, char *argument, struct argp_state *state) {
    struct record_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct record_options){.rate_hz = 100};
        state->child_inputs[0] = &options->common;
        return 0;
    case KEY_RATE:
        options->rate_hz = option_number("--rate", argument, 1, 10000);
        return 0;
    case KEY_PLAIN_RUNS:
        options->plain_runs = (int)option_integer("--plain-runs", argument, 0, 1000);
        options->plain_runs_given = true;
        return 0;
    case KEY_ONCE:
    case KEY_THOROUGH:
        choose_level(options, key == KEY_ONCE ? RECORD_ONCE : RECORD_THOROUGH);
        return 0;
    case KEY_STEADY:
        options->steady = true;
        return 0;
    case KEY_FOLLOW:
        options->follow = true;
        return 0;
    case KEY_NO_BLOCK_IO:
        options->no_block_io = true;
        return 0;
    case KEY_NO_EVICTIONS:
        options->no_evictions = true;
        return 0;
    case KEY_NO_SAMPLE:
        options->no_sample = true;
        return 0;
    case KEY_NO_SOURCE:
        options->no_source = true;
        return 0;
    case KEY_BUILD_DIR:
        options->build_directory = argument;
        return 0;
    case KEY_CATALOG:
        options->catalog = argument;
        return 0;
    case KEY_TASK_BEGIN:
        options->task_begin = argument;
        return 0;
    case KEY_TASK_END:
        options->task_end = argument;
        return 0;
    case KEY_PREPARE:
        options->prepare = argument;
        return 0;
    case KEY_CLEANUP:
        options->cleanup = argument;
        return 0;
    case KEY_IGNORE_FAILURE:
        options->ignore_failure = true;
        return 0;
    case KEY_ALSO_RECORD:
        parse_also(options, argument);
        return 0;
    case ARGP_KEY_ARG:
        options->program = option_program(state);
        return 0;
    case ARGP_KEY_END:
        if (!options->program)
            usage_error("no program to run: give it after the options, as in `%s ./server "
                        "--threads 4`",
                        state->name);
        if (!options->task_begin != !options->task_end)
            usage_error("tasks with one end: give both --task-begin and --task-end");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t record_parse(int key, char *argument, struct argp_state *state) {
    struct record_options *options = state->input;
    error_t status = record_parse_without_run(key, argument, state);
    if (key == ARGP_KEY_INIT)
        state->child_inputs[1] = &options->plan;
    else if (key == ARGP_KEY_SUCCESS) { /* the children's options are complete */
        settle_level(options);
        settle_runs(options);
        settle_numbers(options);
    }
    return key == ARGP_KEY_SUCCESS ? 0 : status;
}

void record_options_parse(const struct argp *argp, int argc, char **argv,
                          struct record_options *options) {
    /* In order: what follows the program's name is the program's. */
    argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, options);
}

void record_options_free(struct record_options *options) {
    free(options->also.items);
    if (options->marked)
        placeholder_free(options->program);
}

bool record_evicts(const struct record_options *options) {
    return options->level == RECORD_THOROUGH && !options->no_evictions;
}

bool record_runs_several(const struct record_options *options, bool sampled) {
    return sampled || options->plain_runs != 0 || options->steady || record_evicts(options);
}

/* How long a run of the server takes. */
static const char *show_length(const struct served_plan *plan, char text[64]) {
    if (plan->duration_s > 0)
        snprintf(text, 64, "%g s", plan->duration_s);
    else
        snprintf(text, 64, "%s", plan->load ? "as long as the load takes" : "until Ctrl-C");
    return text;
}

void record_announce(const struct record_options *options, bool sampled, bool traced) {
    const struct served_plan *plan = &options->plan;
    int plain_runs = traced ? options->plain_runs : 0, n = sampled + traced + plain_runs;
    char length[64], plain[64] = "";
    if (!serving_is_planned(plan))
        return;
    show_length(plan, length);
    if (plain_runs > 0)
        snprintf(plain, sizeof plain, ", %d without probes", plain_runs);
    if (n == 1)
        log_note("one run of the server, %s", length);
    else
        log_note("%d runs of the server, each %s:%s one traced%s", n, length,
                 sampled ? " one sampled," : "", plain);
}

void record_announce_runs(const struct record_options *options, size_t n, double run_ns) {
    char about[QUANTITY_BYTES + 16] = "", time[QUANTITY_BYTES];
    const char *so_many = options->plain_runs == PLAIN_RUNS_IF_UNCLEAR ? "at most"
                          : options->level == RECORD_THOROUGH          ? "about"
                                                                       : "in all";
    if (serving_is_planned(&options->plan) || n == 1)
        return;
    if (run_ns > 0)
        snprintf(about, sizeof about, " of about %s", quantity_show(run_ns, UNIT_TIME, time));
    if (n > 0)
        log_note("%s %zu runs%s", so_many, n, about);
    else
        log_note("some ten runs, fewer of a program that takes long");
}

/* After a first signal what was recorded is kept; after a second one nothing is. */
static int record(const struct record_options *options, record_stages *stages,
                  const char *const *carried, struct error *error) {
    struct workspace workspace;
    if (workspace_begin(&workspace, options->common.directory, error) < 0)
        return -1;
    interrupt_on_second(workspace_clean, &workspace);
    int status = stages(options, workspace.building, error);
    interrupt_on_second(NULL, NULL);
    if (status >= 0 && interrupt_is_final())
        status = interrupt_check(error);
    if (status < 0) {
        workspace_abandon(&workspace);
        return -1;
    }
    return workspace_commit(&workspace, carried, error) < 0 ? -1 : status;
}

int record_into_workspace(const struct record_options *options, bool probed, record_stages *stages,
                          const char *const *carried, const char *what, const char *next) {
    struct error error;
    char *program = programs_resolve(options->program[0], &error);
    if (!program || tracer_check_program(program, probed, &error) < 0) {
        free(program);
        return command_failed(&error);
    }
    free(program);
    hooks_set(options->prepare, options->cleanup);
    served_run_set(&options->plan);
    interrupt_begin();
    int status = record(options, stages, carried, &error);
    interrupt_end();
    if (status < 0)
        return command_failed(&error);
    log_note("%s in %s: next, `persik %s`", what, options->common.directory, next);
    return status == STAGE_KILLED ? EXIT_KILLED : status == STAGE_INCOMPLETE ? EXIT_FAILED : 0;
}
