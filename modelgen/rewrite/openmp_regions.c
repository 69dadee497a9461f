#include "modelgen/rewrite/openmp_regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/notes.h"

/* How many forks may lie between a region's fork and a member's entering it. */
#define MATCH_LIMIT 64

/* A thread forks a team. */
static bool is_fork(const struct trace_record *record) {
    return trace_op(record) == OP_FORK && !(record->flags & (TRACE_ENTERS | TRACE_LEAVES));
}

bool regions_is_task(const struct trace_record *record) {
    return trace_op(record) == OP_TASK && record->flags & TRACE_ENTERS;
}

/* ---- who ran which part of what ---- */

static void add_part(struct regions *regions, struct member_interval part, size_t fork) {
    if (fork != SIZE_MAX && !part.inside)
        *VECTOR_ADD(&regions->executions) = (struct execution){
            .thread = part.thread, .fork = fork, .part = regions->intervals.count, .team = -1};
    *VECTOR_ADD(&regions->intervals) = part;
}

/* Does the thread fork a team of one, as the program says, and not because it says nothing and
 * teams inside of others have one thread? */
static bool asks_for_one(const struct trace_record *record) {
    return is_fork(record) && record->value == 1;
}

/* True: regions inside others. */
static bool find_parts_of(struct regions *regions, size_t t) {
    const struct trace_thread *thread = &regions->trace->threads[t];
    /* Only libgomp's threads come into a region that they have not forked. */
    regions->is_worker[t] = thread->n_records > 0 && thread->records[0].flags & TRACE_ENTERS;
    size_t fork = SIZE_MAX, enter = 0;
    int depth = 0;
    bool nested = false, nests = false;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        if (depth == 0 && is_fork(record))
            fork = r;
        nests |= depth > 0 && asks_for_one(record);
        if (record->flags & TRACE_ENTERS && !regions_is_task(record)) {
            nested |= depth > 0 && record->value > 1;
            nests = depth > 0 && (nests || record->value > 1);
            if (depth++ == 0)
                enter = r;
        }
        bool leaves = record->flags & TRACE_LEAVES && !(record->flags & TRACE_FAILED);
        if (leaves && depth > 0 && --depth == 0) {
            add_part(
                regions,
                (struct member_interval){.thread = t, .enter = enter, .leave = r, .nests = nests},
                fork);
            fork = SIZE_MAX;
        }
    }
    return nested;
}

static int compare_executions(const void *a, const void *b) {
    const struct execution *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->fork > y->fork) - (x->fork < y->fork);
}

/* The execution that a part of another thread belongs to: the latest one of its region forked
 * before; NULL none. Executions of one thread are in the order of time. */
static struct execution *find_execution(struct regions *regions,
                                        const struct member_interval *part) {
    const struct trace_record *enter = regions_record(regions, part->thread, part->enter);
    struct execution *best = NULL;
    uint64_t best_ns = 0;
    for (size_t low = 0; low < regions->executions.count;) {
        struct execution *first = &regions->executions.items[low];
        size_t high = low; /* the executions of one thread: [low, high) */
        size_t begun = low;
        for (size_t step = regions->executions.count; step > 0; step /= 2)
            while (high + step <= regions->executions.count &&
                   regions->executions.items[high + step - 1].thread == first->thread)
                high += step;
        for (size_t step = high - low; step > 0; step /= 2)
            while (begun + step <= high &&
                   regions_record(regions, first->thread,
                                  regions->executions.items[begun + step - 1].fork)
                           ->start_ns <= enter->start_ns)
                begun += step;
        for (size_t tries = 0; begun > low && tries < MATCH_LIMIT; tries++) {
            struct execution *execution = &regions->executions.items[--begun];
            const struct member_interval *own = &regions->intervals.items[execution->part];
            const struct trace_record *fork =
                regions_record(regions, execution->thread, execution->fork);
            if (regions_record(regions, own->thread, own->enter)->object != enter->object)
                continue;
            if (!best || fork->start_ns > best_ns) {
                best = execution;
                best_ns = fork->start_ns;
            }
            break;
        }
        low = high;
    }
    return best;
}

static void find_members(struct regions *regions) {
    if (regions->executions.count)
        qsort(regions->executions.items, regions->executions.count,
              sizeof *regions->executions.items, compare_executions);
    bool *owned = memory_alloc(regions->intervals.count, sizeof *owned);
    for (size_t e = 0; e < regions->executions.count; e++) {
        struct execution *execution = &regions->executions.items[e];
        owned[execution->part] = true;
        *VECTOR_ADD(&execution->members) = regions->intervals.items[execution->part];
    }
    for (size_t p = 0; p < regions->intervals.count; p++) {
        struct execution *execution =
            owned[p] ? NULL : find_execution(regions, &regions->intervals.items[p]);
        if (!execution)
            continue;
        regions->is_worker[regions->intervals.items[p].thread] = true;
        *VECTOR_ADD(&execution->members) = regions->intervals.items[p];
    }
    free(owned);
}

/* ---- teams ---- */

static const char *function_of(const struct regions *regions, const struct trace_record *enter) {
    if (enter->context == TRACE_NO_CONTEXT ||
        regions->trace->contexts[enter->context].n_frames == 0)
        return "parallel region";
    return regions->trace->contexts[enter->context].frames[0].function;
}

static int find_team(struct regions *regions, const char *function, int size) {
    for (size_t i = 0; i < regions->teams.count; i++)
        if (regions->teams.items[i].size == size &&
            strcmp(regions->teams.items[i].function, function) == 0)
            return (int)i;
    *VECTOR_ADD(&regions->teams) = (struct team){.function = function, .size = size};
    return (int)regions->teams.count - 1;
}

/* A region run by one thread where other executions have more (an if clause said no) is no team. */
static void find_teams(struct regions *regions) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t e = 0; e < regions->executions.count; e++) {
            struct execution *execution = &regions->executions.items[e];
            const struct member_interval *own = &regions->intervals.items[execution->part];
            const char *function =
                function_of(regions, regions_record(regions, own->thread, own->enter));
            int size = (int)execution->members.count;
            bool larger = false;
            for (size_t i = 0; i < regions->teams.count; i++)
                larger |= regions->teams.items[i].size > 1 &&
                          strcmp(regions->teams.items[i].function, function) == 0;
            if (regions->is_worker[execution->thread] || (size == 1 && (pass == 0 || larger)) ||
                (size > 1 && pass == 1))
                continue;
            execution->team = find_team(regions, function, size);
            struct team *team = &regions->teams.items[execution->team];
            team->is_default |=
                regions_record(regions, execution->thread, execution->fork)->value == 0;
            for (size_t m = 0; m < execution->members.count; m++)
                team->nests |= execution->members.items[m].nests;
        }
    regions->forks = memory_alloc(regions->teams.count, sizeof *regions->forks);
    for (size_t e = 0; e < regions->executions.count; e++)
        if (regions->executions.items[e].team >= 0)
            regions->forks[regions->executions.items[e].team]++;
}

struct regions regions_find(const struct trace *trace, struct model *model) {
    struct regions regions = {.trace = trace,
                              .is_worker = memory_alloc(trace->n_threads, sizeof(bool))};
    bool nested = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        nested |= find_parts_of(&regions, t);
    if (nested)
        notes_add(model, "parallel regions inside others: only the part of the member that forks "
                         "them is modelled");
    find_members(&regions);
    find_teams(&regions);
    return regions;
}

void regions_free(struct regions *regions) {
    for (size_t e = 0; e < regions->executions.count; e++)
        free(regions->executions.items[e].members.items);
    free(regions->executions.items);
    free(regions->intervals.items);
    free(regions->forks);
    free(regions->is_worker);
}
