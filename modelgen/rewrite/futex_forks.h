/* Fork and join by futexes (Conway 1963): a thread wakes all others at a word whenever there is
 * something to do, and waits, at another word, until they have done it. Each of the others comes to
 * the first word again when it has.
 *
 * That the others have come back is told by a count, which is no call, and the last of them wakes
 * the first thread only if that waits. So both words together are two barriers of all these
 * threads: one at which work ends, and one at which the next work begins. */
#ifndef PERSIK_MODELGEN_REWRITE_FUTEX_FORKS_H
#define PERSIK_MODELGEN_REWRITE_FUTEX_FORKS_H

#include "modelgen/events/event_log.h"

/* Shows the calls at such words as calls on these barriers. */
void futex_forks_as_barriers(struct event_log *log);

#endif
