/* The mailboxes of threads that are created alike: in each of them their creator leaves a command,
 * the thread reports that it is done, and the creator waits for that. worker_mailboxes.h and
 * semaphore_mailboxes.h find what a mailbox is made of, a mutex or semaphores; here is how it is
 * used, step by step, and what that comes to. */
#ifndef PERSIK_MODELGEN_REWRITE_MAILBOX_GROUP_H
#define PERSIK_MODELGEN_REWRITE_MAILBOX_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/catalog.h"
#include "formats/trace.h"
#include "modelgen/events/event_log.h"

/* A record that is shown as another call. */
struct mailbox_edit {
    size_t thread, record;
    enum api role;
    uint64_t start_ns, end_ns;
    unsigned flags;
    bool dropped, waits_for_all;
};

struct mailbox {
    size_t worker;
    struct {
        struct mailbox_edit *items;
        size_t count, capacity;
    } edits;
    bool commanded, running, outstanding; /* outstanding: the creator has not waited for it yet */
    bool is_wrong;                        /* something contradicts that it is a mailbox */
    size_t n_synced;
    size_t put, taken, told; /* edits of the last command; SIZE_MAX: none */
};

struct mailbox_group {
    size_t creator;
    struct mailbox *mailboxes; /* owned, by their workers' numbers */
    size_t n_mailboxes;
};

/* Is the thread the first of those that are created like it? */
bool mailbox_group_begins_with(const struct trace *trace, size_t thread);

/* The mailboxes of all threads created like `thread`, not used yet. mailbox_group_free() ends it.
 */
struct mailbox_group mailbox_group_of(const struct trace *trace, size_t thread);
void mailbox_group_free(struct mailbox_group *group);

/* ---- what happens in a mailbox, in the order of time ---- */

/* The creator leaves a command. */
void mailbox_give(struct mailbox *mailbox, size_t creator, size_t record, uint64_t at_ns);
/* The worker has the command that is there, after a wait of so long. */
void mailbox_take(struct mailbox *mailbox, size_t record, uint64_t from_ns, uint64_t until_ns);
/* The worker says that it is done. */
void mailbox_finish(struct mailbox *mailbox, size_t record, uint64_t at_ns);
/* The creator has waited until it was. */
void mailbox_collect(struct mailbox *mailbox, size_t creator, size_t record, uint64_t from_ns,
                     uint64_t until_ns);
/* The worker waits for a command that never came. */
void mailbox_end_waiting(struct mailbox *mailbox, size_t record, uint64_t from_ns,
                         uint64_t until_ns);

/* ---- what it comes to ---- */

/* Does nothing contradict it, and does the creator give commands and then wait for all of them? */
bool mailbox_group_is_believed(const struct mailbox_group *group);

/* Shows the records as calls on the group's queue of commands and its count of what is outstanding.
 * Sets the flags in `dropped`, per thread and record, of those that have no part in it. */
void mailbox_group_show(struct event_log *log, const struct mailbox_group *group, bool **dropped);

#endif
