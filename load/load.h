/* A load generator for servers: sends requests, measures how long the answers take. It knows
 * nothing of tracing and models; one thread, so that it disturbs a small machine little.
 *
 * An answer's response time counts from when its request was INTENDED to be sent. A server that
 * stalls delays the requests that come meanwhile, too, and a client that waits for it must not
 * forget them (coordinated omission; Gil Tene, wrk2). The service time counts from when the request
 * was really begun: to connect, or to send on a connection that was kept.
 *
 * Open this file, then generator.c: schedule.h says when, requests.h what, codec.h where a reply
 * ends, sockets.h is the network. */
#ifndef PERSIK_LOAD_LOAD_H
#define PERSIK_LOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "load/result.h"
#include "load/schedule.h"

struct load_options {
    const char *url;
    const char *send, *until; /* tcp and udp, with escapes (requests.h); until NULL: "\n" */
    const char *list_file;    /* NULL: only what the URL or `send` says */
    struct schedule_options schedule;
    uint64_t warm_up_ns;  /* its requests are sent and not counted */
    uint64_t duration_ns; /* after that; 0: without end */
    uint64_t requests;    /* to measure at most; 0: without end */
    uint64_t timeout_ns;
    int connections;   /* at the same time; 0: as many as are needed and permitted */
    int max_in_flight; /* requests that are sent or wait for a connection */
    bool keep_alive;   /* connections are used again */
    bool remote;       /* targets beyond this machine are permitted */
};

/* 0 when there is something to tell, also where requests failed; or -1 and `error` for options that
 * make no sense together and a server that cannot be connected to. load_result_free ends either. */
int load_run(const struct load_options *options, struct load_result *result, struct error *error);

#endif
