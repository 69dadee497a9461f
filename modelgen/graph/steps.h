/* What the threads of the traced run did, in steps of the model's own kinds: what the trace is
 * lowered to, and the graph is built of. */
#ifndef PERSIK_MODELGEN_GRAPH_STEPS_H
#define PERSIK_MODELGEN_GRAPH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/model.h"

struct step {
    uint64_t start_ns, end_ns; /* inside the call or calls */
    enum node_kind kind;
    int object, mutex; /* model objects or MODEL_NONE */
    int target_pool;
    int section; /* STATEMENTS: of its monitor */
    double count, timeout_ns;
    bool in_units;         /* of tokens: `count` differs each time; a RELEASE gives back as many */
    bool count_per_thread; /* count is one part per thread of the pools' threads ... */
    bool for_others;       /* ... but the one that makes the step */
    uint32_t context;
    enum outcome outcome;
    enum outcome within; /* the answer that the section around it got: keeps the ways out apart */
    bool retrying;       /* the thread's last attempt that can fail did, and is not made good yet */
    bool settles;        /* puts what a successful attempt that can fail was for */
    uint64_t held;  /* which of the locks used at the same place the thread has: a hash; 0: none */
    uint64_t phase; /* how far the thread is with a piece of work of equal steps; 0: it has none */
    int item_kind;  /* PUT: of what it puts; STEP: of what was just taken; 0: there are none */
    double cpu_ns;  /* inside the call, when the model shall spend it */
    double wait_ns; /* SLEEP, IO */
    double operations; /* IO on a disk */
    size_t records;    /* probes since the step before, for their cost */
};

struct stream {
    size_t n_steps;
    struct step *steps; /* owned; START first, END last when the end was seen */
};

/* What building the streams found out besides. */
struct stream_result {
    struct stream *streams; /* one per thread */
    size_t n_pools;
    /* per pool and facts loop: whether its rounds became tokens of shared work */
    bool **loop_is_tokens;
    /* facts loops whose end an object's answer decides: a queue that is closed and empty */
    bool *loop_has_answer;
};

void streams_free(struct stream_result *result, size_t n_threads);

#endif
