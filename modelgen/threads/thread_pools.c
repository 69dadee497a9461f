#include "modelgen/threads/thread_pools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "formats/model.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/peak_threads.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/threads/alive_limit.h"
#include "modelgen/threads/command_numbers.h"
#include "modelgen/threads/pipeline_stages.h"
#include "modelgen/threads/task_threads.h"

struct pool_list {
    struct thread_pool *items;
    size_t count, capacity;
};

static void name_pools(struct pool_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        int same_before = 0;
        for (size_t j = 0; j < i; j++)
            same_before += strcmp(list->items[j].start_routine, list->items[i].start_routine) == 0;
        struct thread_pool *pool = &list->items[i];
        pool->name = same_before ? memory_format("%s#%d", pool->start_routine, same_before + 1)
                                 : memory_strdup(pool->start_routine);
    }
}

/* Per thread: when it was joined. The caller frees. */
static uint64_t *find_joins(const struct trace *trace) {
    uint64_t *joined_ns = memory_alloc(trace->n_threads, sizeof *joined_ns);
    for (size_t t = 0; t < trace->n_threads; t++)
        joined_ns[t] = UINT64_MAX;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_JOIN && at.event->value >= 0 &&
            (size_t)at.event->value < trace->n_threads)
            joined_ns[at.event->value] = trace_end_ns(at.event);
    return joined_ns;
}

/* The most threads of the pool that were started in one go. Who has joined one of them has begun
 * another round. */
static int largest_burst(const struct trace *trace, const struct thread_pool *pool,
                         const uint64_t *joined_ns) {
    int burst = 0, largest = 0;
    uint64_t last_ns = 0, first_join_ns = UINT64_MAX;
    for (size_t i = 0; i < pool->n_threads; i++) {
        size_t t = pool->threads[i];
        uint64_t start_ns = trace->threads[t].start_ns;
        if (burst > 0 &&
            ((double)(start_ns - last_ns) >= evidence.burst_gap_ns || start_ns >= first_join_ns)) {
            burst = 0;
            first_join_ns = UINT64_MAX;
        }
        burst++;
        first_join_ns = joined_ns[t] < first_join_ns ? joined_ns[t] : first_join_ns;
        last_ns = start_ns;
        largest = burst > largest ? burst : largest;
    }
    return largest;
}

static bool has_tasks(const struct trace *trace, const struct thread_pool *pool) {
    for (size_t i = 0; i < pool->n_threads; i++)
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[pool->threads[i]]);
             event_cursor_next(&at);)
            if (at.event->api == ROLE_task_end)
                return true;
    return false;
}

/* A pool whose threads are all started before any of it works counts in full, even when the first
 * ones end before the last ones start: they are created in one go by one thread. So do the first
 * threads of processes, as nobody of the model makes one where another has ended, but for a
 * server's, of which another takes the tasks. */
static int pool_size(const struct trace *trace, const struct thread_pool *pool,
                     const uint64_t *joined_ns) {
    if (pool->team)
        return pool->team->size;
    if (pool->creator < 0 && !has_tasks(trace, pool))
        return (int)pool->n_threads;
    int overlap = peak_threads(trace, pool->threads, pool->n_threads);
    int burst = largest_burst(trace, pool, joined_ns);
    return burst > overlap ? burst : overlap;
}

/* ---- what the source says ---- */

/* Of a pool's number of threads. */
struct told {
    const struct facts_creation *creation; /* NULL: nothing */
    const struct facts_count *count;       /* NULL: one for each thread, and no more */
    bool is_single;        /* the source makes one there, in no loop over threads that it shows */
    bool fixed;            /* it is the same whatever the thread count */
    int most, least;       /* 0: no such bound */
    double factor, offset; /* of the thread count */
};

static bool is_bounded(int least, int most) {
    return most > 0 || least > 0;
}

/* Do these calls lead to frame `f`, one from the other? */
static bool is_reached_by(const struct trace_context *context, size_t f,
                          const struct facts_count *count) {
    if (f + count->n_calls >= context->n_frames)
        return false;
    for (size_t c = 0; c < count->n_calls; c++)
        if (!source_frame_is_at(&context->frames[f + 1 + c], &count->calls[c]))
            return false;
    return true;
}

static const struct facts_count *count_of(const struct trace_context *context, size_t f,
                                          const struct facts_creation *creation) {
    const struct facts_count *best = NULL;
    for (size_t c = 0; c < creation->n_counts; c++)
        if (is_reached_by(context, f, &creation->counts[c]) &&
            (!best || creation->counts[c].n_calls > best->n_calls))
            best = &creation->counts[c];
    return best;
}

static void find_creation(const struct trace_context *context, const struct facts *facts,
                          struct told *told) {
    for (size_t c = 0; c < facts->n_creations; c++) {
        const struct facts_creation *creation = &facts->creations[c];
        if (creation->object != ON_THREAD)
            continue;
        for (size_t f = 0; f < context->n_frames; f++)
            if (source_frame_is_at(&context->frames[f], &creation->place)) {
                told->is_single |= !creation->per_thread;
                if (!creation->per_thread)
                    break;
                told->creation = creation;
                told->count = count_of(context, f, creation);
                return;
            }
    }
}

/* The thread count that a pool of this size shows. */
static double asked_for(int size, double factor, double offset) {
    return (size - offset) / factor;
}

/* Is it a whole number of threads, without bounds? */
static bool is_formula(const struct facts_count *count, int size, double offset) {
    if (!count->follows_threads || !(count->factor > 0) ||
        is_bounded(count->at_least, count->at_most))
        return false;
    double asked = asked_for(size, count->factor, offset);
    return asked >= 1 && asked == floor(asked);
}

static bool is_one_of(const struct facts_count *count, int size) {
    for (size_t i = 0; i < count->n_one_of; i++)
        if (count->one_of[i] == size)
            return true;
    return false;
}

static int largest_of(const struct facts_count *count) {
    int largest = 0;
    for (size_t i = 0; i < count->n_one_of; i++)
        largest = count->one_of[i] > largest ? count->one_of[i] : largest;
    return largest;
}

/* What the trace does not show so is not understood. "1 for one thread, else 2" is taken as 2: how
 * the work of two is done by one alone, a run with more does not show. A run with one thread does
 * not show which of the other numbers it is: at most the largest. */
static void read_count(struct told *told, const struct thread_pool *pool) {
    const struct facts_count *count = told->count;
    int size = pool->size;
    double offset = count->offset + pool->with_creator; /* which is not created */
    if (count->follows_threads && count->factor == 1 && count->offset == 0) {
        told->most = count->at_most;
        told->least = count->at_least;
    } else if (is_formula(count, size, offset)) {
        told->factor = count->factor;
        told->offset = offset;
    } else if (count->one_alone && size == 1) {
        told->most = largest_of(count);
    } else if (is_one_of(count, size)) {
        told->fixed = true;
    } else {
        told->count = NULL;
    }
}

/* For each pool. Where all numbers are fixed, a thread count that the source has as a constant is
 * among them, and nothing tells which it is. */
static struct told *ask_source(const struct trace *trace, const struct facts *facts,
                               const struct thread_pools *pools) {
    struct told *told = memory_alloc(pools->n_pools, sizeof *told);
    for (size_t i = 0; i < pools->n_pools; i++)
        told[i].factor = 1;
    bool any_follows = false;
    for (size_t i = 0; facts && i < pools->n_pools; i++) {
        const struct thread_pool *pool = &pools->pools[i];
        if (pool->creation_context == TRACE_NO_CONTEXT || pool->limit)
            continue; /* a loop that makes all of them tells how many there are in all */
        find_creation(&trace->contexts[pool->creation_context], facts, &told[i]);
        if (told[i].count)
            read_count(&told[i], pool);
        any_follows |= told[i].creation && !told[i].fixed;
    }
    for (size_t i = 0; i < pools->n_pools && !any_follows; i++)
        told[i].fixed = false;
    return told;
}

static char *numbers_text(const struct facts_count *count) {
    char *text = memory_strdup(count->one_alone ? "1 for one thread, else " : "");
    for (size_t i = 0; i < count->n_one_of; i++) {
        char *longer = memory_format("%s%s%d", text, i ? " or " : "", count->one_of[i]);
        free(text);
        text = longer;
    }
    return text;
}

static char *fixed_text(const struct told *told, int size) {
    const struct facts_count *count = told->count;
    assert(count && told->creation); /* else it is not fixed */
    char *numbers = numbers_text(count);
    char *whose = count->n_calls == 0
                      ? memory_format("%s makes", told->creation->place.function)
                      : memory_format("%s calls %s with", count->calls[count->n_calls - 1].function,
                                      count->n_calls > 1 ? count->calls[count->n_calls - 2].function
                                                         : told->creation->place.function);
    char *text =
        memory_format("always %d thread%s: %s %s", size, size == 1 ? "" : "s", whose, numbers);
    free(whose);
    free(numbers);
    return text;
}

/* ---- which pools follow --threads ---- */

/* Is `pool` more likely than `other` what --threads means? A lone helper may well compute more
 * than a whole pool. */
static bool more_likely_asked_for(const struct thread_pool *pool, const struct thread_pool *other) {
    if ((pool->size > 1) != (other->size > 1))
        return pool->size > 1;
    return pool->cpu_ns > other->cpu_ns;
}

/* Do as many live as there are tasks or clients? */
static bool follows_load(const struct thread_pool *pool) {
    return (pool->per_task && !pool->limit) || pool->per_connection;
}

/* One thread, where the source shows that one is made: no run with more would make more of them. */
static bool is_alone(const struct thread_pool *pool, const struct told *told) {
    return told->is_single && !told->creation && pool->n_threads == 1;
}

/* A pool with bounds shows the thread count only where none without does: of several, the
 * largest. MODEL_NONE: there is none. */
static int find_busiest(const struct thread_pools *pools, const struct told *told,
                        bool any_from_source) {
    int best = MODEL_NONE;
    for (size_t i = 0; i < pools->n_pools; i++) {
        const struct thread_pool *pool = &pools->pools[i];
        if (pool->creator < 0 || follows_load(pool) || is_alone(pool, &told[i]) || pool->in_tree ||
            told[i].fixed || (any_from_source && !told[i].creation))
            continue;
        bool better = best == MODEL_NONE;
        bool bounded = is_bounded(told[i].least, told[i].most);
        if (!better && bounded != is_bounded(told[best].least, told[best].most))
            better = !bounded;
        else if (!better && bounded && pool->size != pools->pools[best].size)
            better = pool->size > pools->pools[best].size;
        else if (!better)
            better = more_likely_asked_for(pool, &pools->pools[best]);
        best = better ? (int)i : best;
    }
    return best;
}

static void decide_pool(struct thread_pool *pool, const struct told *told, bool any_from_source,
                        const struct thread_pool *busiest, double asked) {
    if (follows_load(pool) || pool->in_tree)
        return;
    if (is_alone(pool, told)) {
        pool->why = "the source makes one, in no loop over a number of threads";
        return;
    }
    if (pool->limit) {
        pool->scales = asked == pool->size;
        return;
    }
    if (pool->team && told->creation)
        pool->one_thread = told->creation->one_thread;
    if (pool->team && pool->team->is_default) {
        pool->scales = true;
        pool->why = "its parallel region takes the usual number of threads";
        return;
    }
    if (pool->team && pool->size > 1 && pool->size == busiest->size) { /* no source says more */
        pool->scales = true;
        pool->why = "its parallel region asks for as many threads as the busiest pool has";
        return;
    }
    if (told->fixed)
        pool->fixed = fixed_text(told, pool->size);
    if (pool->creator < 0 || told->fixed ||
        asked_for(pool->size, told->factor, told->offset) !=
            model_bounded((int)asked, told->least, told->most) ||
        (any_from_source && !told->creation))
        return;
    pool->scales = pool == busiest || pool->size > 1;
    pool->most = pool->scales ? told->most : 0;
    pool->least = pool->scales ? told->least : 0;
    if (pool->scales) {
        pool->factor = told->factor;
        pool->offset = told->offset;
    }
    pool->divides_work = pool->scales && told->creation && told->creation->divides_work;
    pool->in_tree = pool->divides_work;
    pool->one_thread = pool->scales && told->creation ? told->creation->one_thread : NULL;
    pool->why = pool->divides_work ? "each hands a part of its work and of its threads on"
                : told->creation   ? "created in a loop over the thread count"
                : told->offset < 0 ? "the command asks for one more, which may be its creator"
                                   : "as many threads as the busiest pool";
}

/* ---- trees of threads ---- */

static const struct trace_frame *maker(const struct trace *trace, const struct thread_pool *pool) {
    const struct trace_context *calls = pool->creation_context == TRACE_NO_CONTEXT
                                            ? NULL
                                            : &trace->contexts[pool->creation_context];
    return calls && calls->n_frames > 0 ? &calls->frames[0] : NULL;
}

/* Are both made in one place for the same routine? */
static bool are_made_alike(const struct trace *trace, const struct thread_pool *a,
                           const struct thread_pool *b) {
    const struct trace_frame *x = maker(trace, a), *y = maker(trace, b);
    return x && y && x->line == y->line && strcmp(x->function, y->function) == 0 &&
           strcmp(a->start_routine, b->start_routine) == 0;
}

static bool leads_to(const struct trace_context *calls, const char *function) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (strcmp(calls->frames[f].function, function) == 0)
            return true;
    return false;
}

/* Do the pool's creators make its threads by the calls by which they were made themselves, but for
 * the function with which they begin? A wrapper that both happen to use is not enough. */
static bool are_made_by_the_same_calls(const struct trace *trace, const struct thread_pool *pool,
                                       const struct thread_pool *above) {
    if (!are_made_alike(trace, pool, above))
        return false;
    const struct trace_context *calls = &trace->contexts[pool->creation_context];
    size_t own = call_sites_own_frames(calls);
    bool same = own > 1;
    for (size_t f = 0; same && f + 1 < own; f++)
        same = leads_to(&trace->contexts[above->creation_context], calls->frames[f].function);
    return same;
}

/* Threads that make others as they were made themselves, and that no filter could show as one pool:
 * each has a pool of its own, and none of these is what --threads means. */
static void find_trees(const struct trace *trace, struct thread_pools *pools) {
    for (size_t p = 0; p < pools->n_pools; p++) {
        struct thread_pool *pool = &pools->pools[p];
        struct thread_pool *above = pool->creator < 0 ? NULL : &pools->pools[pool->creator];
        for (size_t q = 0;
             above && are_made_by_the_same_calls(trace, pool, above) && q < pools->n_pools; q++)
            pools->pools[q].in_tree |= are_made_alike(trace, pool, &pools->pools[q]);
    }
    for (size_t p = 0; p < pools->n_pools; p++)
        if (pools->pools[p].in_tree)
            pools->pools[p].why = "its threads make each other, each for a part of its work";
}

/* A thread alone may be a helper, whatever the thread count is, or the one that was made where its
 * creator works along or there are no more cores. */
static void doubt_lone_thread(const struct trace_meta *meta, struct thread_pool *pool) {
    bool is_usual = pool->team && pool->team->is_default;
    if (pool->size == 1 && !is_usual && !command_names_number(meta, 1))
        pool->uncounted = "it was one thread, and the command names no 1";
}

/* Was it made by one that works along, which the source may count, too? */
static bool is_lone_part(const struct thread_pool *pool, const struct told *told) {
    return told->creation && told->creation->divides_work && !pool->with_creator;
}

/* Programs that take no more threads than there are cores were asked for more than these. */
static void doubt_cap(const struct trace_meta *meta, struct thread_pool *pool) {
    if (pool->size > 1 && pool->size == meta->cores && !pool->team &&
        !command_names_number(meta, pool->size) && command_names_more_than(meta, pool->size))
        pool->capped = "it had as many as there were cores, and the command names a larger number";
}

/* Who is asked for N threads and works along makes N - 1: the command names no such number as the
 * pool has threads, but the next one. Not where some had ended before others began: of these there
 * were more than lived at a time. */
static void count_with_creator(const struct trace_meta *meta, const struct thread_pools *pools,
                               int busiest, struct told *told) {
    const struct thread_pool *asked = &pools->pools[busiest];
    int size = asked->size;
    if (size < 2 || asked->n_threads % (size_t)size != 0 || asked->team || asked->with_creator ||
        command_names_number(meta, size) || !command_names_number(meta, size + 1))
        return;
    for (size_t i = 0; i < pools->n_pools; i++)
        if (pools->pools[i].size == size && !pools->pools[i].with_creator)
            told[i].offset = -1;
}

/* --threads changes the pools that the source creates in a loop over the thread count; where that
 * loop also serves pools of another size (a general "create pool" function), or without source,
 * those as large as the one that computes most, of those with more than one thread if there are
 * any. */
static void decide_scaling(const struct trace *trace, const struct facts *facts,
                           struct thread_pools *pools) {
    struct told *told = ask_source(trace, facts, pools);
    bool any_from_source = false;
    for (size_t i = 0; i < pools->n_pools; i++)
        any_from_source |= told[i].creation != NULL;
    int busiest = find_busiest(pools, told, any_from_source);
    pools->guessed = !any_from_source;
    if (busiest != MODEL_NONE &&
        (pools->guessed || is_lone_part(&pools->pools[busiest], &told[busiest])))
        doubt_lone_thread(&trace->meta, &pools->pools[busiest]);
    if (busiest != MODEL_NONE && pools->guessed) {
        doubt_cap(&trace->meta, &pools->pools[busiest]);
        count_with_creator(&trace->meta, pools, busiest, told);
    }
    for (size_t i = 0; busiest != MODEL_NONE && i < pools->n_pools; i++) {
        const struct told *first = &told[busiest];
        decide_pool(&pools->pools[i], &told[i], any_from_source, &pools->pools[busiest],
                    asked_for(pools->pools[busiest].size, first->factor, first->offset));
    }
    free(told);
}

bool thread_pools_is_creators(const struct thread_pools *pools, size_t thread) {
    return thread_origin_of(pools->origins, thread).part_of >= 0;
}

bool thread_pools_follows(const struct thread_pools *pools, size_t p) {
    const struct thread_pool *pool = &pools->pools[p];
    if (!pool->scales || !is_bounded(pool->least, pool->most))
        return pool->scales;
    for (size_t i = 0; i < pools->n_pools; i++)
        if (pools->pools[i].scales && !is_bounded(pools->pools[i].least, pools->pools[i].most))
            return false;
    return true;
}

double thread_pools_count(const struct thread_pools *pools) {
    for (size_t p = 0; p < pools->n_pools; p++)
        if (thread_pools_follows(pools, p))
            return thread_pools_asked(&pools->pools[p]);
    return 1;
}

double thread_pools_asked(const struct thread_pool *pool) {
    return asked_for(pool->size, pool->factor, pool->offset);
}

/* ---- threads that are made for a task ---- */

static bool are_made_for(const struct thread_pool *pool, const enum made_for *made_for,
                         enum made_for what) {
    size_t i = 0;
    while (i < pool->n_threads && made_for[pool->threads[i]] == what)
        i++;
    return i == pool->n_threads && i > 1 && !pool->team && !pool->with_creator;
}

static void find_task_pools(const struct trace *trace, struct thread_pools *pools) {
    enum made_for *made_for = task_threads_find(trace);
    for (size_t p = 0; p < pools->n_pools; p++) {
        struct thread_pool *pool = &pools->pools[p];
        pool->per_task = are_made_for(pool, made_for, MADE_FOR_TASK);
        pool->per_connection = are_made_for(pool, made_for, MADE_FOR_CONNECTION);
        if (pool->per_task)
            pool->why = "one is made for each task: as many live as there are tasks under way";
        if (pool->per_connection)
            pool->why = "one is made for each connection: as many live as there are clients";
    }
    free(made_for);
}

/* Where no task is seen, but that so many may live at a time, each is a task. */
static void find_limits(const struct trace *trace, struct thread_pools *pools) {
    for (size_t p = 0; p < pools->n_pools; p++) {
        struct thread_pool *pool = &pools->pools[p];
        if (pool->team || pool->with_creator || pool->per_task || pool->per_connection)
            continue;
        struct alive_limit limit = alive_limit_of(trace, pool->threads, pool->n_threads);
        if (limit.most == 0)
            continue;
        pool->per_task = true;
        pool->limit = limit.object;
        pool->size = limit.most;
        pool->why = "at most so many live at a time, whatever their number in all";
    }
}

/* ---- the pools ---- */

/* The program that a thread without a creator is the first one of, by what its first recorded call
 * was made from. 0: not known. */
static uint64_t program_of(const struct trace *trace, const struct trace_thread *thread) {
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (at.event->context == TRACE_NO_CONTEXT)
            continue;
        const struct trace_context *calls = &trace->contexts[at.event->context];
        const char *module = calls->n_frames > 0 ? calls->frames[calls->n_frames - 1].module : NULL;
        if (module)
            return map_mix_text(11, module);
    }
    return 0;
}

/* Per thread: the number of its pool, were there no stages. */
static int *group_threads(const struct trace *trace, const struct teams *teams,
                          const uint32_t *places, size_t *n_groups) {
    int *group_of = memory_alloc(trace->n_threads, sizeof *group_of);
    struct map known = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        int creator = thread->creator >= 0 ? group_of[thread->creator] : -1;
        uint32_t context = thread->creation_context;
        uint64_t place = context == TRACE_NO_CONTEXT ? context : places[context];
        uint64_t key = map_mix(map_mix(5, place), (uint64_t)creator);
        key = map_mix_text(key, thread->start_routine);
        if (thread->creator < 0) /* a script's programs all begin with main */
            key = map_mix(key, program_of(trace, thread));
        const struct team *team = teams_of(teams, t);
        if (team) /* one team whatever the calls that lead to its region */
            key = map_mix(map_mix(7, (uint64_t)(team - teams->teams)), (uint64_t)creator);
        group_of[t] = map_get(&known, key, -1);
        if (group_of[t] < 0) {
            group_of[t] = (int)(*n_groups)++;
            map_put(&known, key, group_of[t]);
        }
    }
    map_free(&known);
    return group_of;
}

struct thread_pools thread_pools_find(const struct trace *trace, const struct teams *teams,
                                      const struct thread_origin *origins,
                                      const struct facts *facts, const double *thread_cpu_ns) {
    struct thread_pools pools = {.origins = origins};
    struct pool_list list = {0};
    struct map known = MAP_EMPTY;
    uint32_t *places = source_places(trace);
    size_t n_groups = 0;
    int *group_of = group_threads(trace, teams, places, &n_groups);
    int *stage_of = pipeline_stages_find(trace, places, group_of, n_groups);
    pools.pool_of = memory_alloc(trace->n_threads, sizeof(int));
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        int creator = thread->creator >= 0 ? pools.pool_of[thread->creator] : -1;
        const struct team *team = teams_of(teams, t);
        uint64_t key = map_mix(map_mix(5, (uint64_t)group_of[t]), team ? 0 : (uint64_t)stage_of[t]);
        int index = map_get(&known, key, -1);
        if (index < 0) {
            index = (int)list.count;
            map_put(&known, key, index);
            *VECTOR_ADD(&list) = (struct thread_pool){.start_routine = thread->start_routine,
                                                      .creation_context = thread->creation_context,
                                                      .creator = creator,
                                                      .team = team,
                                                      .factor = 1,
                                                      .why = "one place creates it, always alike"};
        }
        assert(list.items); /* the map knows only what is in the list */
        struct thread_pool *pool = &list.items[index];
        pool->threads = memory_resize(pool->threads, pool->n_threads + 1, sizeof(size_t));
        pool->threads[pool->n_threads++] = t;
        pool->cpu_ns += thread_cpu_ns[t];
        pool->with_creator |= thread_pools_is_creators(&pools, t);
        pools.pool_of[t] = index;
    }
    map_free(&known);
    free(group_of);
    free(stage_of);
    free(places);
    name_pools(&list);
    uint64_t *joined_ns = find_joins(trace);
    for (size_t i = 0; i < list.count; i++)
        list.items[i].size = pool_size(trace, &list.items[i], joined_ns);
    free(joined_ns);
    pools.pools = list.items;
    pools.n_pools = list.count;
    find_task_pools(trace, &pools);
    find_limits(trace, &pools);
    find_trees(trace, &pools);
    decide_scaling(trace, facts, &pools);
    return pools;
}

void thread_pools_free(struct thread_pools *pools) {
    for (size_t i = 0; i < pools->n_pools; i++) {
        free(pools->pools[i].name);
        free(pools->pools[i].fixed);
        free(pools->pools[i].threads);
    }
    free(pools->pools);
    free(pools->pool_of);
}
