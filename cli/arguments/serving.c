#include "cli/arguments/serving.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/options.h"
#include "cli/text/quantity.h"

enum {
    KEY_LOAD = 0x6000,
    KEY_READY,
    KEY_READY_TIMEOUT,
    KEY_LOAD_TIMEOUT,
    KEY_STOP_SIGNAL,
    KEY_DURATION,
};

#define OPTIONS_OF_LOADS                                                                           \
    {"load",                                                                                       \
     KEY_LOAD,                                                                                     \
     "CMD",                                                                                        \
     0,                                                                                            \
     "the program is a server: in each run, start it, run this shell command, which sends "        \
     "requests, when it listens, and stop it",                                                     \
     4},                                                                                           \
        {"ready",                                                                                  \
         KEY_READY,                                                                                \
         "CMD",                                                                                    \
         0,                                                                                        \
         "the server is ready when this shell command exits with 0 (default: when it listens)",    \
         4},                                                                                       \
        {"ready-timeout",                                                                          \
         KEY_READY_TIMEOUT,                                                                        \
         "TIME",                                                                                   \
         0,                                                                                        \
         "until it is ready at most (default: 30s)",                                               \
         4},                                                                                       \
        {"load-timeout",                                                                           \
         KEY_LOAD_TIMEOUT,                                                                         \
         "TIME",                                                                                   \
         0,                                                                                        \
         "until the load ends at most (default: 10min)",                                           \
         4},                                                                                       \
    {                                                                                              \
        "stop-signal", KEY_STOP_SIGNAL, "NAME", 0, "what ends the server (default: TERM)", 4       \
    }

static const struct argp_option load_options[] = {OPTIONS_OF_LOADS, {0}};

static const struct argp_option serving_options[] = {
    OPTIONS_OF_LOADS,
    {"duration", KEY_DURATION, "TIME", 0,
     "without a load: the server is asked from elsewhere for so long (default: until Ctrl-C)", 4},
    {0}};

static double seconds(const char *option, const char *text) {
    double time_ns;
    if (quantity_parse(text, UNIT_TIME, &time_ns) < 0 || !(time_ns > 0) || time_ns > 1e9 * 1e6)
        usage_error("%s %s: give a time above 0, such as 30s", option, text);
    return time_ns / 1e9;
}

static int signal_number(const char *text) {
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (int number = 1; number < NSIG; number++) {
        const char *known = sigabbrev_np(number);
        if (known && strcmp(known, name) == 0)
            return number;
    }
    usage_error("--stop-signal %s: there is no such signal: give a name such as TERM, INT or QUIT",
                text);
}

/* Given is a word that is not NULL. */
static void check(const struct served_plan *plan, const char *ready_limit, const char *load_limit) {
    if (plan->load && plan->duration_s > 0)
        usage_error("--load and --duration: the server runs as long as its load, or for a time: "
                    "leave one of them out");
    if (load_limit && !plan->load)
        usage_error("--load-timeout: there is no --load");
    if (ready_limit && !serving_is_planned(plan))
        usage_error("--ready-timeout: give --load, --duration or --ready, too");
}

struct given {
    const char *ready_limit, *load_limit;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct served_plan *plan = state->input;
    struct given *given = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        *plan = (struct served_plan){.ready_s = 30, .load_s = 600, .stop_signal = SIGTERM};
        state->hook = calloc(1, sizeof *given);
        return state->hook ? 0 : ENOMEM;
    case KEY_LOAD:
        plan->load = argument;
        return 0;
    case KEY_READY:
        plan->ready = argument;
        return 0;
    case KEY_READY_TIMEOUT:
        plan->ready_s = seconds("--ready-timeout", given->ready_limit = argument);
        return 0;
    case KEY_LOAD_TIMEOUT:
        plan->load_s = seconds("--load-timeout", given->load_limit = argument);
        return 0;
    case KEY_STOP_SIGNAL:
        plan->stop_signal = signal_number(argument);
        return 0;
    case KEY_DURATION:
        plan->duration_s = seconds("--duration", argument);
        return 0;
    case ARGP_KEY_END:
        check(plan, given->ready_limit, given->load_limit);
        return 0;
    case ARGP_KEY_FINI:
        free(given);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp serving_argp = {.options = serving_options, .parser = parse};
const struct argp load_argp = {.options = load_options, .parser = parse};

bool serving_is_planned(const struct served_plan *plan) {
    return plan->load || plan->ready || plan->duration_s > 0;
}

bool serving_is_by_hand(const struct served_plan *plan) {
    return !plan->load && !(plan->duration_s > 0);
}
