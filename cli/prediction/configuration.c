#include "cli/prediction/configuration.h"

#include <stdlib.h>

#include "cli/arguments/options.h"

enum { KEY_THREADS = 0xe000, KEY_CORES };

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct configuration_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct configuration_options){0};
        return 0;
    case KEY_THREADS:
        options->threads = argument;
        return 0;
    case KEY_CORES:
        options->cores = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_list[] = {
    {"threads", KEY_THREADS, "N", 0, "one number, or POOL=N,POOL=N (default: as profiled)", 1},
    {"cores", KEY_CORES, "N", 0, "number of cores (default: as profiled)", 1},
    {0},
};
const struct argp configuration_argp = {.options = options_list, .parser = parse};

static void parse_threads(const char *text, struct configuration *configuration) {
    struct error error;
    if (thread_sweep_parse("--threads", text, &configuration->threads, &error) < 0)
        usage_error("%s", error.text);
    if (configuration->threads.count != 1)
        usage_error("--threads %s: these are %zu configurations: give one", text,
                    configuration->threads.count);
}

static void parse_cores(const char *text, struct configuration *configuration) {
    struct error error;
    struct int_list cores = {0};
    if (text && int_list_parse("--cores", text, SWEEP_MAX_CORES, &cores, &error) < 0)
        usage_error("%s", error.text);
    if (cores.count > 1)
        usage_error("--cores %s: these are %zu configurations: give one", text, cores.count);
    configuration->cores = cores.count ? cores.items[0] : 0;
    free(cores.items);
}

static void take_load(struct simulation_options *simulation) {
    if (simulation->loads.count != 1)
        usage_error("%s: these are several loads: give one",
                    simulation->arrivals ? "--arrivals" : "--clients");
    simulation->config.arrival_rate_hz = simulation->loads.items[0].rate_hz;
    simulation->config.clients = simulation->loads.items[0].clients;
}

void configuration_parse(const struct configuration_options *options,
                         struct simulation_options *simulation,
                         struct configuration *configuration) {
    parse_threads(options->threads, configuration);
    parse_cores(options->cores, configuration);
    take_load(simulation);
}
