#include "load/load.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/memory.h"
#include "load/generator.h"
#include "load/sockets.h"

#define USUAL_CONNECTIONS 1024
#define OTHER_DESCRIPTORS 32 /* of this process: more than it has */

/* How many connections this process may have: its own limit is raised as far as it may be. */
static int permitted_connections(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return USUAL_CONNECTIONS;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_cur > 2 * OTHER_DESCRIPTORS ? limit.rlim_cur - OTHER_DESCRIPTORS : 1;
    return most > INT32_MAX ? INT32_MAX : (int)most;
}

static int choose_connections(const struct load_options *options, int *connections,
                              struct error *error) {
    int permitted = permitted_connections();
    bool is_closed = options->schedule.rate_hz <= 0 && options->schedule.arrivals != LOAD_RECORDED;
    *connections = options->connections;
    if (*connections > permitted)
        return error_set(error, "%d connections: this process may have %d: raise `ulimit -n`",
                         *connections, permitted);
    if (*connections == 0)
        *connections = is_closed ? options->schedule.clients : USUAL_CONNECTIONS;
    if (*connections > permitted)
        *connections = permitted;
    if (*connections > options->max_in_flight)
        *connections = options->max_in_flight;
    return 0;
}

/* `send` and `until` are of line protocols and datagrams, which need the first. */
static int check_protocol(const struct load_options *options, const struct target *target,
                          struct error *error) {
    bool is_http = target->protocol == LOAD_HTTP;
    if (is_http && (options->send || options->until))
        return error_set(error, "--send and --until are for tcp:// and udp://");
    if (is_http && options->list_file && strcmp(target->path, "/") != 0)
        return error_set(error, "the paths are those of --urls: leave '%s' out", target->path);
    if (target->protocol == LOAD_DATAGRAMS && options->until)
        return error_set(error, "--until: over UDP a reply is one datagram");
    if (!is_http && !options->send && !options->list_file)
        return error_set(error, "%s: give --send TEXT, or --urls FILE with a text a line",
                         options->url);
    return 0;
}

/* ---- the run, once all that it needs is there ---- */

struct parts {
    struct target target;
    struct load_requests requests;
    struct codec_until until;
    char *until_text;
    struct schedule *schedule;
    struct sockets *sockets;
};

static int prepare_until(struct parts *parts, const char *text, struct error *error) {
    size_t length;
    parts->until_text = memory_strdup(text ? text : "\\n");
    if (unescape(parts->until_text, &length) < 0 || length == 0)
        return error_set(error, "--until '%s': give the text that ends a reply, as 'END\\r\\n'",
                         text);
    codec_until_init(&parts->until, parts->until_text, length);
    return 0;
}

static int prepare(struct parts *parts, const struct load_options *options, int *connections,
                   struct error *error) {
    struct request_options texts = {.send = options->send,
                                    .list_file = options->list_file,
                                    .keep_alive = options->keep_alive,
                                    .seed = options->schedule.seed};
    if (target_parse(options->url, &parts->target, error) < 0 ||
        check_protocol(options, &parts->target, error) < 0 ||
        prepare_until(parts, options->until, error) < 0 ||
        load_requests_init(&parts->requests, &parts->target, &texts, error) < 0 ||
        target_resolve(&parts->target, options->remote, error) < 0 ||
        choose_connections(options, connections, error) < 0)
        return -1;
    parts->schedule = schedule_new(&options->schedule, error);
    if (!parts->schedule)
        return -1;
    parts->sockets = sockets_new(&parts->target, *connections, error);
    return parts->sockets ? 0 : -1;
}

static void free_parts(struct parts *parts) {
    sockets_free(parts->sockets);
    schedule_free(parts->schedule);
    if (parts->requests.random)
        load_requests_free(&parts->requests);
    codec_until_free(&parts->until);
    free(parts->until_text);
}

/* ---- priority ---- */

/* A client is usually another machine, which does not wait for the server's cores. On the same
 * machine it does, by milliseconds when the cores are busy, and all that is in the response times:
 * a real-time thread is late by microseconds. It sleeps nearly all of the time. Whether it has
 * become one; without the right to it, persik goes on as it is. */
static bool take_priority(void) {
    struct sched_param parameters = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    return sched_getscheduler(0) == SCHED_OTHER &&
           sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0;
}

static void give_priority_back(void) {
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
}

static int run(struct parts *parts, const struct load_options *options, int connections,
               struct load_result *result, struct error *error) {
    struct generator_options settings = {.protocol = parts->target.protocol,
                                         .until = &parts->until,
                                         .warm_up_ns = options->warm_up_ns,
                                         .duration_ns = options->duration_ns,
                                         .requests = options->requests,
                                         .timeout_ns = options->timeout_ns,
                                         .connections = connections,
                                         .max_in_flight = options->max_in_flight,
                                         .keep_alive = options->keep_alive};
    struct transport transport = sockets_transport(parts->sockets);
    uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC);
    uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
    bool has_priority = options->has_priority && take_priority();
    int status =
        generator_run(&settings, parts->schedule, &parts->requests, &transport, result, error);
    if (has_priority)
        give_priority_back();
    uint64_t took_ns = clock_now_ns(CLOCK_MONOTONIC) - began_ns;
    result->cpu_share =
        (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / (double)(took_ns + 1);
    return status;
}

int load_run(const struct load_options *options, struct load_result *result, struct error *error) {
    struct parts parts = {0};
    int connections = 0;
    *result = (struct load_result){0};
    int status = prepare(&parts, options, &connections, error);
    if (status == 0)
        status = run(&parts, options, connections, result, error);
    if (status < 0)
        error_prefix(error, "%s", options->url);
    free_parts(&parts);
    return status;
}
