#include "modelgen/pools/slot_group.h"

#include <stdlib.h>

#include "base/memory.h"

/* Commands that were carried out and waited for, until all of it is believed. */
#define CONVINCING 8
#define NO_EDIT    SIZE_MAX

static bool are_alike(const struct trace_thread *a, const struct trace_thread *b) {
    return a->creator == b->creator && trace_threads_alike(a, b);
}

bool slot_group_begins_with(const struct trace *trace, size_t thread) {
    for (size_t t = 0; t < thread; t++)
        if (are_alike(&trace->threads[t], &trace->threads[thread]))
            return false;
    return true;
}

struct slot_group slot_group_of(const struct trace *trace, size_t thread) {
    struct slot_group group = {.creator = (size_t)trace->threads[thread].creator, .number = thread};
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (!are_alike(&trace->threads[t], &trace->threads[thread]))
            continue;
        group.slots = memory_resize(group.slots, group.n_slots + 1, sizeof *group.slots);
        group.slots[group.n_slots++] =
            (struct slot){.worker = t, .put = NO_EDIT, .taken = NO_EDIT, .told = NO_EDIT};
    }
    return group;
}

void slot_group_free(struct slot_group *group) {
    for (size_t i = 0; i < group->n_slots; i++)
        free(group->slots[i].edits.items);
    free(group->slots);
}

/* ---- what happens in a slot ---- */

static struct slot_edit *edit_record(struct slot *slot, size_t thread, size_t record, enum api role,
                                     uint64_t start_ns, uint64_t end_ns) {
    struct slot_edit *edit = VECTOR_ADD(&slot->edits);
    *edit = (struct slot_edit){.thread = thread,
                               .record = record,
                               .role = role,
                               .start_ns = start_ns,
                               .end_ns = end_ns,
                               .flags = end_ns > start_ns ? TRACE_WAITED : 0};
    return edit;
}

void slot_give(struct slot *slot, size_t creator, size_t record, uint64_t at_ns) {
    slot->is_wrong |= slot->commanded || slot->running || slot->outstanding;
    slot->commanded = slot->outstanding = true;
    slot->put = slot->edits.count;
    slot->taken = slot->told = NO_EDIT;
    edit_record(slot, creator, record, ROLE_put, at_ns, at_ns);
}

void slot_take(struct slot *slot, size_t record, uint64_t from_ns, uint64_t until_ns) {
    slot->is_wrong |= !slot->commanded || slot->running;
    slot->commanded = false;
    slot->running = true;
    slot->taken = slot->edits.count;
    edit_record(slot, slot->worker, record, ROLE_get, from_ns, until_ns);
}

void slot_finish(struct slot *slot, size_t record, uint64_t at_ns) {
    slot->is_wrong |= !slot->running;
    slot->running = false;
    slot->told = slot->edits.count;
    edit_record(slot, slot->worker, record, ROLE_release, at_ns, at_ns);
}

void slot_collect(struct slot *slot, size_t creator, size_t record, uint64_t from_ns,
                  uint64_t until_ns) {
    slot->is_wrong |= !slot->outstanding || slot->commanded || slot->running;
    slot->outstanding = false;
    slot->n_synced++;
    edit_record(slot, creator, record, ROLE_acquire, from_ns, until_ns);
}

void slot_end_waiting(struct slot *slot, size_t record, uint64_t from_ns, uint64_t until_ns) {
    edit_record(slot, slot->worker, record, ROLE_get, from_ns, until_ns)->flags |= TRACE_UNFINISHED;
}

/* ---- what it comes to ---- */

/* A call of the creator on one of its slots. */
struct creator_call {
    size_t record;
    struct slot_edit *edit;
};

static int compare_calls(const void *a, const void *b) {
    const struct creator_call *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

/* Does the creator give commands and then wait for all of them, before it gives others? Else it
 * matters which worker has done its own. The first of these waits is for all, the others are part
 * of it. */
static bool goes_in_rounds(const struct slot_group *group) {
    struct {
        struct creator_call *items;
        size_t count, capacity;
    } calls = {0};
    for (size_t i = 0; i < group->n_slots; i++)
        for (size_t e = 0; e < group->slots[i].edits.count; e++) {
            struct slot_edit *edit = &group->slots[i].edits.items[e];
            if (edit->thread == group->creator)
                *VECTOR_ADD(&calls) = (struct creator_call){edit->record, edit};
        }
    if (calls.count)
        qsort(calls.items, calls.count, sizeof *calls.items, compare_calls);
    size_t outstanding = 0;
    bool waits = false, in_rounds = true;
    for (size_t c = 0; c < calls.count; c++) {
        struct slot_edit *edit = calls.items[c].edit;
        bool puts = edit->role == ROLE_put;
        in_rounds &= !puts || !waits || outstanding == 0;
        outstanding = puts ? outstanding + 1 : outstanding - 1;
        edit->waits_for_all = !puts && !waits;
        waits = !puts;
    }
    free(calls.items);
    return in_rounds;
}

bool slot_group_is_believed(const struct slot_group *group) {
    size_t n_synced = 0;
    for (size_t i = 0; i < group->n_slots; i++) {
        if (group->slots[i].is_wrong)
            return false;
        n_synced += group->slots[i].n_synced;
    }
    return n_synced >= CONVINCING && goes_in_rounds(group);
}

/* Commands that nobody waits for, after which each worker ends, only tell them to: the first is the
 * closing of the queue. */
static void find_farewells(const struct slot_group *group) {
    for (size_t i = 0; i < group->n_slots; i++)
        if (!group->slots[i].outstanding || group->slots[i].taken == NO_EDIT)
            return;
    size_t first = 0;
    for (size_t i = 1; i < group->n_slots; i++)
        if (group->slots[i].edits.items[group->slots[i].put].start_ns <
            group->slots[first].edits.items[group->slots[first].put].start_ns)
            first = i;
    for (size_t i = 0; i < group->n_slots; i++) {
        struct slot *slot = &group->slots[i];
        slot->edits.items[slot->taken].flags |= TRACE_FAILED;
        if (slot->told != NO_EDIT)
            slot->edits.items[slot->told].dropped = true;
        struct slot_edit *put = &slot->edits.items[slot->put];
        if (i == first)
            put->role = ROLE_close_queue;
        else
            put->dropped = true;
    }
}

void slot_group_show(struct view *view, const struct slot_group *group, bool **dropped) {
    find_farewells(group);
    for (size_t i = 0; i < group->n_slots; i++) {
        const struct slot *slot = &group->slots[i];
        for (size_t e = 0; e < slot->edits.count; e++) {
            const struct slot_edit *edit = &slot->edits.items[e];
            struct trace_record *record = view_record(view, edit->thread, edit->record);
            record->api = edit->role;
            record->object = VIEW_SLOTS + group->number;
            record->start_ns = edit->start_ns;
            record->duration_ns = edit->end_ns - edit->start_ns;
            record->flags = (uint16_t)edit->flags;
            record->value = edit->waits_for_all;
            dropped[edit->thread][edit->record] = edit->dropped;
        }
    }
}

bool slots_are_object(uint64_t address) {
    return view_numbers(VIEW_SLOTS, address);
}
