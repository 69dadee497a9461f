/* Mailboxes for commands that are made of semaphores: each worker waits on one of its own, which
 * only its creator releases; when it has carried out the command, it releases another one, its own
 * or one for all, on which only the creator waits. */
#ifndef PERSIK_MODELGEN_REWRITE_SEMAPHORE_MAILBOXES_H
#define PERSIK_MODELGEN_REWRITE_SEMAPHORE_MAILBOXES_H

#include "formats/facts.h"
#include "modelgen/events/event_log.h"

/* Shows the calls on such semaphores, where that explains each of them, as
 * worker_mailboxes_as_queues() does. `facts` may be NULL. */
void semaphore_mailboxes_as_queues(struct event_log *log, const struct facts *facts);

#endif
