#include "cli/prediction/simulation_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/arguments/scope.h"
#include "cli/prediction/change_apply.h"
#include "cli/prediction/prediction.h"
#include "cli/recording/steps.h"
#include "cli/recording/workspace.h"

enum {
    KEY_PARTITION = 0x9000,
    KEY_SEED,
    KEY_ARRIVALS,
    KEY_ARRIVALS_KIND,
    KEY_REQUESTS,
    KEY_CLIENTS,
    KEY_THINK,
    KEY_HORIZON,
    KEY_WARMUP,
    KEY_WORKERS,
    KEY_MODEL,
    KEY_SCALE,
    KEY_SET
};

static const struct argp_option options_list[] = {
    {"partition", KEY_PARTITION, "POOL=RULE", 0,
     "how the pool's work follows its threads, where that is unknown or wrong: shared (a supply, "
     "first come, first served), fixed (a total split equally) or perthread (each does all)",
     1},
    {"arrivals", KEY_ARRIVALS, "RATES", 0,
     "open load: at which rates tasks arrive, such as 500/s, 100/s,200/s or 100/s:1000/s:100/s", 1},
    {"arrivals-kind", KEY_ARRIVALS_KIND, "KIND", 0,
     "poisson: at random, constant, or recorded: with the recorded times between them, in their "
     "order (default: poisson)",
     1},
    {"requests", KEY_REQUESTS, "N", 0,
     "with --arrivals: so many arrive, from an idle server on; the run ends when all are done "
     "(default: no end, what it settles to)",
     1},
    {"clients", KEY_CLIENTS, "LIST", 0,
     "closed load: so many clients, of whom each waits for its reply before it asks again", 1},
    {"think", KEY_THINK, "TIME", 0,
     "what a client waits in between, on average (default: as in the model)", 1},
    {"scale", KEY_SCALE, "NAME=FACTOR", 0,
     "as if that took so many times as long, such as parse=0.5: what parse() and its callees, or "
     "the threads of that pool, compute; lock:NAME while that lock is held, io:NAME and "
     "sleep:NAME waiting at calls, disk:NAME its requests",
     1},
    {"set", KEY_SET, "NAME.WHAT=VALUE", 0,
     "as if that were so, such as jobs.capacity=64; also permits, parties, servers, service=2ms, "
     "delay=5ms",
     1},
    {"horizon", KEY_HORIZON, "TIME", 0,
     "end each simulated run after that time, such as 60s (default: when all is done, or has "
     "settled)",
     2},
    {"warmup", KEY_WARMUP, "TIME", 0,
     "leave the beginning out of the figures, such as 5s (default: 0s)", 2},
    {"seed", KEY_SEED, "N", 0, "of the random numbers (default: 1)", 2},
    {"workers", KEY_WORKERS, "N", 0,
     "threads to simulate with; the figures do not change (default: 1)", 2},
    {"model", KEY_MODEL, "FILE", 0, "model to use (default: DIR/model.json)", 2},
    {0},
};

static double parse_quantity(const char *option, const char *text, enum unit unit,
                             const char *example) {
    double value;
    if (quantity_parse(text, unit, &value) < 0 || value < 0)
        usage_error("%s %s: give a value such as %s", option, text, example);
    return value;
}

double simulation_option_positive(const char *option, const char *text, enum unit unit,
                                  const char *example) {
    double value = parse_quantity(option, text, unit, example);
    if (value == 0)
        usage_error("%s %s: give a value above 0, such as %s", option, text, example);
    return value;
}

static enum sim_arrivals parse_kind(const char *text) {
    static const char *const names[] = {[ARRIVALS_POISSON] = "poisson",
                                        [ARRIVALS_CONSTANT] = "constant",
                                        [ARRIVALS_RECORDED] = "recorded"};
    for (int i = 0; i <= ARRIVALS_RECORDED; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum sim_arrivals)i;
    usage_error("--arrivals-kind %s: give poisson, constant or recorded", text);
}

static void add_repartition(struct simulation_options *options, const char *text) {
    struct error error;
    if (repartitions_add(&options->repartitions, text, &error) < 0)
        usage_error("%s", error.text);
}

/* What changes_add_scale() and changes_add_set() have in common. */
typedef int change_adder(struct changes *list, const char *text, struct error *error);

static void add_change(struct simulation_options *options, change_adder *add, const char *text) {
    struct error error;
    if (add(&options->changes, text, &error) < 0)
        usage_error("%s", error.text);
}

static error_t parse_simulation(int key, char *argument, struct argp_state *state) {
    struct simulation_options *options = state->input;
    struct sim_config *config = &options->config;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct simulation_options){.config.seed = 1};
        state->child_inputs[0] = &options->network;
        return 0;
    case KEY_PARTITION:
        add_repartition(options, argument);
        return 0;
    case KEY_SCALE:
        add_change(options, changes_add_scale, argument);
        return 0;
    case KEY_SET:
        add_change(options, changes_add_set, argument);
        return 0;
    case KEY_MODEL:
        options->model = argument;
        return 0;
    case KEY_ARRIVALS:
        options->arrivals = argument;
        return 0;
    case KEY_ARRIVALS_KIND:
        config->arrivals = parse_kind(argument);
        options->has_kind = true;
        return 0;
    case KEY_REQUESTS:
        config->requests = (double)option_integer("--requests", argument, 1, 1000000000);
        return 0;
    case KEY_CLIENTS:
        options->clients = argument;
        return 0;
    case KEY_THINK:
        config->think_ns = simulation_option_positive("--think", argument, UNIT_TIME, "10ms");
        return 0;
    case KEY_HORIZON:
        config->horizon_ns = simulation_option_positive("--horizon", argument, UNIT_TIME, "60s");
        return 0;
    case KEY_WARMUP:
        config->warmup_ns = parse_quantity("--warmup", argument, UNIT_TIME, "5s");
        return 0;
    case KEY_SEED:
        config->seed = (uint64_t)option_integer("--seed", argument, 0, INT64_MAX);
        return 0;
    case KEY_WORKERS:
        config->workers = (int)option_integer("--workers", argument, 1, 1024);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&network_argp, 0, NULL, 0}, {0}};

const struct argp simulation_argp = {
    .options = options_list, .parser = parse_simulation, .children = children};

void simulation_options_finish(struct simulation_options *options) {
    struct error error;
    if (options->arrivals && options->clients)
        usage_error("--arrivals and --clients: a load is one or the other: leave one out");
    if (options->has_kind && !options->arrivals)
        usage_error("--arrivals-kind: say how many come, with --arrivals 500/s");
    if (options->config.requests > 0 && !options->arrivals)
        usage_error("--requests: say how many come in a second, with --arrivals 500/s");
    if (options->arrivals && options->config.think_ns > 0)
        usage_error("--think: only clients think: give --clients 64, or leave it out");
    if (load_sweep_parse(options->arrivals, options->clients, &options->loads, &error) < 0)
        usage_error("%s", error.text);
}

void simulation_options_free(struct simulation_options *options) {
    free(options->loads.items);
    free(options->repartitions.items);
    changes_free(&options->changes);
}

static int check_load(const struct simulation_options *options, const struct model *model,
                      struct error *error) {
    if (!options->arrivals && !options->clients && options->config.think_ns == 0)
        return 0;
    char *why = scope_no_outside(model);
    if (!why)
        return 0;
    error_set(error, "%s: %s: leave the option out",
              options->arrivals  ? "--arrivals"
              : options->clients ? "--clients"
                                 : "--think",
              why);
    free(why);
    return -1;
}

static int follow(const struct simulation_options *options, const struct dependencies *recorded,
                  struct model *model, struct changed_parts *changed, struct error *error) {
    struct changed_parts unasked = {0};
    int status = -1;
    if (repartitions_apply(&options->repartitions, model, error) == 0 &&
        check_load(options, model, error) == 0 &&
        network_apply(&options->network, model, error) == 0)
        status =
            changes_apply(&options->changes, recorded, model, changed ? changed : &unasked, error);
    changed_parts_free(&unasked);
    return status;
}

/* Which functions compute where, the recorded run tells and no model. One that is named may be of
 * another recording than the one that lies in `directory`. */
static bool asks_for_steps(const struct simulation_options *options, const char *directory) {
    if (options->model ||
        !(workspace_has(directory, WORKSPACE_STEPS) || workspace_has(directory, WORKSPACE_TRACE)))
        return false;
    for (size_t i = 0; i < options->changes.count; i++)
        if (options->changes.items[i].kind == CHANGE_CPU)
            return true;
    return false;
}

struct model *simulation_options_load(const struct simulation_options *options,
                                      const char *directory, struct changed_parts *changed,
                                      struct error *error) {
    struct model *model = prediction_load_model(directory, options->model, error);
    if (!model)
        return NULL;
    if (changed && model_is_said(model->file_mix))
        changed_parts_add(changed, "mix of requests", memory_strdup(model->file_mix));
    struct steps steps = {0};
    bool has_steps = asks_for_steps(options, directory);
    int status = has_steps ? steps_open(directory, &steps, error) : 0;
    if (status == 0)
        status = follow(options, steps.all, model, changed, error);
    if (has_steps)
        steps_close(directory, &steps);
    if (status == 0)
        return model;
    model_free(model);
    return NULL;
}
