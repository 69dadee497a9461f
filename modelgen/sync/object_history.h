/* All that happened under one mutex, in the order of time: what its critical sections changed and
 * decided. */
#ifndef PERSIK_MODELGEN_SYNC_OBJECT_HISTORY_H
#define PERSIK_MODELGEN_SYNC_OBJECT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modelgen/sync/monitor.h"

/* A section may change the state at once; decides to wait, or to go on; when it ends it has changed
 * the state. */
enum event_kind { EVENT_EARLY_EFFECT, EVENT_WAITS, EVENT_PASSES, EVENT_EFFECT };

struct history_event {
    uint64_t time_ns;
    unsigned section;
    unsigned instance;  /* of the mutexes that are alike: each has variables of its own */
    int class_index;    /* of the section */
    int number;         /* what the visit is for, in programs that ask */
    short role;         /* of the section in a program: its operation; HISTORY_NO_ROLE */
    unsigned char kind; /* enum event_kind */
};

#define HISTORY_NO_ROLE (-1)

struct object_history {
    struct history_event *items;
    size_t count, capacity;
    size_t n_instances;
};

/* Of `mutex` and of those that it stands for, in the order of time; the caller frees the items. */
struct object_history object_history_of(const struct sections *sections,
                                        const struct monitors *monitors, int mutex);

/* Of this mutex alone, by whatever class. */
struct object_history object_history_of_one(const struct sections *sections, int mutex);

/* Appends the events of a section, which is `event`'s; the rest of `event` is theirs, too. They are
 * not in order yet. */
void object_history_add(struct object_history *history, const struct sections *sections,
                        struct history_event event);

/* Appends what `event` does at its time without waiting. */
void object_history_add_effect(struct object_history *history, struct history_event event);

/* Puts the events that were appended in the order of time, and of their roles at one moment. */
void object_history_sort(struct object_history *history);

/* Gives all events of a section the role that `roles` has, per section of the trace, for it. */
void object_history_bind(struct object_history *history, const int *roles);

/* Is this where a class adds its weight? `early`: if it does so before it waits itself. */
static inline bool event_changes(const struct history_event *event, bool early) {
    return event->kind == (early ? EVENT_EARLY_EFFECT : EVENT_EFFECT);
}

/* Is it a decision to wait or to go on? */
static inline bool event_decides(const struct history_event *event) {
    return event->kind == EVENT_WAITS || event->kind == EVENT_PASSES;
}

#endif
