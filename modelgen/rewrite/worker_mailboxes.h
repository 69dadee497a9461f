/* Mailboxes for commands: a mutex with conditions that each worker thread has for itself. Its
 * creator leaves a command there, the worker reports that it is done, and the creator waits for
 * that.
 *
 * Such mailboxes are alike, and a model of all workers cannot tell which of them is meant. It need
 * not: the creator gives commands and then waits for all that it gave, so that together the
 * mailboxes are one queue, from which each worker takes, and a count of what is outstanding. Nor
 * does it matter whether the worker carries the command out while it holds the mailbox's mutex, and
 * the creator waits in its lock, or has unlocked it. */
#ifndef PERSIK_MODELGEN_REWRITE_WORKER_MAILBOXES_H
#define PERSIK_MODELGEN_REWRITE_WORKER_MAILBOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/facts.h"
#include "modelgen/events/event_log.h"

/* Shows the sections of mailboxes, where that explains each of them, as puts to, gets from and the
 * closing of a queue, and at the same address as releases of a semaphore when a command is done and
 * acquisitions of it by the creator: one with the value 1 waits until all is done, those with 0 are
 * part of that. What the source (`facts`, may be NULL) takes for a barrier is no mailbox, nor for a
 * queue into which the creator of one worker puts, and does no more: who meets one thread, or feeds
 * it, may come and go as if he gave it commands. Must be the last to change the
 * log. */
void worker_mailboxes_as_queues(struct event_log *log, const struct facts *facts);

#endif
