/* std::future: who fetches a result that is not there yet waits for the thread that makes it. That
 * is recorded, but who finds his result there makes no call; a thread that makes one does,
 * std::call_once, which keeps two from doing so. Results are taken to be fetched in about the order
 * in which they come: a wait for one is a wait for all that come up to it. Where nobody is at one
 * whenever the waiting thread goes on with something else, it fetches all that have come before. */
#ifndef PERSIK_MODELGEN_REWRITE_FUTURES_H
#define PERSIK_MODELGEN_REWRITE_FUTURES_H

#include "modelgen/events/event_log.h"

/* Where one thread waits for results of others: shows each result that comes as a permit that is
 * released, and each wait as the taking of those up to its own (ROLE_release, ROLE_acquire). */
void futures_as_permits(struct event_log *log);

#endif
