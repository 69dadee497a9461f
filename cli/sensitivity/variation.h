/* A model, or the configuration that it is simulated in, with one thing changed, for a sensitivity
 * analysis: one factor at a time (Law, Simulation Modeling and Analysis, section 5.4). */
#ifndef PERSIK_CLI_SENSITIVITY_VARIATION_H
#define PERSIK_CLI_SENSITIVITY_VARIATION_H

#include <stddef.h>

#include "base/error.h"
#include "formats/model.h"
#include "simulator/simulator.h"

enum variation_kind {
    VARY_POOL_CPU,     /* all that the pool's threads compute, times `factor` */
    VARY_POOL_SLEEPS,  /* ... sleep */
    VARY_POOL_IO,      /* ... wait for devices that are no objects of the model */
    VARY_POOL_CACHE,   /* ... compute to bring back what they lost from a core's cache */
    VARY_POOL_RULE,    /* the pool's work follows its threads by `rule` */
    VARY_HOLD,         /* computing and waiting while the lock is held, times `factor` */
    VARY_AMOUNT,       /* `step` more of the object's tokens, or of room in the queue */
    VARY_SERVICE,      /* the disk's service times, times `factor` */
    VARY_BANDWIDTH,    /* the link's, times `factor` */
    VARY_ARRIVALS,     /* what arrives at the queue from outside comes `factor` times as fast */
    VARY_LEFT_OUT,     /* nobody waits for the object any more */
    VARY_WAITS_ADDED,  /* what the model leaves out is waited for as measured, see below */
    VARY_SCHEDULER,    /* CPU that switching, sleeping and waking cost, times `factor` */
    VARY_WAKE_LATENCY, /* ... and the time that it takes to wake */
    VARY_UNLOCKED,     /* the lock keeps nobody out any more; what is done under it is still done */
    VARY_UNLIMITED,    /* tokens and room in the queue never run out */
    VARY_EVEN,         /* what the pool's threads compute, and how often they go round, is each time
                        * the mean */
    VARY_CORES,        /* `step` more cores */
    VARY_THREADS,      /* `step` more threads in the pool, and in those whose size follows it */
    VARY_CORES_AND_THREADS, /* `step` more of both, in each pool that scales */
};

struct variation {
    enum variation_kind kind;
    int index;           /* of the pool or object; VARY_WAITS_ADDED: in model->waiting */
    double factor, step; /* what the kind has */
    enum partition rule;
    /* For people, owned: */
    char *subject; /* the pool's or object's name */
    char *change;  /* "CPU +10 %", "capacity 8 to 9" */
    char *place;   /* "worker (pipeline.c:120)" in the source; empty: not known */
    char *known;   /* how sure the model is of it: "rule shared, 84 %", "exact", "alike" */
};

struct variations {
    struct variation *items;
    size_t count, capacity;
};

/* All that is worth trying in this configuration, in the model's order: its demands and amounts
 * changed by `share` (at least 1, where they are counted), its costs of scheduling and of caches
 * doubled, every rule that is not certain replaced by each other one, all that is modelled only
 * alike left out, and waits that are left out put in. `base` is what the model itself predicts:
 * objects that nobody waits for there are left as they are, but for the number of their tokens.
 *
 * Waits that are left out are known only in sum: they are shared evenly among the threads of the
 * pools that are created once, at their start. End it with variations_free(). */
struct variations variations_of(const struct model *model, const int *pool_threads,
                                const struct sim_result *base, double share);
void variations_free(struct variations *variations);

void variation_free(struct variation *variation);

/* Changes the model, which must be as it was for variations_of(); nothing where the configuration
 * is what varies. -1 and `error`: it cannot be changed so. */
int variation_apply(const struct variation *variation, struct model *model, struct error *error);

/* Changes the configuration, nothing where the model is what varies: arrivals, cores, and threads,
 * `pool_threads` being config->pool_threads. */
void variation_configure(const struct variation *variation, const struct model *model,
                         struct sim_config *config, int *pool_threads);

/* "worker (pipeline.c:120)": the first place in the source that a text names, without folders.
 * Empty: it names none. The caller frees. */
char *variation_place(const char *text);

#endif
