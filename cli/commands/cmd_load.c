/* persik load: sends requests to a server and measures its response times. */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/assertion.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/simulation_options.h"
#include "cli/report/load_report.h"

#define RESULT_VARIABLE "PERSIK_LOAD_RESULT"

/* ---- options ---- */

enum {
    KEY_RATE = 0x5000,
    KEY_ARRIVALS,
    KEY_CLIENTS,
    KEY_THINK,
    KEY_DURATION,
    KEY_REQUESTS,
    KEY_WARM_UP,
    KEY_TIMEOUT,
    KEY_CONNECTIONS,
    KEY_NO_KEEP_ALIVE,
    KEY_MAX_IN_FLIGHT,
    KEY_URLS,
    KEY_SEND,
    KEY_UNTIL,
    KEY_SEED,
    KEY_REMOTE,
    KEY_NO_PRIORITY,
    KEY_HISTOGRAM,
    KEY_ASSERT,
};

#define DEFAULT_DURATION_NS   10000000000U
#define DEFAULT_TIMEOUT_NS    30000000000U
#define DEFAULT_MAX_IN_FLIGHT 10000
#define MOST_IN_FLIGHT        1000000
#define MOST_RATE_HZ          1e6
#define MOST_TIME_NS          1e15 /* eleven days */
#define RECORDED              "recorded:"

struct options {
    struct load_options load;
    enum table_format format;
    bool histogram;
    struct {
        struct assertion *items;
        size_t count, capacity;
    } assertions;
};

static const struct argp_option options_list[] = {
    {"rate", KEY_RATE, "RATE", 0,
     "open load: requests are sent at this rate, such as 500/s, whatever the server does", 1},
    {"arrivals", KEY_ARRIVALS, "poisson|constant|recorded:FILE", 0,
     "gaps between requests, and think times: at random, all the same; or the requests' "
     "times from FILE, seconds a line (default: poisson)",
     1},
    {"clients", KEY_CLIENTS, "N", 0, "closed load: each client waits for its answer, thinks, asks",
     2},
    {"think", KEY_THINK, "TIME", 0, "mean think time of a client (default: 0)", 2},
    {"duration", KEY_DURATION, "TIME", 0,
     "measure for so long (default: 10s; without end with --requests)", 3},
    {"requests", KEY_REQUESTS, "N", 0, "measure so many requests", 3},
    {"warmup", KEY_WARM_UP, "TIME", 0, "send for so long before, and do not count it (default: 0)",
     3},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "an answer that takes longer is a failure (default: 30s)",
     3},
    {"connections", KEY_CONNECTIONS, "N", 0,
     "at the same time; other requests wait for one (default: 1024, or the number of clients)", 4},
    {"no-keep-alive", KEY_NO_KEEP_ALIVE, NULL, 0, "each request has a connection of its own", 4},
    {"max-in-flight", KEY_MAX_IN_FLIGHT, "N", 0,
     "requests that wait or are under way; more are not sent, and counted (default: 10000)", 4},
    {"urls", KEY_URLS, "FILE", 0,
     "a path (tcp, udp: a text to send) a line, and its weight behind a tab: drawn at random", 5},
    {"send", KEY_SEND, "TEXT", 0, "tcp, udp: what is sent; \\r \\n \\xHH are understood", 5},
    {"until", KEY_UNTIL, "TEXT", 0, "tcp: with what a reply ends (default: \\n)", 5},
    {"seed", KEY_SEED, "N", 0, "of the random numbers (default: 1)", 6},
    {"remote", KEY_REMOTE, NULL, 0, "the server may be another machine: you may load it", 6},
    {"no-priority", KEY_NO_PRIORITY, NULL, 0, "do not go before other threads (which needs root)",
     6},
    {"histogram", KEY_HISTOGRAM, NULL, 0, "list the quantiles, too", 7},
    {"assert", KEY_ASSERT, "BOUND", 0,
     "exit 3 unless it is kept, such as 'p99<50ms', 'throughput>100/s'", 7},
    {"quiet", 'q', NULL, 0, "warnings and errors only", 91},
    {0},
};

static uint64_t option_time_ns(const char *option, const char *text, const char *example) {
    double time_ns = simulation_option_positive(option, text, UNIT_TIME, example);
    if (time_ns > MOST_TIME_NS)
        usage_error("%s %s: at most %g s", option, text, MOST_TIME_NS / 1e9);
    return (uint64_t)time_ns;
}

static void parse_arrivals(struct schedule_options *schedule, const char *text) {
    if (strcmp(text, "poisson") == 0)
        schedule->arrivals = LOAD_POISSON;
    else if (strcmp(text, "constant") == 0)
        schedule->arrivals = LOAD_CONSTANT;
    else if (strncmp(text, RECORDED, strlen(RECORDED)) == 0 && text[strlen(RECORDED)])
        schedule->arrivals = LOAD_RECORDED;
    else
        usage_error("--arrivals %s: give poisson, constant or recorded:FILE", text);
    if (schedule->arrivals == LOAD_RECORDED)
        schedule->recorded_file = text + strlen(RECORDED);
}

static void add_assertion(struct options *options, const char *text) {
    struct error error;
    struct assertion *assertion = VECTOR_ADD(&options->assertions);
    if (assertion_parse("--assert", text, assertion, &error) < 0)
        usage_error("%s", error.text);
    double value;
    enum unit unit;
    assertion_holds(assertion, &(struct sim_result){0}, &value, &unit);
    if (unit == UNIT_SHARE)
        usage_error("--assert '%s': load is measured at the client, which does not see how busy "
                    "the server is",
                    text);
}

static double option_rate_hz(const char *text) {
    double rate_hz = simulation_option_positive("--rate", text, UNIT_RATE, "500/s");
    if (rate_hz > MOST_RATE_HZ)
        usage_error("--rate %s: at most %g/s", text, MOST_RATE_HZ);
    return rate_hz;
}

/* When, and how many. False: it is another option. */
static bool parse_load(struct load_options *load, int key, const char *argument) {
    switch (key) {
    case KEY_RATE:
        load->schedule.rate_hz = option_rate_hz(argument);
        return true;
    case KEY_ARRIVALS:
        parse_arrivals(&load->schedule, argument);
        return true;
    case KEY_CLIENTS:
        load->schedule.clients = (int)option_integer("--clients", argument, 1, MOST_IN_FLIGHT);
        return true;
    case KEY_THINK:
        load->schedule.think_ns = (double)option_time_ns("--think", argument, "10ms");
        return true;
    case KEY_DURATION:
        load->duration_ns = option_time_ns("--duration", argument, "10s");
        return true;
    case KEY_REQUESTS:
        load->requests = (uint64_t)option_integer("--requests", argument, 1, INT32_MAX);
        return true;
    case KEY_WARM_UP:
        load->warm_up_ns = option_time_ns("--warmup", argument, "2s");
        return true;
    case KEY_TIMEOUT:
        load->timeout_ns = option_time_ns("--timeout", argument, "5s");
        return true;
    case KEY_SEED:
        load->schedule.seed = (uint64_t)option_integer("--seed", argument, 0, INT32_MAX);
        return true;
    default:
        return false;
    }
}

/* To whom, and what. False: it is another option. */
static bool parse_target(struct load_options *load, int key, const char *argument) {
    switch (key) {
    case KEY_CONNECTIONS:
        load->connections = (int)option_integer("--connections", argument, 1, MOST_IN_FLIGHT);
        return true;
    case KEY_NO_KEEP_ALIVE:
        load->keep_alive = false;
        return true;
    case KEY_MAX_IN_FLIGHT:
        load->max_in_flight = (int)option_integer("--max-in-flight", argument, 1, MOST_IN_FLIGHT);
        return true;
    case KEY_URLS:
        load->list_file = argument;
        return true;
    case KEY_SEND:
        load->send = argument;
        return true;
    case KEY_UNTIL:
        load->until = argument;
        return true;
    case KEY_REMOTE:
        load->remote = true;
        return true;
    case KEY_NO_PRIORITY:
        load->has_priority = false;
        return true;
    default:
        return false;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->format;
        return 0;
    case KEY_HISTOGRAM:
        options->histogram = true;
        return 0;
    case KEY_ASSERT:
        add_assertion(options, argument);
        return 0;
    case 'q':
        log_set_level(LOG_QUIET);
        return 0;
    case ARGP_KEY_ARG:
        if (options->load.url)
            usage_error("'%s': load has one target", argument);
        options->load.url = argument;
        return 0;
    default:
        return parse_load(&options->load, key, argument) ||
                       parse_target(&options->load, key, argument)
                   ? 0
                   : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};

static const struct argp load_argp = {
    .options = options_list,
    .parser = parse_option,
    .args_doc = "http://HOST:PORT/PATH | tcp://HOST:PORT | udp://HOST:PORT",
    .doc = "Sends requests to a server, at a rate (open load) or from a number of clients (closed "
           "load), and measures its throughput and response times. These count from when a "
           "request was intended to be sent: a stall of the server hides nothing. The file that "
           "$" RESULT_VARIABLE " names gets the result as JSON.\v"
           "Examples:\n"
           "  persik load --rate 500/s --duration 10s http://127.0.0.1:8080/index.html\n"
           "  persik load --clients 64 --think 10ms --warmup 2s http://127.0.0.1:8080/\n"
           "  persik load --rate 1000/s --urls paths.txt --format csv \\\n"
           "      http://127.0.0.1:8080\n"
           "  persik load --rate 2000/s --send 'get k\\r\\n' --until 'END\\r\\n' \\\n"
           "      tcp://127.0.0.1:11211\n"
           "  persik load --rate 100/s --assert 'p99<50ms' http://127.0.0.1:8080/\n",
    .children = children,
};

static void check_options(const struct load_options *load) {
    const struct schedule_options *schedule = &load->schedule;
    bool is_open = schedule->rate_hz > 0 || schedule->arrivals == LOAD_RECORDED;
    if (!load->url)
        usage_error("no target: give http://HOST:PORT/PATH, tcp://HOST:PORT or udp://HOST:PORT");
    if (is_open == (schedule->clients > 0))
        usage_error("give either --rate (open load) or --clients (closed load)");
    if (schedule->think_ns > 0 && is_open)
        usage_error("--think is for --clients: with --rate requests come when they come");
    if (schedule->clients > load->max_in_flight)
        usage_error("--clients %d: --max-in-flight is %d", schedule->clients, load->max_in_flight);
}

/* ---- the command ---- */

/* The measured values where assertions look for them. */
static struct sim_result as_prediction(const struct load_result *result) {
    const struct latency *response = result->response;
    return (struct sim_result){.run_ns.mean = result->seconds * 1e9,
                               .response_ns.mean = latency_mean_ns(response),
                               .response_p50_ns.mean = latency_quantile_ns(response, 0.5),
                               .response_p95_ns.mean = latency_quantile_ns(response, 0.95),
                               .response_p99_ns.mean = latency_quantile_ns(response, 0.99),
                               .throughput_hz.mean = result->throughput_hz,
                               .tasks.mean = (double)latency_count(response)};
}

static int check_assertions(const struct options *options, const struct load_result *result) {
    struct sim_result measured = as_prediction(result);
    int status = 0;
    for (size_t i = 0; i < options->assertions.count; i++) {
        const struct assertion *assertion = &options->assertions.items[i];
        double value;
        enum unit unit;
        char text[QUANTITY_BYTES];
        if (assertion_holds(assertion, &measured, &value, &unit))
            continue;
        fprintf(stderr, "persik: assertion '%s' fails: %s\n", assertion->text,
                quantity_show(value, unit, text));
        status = EXIT_ASSERTION;
    }
    return status;
}

/* What makes the whole run a failure. */
static int check_result(const struct load_options *options, const struct load_result *result,
                        struct error *error) {
    if (result->server_gone)
        return error_set(error, "%s: the server takes no connections any more: %s", options->url,
                         strerror(result->connection_error));
    if (latency_count(result->response) > 0)
        return 0;
    uint64_t failed = load_failed(result);
    if (failed == 0)
        return error_set(error, "%s: nothing was answered in this time: measure for longer",
                         options->url);
    char *failures = load_report_failures(result);
    error_set(error, "%s: all %" PRIu64 " requests failed: %s", options->url, failed, failures);
    free(failures);
    return -1;
}

static int report(const struct options *options, const struct load_result *result) {
    struct error error;
    const char *path = getenv(RESULT_VARIABLE);
    load_report_print(&options->load, result, options->format, options->histogram, stdout);
    load_report_warn(result);
    if (path && *path && load_report_write(&options->load, result, path, &error) < 0)
        return command_failed(&error);
    if (check_result(&options->load, result, &error) < 0) {
        log_error("%s", error.text);
        return EXIT_FAILED;
    }
    return check_assertions(options, result);
}

int command_load(int argc, char **argv) {
    struct options options = {.load = {.timeout_ns = DEFAULT_TIMEOUT_NS,
                                       .max_in_flight = DEFAULT_MAX_IN_FLIGHT,
                                       .keep_alive = true,
                                       .has_priority = true,
                                       .schedule.seed = 1}};
    argp_parse(&load_argp, argc, argv, 0, NULL, &options);
    check_options(&options.load);
    if (options.load.duration_ns == 0 && options.load.requests == 0 &&
        options.load.schedule.arrivals != LOAD_RECORDED)
        options.load.duration_ns = DEFAULT_DURATION_NS;
    struct load_result result;
    struct error error = {0};
    interrupt_begin();
    int status = load_run(&options.load, &result, &error);
    interrupt_end();
    status = status == 0 ? report(&options, &result) : command_failed(&error);
    load_result_free(&result);
    free(options.assertions.items);
    return status;
}
