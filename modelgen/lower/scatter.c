#include "modelgen/lower/scatter.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"

struct count {
    size_t put, taken;
};

/* Some never have to wait for it. */
static bool takes(const struct lower_input *input, const struct poison_pills *poison_pills,
                  size_t g, size_t section) {
    const struct explanation *guard = &input->monitors->explanations.items[g];
    int class_index = input->monitors->class_of[section];
    return poison_pills_takes_work(poison_pills, input->monitors, g, section) ||
           (guard->counter.weight[class_index] == -1 && !guard->counter.waits[class_index]);
}

/* The pool of all threads that take; MODEL_NONE: they are of several, or none does. */
static int pool_of_takers(const struct lower_input *input, const struct poison_pills *poison_pills,
                          size_t g) {
    int pool = MODEL_NONE;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        int thread = input->sections->sections[s].thread;
        if (!takes(input, poison_pills, g, s))
            continue;
        if (pool != MODEL_NONE && pool != input->pools->pool_of[thread])
            return MODEL_NONE;
        pool = input->pools->pool_of[thread];
    }
    return pool;
}

/* How many batches each thread put, and items took; per thread of the trace, the caller frees.
 * `batch` is how many items are in each; 0: they differ. */
static struct count *count_batches(const struct lower_input *input,
                                   const struct poison_pills *poison_pills, size_t g, int *batch) {
    const struct explanation *guard = &input->monitors->explanations.items[g];
    struct count *counts = memory_alloc(input->trace->n_threads, sizeof *counts);
    bool differ = false;
    *batch = 0;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        struct count *count = &counts[input->sections->sections[s].thread];
        count->taken += takes(input, poison_pills, g, s);
        if (!poison_pills_puts_work(poison_pills, input->monitors, g, s))
            continue;
        int items = guard->counter.weight[input->monitors->class_of[s]];
        differ |= *batch > 0 && *batch != items;
        *batch = items;
        count->put++;
    }
    *batch = differ ? 0 : *batch;
    return counts;
}

static size_t sum_put(const struct lower_input *input, const struct count *counts) {
    size_t put = 0;
    for (size_t t = 0; t < input->trace->n_threads; t++)
        put += counts[t].put;
    return put;
}

static bool each_takes_one(const struct lower_input *input, const struct count *counts, int pool) {
    size_t batches = sum_put(input, counts);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        if (input->pools->pool_of[t] == pool && counts[t].taken != batches)
            return false;
    return (double)batches >= evidence.times_alike;
}

/* Nobody else puts, and each of the others that live at one time with it takes one of each batch.
 */
static bool each_other_takes_one(const struct lower_input *input, const struct count *counts,
                                 int p) {
    const struct thread_pool *pool = &input->pools->pools[p];
    size_t size = (size_t)pool->size, batches = 0;
    if (pool->n_threads % size != 0)
        return false;
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct count *count = &counts[pool->threads[i]];
        const struct count *first = &counts[pool->threads[i - i % size]];
        if (i % size == 0 ? count->taken > 0 : count->put > 0 || count->taken != first->put)
            return false;
        batches += count->put;
    }
    return batches == sum_put(input, counts) && (double)batches >= evidence.times_alike;
}

/* Is the section of the source where the guard's items are waited for? */
static bool is_takers(const struct lower_input *input, size_t g,
                      const struct facts_section *section) {
    const struct monitors *monitors = input->monitors;
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->explanations.items[g].counter.waits[c] &&
            source_passes(input->trace, monitors->classes[c].context, &section->place))
            return true;
    return false;
}

static bool changes(const struct facts_section *section) {
    for (size_t i = 0; i < section->n_steps; i++)
        if (section->steps[i].kind == STEP_UPDATE)
            return true;
    return false;
}

/* Does the source show that takers change nothing of what they wait for? What is put is for
 * everyone then, and somebody takes it back later. */
static bool stays_when_taken(const struct lower_input *input, size_t g) {
    bool shown = false;
    for (size_t m = 0; input->facts && m < input->facts->n_monitors; m++) {
        const struct facts_monitor *monitor = &input->facts->monitors[m];
        for (size_t i = 0; i < monitor->n_sections; i++) {
            if (!is_takers(input, g, &monitor->sections[i]))
                continue;
            if (changes(&monitor->sections[i]))
                return false;
            shown = true;
        }
    }
    return shown;
}

enum scatter scatter_of(const struct lower_input *input, const struct poison_pills *poison_pills,
                        size_t guard) {
    const struct explanation *of = &input->monitors->explanations.items[guard];
    int pool = of->by == BY_COUNTER && of->counter.kind == GUARD_QUEUE && !of->counter.tries
                   ? pool_of_takers(input, poison_pills, guard)
                   : MODEL_NONE;
    if (pool == MODEL_NONE || !thread_pools_follows(input->pools, (size_t)pool))
        return SCATTER_NONE;
    int size = input->pools->pools[pool].size, batch;
    struct count *counts = count_batches(input, poison_pills, guard, &batch);
    enum scatter batches = SCATTER_NONE;
    /* An only thread takes one of each batch of one, whatever it is for. */
    if (batch > 0 && batch == size && each_takes_one(input, counts, pool) &&
        (size > 1 || stays_when_taken(input, guard)))
        batches = SCATTER_FOR_ALL;
    else if (batch > 0 && batch == size - 1 && each_other_takes_one(input, counts, pool) &&
             (size > 2 || stays_when_taken(input, guard))) /* of two, the other takes all */
        batches = SCATTER_FOR_OTHERS;
    free(counts);
    return batches;
}
