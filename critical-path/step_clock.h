/* How long each step lasted, for who goes through all steps in their order. Private to this room.
 */
#ifndef PERSIK_CRITICAL_PATH_STEP_CLOCK_H
#define PERSIK_CRITICAL_PATH_STEP_CLOCK_H

#include <stdlib.h>

#include "base/memory.h"
#include "formats/dependencies.h"

struct step_clock {
    const struct dependencies *all;
    uint64_t *now_ns; /* per thread */
};

static inline struct step_clock step_clock_start(const struct dependencies *all) {
    struct step_clock clock = {all, memory_alloc(all->n_threads, sizeof *clock.now_ns)};
    for (size_t t = 0; t < all->n_threads; t++)
        clock.now_ns[t] = all->threads[t].start_ns;
    return clock;
}

/* Of each step, the next one, from the first on. */
static inline double step_clock_lasted(struct step_clock *clock, size_t step) {
    const struct dependency_step *is = &clock->all->steps[step];
    double lasted_ns = (double)(is->end_ns - clock->now_ns[is->thread]);
    clock->now_ns[is->thread] = is->end_ns;
    return lasted_ns;
}

static inline void step_clock_free(struct step_clock *clock) {
    free(clock->now_ns);
}

#endif
