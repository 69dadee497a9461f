/* Which call of which thread caused each request to a disk, and what becomes of the others: every
 * request and every byte has one cause. Pure. */
#ifndef PERSIK_TRACER_ATTRIBUTION_H
#define PERSIK_TRACER_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "tracer/busy.h"
#include "tracer/correlate.h"
#include "tracer/requests.h"

#define ATTRIBUTION_NO_CALL ((size_t)-1)

enum block_cause {
    CAUSE_CALL,        /* an I/O call of a recorded thread */
    CAUSE_NO_CALL,     /* a recorded thread outside of these: page faults of mapped files, exit */
    CAUSE_KERNEL,      /* write-back, a journal: of nobody, and of all who wrote */
    CAUSE_OTHER,       /* other processes */
    CAUSE_BELOW,       /* the device below another one in the log, whose requests are counted */
    CAUSE_OUTSIDE_RUN, /* queued before the program began or after it ended */
    BLOCK_CAUSES
};

struct block_account {
    struct block_sum {
        size_t requests;
        uint64_t bytes;
    } of[BLOCK_CAUSES];
};

struct attribution {
    struct block_account account; /* adds up to all requests */
    struct trace_block *blocks;   /* of the threads and of the kernel, by queued_ns, in the trace's
                                   * time */
    size_t n_blocks;
    int *threads;  /* per request: index of its thread; -1: of none */
    size_t *calls; /* per request: number of the thread's record; ATTRIBUTION_NO_CALL */
};

/* The recorded run: its threads, with their records in order. */
struct attribution_run {
    const struct trace_thread *threads;
    size_t n_threads;
    uint64_t run_ns;
};

/* When each thread waited in calls that may go to a disk, in the trace's time; settled. Where its
 * scheduling was not recorded, from each call's beginning, for `longest_ns` at most. One for each
 * thread. */
struct busy *attribution_waits(const struct attribution_run *run, double longest_ns);

/* When requests of each of `n` issuers were under way, by their clock; settled. `issuers`: the
 * number of each request's issuer. */
struct busy *attribution_requests(const struct block_requests *requests, const size_t *issuers,
                                  size_t n);

/* correlate() with the waits of the run's threads as users; `input` needs no users. Without
 * scheduling records a call may be waiting for a core when its request is done, or for requests
 * before its own: of both, whole calls and calls as long as two usual requests, what fits better.
 */
struct correlation attribution_correlate(const struct attribution_run *run,
                                         const struct block_requests *requests,
                                         struct correlate_input input);

void attribution_free_signals(struct busy *signals, size_t n);

/* Both logs name the threads, and `start_ns` is the run's beginning by the requests' clock. */
struct attribution attribute_directly(const struct block_requests *requests,
                                      const struct attribution_run *run, uint64_t start_ns);

/* The requests' threads are those of the pairs. `issuers`: the number of each request's issuer, as
 * in the pairs. A request that lies a little outside of a call is taken to be in it. */
struct attribution attribute_by_pairs(const struct block_requests *requests, const size_t *issuers,
                                      const struct attribution_run *run,
                                      const struct correlation *correlation);

void attribution_free(struct attribution *attribution);

/* "N requests (X MB): ..." with each cause that has any. Allocated. */
char *block_account_tell(const struct block_account *account);

#endif
