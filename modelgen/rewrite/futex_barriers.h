/* Barriers whose threads wait by a futex: std::barrier's, and those that programs make of an atomic
 * count and a word.
 *
 * What a thread does to the count is no call. But whoever comes last wakes all the others, again
 * and again, and between two wakes each of the others waits once, until the second one. */
#ifndef PERSIK_MODELGEN_REWRITE_FUTEX_BARRIERS_H
#define PERSIK_MODELGEN_REWRITE_FUTEX_BARRIERS_H

#include "modelgen/events/event_log.h"

/* Shows what each thread does at such a word between two wakes as one call on a barrier; also where
 * a thread came so late that it needed no call. True: there are such. */
bool futex_barriers_as_barriers(struct event_log *log);

#endif
