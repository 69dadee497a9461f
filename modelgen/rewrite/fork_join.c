#include "modelgen/rewrite/fork_join.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"

/* Each takes a look at all records. */
#define MOST_MUTEXES 32

/* What a thread does with the mutex in its hands: its records [first, last). */
struct visit {
    size_t first, last;
    size_t waits, signals; /* of it, and of signals right behind it */
};

struct visits {
    struct visit *items;
    size_t count, capacity;
};

static struct visits find_visits(const struct trace_thread *thread, uint64_t mutex) {
    struct visits visits = {0};
    struct visit *open = NULL, *done = NULL;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        bool signals = trace_is_condition_signal(record);
        if (record->object == mutex && trace_is_lock(record)) {
            open = VECTOR_ADD(&visits);
            *open = (struct visit){.first = r, .last = r + 1};
            done = NULL;
        } else if (open) {
            open->last = r + 1;
            open->waits += trace_is_condition_wait(record);
            open->signals += signals;
            if (record->object == mutex && trace_op(record) == OP_UNLOCK) {
                done = open;
                open = NULL;
            }
        } else if (done && signals) {
            done->signals++;
            done->last = r + 1;
        } else {
            done = NULL;
        }
    }
    return visits;
}

static uint64_t begin_ns(const struct trace_thread *thread, const struct visit *visit) {
    return thread->records[visit->first].start_ns;
}

static uint64_t end_ns(const struct trace_thread *thread, const struct visit *visit) {
    return trace_end_ns(&thread->records[visit->last - 1]);
}

/* Does the creator tell and then wait, by turns, and does its last visit, if it is one more, tell?
 */
static bool opens_and_ends(const struct visits *visits) {
    size_t waits = 0;
    for (size_t v = 0; v < visits->count; v++) {
        const struct visit *visit = &visits->items[v];
        bool opens = v % 2 == 0;
        if (opens ? visit->signals == 0 || visit->waits > 0 : visit->signals > 0)
            return false;
        waits += visit->waits > 0;
    }
    return (double)visits->count >= 2 * evidence.times_alike && waits > 0;
}

/* Does the member wait for each round, do its part, and tell, while the creator leaves it the time
 * to? */
static bool follows(const struct trace_thread *member, const struct visits *visits,
                    const struct trace_thread *creator, const struct visits *theirs) {
    if (visits->count != theirs->count)
        return false;
    for (size_t v = 0; v < visits->count; v++) {
        const struct visit *own = &visits->items[v], *other = &theirs->items[v];
        bool opens = v % 2 == 0;
        if (opens ? own->signals > 0 || end_ns(member, own) < begin_ns(creator, other)
                  : own->waits > 0 || begin_ns(member, own) > end_ns(creator, other))
            return false;
    }
    return true;
}

static bool is_shorter(const struct command_calls *calls, const struct command_calls *than) {
    return than->count == 0 || calls->count < than->count;
}

/* The visits that are like all others: with one wait, or with no more than it takes. */
static void find_patterns(const struct trace_thread *member, const struct visits *visits,
                          struct creator_commands *commands) {
    for (size_t v = 0; v < visits->count; v++) {
        const struct visit *visit = &visits->items[v];
        struct command_calls calls = {&member->records[visit->first], visit->last - visit->first};
        bool is_end = v + 1 == visits->count && visits->count % 2 == 1;
        struct command_calls *done = visit->signals ? &commands->done_last : &commands->done;
        if (v % 2 == 1) {
            *done = is_shorter(&calls, done) ? calls : *done;
        } else if (visit->waits == 1 && is_end) {
            commands->end = calls;
        } else if (visit->waits == 1) {
            commands->take = calls;
        }
    }
}

static double part_ns(const struct trace_thread *thread, const struct visits *visits) {
    double ns = 0;
    for (size_t v = 0; v + 1 < visits->count; v += 2)
        ns += (double)(begin_ns(thread, &visits->items[v + 1]) - end_ns(thread, &visits->items[v]));
    return ns;
}

static void find_intervals(const struct trace_thread *creator, const struct visits *visits,
                           struct creator_commands *commands) {
    for (size_t v = 0; v + 1 < visits->count; v += 2) {
        const struct visit *open = &visits->items[v], *end = &visits->items[v + 1];
        struct command_calls await = {&creator->records[end->first], end->last - end->first};
        if (end->waits == 1 && is_shorter(&await, &commands->await))
            commands->await = await;
        *VECTOR_ADD(commands) = (struct creator_command){.first = open->last,
                                                         .last = end->first,
                                                         .begin_ns = end_ns(creator, open),
                                                         .end_ns = begin_ns(creator, end),
                                                         .after = end->last,
                                                         .on_ns = end_ns(creator, end),
                                                         .is_last = end->waits == 0};
    }
}

/* Is this a mutex of that kind? Then the pieces are those between opening and waiting. */
static bool find_at(const struct trace *trace, size_t creator, const size_t *members,
                    size_t n_members, uint64_t mutex, struct creator_commands *commands) {
    const struct trace_thread *thread = &trace->threads[creator];
    struct visits own = find_visits(thread, mutex);
    bool found = opens_and_ends(&own);
    double their_ns = 0;
    for (size_t m = 0; m < n_members && found; m++) {
        const struct trace_thread *member = &trace->threads[members[m]];
        struct visits visits = find_visits(member, mutex);
        found = follows(member, &visits, thread, &own);
        if (found) {
            find_patterns(member, &visits, commands);
            their_ns += part_ns(member, &visits);
        }
        free(visits.items);
    }
    bool has_end = commands->end.count > 0 || own.count % 2 == 0;
    found = found && has_end && commands->take.count > 0 && commands->done_last.count > 0 &&
            part_ns(thread, &own) >= evidence.creator_part * their_ns / (double)n_members;
    if (found)
        find_intervals(thread, &own, commands);
    if (found && commands->done.count == 0)
        commands->done = commands->done_last; /* each tells */
    found = found && commands->await.count > 0;
    if (!found) {
        free(commands->items);
        *commands = (struct creator_commands){0};
    }
    free(own.items);
    return found;
}

void fork_join_find(const struct trace *trace, size_t creator, const size_t *members,
                    size_t n_members, struct creator_commands *commands) {
    const struct trace_thread *thread = &trace->threads[creator];
    struct map tried = MAP_EMPTY;
    size_t n_tried = 0;
    bool found = false;
    for (size_t r = 0; r < thread->n_records && !found && n_tried < MOST_MUTEXES; r++) {
        const struct trace_record *record = &thread->records[r];
        if (!trace_is_lock(record) || map_get(&tried, record->object, -1) >= 0)
            continue;
        map_put(&tried, record->object, 1);
        n_tried++;
        found = find_at(trace, creator, members, n_members, record->object, commands);
    }
    map_free(&tried);
}
