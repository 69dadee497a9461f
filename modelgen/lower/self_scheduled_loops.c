#include "modelgen/lower/self_scheduled_loops.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/sync/monitor.h"

/* ---- which loops ---- */

static bool pool_is_parallel(const struct thread_pool *pool) {
    return pool->scales || pool->size > 1;
}

/* The lock that a thread meets first in the loop; TRACE_NO_CONTEXT when that is another call. */
static uint32_t first_lock(const struct writer *writer, size_t thread_index, const bool *in_loop) {
    const struct trace_thread *thread = &writer->in->trace->threads[thread_index];
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
        if (at.event->context != TRACE_NO_CONTEXT && in_loop[at.event->context])
            return trace_op(at.event) == OP_LOCK ? writer_place(writer, at.event)
                                                 : TRACE_NO_CONTEXT;
    return TRACE_NO_CONTEXT;
}

struct place_counts {
    struct place_count {
        uint32_t place;
        double count;
    } * items;
    size_t count, capacity;
};

/* How often the pool's threads take each lock that a round of the loop comes to no more than once,
 * in the order in which they are met. The caller frees the items. */
static struct place_counts count_locks(const struct writer *writer, const struct thread_pool *pool,
                                       const struct facts_loop *loop, const bool *in_loop) {
    const struct trace *trace = writer->in->trace;
    struct place_counts places = {0};
    struct map index_of = MAP_EMPTY;
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            const struct trace_record *record = at.event;
            if (record->context == TRACE_NO_CONTEXT || !in_loop[record->context] ||
                trace_op(record) != OP_LOCK ||
                !source_once_a_round(trace, writer->in->facts, record->context, loop))
                continue;
            uint32_t place = writer_place(writer, record);
            int index = map_get(&index_of, place, (int)places.count);
            if (index == (int)places.count)
                *VECTOR_ADD(&places) = (struct place_count){.place = place};
            assert(places.items); /* the map knows only what is in the list */
            map_put(&index_of, place, index);
            places.items[index].count++;
        }
    }
    map_free(&index_of);
    return places;
}

/* What follows a way out of a section. */
enum { GOES_ON = 1, LEAVES = 2 };

/* Does the thread come back to the header before it leaves the loop? */
static bool goes_on(const struct writer *writer, size_t thread_index, size_t record,
                    const struct facts_loop *loop, uint32_t header) {
    const struct trace *trace = writer->in->trace;
    const struct trace_thread *thread = &trace->threads[thread_index];
    for (struct event_cursor at = event_cursor_from(thread, record + 1); event_cursor_next(&at);) {
        if (writer_place(writer, at.event) == header && trace_op(at.event) == OP_LOCK)
            return true;
        if (!source_context_in_loop(trace, at.event->context, loop))
            return false;
    }
    return false;
}

/* Does the place where the thread gives this lock back tell whether it goes on or leaves the loop?
 */
static bool tells_end(const struct writer *writer, const struct thread_pool *pool,
                      const struct facts_loop *loop, uint32_t lock) {
    struct map after = MAP_EMPTY; /* place of the unlock -> what follows */
    int all = 0;
    bool tells = true;
    for (size_t i = 0; i < pool->n_threads; i++) {
        int t = pool->threads[i];
        const struct trace_thread *thread = &writer->in->trace->threads[t];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            int section = writer->in->sections->section_of_lock[t][at.number];
            if (section < 0 || writer_place(writer, at.event) != lock)
                continue;
            const struct section *is = &writer->in->sections->sections[section];
            if (is->cut)
                continue;
            uint32_t out = writer_place(writer, &thread->records[is->unlock_record]);
            int follows = goes_on(writer, (size_t)t, at.number, loop, lock) ? GOES_ON : LEAVES;
            tells &= (map_get(&after, out, follows) & ~follows) == 0;
            map_put(&after, out, follows);
            all |= follows;
        }
    }
    map_free(&after);
    return tells && all == (GOES_ON | LEAVES);
}

/* The deciding lock of the loop: of those that a round comes to no more than once, the one that is
 * taken most often, since a round may go one way or another; of about equals, the first one after
 * which those who leave go another way, else the first. */
static uint32_t find_header(const struct writer *writer, const struct thread_pool *pool,
                            const struct facts_loop *loop, const bool *in_loop) {
    uint32_t header = TRACE_NO_CONTEXT;
    for (size_t i = 0; i < pool->n_threads && header == TRACE_NO_CONTEXT; i++)
        header = first_lock(writer, pool->threads[i], in_loop);
    if (header == TRACE_NO_CONTEXT)
        return header;
    struct place_counts places = count_locks(writer, pool, loop, in_loop);
    double most = 0;
    for (size_t i = 0; i < places.count; i++)
        most = fmax(most, places.items[i].count);
    bool told = false;
    for (size_t i = places.count; i-- > 0;) {
        if (places.items[i].count < (1 - evidence.unlike_rounds) * most)
            continue;
        bool tells = tells_end(writer, pool, loop, places.items[i].place);
        if (tells || !told)
            header = places.items[i].place;
        told |= tells;
    }
    free(places.items);
    return header;
}

static bool is_answered_no(const struct writer *writer, int section) {
    const struct monitors *monitors = writer->in->monitors;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.outcome[section] == OUTCOME_NO ||
            poison_pills_of(&writer->poison_pills, explanation_index(monitors, e),
                            (size_t)section) == POISON_PILL_TAKEN)
            return true;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_STATEMENTS, e));)
        if (e->statements.outcome[section] == OUTCOME_NO)
            return true;
    return false;
}

/* Does a guard, or a monitor's own statements, tell when to leave the loop, by a "no" to this
 * lock's section? */
static bool header_has_answer(const struct writer *writer, const struct thread_pool *pool,
                              const struct facts_loop *loop, uint32_t header) {
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &writer->in->trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            int section = writer->in->sections->section_of_lock[pool->threads[i]][at.number];
            if (section >= 0 && writer_place(writer, at.event) == header &&
                is_answered_no(writer, section) &&
                !goes_on(writer, pool->threads[i], at.number, loop, header))
                return true;
        }
    }
    return false;
}

/* How threads go round a loop, from header to header. */
struct rounds_seen {
    double rounds, visits; /* rounds that another one follows; ways into the loop */
    double round_cpu_ns;   /* of these rounds */
    double rest_cpu_ns;    /* before the first and after the last header of each visit */
};

static void count_rounds(const struct writer *writer, size_t thread_index, const bool *in_loop,
                         uint32_t header, struct rounds_seen *seen) {
    const struct trace_thread *thread = &writer->in->trace->threads[thread_index];
    const struct thread_states *timeline = &writer->in->timelines[thread_index];
    double outside_cpu = 0, last_cpu = 0; /* at the last call outside, at the last header */
    bool inside = false;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        bool here = at.event->context != TRACE_NO_CONTEXT && in_loop[at.event->context];
        double cpu = thread_states_cpu(timeline, at.event->start_ns);
        if (here && writer_place(writer, at.event) == header && trace_op(at.event) == OP_LOCK) {
            seen->rounds += inside;
            seen->round_cpu_ns += inside ? cpu - last_cpu : 0;
            seen->visits += !inside;
            seen->rest_cpu_ns += inside ? 0 : cpu - outside_cpu;
            inside = true;
            last_cpu = cpu;
        } else if (!here) {
            seen->rest_cpu_ns += inside ? cpu - last_cpu : 0;
            inside = false;
            outside_cpu = cpu;
        }
    }
    seen->rest_cpu_ns += inside ? thread_states_cpu(timeline, thread->end_ns) - last_cpu : 0;
}

static struct rounds_seen rounds_of_pool(const struct writer *writer,
                                         const struct thread_pool *pool, const bool *in_loop,
                                         uint32_t header) {
    struct rounds_seen seen = {0};
    for (size_t i = 0; i < pool->n_threads; i++)
        count_rounds(writer, pool->threads[i], in_loop, header, &seen);
    return seen;
}

/* Whether the last round works like the others, or only finds that there is no more work. What lies
 * before the first header and after the last one is then a whole round, wherever the header is. */
static bool last_round_works(const struct rounds_seen *seen) {
    return seen->rest_cpu_ns / seen->visits > seen->round_cpu_ns / seen->rounds / 2;
}

/* ---- supplies that are filled again and again ---- */

/* What the threads of a pool do with one filling. */
struct filling {
    double rounds;
    uint64_t first_ns, last_ns; /* when the first thread comes and the last one leaves */
};

struct fillings {
    struct filling *items;
    size_t count, capacity;
};

static bool is_at(const struct writer *writer, const struct trace_record *record,
                  const struct loop_entrance *entrance) {
    return record->api == entrance->api && writer_place(writer, record) == entrance->place;
}

/* The call before the loop's first one. */
static struct loop_entrance find_entrance(const struct writer *writer,
                                          const struct thread_pool *pool, const bool *in_loop) {
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &writer->in->trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_from(thread, 1); event_cursor_next(&at);) {
            const struct trace_record *before = at.event - 1;
            if (at.event->context != TRACE_NO_CONTEXT && in_loop[at.event->context])
                return (struct loop_entrance){writer_place(writer, before), (enum api)before->api};
        }
    }
    return (struct loop_entrance){.place = TRACE_NO_CONTEXT};
}

/* The thread's visit number `number`, from 1, begins. */
static void begin_visit(struct fillings *fillings, size_t number, uint64_t time_ns) {
    if (number > fillings->count)
        *VECTOR_ADD(fillings) = (struct filling){.first_ns = time_ns};
    struct filling *filling = &fillings->items[number - 1];
    filling->first_ns = time_ns < filling->first_ns ? time_ns : filling->first_ns;
    filling->last_ns = time_ns > filling->last_ns ? time_ns : filling->last_ns;
}

/* Adds what one thread does with each filling, in their order. It comes for one where it passes the
 * entrance; without one (TRACE_NO_CONTEXT), where it enters the loop. False: it also enters
 * elsewhere. */
static bool add_visits(const struct writer *writer, const struct trace_thread *thread,
                       const bool *in_loop, const struct loop_entrance *entrance, uint32_t header,
                       struct fillings *fillings, size_t *n_visits) {
    bool inside = false, by_entrance = entrance->place != TRACE_NO_CONTEXT;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        const struct trace_record *record = at.event;
        uint64_t end_ns = trace_end_ns(record);
        bool here = record->context != TRACE_NO_CONTEXT && in_loop[record->context];
        bool enters = here && !inside;
        if (by_entrance && enters && (at.number == 0 || !is_at(writer, record - 1, entrance)))
            return false;
        inside = here;
        if (by_entrance ? !here && is_at(writer, record, entrance) : enters)
            begin_visit(fillings, ++*n_visits, by_entrance ? end_ns : record->start_ns);
        if (!here)
            continue;
        if (*n_visits == 0)
            return false;
        struct filling *filling = &fillings->items[*n_visits - 1];
        if (end_ns > filling->last_ns)
            filling->last_ns = end_ns;
        filling->rounds += trace_op(record) == OP_LOCK && writer_place(writer, record) == header;
    }
    return true;
}

/* All threads come for every filling, which is as large as the one before and is used up before the
 * next one is there. */
static bool are_fillings(const struct fillings *fillings) {
    double different = 0;
    for (size_t f = 1; f < fillings->count; f++) {
        if (fillings->items[f].first_ns < fillings->items[f - 1].last_ns)
            return false;
        different += fillings->items[f].rounds != fillings->items[0].rounds;
    }
    return fillings->count >= 2 && different <= evidence.unlike_rounds * (double)fillings->count;
}

/* Rounds of each filling; 0: there are no such. */
static double find_fillings(const struct writer *writer, const struct thread_pool *pool,
                            const bool *in_loop, uint32_t header,
                            const struct loop_entrance *entrance) {
    struct fillings fillings = {0};
    bool good = true;
    for (size_t i = 0; i < pool->n_threads && good; i++) {
        size_t n_visits = 0;
        good = add_visits(writer, &writer->in->trace->threads[pool->threads[i]], in_loop, entrance,
                          header, &fillings, &n_visits) &&
               n_visits == fillings.count;
    }
    double rounds = good && are_fillings(&fillings) ? fillings.items[0].rounds : 0;
    free(fillings.items);
    return rounds;
}

/* ---- all loops ---- */

static bool is_used(const struct writer *writer, int loop) {
    for (size_t w = 0; w < writer->works.count; w++)
        if (writer->works.items[w].loop == loop)
            return true;
    return false;
}

static struct self_scheduled_loop *add_work(struct writer *writer, int l, int pool, uint32_t header,
                                            struct linear amount, char *evidence) {
    const struct facts_loop *loop = &writer->in->facts->loops[l];
    char *name =
        memory_format("work of the loop in %s (line %d)", loop->function, loop->first_line);
    if (is_used(writer, l)) {
        char *of_pool = memory_format("%s, %s", name, writer->in->pools->pools[pool].name);
        free(name);
        name = of_pool;
    }
    int object = model_add_object(writer->model, OBJECT_TOKENS, name);
    writer->model->objects[object].amount = amount;
    writer->model->objects[object].evidence = evidence;
    struct self_scheduled_loop *work = VECTOR_ADD(&writer->works);
    *work =
        (struct self_scheduled_loop){l, pool, object, header, false, {.place = TRACE_NO_CONTEXT}};
    return work;
}

/* True: the pool's threads come to the loop for a new supply again and again. */
static bool find_refilled(struct writer *writer, int l, int pool_index, const bool *in_loop,
                          uint32_t header) {
    const struct thread_pool *pool = &writer->in->pools->pools[pool_index];
    struct rounds_seen seen = rounds_of_pool(writer, pool, in_loop, header);
    bool works = seen.rounds > 0 && last_round_works(&seen);
    struct loop_entrance entrance = {.place = TRACE_NO_CONTEXT};
    if (works) { /* a thread may come and find nothing without a round */
        entrance = find_entrance(writer, pool, in_loop);
        if (entrance.place == TRACE_NO_CONTEXT)
            return false;
    }
    double rounds = find_fillings(writer, pool, in_loop, header, &entrance);
    if (!works)
        rounds -= pool->size; /* one of each thread only finds that nothing is left */
    if (rounds < 1)
        return false;
    const char *why = writer->in->facts->loops[l].why;
    struct self_scheduled_loop *work =
        add_work(writer, l, pool_index, header, model_builder_constant(rounds),
                 memory_format("%.0f rounds by %zu threads, again and again; source: %s", rounds,
                               pool->n_threads, why ? why : "shared"));
    writer->model->objects[work->object].refilled_after =
        pool->scales ? model_builder_per_thread(0, pool_index, 1)
                     : model_builder_constant(pool->size);
    work->works_at_last = works;
    work->entrance = entrance;
    return true;
}

/* True: the pool's threads go through the loop once, and share its rounds. */
static bool find_supply(struct writer *writer, int l, int pool_index, const bool *in_loop,
                        uint32_t header) {
    const struct thread_pool *pool = &writer->in->pools->pools[pool_index];
    struct rounds_seen seen = rounds_of_pool(writer, pool, in_loop, header);
    if (seen.visits > (double)pool->n_threads || seen.rounds == 0)
        return false; /* its rounds are scaled instead (edge_scaling.c) */
    /* where each round is one of the total, every thread's first takes no token */
    bool works = last_round_works(&seen);
    const char *why = writer->in->facts->loops[l].why;
    add_work(writer, l, pool_index, header,
             works && pool->scales
                 ? model_builder_per_thread(seen.rounds + seen.visits, pool_index, -1)
                 : model_builder_constant(seen.rounds),
             memory_format("%.0f rounds by %zu threads; source: %s",
                           seen.rounds + (works ? seen.visits : 0), pool->n_threads,
                           why ? why : "shared"))
        ->works_at_last = works;
    return true;
}

void self_scheduled_loops_find(struct writer *writer, bool **loop_is_tokens) {
    const struct facts *facts = writer->in->facts;
    const struct trace *trace = writer->in->trace;
    const struct thread_pools *pools = writer->in->pools;
    bool *in_loop = memory_alloc(trace->n_contexts, sizeof(bool));
    for (int l = 0; facts && l < (int)facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (loop->bound != BOUND_SHARED || !loop->has_fragments)
            continue;
        for (size_t c = 0; c < trace->n_contexts; c++)
            in_loop[c] = source_context_in_loop(trace, (uint32_t)c, loop);
        for (int p = 0; p < (int)pools->n_pools; p++) {
            const struct thread_pool *pool = &pools->pools[p];
            uint32_t header = find_header(writer, pool, loop, in_loop);
            if (pool_is_parallel(pool) && header != TRACE_NO_CONTEXT &&
                !header_has_answer(writer, pool, loop, header))
                loop_is_tokens[p][l] = find_supply(writer, l, p, in_loop, header) ||
                                       find_refilled(writer, l, p, in_loop, header);
        }
    }
    free(in_loop);
}

/* ---- the steps ---- */

static bool is_of_thread(const struct writer *writer, const struct self_scheduled_loop *work) {
    return writer->in->pools->pool_of[writer->thread] == work->pool;
}

/* Of which of the works this lock of the thread being written is the decision; -1 none. */
static int decided_by(const struct writer *writer, uint32_t context) {
    for (size_t w = 0; w < writer->works.count; w++)
        if (writer->works.items[w].header == context &&
            is_of_thread(writer, &writer->works.items[w]))
            return (int)w;
    return -1;
}

/* Of which of the works the thread being written enters the loop, or passes it by, after the
 * record; -1 none. */
static int entered_after(const struct writer *writer, const struct trace_record *record) {
    for (size_t w = 0; w < writer->works.count; w++)
        if (writer->works.items[w].entrance.place != TRACE_NO_CONTEXT &&
            is_of_thread(writer, &writer->works.items[w]) &&
            is_at(writer, record, &writer->works.items[w].entrance))
            return (int)w;
    return -1;
}

static bool is_inside(const struct writer *writer, const struct trace_record *record,
                      const struct self_scheduled_loop *work) {
    return source_context_in_loop(writer->in->trace, record->context,
                                  &writer->in->facts->loops[work->loop]);
}

/* Is the record of the thread being written in the work's loop? */
static bool is_inside_at(const struct writer *writer, size_t record,
                         const struct self_scheduled_loop *work) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    return record < thread->n_records && is_inside(writer, &thread->records[record], work);
}

/* Is the record the last one in a round of the work's loop, of the thread being written? */
static bool ends_round(const struct writer *writer, size_t record,
                       const struct self_scheduled_loop *work) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    if (record + 1 == thread->n_records)
        return true;
    const struct trace_record *next = &thread->records[record + 1];
    return !is_inside(writer, next, work) ||
           (writer_place(writer, next) == work->header && trace_op(next) == OP_LOCK);
}

static void write_attempt_at_work(struct writer *writer, size_t record, uint64_t time_ns,
                                  const struct self_scheduled_loop *work, bool succeeds) {
    struct step *step = writer_add_step(writer, NODE_ACQUIRE, record, time_ns, time_ns);
    step->use.object = work->object;
    step->use.timeout_ns = 0;
    step->outcome = succeeds ? OUTCOME_YES : OUTCOME_NO;
    writer_mark_task(writer, record, time_ns, step);
}

/* What a thread still does in the loop when nothing is left for it, it does once, and then leaves:
 * by the answer that it got, not after so many rounds. */
static size_t find_last_round_end(const struct writer *writer, size_t record,
                                  const struct self_scheduled_loop *work) {
    do {
        record++;
    } while (is_inside_at(writer, record, work));
    return record;
}

void self_scheduled_loops_decide(struct writer *writer, size_t record, uint64_t time_ns) {
    const struct self_scheduled_loop *work = &writer->works.items[writer->pending_work];
    writer->pending_work = -1;
    bool again = goes_on(writer, writer->thread, record, &writer->in->facts->loops[work->loop],
                         work->header);
    write_attempt_at_work(writer, record, time_ns, work, again);
    if (!again)
        writer->last_round_end = find_last_round_end(writer, record, work);
}

void self_scheduled_loops_enter(struct writer *writer, size_t index,
                                const struct trace_record *record) {
    int entered = entered_after(writer, record);
    if (entered < 0)
        return;
    const struct self_scheduled_loop *work = &writer->works.items[entered];
    write_attempt_at_work(writer, index, trace_end_ns(record), work,
                          is_inside_at(writer, index + 1, work));
}

void self_scheduled_loops_decide_after(struct writer *writer, size_t record) {
    if (writer->pending_work < 0 || writer->n_open > writer->n_open_around)
        return;
    const struct self_scheduled_loop *work = &writer->works.items[writer->pending_work];
    const struct trace_record *last = &writer->in->trace->threads[writer->thread].records[record];
    if (work->works_at_last && ends_round(writer, record, work))
        self_scheduled_loops_decide(writer, record, trace_end_ns(last));
}

void self_scheduled_loops_begin_round(struct writer *writer, const struct trace_record *record) {
    int decided = decided_by(writer, writer_place(writer, record));
    writer->pending_work = decided;
    writer->n_open_around = writer->n_open;
    if (decided < 0 || !writer->works.items[decided].works_at_last || writer->in_task ||
        !writer_does_tasks(writer))
        return;
    writer->in_task = true; /* the first one, which no decision begins: it has a node of its own */
    uint64_t begin = writer->list.items[writer->list.count - 1].end_ns;
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    writer_add_step(writer, NODE_TASK_BEGIN, none, begin, begin);
}
