/* Runs a model and says what it predicts. Knows nothing of tracing.
 *
 * Discrete-event simulation of threads walking their PEGs over shared objects and cores.
 * Deterministic: the same model, configuration and seed give the same bytes, with any
 * number of workers. */
#ifndef PERSIK_SIMULATOR_SIMULATOR_H
#define PERSIK_SIMULATOR_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/model.h"

enum sim_arrivals { ARRIVALS_POISSON, ARRIVALS_CONSTANT, ARRIVALS_RECORDED };

struct sim_config {
    const int *pool_threads; /* one per model pool; 0 = the model's own number. NULL = all own */
    int cores;               /* 0 = the model's */
    uint64_t seed;
    double precision;     /* stop when the running time's (open load: response time's) 95 %
                           * half-width is below this share of its mean; 0 = 0.01, of a load
                           * without an end 0.05 */
    int min_replications; /* 0 = 3; at least 2, since one run has no interval */
    int max_replications; /* 0 = 200 */
    double max_events;    /* after so many no further replication counts, however wide the
                           * intervals still are; 0 = 3e7, a second or two */
    /* Load of every queue that has arrivals from outside, or clients: */
    double arrival_rate_hz; /* > 0: arrivals at that rate instead, at random, at constant times or
                             * with the model's own times between them */
    enum sim_arrivals arrivals; /* without a rate ARRIVALS_RECORDED alone matters: each at the time
                                 * at which it came, not at times drawn from those */
    double arrival_factor;      /* > 0: all arrivals come that many times as fast; 0: 1 */
    double requests;   /* > 0, with a rate: so many arrive at each queue, and the run ends when all
                        * are done; 0: no end */
    int clients;       /* > 0: so many clients instead (struct object) */
    double think_ns;   /* > 0: mean of their think time, exponential; 0: the model's, or none */
    bool is_saturated; /* clients who do not think, so many that one more would change nothing */
    double cpu_factor; /* > 0: of all CPU demands of nodes and edges; 0: 1 */
    double horizon_ns; /* > 0: a run is cut here (models without an end); 0 = until all end;
                        * where arrivals never end: what the run settles to, see steady.h */
    double warmup_ns;  /* statistics start here, or later where a run is to settle */
    int workers;       /* threads for the replications; 0 = 1 */
};

struct estimate {
    double mean;
    double half_width; /* of the 95 % confidence interval over replications (Student t) */
};

enum sim_regime {
    REGIME_ENDING,    /* a run that ends, or is cut */
    REGIME_STEADY,    /* goes on for ever; the figures are those that it settles to */
    REGIME_GROWING,   /* more comes than can be done: a queue grows; response times grow with it and
                       * are no figures, throughput and utilisation are what is reached */
    REGIME_UNSETTLED, /* too close to that for so many events to tell; likewise */
};

struct sim_object_result {
    struct estimate operations;  /* lock, acquire, get and put, wait, request ... per run */
    struct estimate waits;       /* of these, how many blocked */
    struct estimate wait_ns;     /* mean wait of those that blocked */
    struct estimate utilisation; /* share of time: lock held, disk busy, queue not empty, no token
                                  * left, someone waiting at the barrier or flag */
    struct estimate length;      /* queue: mean number of items; others: mean number of waiters */
    struct estimate dropped;     /* queue: arrivals from outside that found it full, per run */
    struct estimate left;        /* queue: items still there when the run ends */
    struct estimate growth_hz;   /* queue: by how many items it has grown per second */
    struct estimate unseen;      /* disk: requests per run of which the recorded run had none, see
                                  * struct object */
};

struct sim_pool_result {
    int threads;
    /* mean per thread; the parts add up to its lifetime */
    struct estimate cpu_ns, ready_ns, blocked_ns;
};

struct sim_result {
    enum sim_regime regime;
    int growing;       /* REGIME_GROWING: the queue that grows fastest; else MODEL_NONE */
    double offered_hz; /* arrivals from outside, at all queues; 0: none */
    int clients;       /* of all queues */
    int replications;
    double events;     /* node visits and clock events of all replications, for speed reporting */
    double stalls;     /* total number of times everything waited for nothing and the engine let the
                        * longest waiter go, or a lock was released by a thread that did not hold it;
                        * above 0 the model is incomplete, see `stalled_at` */
    double guessed;    /* total number of times nothing but waits whose condition is not known could
                        * end: it was taken that the longest had come true */
    double guessed_ns; /* by how much a run may be too long by that, on average: these waits took so
                        * long, and so much came behind them */
    char stalled_at[400]; /* where everything waited first: node and object of who came to wait
                           * last, and of the others */
    struct estimate run_ns;
    struct estimate tasks; /* completed per run; 0 when the model marks none */
    struct estimate throughput_hz;
    struct estimate response_ns, response_p50_ns, response_p95_ns, response_p99_ns;
    struct estimate cpu_utilisation;  /* share of all cores */
    struct estimate cpu_ns;           /* CPU used by all threads */
    struct estimate disk_utilisation; /* busiest disk; 0 without one */
    size_t n_objects, n_pools;
    struct sim_object_result *objects;
    struct sim_pool_result *pools;
};

/* The simulated run comes to no end: no fault of who asks, but of the model. */
#define SIM_STUCK (-2)

/* Simulates; 0, SIM_STUCK and `error` (of a run that should end by itself: why it does not, such as
 * 1e7 events without progress of time), or -1 and `error` (impossible configuration: cores < 1, a
 * pool with < 1 thread (unless its size follows another's and it is created later: "threads - 1
 * helpers"), a barrier with no parties; arrivals or threads that never end without a horizon). The
 * model must outlive the call only.
 * `result` is the caller's struct; sim_result_free() frees what it holds. */
int sim_predict(const struct model *model, const struct sim_config *config,
                struct sim_result *result, struct error *error);

void sim_result_free(struct sim_result *result);

/* Why a configuration has no figures, whatever a simulation of it says. */
enum sim_refusal {
    SIM_REFUSAL_NONE,
    SIM_REFUSAL_STANDSTILL,   /* model->standstill says why not even the recorded run has any */
    SIM_REFUSAL_UNPREDICTED,  /* model->unpredicted: none but the recorded one has */
    SIM_REFUSAL_OTHER_CORES,  /* model->asks_cores: with other cores it does other work */
    SIM_REFUSAL_GIVEN_TIME,   /* the pool's threads go on for given_ns, whatever they do in it */
    SIM_REFUSAL_UNKNOWN_RULE, /* of the pool's partition */
    SIM_REFUSAL_CAPPED,       /* pool->capped: it may have no more threads than there are cores */
    SIM_REFUSAL_REMADE,       /* pool->remade: what others of its threads at a time cost to make */
    SIM_REFUSAL_ONE_THREAD,   /* pool->one_thread: that one goes another way than was recorded */
};

/* Of `pool_threads` on `cores` where `own_threads` were recorded; both one per pool, resolved. The
 * last five are said `*of` a pool. */
enum sim_refusal sim_refusal_of(const struct model *model, const int *own_threads,
                                const int *pool_threads, int cores, const struct pool **of);

/* ---- one run, watched ---- */

enum sim_leaving { LEAVES_PREEMPTED, LEAVES_BLOCKED, LEAVES_ENDED, LEAVES_RUN_OVER };

/* Is told what happens in a run, in the order of time. Threads are numbered pool by pool; times are
 * ns since the run began. */
struct sim_observer {
    void *context;
    /* Once, before all else: the pool of each thread. */
    void (*begins)(void *context, int n_threads, const int *pools);
    /* The thread wants a core from now on; `waker`, a thread, made it so; MODEL_NONE: none did. */
    void (*wakes)(void *context, int thread, int waker, double at_ns);
    /* The thread had that core. */
    void (*ran)(void *context, int thread, int core, double from_ns, double to_ns,
                enum sim_leaving leaving);
    /* It came to the node, and goes on from there; waits there are in between. */
    void (*passed)(void *context, int thread, int node, double from_ns, double to_ns, bool is_yes);
    void (*ends)(void *context, double at_ns);
};

/* Simulates one run of the configuration. One that would go on for ever is cut at the model's
 * measured running time, unless the horizon says otherwise. 0, or -1 and `error`, as above. */
int sim_watch(const struct model *model, const struct sim_config *config,
              const struct sim_observer *observer, struct error *error);

#endif
