/* A server's requests are tasks that come from outside. What they are taken from, a listening
 * socket or a set of connections, is a queue that nobody of the program fills: threads take from
 * it, and more threads do not make more requests. Waiting for the next request is waiting at that
 * queue. */
#ifndef PERSIK_MODELGEN_REWRITE_REQUESTS_AS_TASKS_H
#define PERSIK_MODELGEN_REWRITE_REQUESTS_AS_TASKS_H

#include "formats/model.h"
#include "modelgen/events/event_log.h"

/* A queue that is filled from outside. */
struct outside_queue {
    uint64_t object;             /* of the log */
    bool accepts;                /* its requests are connections; else they come over some */
    bool connects;               /* nearly each is the first one of a connection made for it */
    bool is_own;                 /* each thread takes those of its own connections only */
    bool is_returned_to;         /* helper threads put back what the loop has handed to them ... */
    bool returned_first;         /* ... which does not wait behind requests that have come */
    double arrivals;             /* while it was recorded */
    struct dist interarrival_ns; /* owned until the model takes it */
    double *gaps;                /* between the recorded arrivals, in their order; the same */
    size_t n_gaps;
    struct dist request_bytes, reply_bytes; /* the same; DIST_NONE: not known */
    char *evidence;                         /* the same */
};

/* Value of a ROLE_get or ROLE_put at such a queue: the request is one that a helper had. */
#define OUTSIDE_RETURNED 1

/* What the server did in the recorded run, from the first request to the last, without the probes.
 */
struct outside_measured {
    double cpu_ns;      /* of all threads */
    double requests;    /* in all */
    double response_ns; /* mean, from arrival to the last byte; 0: the probes hide it */
};

struct outside_queues {
    size_t n; /* 0: no server, or not one that is understood */
    struct outside_queue *items;
    uint64_t from_ns, to_ns; /* the first request comes, the last has been answered */
    struct outside_measured measured;
};

/* Shows each request as an item that its thread takes (ROLE_get), and its end (ROLE_task_end); the
 * last wait of each thread that takes some as one in vain, since nothing more came. Calls that wait
 * for anything else from outside are idle time (ROLE_idle). What helper threads have done for a
 * loop they put into its queue (ROLE_put), from which it takes that as well. Timed calls before the
 * first request and after the last one are dropped, and those that go on from there are cut:
 * starting and stopping are no part of the work. Must come before all filters that insert or drop
 * events. Tells the model's reader what the arrivals were taken for, or why there are none.
 * outside_queues_free() ends the queues. */
struct outside_queues requests_as_tasks(struct event_log *log, struct model *model);
void outside_queues_free(struct outside_queues *queues);

#endif
