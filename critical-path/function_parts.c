/* Between which calls threads compute in a function. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "critical-path/function_shares.h"
#include "critical-path/step_clock.h"

struct parts {
    struct map index_of; /* by what a part is of */
    struct {
        struct function_part *items;
        size_t count, capacity;
    } list;
};

static void add(struct parts *parts, const struct function_part *more) {
    if (more->all_ns == 0)
        return;
    uint64_t key = map_mix_text(1, more->thread);
    key = map_mix(map_mix(map_mix(key, more->from), more->to), more->in_call);
    int index = map_get(&parts->index_of, key, -1);
    if (index < 0) {
        map_put(&parts->index_of, key, (int)parts->list.count);
        *VECTOR_ADD(&parts->list) = *more;
        return;
    }
    parts->list.items[index].all_ns += more->all_ns;
    parts->list.items[index].function_ns += more->function_ns;
}

/* What the thread has computed since the last call that counts; it has come to `to`. */
static void add_pending(struct parts *parts, struct function_part *pending, uint32_t to) {
    pending->to = to;
    add(parts, pending);
    *pending = (struct function_part){.thread = pending->thread, .from = to};
}

static void find_parts(struct parts *parts, const struct dependencies *all,
                       const struct function_shares *shares, const bool *counts) {
    struct function_part *pending = memory_alloc(all->n_threads, sizeof *pending);
    for (size_t t = 0; t < all->n_threads; t++)
        pending[t] =
            (struct function_part){.thread = all->threads[t].name, .from = DEPENDENCIES_NONE};
    struct step_clock clock = step_clock_start(all);
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        bool at_call = step->place != DEPENDENCIES_NONE && counts[step->place];
        double lasted_ns = step_clock_lasted(&clock, i);
        double all_ns = step->kind == STEP_COMPUTE ? lasted_ns : 0;
        double function_ns = all_ns * function_share(shares, i, SHARE_LIKELY);
        if (all->threads[step->thread].is_made)
            continue;
        if (at_call && step->in_call) {
            add(parts, &(struct function_part){.thread = all->threads[step->thread].name,
                                               .from = step->place,
                                               .to = step->place,
                                               .in_call = true,
                                               .all_ns = all_ns,
                                               .function_ns = function_ns});
        } else {
            pending[step->thread].all_ns += all_ns;
            pending[step->thread].function_ns += function_ns;
        }
        if (at_call && (step->in_call || step->operation != OPERATION_NONE))
            add_pending(parts, &pending[step->thread], step->place);
    }
    for (size_t t = 0; t < all->n_threads; t++)
        add_pending(parts, &pending[t], DEPENDENCIES_NONE);
    step_clock_free(&clock);
    free(pending);
}

struct function_part *critical_path_function_parts(const struct dependencies *all,
                                                   const char *function, const bool *counts,
                                                   size_t *n) {
    struct parts parts = {.index_of = MAP_EMPTY};
    uint32_t *call_before = function_shares_calls_before(all);
    struct function_shares shares = function_shares_of(all, call_before, function);
    find_parts(&parts, all, &shares, counts);
    function_shares_free(&shares);
    free(call_before);
    map_free(&parts.index_of);
    double function_ns = 0;
    for (size_t i = 0; i < parts.list.count; i++)
        function_ns += parts.list.items[i].function_ns;
    *n = function_ns > 0 ? parts.list.count : 0;
    if (*n > 0)
        return parts.list.items;
    free(parts.list.items);
    return NULL;
}
