/* What the threads of the traced run did, in steps of the model's own kinds: what the trace is
 * lowered to, and the graph is built of. lower/ writes them, graph/ reads them. */
#ifndef PERSIK_MODELGEN_GRAPH_STEPS_H
#define PERSIK_MODELGEN_GRAPH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/model.h"

/* How much a step takes, gives, or how many it wakes. */
struct step_amount {
    double count;          /* 0: one */
    bool in_units;         /* `count` differs each time; a RELEASE gives back as many */
    bool count_per_thread; /* `count` is one part per thread of the pools' threads ... */
    bool for_others;       /* ... but the one that makes the step */
    bool settles;          /* PUT: what a successful attempt that can fail was for */
    int item_kind;         /* PUT, GET: of the item; 0: there are none */
};

/* Work on an object of the model. */
struct step_use {
    int object;
    int mutex;         /* is given up while the thread waits; MODEL_NONE: none */
    double timeout_ns; /* negative: waits for ever; 0: tries */
    union {
        struct step_amount amount; /* where step_has_amount() */
        int section;               /* STATEMENTS: of the monitor */
    };
};

/* Time that passes inside a call. */
struct step_time {
    int disk;          /* IO: object of the model; MODEL_NONE: none */
    double cpu_ns;     /* of it, what the model shall spend */
    double wait_ns;    /* off the core */
    bool by_clock;     /* SLEEP: of what the last such wait was to end at, not of now */
    double operations; /* IO: requests to the disk ... */
    int stream;        /* ... which lie close together; 0: nowhere, or not known */
    double service_ns; /* ... and how long each has the device; 0: as all requests to it ... */
    double near_ns;    /* ... behind one of the same stream; 0: there is none */
    bool ahead;        /* IO: its requests are for later; with none it waits for earlier ones */
    int stage;         /* ... of several steps of one call: which one; 0: the first */
};

struct step {
    enum node_kind kind;
    enum outcome outcome;
    enum outcome within; /* the answer that the section around it got: keeps the ways out apart */
    bool retrying;       /* the thread's last attempt that can fail did, and is not made good yet */
    uint32_t context;
    uint64_t start_ns, end_ns; /* inside the call or calls */
    uint64_t held;   /* which of the locks used at the same place the thread has: a hash; 0: none */
    uint64_t phase;  /* how far the thread is with a piece of work of equal steps; 0: it has none */
    size_t records;  /* probes since the step before, for their cost */
    size_t left_out; /* probes behind it, of what is no part of the run any more */
    union {          /* by kind; START, END and TASK_BEGIN have none of these */
        struct step_use use;   /* where step_has_use() */
        struct step_time time; /* SLEEP, IO */
        struct {
            int target_pool; /* CREATE, JOIN */
            int created; /* CREATE: how many creations it stands for that nothing lies between */
            double calls_ns; /* ... and their CPU time, which the model shall spend behind it */
        };
        int item_kind;      /* STEP: of what was just taken */
        int taking_section; /* TASK_END: of the statements that take the next one; else 0 */
    };
};

/* A step of the kind with nothing special about it: on no object yet, without a limit to its wait.
 */
struct step step_new(enum node_kind kind, uint64_t start_ns, uint64_t end_ns, uint32_t context);

/* Which part of the union is the kind's. */
static inline bool step_has_use(enum node_kind kind) {
    return kind >= NODE_LOCK && kind <= NODE_STATEMENTS;
}
static inline bool step_has_amount(enum node_kind kind) { /* besides */
    return kind == NODE_ACQUIRE || kind == NODE_RELEASE || kind == NODE_PUT || kind == NODE_GET ||
           kind == NODE_SIGNAL;
}
static inline bool step_has_time(enum node_kind kind) {
    return kind == NODE_SLEEP || kind == NODE_IO;
}

/* What any step has, whatever its kind: MODEL_NONE, -1 (for ever) and 0 where there is none. */
int step_object(const struct step *step); /* the disk, too */
int step_mutex(const struct step *step);
int step_section(const struct step *step);
int step_target_pool(const struct step *step);
int step_item_kind(const struct step *step);
int step_stage(const struct step *step);
double step_timeout_ns(const struct step *step);
struct step_amount step_amount(const struct step *step);

struct stream {
    size_t n_steps;
    struct step *steps; /* owned; START first, END last */
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
