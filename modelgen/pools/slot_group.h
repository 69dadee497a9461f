/* The slots of threads that are created alike: in each of them their creator leaves a command, the
 * thread says that it is done, and the creator waits for that. What makes up a slot, a mutex or
 * semaphores, is for slots.h and posts.h to find; here is how it is used, step by step, and what
 * that comes to. */
#ifndef PERSIK_MODELGEN_POOLS_SLOT_GROUP_H
#define PERSIK_MODELGEN_POOLS_SLOT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/catalog.h"
#include "formats/trace.h"
#include "modelgen/run/view.h"

/* A record that is shown as another call. */
struct slot_edit {
    size_t thread, record;
    enum api role;
    uint64_t start_ns, end_ns;
    unsigned flags;
    bool dropped, waits_for_all;
};

struct slot {
    size_t worker;
    struct {
        struct slot_edit *items;
        size_t count, capacity;
    } edits;
    bool commanded, running, outstanding; /* outstanding: the creator has not waited for it yet */
    bool is_wrong;                        /* something contradicts that it is a slot */
    size_t n_synced;
    size_t put, taken, told; /* edits of the last command; SIZE_MAX: none */
};

struct slot_group {
    size_t creator, number;
    struct slot *slots; /* owned, by their workers' numbers */
    size_t n_slots;
};

/* Is the thread the first of those that are created like it? */
bool slot_group_begins_with(const struct trace *trace, size_t thread);

/* The slots of all threads created like `thread`, not used yet. slot_group_free() ends it. */
struct slot_group slot_group_of(const struct trace *trace, size_t thread);
void slot_group_free(struct slot_group *group);

/* ---- what happens in a slot, in the order of time ---- */

/* The creator leaves a command. */
void slot_give(struct slot *slot, size_t creator, size_t record, uint64_t at_ns);
/* The worker has the command that is there, after a wait of so long. */
void slot_take(struct slot *slot, size_t record, uint64_t from_ns, uint64_t until_ns);
/* The worker says that it is done. */
void slot_finish(struct slot *slot, size_t record, uint64_t at_ns);
/* The creator has waited until it was. */
void slot_collect(struct slot *slot, size_t creator, size_t record, uint64_t from_ns,
                  uint64_t until_ns);
/* The worker waits for a command that never came. */
void slot_end_waiting(struct slot *slot, size_t record, uint64_t from_ns, uint64_t until_ns);

/* ---- what it comes to ---- */

/* Does nothing contradict it, and does the creator give commands and then wait for all of them? */
bool slot_group_is_believed(const struct slot_group *group);

/* Shows the records as calls on the group's queue of commands and its count of what is outstanding.
 * Sets the flags in `dropped`, per thread and record, of those that have no part in it. */
void slot_group_show(struct view *view, const struct slot_group *group, bool **dropped);

bool slots_are_object(uint64_t address);

#endif
