#include "modelgen/lower/object_selection.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"

static struct linear pattern_amount(const struct writer *writer,
                                    const struct explanation *pattern) {
    size_t n_threads = writer->in->trace->n_threads;
    bool *comes = memory_alloc(n_threads, sizeof *comes);
    for (size_t t = 0; t < n_threads; t++)
        comes[t] = pattern_first(writer->in->monitors, &pattern->pattern, t, ACT_ARRIVE) !=
                   PATTERN_NO_SECTION;
    struct linear result = objects_parties(writer, comes, pattern->pattern.parties);
    free(comes);
    return result;
}

/* Is whoever passes heard by all who wait, by a broadcast on the one condition that they share? */
static bool passes_by_broadcast(const struct writer *writer, const struct explanation *pattern) {
    const struct sections *sections = writer->in->sections;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (!(pattern->pattern.acts[s] & ACT_PASS))
            continue;
        for (size_t i = 0; i < section->n_signals; i++) {
            const struct section_signal *signal = &sections->signals[section->first_signal + i];
            if (signal->broadcast && sections->objects[signal->condition].alone)
                return true;
        }
    }
    return false;
}

/* The pool whose threads passed first in the order of their creation, all of them and nobody else:
 * the program has numbered them. MODEL_NONE: there is none. */
static int dealt_pool(const struct writer *writer, const struct explanation *pattern) {
    const struct thread_pools *pools = writer->in->pools;
    int pool = MODEL_NONE, passed = 0;
    uint64_t last_ns = 0;
    for (size_t t = 0; t < writer->in->trace->n_threads; t++) {
        size_t first = pattern_first(writer->in->monitors, &pattern->pattern, t, ACT_PASS);
        if (first == PATTERN_NO_SECTION)
            continue;
        uint64_t pass_ns = writer->in->sections->sections[first].release_ns;
        if (pass_ns < last_ns || (pool != MODEL_NONE && pools->pool_of[t] != pool))
            return MODEL_NONE;
        pool = pools->pool_of[t];
        last_ns = pass_ns;
        passed++;
    }
    return passed > 1 && passed == pools->pools[pool].size ? pool : MODEL_NONE;
}

int objects_pattern(struct writer *writer, struct explanation *pattern) {
    if (pattern->object != MODEL_NONE)
        return pattern->object;
    enum object_kind kind = pattern->pattern.kind == HAND_MADE_BARRIER  ? OBJECT_BARRIER
                            : pattern->pattern.kind == HAND_MADE_RWLOCK ? OBJECT_RWLOCK
                                                                        : OBJECT_ORDER;
    pattern->object = model_add_object(
        writer->model, kind,
        objects_name(writer, pattern->mutex, hand_made_kind_name(pattern->pattern.kind)));
    struct object *object = &writer->model->objects[pattern->object];
    if (kind == OBJECT_BARRIER)
        object->amount = pattern_amount(writer, pattern);
    object->writers_first = pattern->pattern.writers_first;
    object->in_steps = pattern->pattern.in_steps;
    object->distance = pattern->pattern.distance;
    object->lead = pattern->pattern.lead;
    object->in_rounds = pattern->pattern.in_rounds;
    object->in_groups = pattern->pattern.in_groups;
    object->led_cpu_ns = pattern->pattern.led_cpu_ns;
    if (pattern->pattern.draws_when_passing)
        object->dealt_to = dealt_pool(writer, pattern);
    bool is_own = pattern->pattern.in_steps && !pattern_has_pieces(&pattern->pattern);
    object->condition = /* where each number has its own one few wait on it */
        kind != OBJECT_RWLOCK && !is_own && writer->in->sections->objects[pattern->mutex].of_libc;
    object->wakes_all = kind == OBJECT_ORDER && passes_by_broadcast(writer, pattern);
    object->evidence =
        memory_format("replayed: %.0f sections, %.0f waited, %.0f violations",
                      pattern->tally.decisions, pattern->tally.waited, pattern->tally.violations);
    return pattern->object;
}
