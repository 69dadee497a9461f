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
#include "load/latency.h"
#include "load/schedule.h"

/* Why a request got no answer that counts. */
enum load_failure {
    LOAD_NO_CONNECTION, /* the server could not be connected to */
    LOAD_CLOSED,        /* it closed the connection before the reply was complete */
    LOAD_TIMEOUT,       /* no complete reply within the timeout, counted from the intended time */
    LOAD_BAD_STATUS,    /* HTTP 4xx, 5xx */
    LOAD_MALFORMED,     /* not a reply of the protocol, or more than one */
    LOAD_NOT_SENT,      /* too many were in flight */
    LOAD_FAILURES       /* their number */
};

/* "closed early", ... */
const char *load_failure_name(enum load_failure failure);

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

/* Of the requests whose intended time is in the measured window: after the warm-up, until the
 * duration or the number of requests is reached. */
struct load_result {
    struct latency *response, *service; /* of answers */
    double response_half_width_ns;      /* of the mean's 95 % confidence interval; NaN: too few */
    struct latency *lateness;           /* how late this program was to begin requests */
    uint64_t failures[LOAD_FAILURES];
    uint64_t unanswered;  /* when it was interrupted */
    double seconds;       /* the window; it ends with the last answer where a number is given */
    double throughput_hz; /* answers that came in the window, whenever their request was sent */
    uint64_t connections; /* that were opened */
    uint64_t reconnected; /* requests sent again: the kept connection had been closed meanwhile */
    double cpu_share;     /* of one core, that this program took */
    int bad_status;       /* the first one, 0: none */
    int connection_error; /* errno of the last LOAD_NO_CONNECTION, 0: none */
    bool interrupted;     /* by a signal (base/interrupt.h) */
    bool server_gone;     /* ended because nothing could be connected to any more */
};

/* All the measured requests that failed. */
uint64_t load_failed(const struct load_result *result);

/* 0 when there is something to tell, also where requests failed; or -1 and `error` for options that
 * make no sense together and a server that cannot be connected to. load_result_free ends either. */
int load_run(const struct load_options *options, struct load_result *result, struct error *error);
void load_result_free(struct load_result *result);

#endif
