#include "modelgen/graph/lots.h"

#include <stdlib.h>

#include "base/memory.h"

/* Fewer lots may have been taken so by chance. */
#define ENOUGH_LOTS 4

/* Puts whose number of items is not the pool's number of threads do not count. False: there are
 * such, or too few. */
static bool count_lots(const struct stream_input *input, const struct farewells *farewells,
                       size_t g, int size, size_t *lots) {
    const struct guard *guard = &input->monitors->guards[g];
    *lots = 0;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        if (!farewells_puts_work(farewells, input->monitors, g, s))
            continue;
        if (guard->weight[input->monitors->class_of[s]] != size)
            return false;
        *lots += 1;
    }
    return *lots >= ENOUGH_LOTS;
}

/* Counts what each thread takes; gives the pool of all that do, or MODEL_NONE. */
static int count_taken(const struct stream_input *input, const struct farewells *farewells,
                       size_t g, size_t *taken) {
    int pool = MODEL_NONE;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        int thread = input->sections->sections[s].thread;
        if (!farewells_takes_work(farewells, input->monitors, g, s))
            continue;
        if (pool != MODEL_NONE && pool != input->pools->pool_of[thread])
            return MODEL_NONE;
        pool = input->pools->pool_of[thread];
        taken[thread]++;
    }
    return pool;
}

bool lots_are_for_all(const struct stream_input *input, const struct farewells *farewells,
                      size_t guard) {
    const struct guard *of = &input->monitors->guards[guard];
    if (of->kind != GUARD_QUEUE || of->tries)
        return false;
    size_t *taken = memory_alloc(input->trace->n_threads, sizeof *taken), lots = 0;
    int pool = count_taken(input, farewells, guard, taken);
    bool for_all = pool != MODEL_NONE && pools_follows(input->pools, (size_t)pool) &&
                   count_lots(input, farewells, guard, input->pools->pools[pool].size, &lots);
    for (size_t t = 0; t < input->trace->n_threads && for_all; t++)
        for_all = input->pools->pool_of[t] != pool || taken[t] == lots;
    free(taken);
    return for_all;
}
