#include "modelgen/rewrite/mailbox_group.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

#define NO_EDIT SIZE_MAX

static bool are_alike(const struct trace_thread *a, const struct trace_thread *b) {
    return a->creator == b->creator && trace_threads_alike(a, b);
}

bool mailbox_group_begins_with(const struct trace *trace, size_t thread) {
    for (size_t t = 0; t < thread; t++)
        if (are_alike(&trace->threads[t], &trace->threads[thread]))
            return false;
    return true;
}

struct mailbox_group mailbox_group_of(const struct trace *trace, size_t thread) {
    struct mailbox_group group = {.creator = (size_t)trace->threads[thread].creator};
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (!are_alike(&trace->threads[t], &trace->threads[thread]))
            continue;
        group.mailboxes =
            memory_resize(group.mailboxes, group.n_mailboxes + 1, sizeof *group.mailboxes);
        group.mailboxes[group.n_mailboxes++] =
            (struct mailbox){.worker = t, .put = NO_EDIT, .taken = NO_EDIT, .told = NO_EDIT};
    }
    return group;
}

void mailbox_group_free(struct mailbox_group *group) {
    for (size_t i = 0; i < group->n_mailboxes; i++)
        free(group->mailboxes[i].edits.items);
    free(group->mailboxes);
}

/* ---- what happens in a mailbox ---- */

static struct mailbox_edit *edit_record(struct mailbox *mailbox, size_t thread, size_t record,
                                        enum api role, uint64_t start_ns, uint64_t end_ns) {
    struct mailbox_edit *edit = VECTOR_ADD(&mailbox->edits);
    *edit = (struct mailbox_edit){.thread = thread,
                                  .record = record,
                                  .role = role,
                                  .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .flags = end_ns > start_ns ? TRACE_WAITED : 0};
    return edit;
}

void mailbox_give(struct mailbox *mailbox, size_t creator, size_t record, uint64_t at_ns) {
    mailbox->is_wrong |= mailbox->commanded || mailbox->running || mailbox->outstanding;
    mailbox->commanded = mailbox->outstanding = true;
    mailbox->put = mailbox->edits.count;
    mailbox->taken = mailbox->told = NO_EDIT;
    edit_record(mailbox, creator, record, ROLE_put, at_ns, at_ns);
}

void mailbox_take(struct mailbox *mailbox, size_t record, uint64_t from_ns, uint64_t until_ns) {
    mailbox->is_wrong |= !mailbox->commanded || mailbox->running;
    mailbox->commanded = false;
    mailbox->running = true;
    mailbox->taken = mailbox->edits.count;
    edit_record(mailbox, mailbox->worker, record, ROLE_get, from_ns, until_ns);
}

void mailbox_finish(struct mailbox *mailbox, size_t record, uint64_t at_ns) {
    mailbox->is_wrong |= !mailbox->running;
    mailbox->running = false;
    mailbox->told = mailbox->edits.count;
    edit_record(mailbox, mailbox->worker, record, ROLE_release, at_ns, at_ns);
}

void mailbox_collect(struct mailbox *mailbox, size_t creator, size_t record, uint64_t from_ns,
                     uint64_t until_ns) {
    mailbox->is_wrong |= !mailbox->outstanding || mailbox->commanded || mailbox->running;
    mailbox->outstanding = false;
    mailbox->n_synced++;
    edit_record(mailbox, creator, record, ROLE_acquire, from_ns, until_ns);
}

void mailbox_end_waiting(struct mailbox *mailbox, size_t record, uint64_t from_ns,
                         uint64_t until_ns) {
    edit_record(mailbox, mailbox->worker, record, ROLE_get, from_ns, until_ns)->flags |=
        TRACE_UNFINISHED;
}

/* ---- what it comes to ---- */

/* A call of the creator on one of its mailboxes. */
struct creator_call {
    size_t record;
    struct mailbox_edit *edit;
};

static int compare_calls(const void *a, const void *b) {
    const struct creator_call *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

/* Does the creator give commands and then wait for all of them, before it gives others? Else it
 * matters which worker has done its own. The first of these waits is for all, the others are part
 * of it. */
static bool goes_in_rounds(const struct mailbox_group *group) {
    struct {
        struct creator_call *items;
        size_t count, capacity;
    } calls = {0};
    for (size_t i = 0; i < group->n_mailboxes; i++)
        for (size_t e = 0; e < group->mailboxes[i].edits.count; e++) {
            struct mailbox_edit *edit = &group->mailboxes[i].edits.items[e];
            if (edit->thread == group->creator)
                *VECTOR_ADD(&calls) = (struct creator_call){edit->record, edit};
        }
    if (calls.count)
        qsort(calls.items, calls.count, sizeof *calls.items, compare_calls);
    size_t outstanding = 0;
    bool waits = false, in_rounds = true;
    for (size_t c = 0; c < calls.count; c++) {
        struct mailbox_edit *edit = calls.items[c].edit;
        bool puts = edit->role == ROLE_put;
        in_rounds &= !puts || !waits || outstanding == 0;
        outstanding = puts ? outstanding + 1 : outstanding - 1;
        edit->waits_for_all = !puts && !waits;
        waits = !puts;
    }
    free(calls.items);
    return in_rounds;
}

bool mailbox_group_is_believed(const struct mailbox_group *group) {
    size_t n_synced = 0;
    for (size_t i = 0; i < group->n_mailboxes; i++) {
        if (group->mailboxes[i].is_wrong)
            return false;
        n_synced += group->mailboxes[i].n_synced;
    }
    return (double)n_synced >= evidence.times_alike && goes_in_rounds(group);
}

/* Commands that nobody waits for, after which each worker ends, only tell them to: the first is the
 * closing of the queue. */
static void find_poison_pills(const struct mailbox_group *group) {
    for (size_t i = 0; i < group->n_mailboxes; i++)
        if (!group->mailboxes[i].outstanding || group->mailboxes[i].taken == NO_EDIT)
            return;
    size_t first = 0;
    for (size_t i = 1; i < group->n_mailboxes; i++)
        if (group->mailboxes[i].edits.items[group->mailboxes[i].put].start_ns <
            group->mailboxes[first].edits.items[group->mailboxes[first].put].start_ns)
            first = i;
    for (size_t i = 0; i < group->n_mailboxes; i++) {
        struct mailbox *mailbox = &group->mailboxes[i];
        mailbox->edits.items[mailbox->taken].flags |= TRACE_FAILED;
        if (mailbox->told != NO_EDIT)
            mailbox->edits.items[mailbox->told].dropped = true;
        struct mailbox_edit *put = &mailbox->edits.items[mailbox->put];
        if (i == first)
            put->role = ROLE_close_queue;
        else
            put->dropped = true;
    }
}

void mailbox_group_show(struct event_log *log, const struct mailbox_group *group, bool **dropped) {
    uint64_t object = event_log_new_object(log, ORIGIN_MAILBOX);
    find_poison_pills(group);
    for (size_t i = 0; i < group->n_mailboxes; i++) {
        const struct mailbox *mailbox = &group->mailboxes[i];
        for (size_t e = 0; e < mailbox->edits.count; e++) {
            const struct mailbox_edit *edit = &mailbox->edits.items[e];
            struct trace_record *record = event_log_change(log, edit->thread, edit->record);
            record->api = edit->role;
            record->object = object;
            record->start_ns = edit->start_ns;
            record->duration_ns = edit->end_ns - edit->start_ns;
            record->flags = (uint16_t)edit->flags;
            record->value = edit->waits_for_all;
            dropped[edit->thread][edit->record] = edit->dropped;
        }
    }
}
