#include "modelgen/sync/rwlock_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/operation_classes.h"

#define SITE_LIMIT 8 /* call sites that lock a read-write lock */

struct lock_sites {
    const struct section_class *items[SITE_LIMIT];
    int count;
};

static int site_of(struct lock_sites *sites, const struct section_class *class, bool add) {
    for (int i = 0; i < sites->count; i++)
        if (class_is_same_operation(sites->items[i], class))
            return i;
    if (!add || sites->count == SITE_LIMIT)
        return -1;
    sites->items[sites->count] = class;
    return sites->count++;
}

enum lock_event_kind { LOCK_WAITS, LOCK_PASSES, LOCK_FREED };

struct lock_event {
    uint64_t time_ns;
    size_t section;
    int site; /* of the locking */
    enum lock_event_kind kind;
};

struct lock_events {
    struct lock_event *items;
    size_t count, capacity;
};

static int compare_lock_events(const void *a, const void *b) {
    const struct lock_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* False when the sections are no pairs of locking and unlocking call sites. */
static bool pair_sections(const struct finder *finder, struct lock_sites *locks,
                          struct lock_events *events) {
    int *held = memory_alloc(finder->trace->n_threads, sizeof *held); /* site + 1 */
    struct lock_sites unlocks = {0};
    bool good = true;
    for (size_t i = 0; i < finder->history.count && good; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        const struct section_class *class = class_at(finder, index);
        if (held[section->thread]) {
            *VECTOR_ADD(events) = (struct lock_event){section->release_ns, index,
                                                      held[section->thread] - 1, LOCK_FREED};
            held[section->thread] = 0;
            good = section->n_waits == 0 && site_of(&unlocks, class, true) >= 0;
            continue;
        }
        int site = site_of(locks, class, true);
        good = site >= 0;
        uint64_t time = section->acquire_ns;
        for (size_t w = 0; w < section->n_waits; w++) {
            *VECTOR_ADD(events) = (struct lock_event){time, index, site, LOCK_WAITS};
            time = finder->sections->waits[section->first_wait + w].end_ns;
        }
        *VECTOR_ADD(events) = (struct lock_event){time, index, site, LOCK_PASSES};
        held[section->thread] = site + 1;
    }
    for (int i = 0; i < locks->count; i++)
        good &= site_of(&unlocks, locks->items[i], false) < 0;
    free(held);
    if (events->count)
        qsort(events->items, events->count, sizeof *events->items, compare_lock_events);
    return good && events->count > 0;
}

struct lock_state {
    int readers, writers, waiting_writers;
    bool shared;             /* readers were in together */
    double kept_out, let_in; /* readers, by readers with a writer waiting */
    size_t *waiting;         /* per thread: section + 1 of a waiting writer */
};

static void replay_lock(const struct finder *finder, const struct lock_event *event, bool writes,
                        struct lock_state *state, struct pattern *pattern) {
    size_t *waiting = &state->waiting[section_at(finder, event->section)->thread];
    bool busy = state->writers > 0 || (writes && state->readers > 0);
    switch (event->kind) {
    case LOCK_WAITS: {
        bool behind_writer = !writes && state->waiting_writers > 0 && state->readers > 0;
        state->kept_out += !busy && behind_writer;
        pattern_judge(pattern, event->section, event->time_ns, true, busy || behind_writer);
        if (writes && !*waiting) {
            *waiting = 1;
            state->waiting_writers++;
        }
        break;
    }
    case LOCK_PASSES:
        state->let_in += !writes && state->waiting_writers > 0 && state->readers > 0;
        pattern_judge(pattern, event->section, event->time_ns, false, !busy);
        if (*waiting)
            state->waiting_writers--;
        *waiting = 0;
        if (writes)
            state->writers++;
        else
            state->readers++;
        state->shared |= state->readers > 1;
        pattern->acts[event->section] = writes ? ACT_WRITE : ACT_READ;
        break;
    case LOCK_FREED:
        if (writes)
            state->writers--;
        else
            state->readers--;
        pattern->acts[event->section] = ACT_UNLOCK;
        break;
    }
}

bool rwlock_replay_find(const struct finder *finder) {
    struct lock_sites locks = {0};
    struct lock_events events = {0};
    struct pattern best = {0};
    bool found = false;
    bool pairs = pair_sections(finder, &locks, &events);
    for (unsigned writers = 1; pairs && writers + 1 < 1U << locks.count; writers++) {
        struct pattern pattern = pattern_empty(finder, HAND_MADE_RWLOCK);
        struct lock_state state = {.waiting =
                                       memory_alloc(finder->trace->n_threads, sizeof(size_t))};
        for (size_t i = 0; i < events.count; i++)
            replay_lock(finder, &events.items[i], writers >> events.items[i].site & 1, &state,
                        &pattern);
        free(state.waiting);
        pattern.writers_first = state.kept_out > state.let_in;
        bool better = !found || pattern.tally.violations < best.tally.violations;
        if (pattern_holds(&pattern) && state.shared && better) {
            free(best.acts);
            best = pattern;
            found = true;
        } else {
            free(pattern.acts);
        }
    }
    free(events.items);
    return found && pattern_add(finder, best);
}
