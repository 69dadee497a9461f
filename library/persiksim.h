/* libpersiksim: models of multithreaded programs, and what they do in simulation.
 *
 * A model is made by hand, call by call, or read from the model.json of `persik build-model`. It
 * has pools of threads; each thread walks its pool's graph of nodes, computes on the edges between
 * them, and waits at the nodes for objects that all threads share: locks, queues, disks, cores.
 *
 * Units: times are nanoseconds (`_ns`), rates are per second (`_hz`), utilisations shares 0 to 1.
 * Indices: pools, objects, nodes and a node's edges are numbered from 0 in the order in which they
 * were added; in a model from a file, in the order of the file.
 * Ownership: what `_new`, `_load` and `_simulate` return is the caller's, who frees it with the
 * matching `_free`. Texts and arrays that are passed in are copied.
 * Errors: functions that build return PERSIK_NONE for what cannot be, and the model remembers the
 * first such error; persik_check() and persik_simulate() tell it. So a program may build its whole
 * model and look once. Where memory runs out, the process ends with one line on standard error.
 * Threads: calls on different models and configurations may run at the same time, calls on the same
 * one may not. The library prints nothing else, reads no environment and changes no signal. */
#ifndef PERSIKSIM_H
#define PERSIKSIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERSIK_NONE (-1) /* no such pool, object, node or edge */

typedef struct persik_model persik_model;
typedef struct persik_config persik_config;
typedef struct persik_result persik_result;

typedef struct persik_error {
    char text[1024]; /* one line without its newline: what went wrong, and what to do */
} persik_error;

/* The library's, such as "0.2.0". */
const char *persik_version(void);

/* ---- distributions ---- */

/* Made by the functions below only. */
typedef struct persik_dist {
    int kind;
    double from, to;
    const double *values;
    size_t n_values;
} persik_dist;

persik_dist persik_constant(double value);
persik_dist persik_exponential(double mean);
persik_dist persik_uniform(double least, double most);
/* `n` equally likely values, drawn without replacement until all have been there: a run does the
 * work that was measured. `values` must live until the call that takes the distribution. */
persik_dist persik_values(const double *values, size_t n);

/* ---- models ---- */

/* An empty one, of a machine with so many cores, on which scheduling costs nothing. */
persik_model *persik_model_new(int cores);
/* NULL and `error`: no such file, or it makes no sense; docs/formats.md describes it. No other
 * thread may set jansson's allocator meanwhile. */
persik_model *persik_model_load(const char *path, persik_error *error);
/* 0, or -1 and `error`. The file is replaced as a whole or not at all; `persik predict --model`
 * reads it. */
int persik_model_save(persik_model *model, const char *path, persik_error *error);
/* NULL is allowed, as for the other `_free`. */
void persik_model_free(persik_model *model);

enum persik_machine {
    PERSIK_QUANTUM_NS,      /* time slice (4e6) */
    PERSIK_SWITCH_CPU_NS,   /* CPU of one switch between threads (0) */
    PERSIK_BLOCK_CPU_NS,    /* CPU of going to sleep and coming back (0) */
    PERSIK_WAKE_CPU_NS,     /* CPU of waking a thread on another core (0) */
    PERSIK_WAKE_LATENCY_NS, /* from there to running on an idle core, without CPU (0) */
};
/* 0 or -1, as are all that follow and name no index. */
int persik_set_machine(persik_model *model, enum persik_machine what, double value);

enum persik_object {
    PERSIK_MUTEX,    /* goes to whoever runs first after it was freed */
    PERSIK_RWLOCK,   /* readers first */
    PERSIK_SPINLOCK, /* waiting burns CPU */
    PERSIK_TOKENS,   /* a semaphore; `amount`: tokens at the start */
    PERSIK_QUEUE,    /* `amount`: room for so many items; 0: no bound */
    PERSIK_FLAG,     /* a signal is kept until one wait uses it */
    PERSIK_BARRIER,  /* `amount`: so many threads */
    PERSIK_DISK,     /* `amount`: requests served at once; first come, first served */
};
/* The object's index. `name`: NULL for one made up. */
int persik_add_object(persik_model *model, enum persik_object kind, const char *name,
                      double amount);
/* Of a disk: how long a request takes. */
int persik_set_service(persik_model *model, int disk, persik_dist service_ns);
/* Of a queue: items come from outside, so many in all (0: without an end). One that finds a bounded
 * queue full is dropped. */
int persik_set_arrivals(persik_model *model, int queue, persik_dist interarrival_ns, double count);
/* Of a queue: so many clients outside. Each thinks, puts in an item, waits until its task ends
 * (PERSIK_TASK_END), and begins anew. */
int persik_set_clients(persik_model *model, int queue, int clients, persik_dist think_ns);

enum persik_begin {
    PERSIK_WHEN_CREATED, /* at a PERSIK_CREATE node */
    PERSIK_AT_START,     /* when all of these have ended, so has the run */
};
/* The index of a pool of so many threads. They begin at its entry node. */
int persik_add_pool(persik_model *model, const char *name, int threads, enum persik_begin begin);
int persik_entry(const persik_model *model, int pool);

enum persik_node {
    PERSIK_STEP, /* does nothing but branch */
    PERSIK_END,  /* the thread ends; the only node without edges */
    PERSIK_LOCK, /* mutex, spinlock */
    PERSIK_UNLOCK,
    PERSIK_READ_LOCK, /* rwlock */
    PERSIK_WRITE_LOCK,
    PERSIK_RW_UNLOCK,
    PERSIK_ACQUIRE, /* tokens, so many as `count` says */
    PERSIK_RELEASE,
    PERSIK_PUT,    /* queue: waits while it is full */
    PERSIK_GET,    /* ... while it is empty; the thread works on that item's task from now on */
    PERSIK_CLOSE,  /* queue, tokens: what would wait from now on ends with PERSIK_NO */
    PERSIK_WAIT,   /* flag */
    PERSIK_SIGNAL, /* flag */
    PERSIK_BARRIER_WAIT, /* barrier */
    PERSIK_CREATE,       /* starts the threads of a pool */
    PERSIK_JOIN,         /* waits until they have ended */
    PERSIK_SLEEP,        /* for `wait_ns`, off the CPU */
    PERSIK_IO,           /* disk: `requests`, one after the other; PERSIK_NONE: for `wait_ns` */
    PERSIK_TASK_BEGIN,   /* a task is born here rather than with an item */
    PERSIK_TASK_END,     /* it is complete: counts for throughput and response time */
};
/* The node's index. `on`: the object, of PERSIK_CREATE and PERSIK_JOIN the pool, else PERSIK_NONE.
 * A node belongs to the pool from whose entry edges lead to it. */
int persik_add_node(persik_model *model, enum persik_node kind, int on, const char *name);
int persik_set_wait(persik_model *model, int node, persik_dist wait_ns);
int persik_set_requests(persik_model *model, int node, persik_dist requests);
/* Of tokens; of PERSIK_PUT the items, of PERSIK_SIGNAL the waiters. 1 unless set. */
int persik_set_count(persik_model *model, int node, double count);
/* How long a node waits at most, 0: not at all; it ends with PERSIK_NO then. */
int persik_set_timeout(persik_model *model, int node, double timeout_ns);
/* A mutex that the thread holds is given up while it waits, as with a condition variable. */
int persik_set_mutex(persik_model *model, int node, int mutex);

/* The edge's index among those of `from`. `cpu_ns`: what the thread computes on the way. Where
 * several edges leave a node, each is as likely as the others unless persik_set_probability() gives
 * it another weight. Whole numbers are dealt like cards, so that shares are met exactly. */
int persik_add_edge(persik_model *model, int from, int to, persik_dist cpu_ns);
int persik_set_probability(persik_model *model, int from, int edge, double weight);

enum persik_outcome {
    PERSIK_ANY,
    PERSIK_YES,
    PERSIK_NO, /* timed out, or closed */
};
/* The edge is only for nodes that end so. */
int persik_set_outcome(persik_model *model, int from, int edge, enum persik_outcome outcome);

/* From `head` the thread goes to `body` so many times in a row, then once to `after`; the body has
 * to lead back to `head`, which has no other edges. `split_among` PERSIK_NONE: each thread makes
 * all rounds, whatever their number. Else a pool whose threads share them: each makes `times` with
 * the number of threads that the pool was added with, and as many less as there are more. */
int persik_add_loop(persik_model *model, int head, int body, int after, persik_dist times,
                    int split_among);

/* Is the model whole? 0, or -1 and the first thing that is wrong. */
int persik_check(persik_model *model, persik_error *error);

/* What a model from a file holds. The find functions return PERSIK_NONE for an unknown name, the
 * name functions NULL for an unknown index; names are the model's. */
int persik_pools(const persik_model *model);
int persik_objects(const persik_model *model);
const char *persik_pool_name(const persik_model *model, int pool);
const char *persik_object_name(const persik_model *model, int object);
int persik_find_pool(const persik_model *model, const char *name);
int persik_find_object(const persik_model *model, const char *name);
/* How many threads the pool was recorded or added with; 0: no such pool. */
int persik_pool_threads(const persik_model *model, int pool);

/* ---- simulation ---- */

enum persik_setting {                   /* 0 or not set: */
                      PERSIK_CORES,     /* the model's */
                      PERSIK_SEED,      /* 0. The same seed, the same figures */
                      PERSIK_PRECISION, /* 0.01 (without an end 0.05): half-width over mean of the
                                         * running time, or response time, at which replications end
                                         */
                      PERSIK_MIN_REPLICATIONS, /* 3 */
                      PERSIK_MAX_REPLICATIONS, /* 200 */
                      PERSIK_MAX_EVENTS, /* 3e7: after so many no further replication begins */
                      PERSIK_HORIZON_NS, /* a run ends when its threads do. Else it is cut here */
                      PERSIK_WARMUP_NS,  /* 0: with a horizon, figures count from here on */
                      PERSIK_WORKERS, /* 1: replications at the same time; the figures are the same
                                       */
                      PERSIK_ARRIVAL_RATE_HZ, /* the model's. Else of each queue with arrivals or
                                                 clients */
                      PERSIK_REQUESTS, /* with that rate: no end. Else so many at each queue */
                      PERSIK_CLIENTS,  /* the model's. Else so many at each such queue */
                      PERSIK_THINK_NS, /* the model's. Else their mean, exponential */
                      PERSIK_ACCEPT_UNKNOWN_RULES, /* refused, see persik_simulate() */
                      PERSIK_ACCEPT_STANDSTILL,    /* likewise */
};
persik_config *persik_config_new(void);
/* 0, or -1 for an unknown setting and a value that is negative or no finite number; tells
 * persik_simulate(), too. */
int persik_config_set(persik_config *config, enum persik_setting what, double value);
/* So many threads in the pool; 0: its own number. */
int persik_config_threads(persik_config *config, int pool, int threads);
void persik_config_free(persik_config *config);

/* Replications until the answer is precise. `config` NULL: nothing set. NULL and `error`:
 * - the model is not whole, or the configuration impossible (no core, a run without an end in which
 *   nothing arrives and no horizon is set, ...);
 * - a recorded program is to have another number of threads or cores, and the recording did not
 *   tell how its work follows that: PERSIK_ACCEPT_UNKNOWN_RULES takes it for a fixed total;
 * - everything came to wait for nothing: a deadlock, or a model that lacks something, or that did
 *   when it was built and held against its recording. With
 *   PERSIK_ACCEPT_STANDSTILL who waited longest is let go, and persik_standstills() counts. */
persik_result *persik_simulate(persik_model *model, const persik_config *config,
                               persik_error *error);
void persik_result_free(persik_result *result);

typedef struct persik_estimate {
    double mean;
    double half_width; /* of the 95 % confidence interval over the replications (Student's t): the
                        * noise of the simulation, not how well the model fits a real program */
} persik_estimate;

enum persik_figure {
    PERSIK_RUN_NS,
    PERSIK_TASKS, /* completed in a run */
    PERSIK_THROUGHPUT_HZ,
    PERSIK_RESPONSE_NS, /* from a task's birth to its end */
    PERSIK_RESPONSE_P50_NS,
    PERSIK_RESPONSE_P95_NS,
    PERSIK_RESPONSE_P99_NS,
    PERSIK_CPU_UTILISATION, /* of all cores */
    PERSIK_CPU_NS,          /* of all threads */
    PERSIK_DISK_UTILISATION /* of the busiest */
};
enum persik_object_figure {
    PERSIK_OPERATIONS,  /* per run */
    PERSIK_WAITS,       /* of these, so many waited */
    PERSIK_WAIT_NS,     /* mean of those */
    PERSIK_UTILISATION, /* share of time: lock held, disk busy, queue not empty, no token left,
                         * somebody waiting at the barrier or flag */
    PERSIK_LENGTH,      /* items in a queue, waiters of others: mean */
    PERSIK_DROPPED,     /* arrivals that found the queue full, per run */
    PERSIK_LEFT         /* items in the queue at the end */
};
enum persik_pool_figure { /* mean per thread; together its lifetime */
                          PERSIK_POOL_CPU_NS,
                          PERSIK_POOL_READY_NS, /* waited for a core */
                          PERSIK_POOL_BLOCKED_NS
};
/* NaN for what there is not: an unknown index, or the response time of a growing queue. */
persik_estimate persik_figure(const persik_result *result, enum persik_figure what);
persik_estimate persik_object_figure(const persik_result *result, int object,
                                     enum persik_object_figure what);
persik_estimate persik_pool_figure(const persik_result *result, int pool,
                                   enum persik_pool_figure what);

enum persik_regime {
    PERSIK_ENDING,   /* a run that ends, or is cut */
    PERSIK_STEADY,   /* goes on for ever: figures are what it settles to */
    PERSIK_GROWING,  /* more arrives than can be done: throughput is what is reached */
    PERSIK_UNSETTLED /* too close to that to tell */
};
enum persik_regime persik_regime(const persik_result *result);
/* The queue that grows fastest, or PERSIK_NONE. */
int persik_growing_queue(const persik_result *result);
int persik_replications(const persik_result *result);
/* How often everything waited for nothing, over all replications. */
double persik_standstills(const persik_result *result);

#ifdef __cplusplus
}
#endif

#endif
