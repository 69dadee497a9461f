/* Command slots: a mutex with conditions that each worker thread has for itself, in which its
 * creator leaves a command, the worker says that it is done, and the creator waits for that.
 *
 * Such slots are alike, and which of them is meant a model of all workers cannot tell. It need not:
 * the creator gives commands and then waits for all that it gave, so that together the slots are
 * one queue, from which each worker takes, and a count of what is outstanding. Nor does it matter
 * whether the worker carries the command out with the slot's mutex in its hands, when the creator
 * waits in its lock, or has given it back. */
#ifndef PERSIK_MODELGEN_POOLS_SLOTS_H
#define PERSIK_MODELGEN_POOLS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/facts.h"
#include "modelgen/run/view.h"

/* Shows the sections of slots, where that explains each of them, as puts to, gets from and the
 * closing of a queue, and at the same address as releases of a semaphore when a command is done and
 * acquisitions of it by the creator: one with the value 1 waits until all is done, those with 0 are
 * part of that. What the source (`facts`, may be NULL) takes for a barrier is no slot, nor for a
 * queue into which the creator of one worker puts, and does no more: who meets one thread, or feeds
 * it, may come and go as if he gave it commands. Must be the last to change the
 * view. */
void slots_as_commands(struct view *view, const struct facts *facts);

#endif
