/* What limits a configuration, ranked by what is gained where it is relieved: each relief
 * (cli/sensitivity/relief.h) is simulated in pairs with the model as it is, by common random
 * numbers (cli/sensitivity/sensitivity.h). */
#ifndef PERSIK_CLI_SENSITIVITY_BOTTLENECK_H
#define PERSIK_CLI_SENSITIVITY_BOTTLENECK_H

#include "base/error.h"
#include "cli/prediction/prediction.h"
#include "cli/sensitivity/relief.h"

struct bottleneck {
    enum limit limit;
    int index;            /* of the pool or object that limits; MODEL_NONE */
    char *subject;        /* what limits: "cores", a name of the model */
    char *place;          /* in the source; empty: not known */
    char *change;         /* what relieves it: "3 cores, not 2" */
    double in_use;        /* share of the time in which it is; NAN: that says nothing */
    struct estimate gain; /* share of the running time saved, or of throughput won; half width: 99 %
                           * of the simulation's noise */
    struct estimate then; /* the running time (ns), or throughput (per second), then; half width:
                           * the model's uncertainty */
    double rank;          /* of the gain, what puts it into its place: see bottlenecks_find() */
};

struct bottlenecks {
    bool of_throughput; /* the most that can be done, of a load without an end; else running time */
    struct estimate now;      /* half width: the model's uncertainty */
    struct bottleneck *items; /* the first is what limits; what gains nothing is not among them */
    size_t count, capacity;
};

struct bottleneck_search {
    struct model *(*load)(const void *context, struct error *error); /* the model, anew */
    const void *context;
    struct sim_config config; /* as for prediction_make() */
    double precision;         /* of a gain; 0: 0.5 % */
};

/* Of a configuration that has been predicted and has figures. A load without an end is looked at
 * where it is as high as the configuration can take.
 *
 * The largest gain comes first, with one exception. Locks, permits, and room in a queue can be
 * relieved while all the work is still done; a thread, sleep or wait that takes half as long does
 * less of it. So of the gain of less work, only that part counts which is beyond the gain of a
 * limit at which the same threads wait: what is done under a lock, or faster so that nobody comes
 * upon a full queue, would else be named in its place. 0, or -1 and `error`; bottlenecks_free()
 * ends the result in any case. */
int bottlenecks_find(const struct bottleneck_search *search, const struct model *model,
                     const struct prediction *prediction, struct bottlenecks *bottlenecks,
                     struct error *error);
void bottlenecks_free(struct bottlenecks *bottlenecks);

#endif
