#include "modelgen/scaling/pool_source.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"

static bool is_analysed(const struct facts *facts, const struct trace_context *calls) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (source_is_analysed(facts, calls->frames[f].file))
            return true;
    return false;
}

bool pool_source_is_analysed(const struct trace *trace, const struct facts *facts,
                             const struct thread_pool *pool) {
    bool calls = false;
    for (size_t i = 0; facts && i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            if (at.event->context == TRACE_NO_CONTEXT || trace_is_page_fault(at.event))
                continue;
            const struct trace_context *context = &trace->contexts[at.event->context];
            calls |= call_sites_own_frames(context) > 0; /* the library's only hand over a result */
            if (is_analysed(facts, context))
                return true;
        }
    }
    return facts && !calls && pool->creation_context != TRACE_NO_CONTEXT &&
           is_analysed(facts, &trace->contexts[pool->creation_context]);
}

static bool is_in_loop(const struct trace *trace, const struct facts *facts, uint32_t context) {
    for (size_t l = 0; l < facts->n_loops; l++)
        if (source_context_in_loop(trace, context, &facts->loops[l]))
            return true;
    return false;
}

bool pool_source_shows_loops(const struct trace *trace, const struct facts *facts,
                             const struct thread_pool *pool) {
    double repeated = 0, known = 0;
    size_t *times = memory_alloc(trace->n_contexts, sizeof *times);
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
            if (at.event->context != TRACE_NO_CONTEXT && !trace_is_nap(at.event) &&
                !trace_is_page_fault(at.event))
                times[at.event->context]++;
    }
    for (size_t c = 0; c < trace->n_contexts; c++) {
        if ((double)times[c] < evidence.times_alike * (double)pool->n_threads)
            continue;
        repeated += (double)times[c];
        known += is_in_loop(trace, facts, (uint32_t)c) ? (double)times[c] : 0;
    }
    free(times);
    return known >= evidence.majority * repeated;
}

const struct facts_loop *pool_source_undecided_creation(const struct trace *trace,
                                                        const struct facts *facts,
                                                        const struct thread_pool *pool) {
    for (size_t l = 0; facts && l < facts->n_loops; l++)
        if (facts->loops[l].bound == BOUND_UNKNOWN && !facts->loops[l].waits &&
            pool->creation_context != TRACE_NO_CONTEXT &&
            source_context_in_loop(trace, pool->creation_context, &facts->loops[l]))
            return &facts->loops[l];
    return NULL;
}

const struct facts_loop *pool_source_fixed_creation(const struct trace *trace,
                                                    const struct facts *facts,
                                                    const struct thread_pool *pool) {
    const struct facts_loop *innermost = NULL;
    bool made_anew = pool->n_threads > (size_t)pool->size && !pool->team && !pool->divides_work &&
                     pool->creation_context != TRACE_NO_CONTEXT;
    for (size_t l = 0; facts && made_anew && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (!source_context_in_loop(trace, pool->creation_context, loop))
            continue;
        if (loop->bound != BOUND_FIXED)
            return NULL;
        if (!innermost || loop->first_line > innermost->first_line)
            innermost = loop;
    }
    return innermost;
}

bool pool_source_creator_waits(const struct trace *trace, const struct thread_pool *pool,
                               const struct facts_loop *loop) {
    int creator = trace->threads[pool->threads[0]].creator;
    if (creator < 0 || (size_t)creator >= trace->n_threads)
        return false;
    for (struct event_cursor at = event_cursor_of_thread(&trace->threads[creator]);
         event_cursor_next(&at);)
        if (at.event->flags & TRACE_WAITED && trace_op(at.event) != OP_CREATE &&
            at.event->context != TRACE_NO_CONTEXT &&
            source_context_in_loop(trace, at.event->context, loop))
            return true;
    return false;
}

/* Locks of other objects are of other data: a library's loop has one queue for each of its pools.
 * Who takes the same one elsewhere, for what the rounds call, does not go round for it: a task may
 * hand on to another pool. */
struct loop_visitors pool_source_visitors(const struct trace *trace,
                                          const struct thread_pools *pools, int pool,
                                          const struct facts_loop *loop) {
    struct loop_visitors visitors = {.other = MODEL_NONE};
    uint32_t *places = source_places_within(trace, 1);
    struct map locks = MAP_EMPTY; /* of the pool's, and where it takes them */
    for (int others = 0; others < 2; others++)
        for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
            int visitor = pools->pool_of[at.thread];
            bool is_asked =
                others ? visitor != pool && visitor != MODEL_NONE && !pools->pools[visitor].scales
                       : visitor == pool;
            if (!is_asked || !trace_is_lock(at.event) ||
                !source_context_in_loop(trace, at.event->context, loop))
                continue;
            uint64_t lock = map_mix(map_mix(11, at.event->object), places[at.event->context]);
            if (!others) {
                map_put(&locks, lock, 1);
                visitors.own++;
            } else if (map_get(&locks, lock, 0)) {
                visitors.others++;
                visitors.other = visitor;
            }
        }
    map_free(&locks);
    free(places);
    return visitors;
}
