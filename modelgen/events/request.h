/* One request that a server answered: who took it, waited for it, and ended it. */
#ifndef PERSIK_MODELGEN_EVENTS_REQUEST_H
#define PERSIK_MODELGEN_EVENTS_REQUEST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/thread_states.h"

/* An event of a thread. */
struct request_event {
    size_t thread, number;
};

#define REQUEST_NO_EVENT ((struct request_event){SIZE_MAX, SIZE_MAX})

static inline bool request_event_is_none(struct request_event event) {
    return event.thread == SIZE_MAX;
}

/* The call; belongs to the trace. Not of REQUEST_NO_EVENT. */
static inline const struct trace_record *request_event_record(const struct trace *trace,
                                                              struct request_event event) {
    return &trace->threads[event.thread].records[event.number];
}

/* When the thread was woken in the call; 0: it did not sleep. Not of REQUEST_NO_EVENT. */
static inline uint64_t request_event_woken(const struct trace *trace, struct request_event event) {
    const struct trace_record *record = request_event_record(trace, event);
    return thread_states_woken(&trace->threads[event.thread], record->start_ns,
                               trace_end_ns(record));
}

/* For a map of events. */
static inline uint64_t request_event_key(struct request_event event) {
    return map_mix(map_mix(47, event.thread), event.number);
}

struct request {
    int source;                /* where it came from: index into the sources */
    struct request_event take; /* the call that took it: accept(), or the first read() */
    struct request_event wait; /* the call in which a thread waited for it; none: it was there */
    bool told_before; /* that wait told of its connection, and others of what came over it, which
                       * was there as well: it is no part of the taking */
    struct request_event end;    /* the last write() of its answer */
    struct request_event behind; /* the end of the one that its thread had when it took this one,
                                  * and which is ended before it; none: it had none */
    uint64_t from_ns, to_ns;     /* came in between; the same: then */
    uint64_t end_ns;             /* of its answer */
    bool is_first;               /* over its connection, which the client has made for it */
    double bytes, answer_bytes;  /* read and written for it; NaN: not known */
};

/* What a call has read or written. NaN: not known; those for several messages return how many. */
static inline double request_bytes_of(const struct trace_record *record) {
    bool counts_messages = record->api == API_recvmmsg || record->api == API_sendmmsg;
    return counts_messages ? NAN : record->value;
}

#endif
