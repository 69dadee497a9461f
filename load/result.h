/* What a load brought. */
#ifndef PERSIK_LOAD_RESULT_H
#define PERSIK_LOAD_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "load/latency.h"

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

void load_result_free(struct load_result *result);

#endif
