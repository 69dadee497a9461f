/* A wait for something that may be interrupted: who is woken and finds nothing leaves the critical
 * section, tells its caller so, and the caller comes again. It is the loop around the wait, written
 * outside of the critical section (Apache's ap_queue_pop_something() and its workers). */
#ifndef PERSIK_MODELGEN_REWRITE_REPEATED_WAITS_H
#define PERSIK_MODELGEN_REWRITE_REPEATED_WAITS_H

#include "modelgen/events/event_log.h"

/* Shows such a section and the one that follows as one, in which the thread waits on. A place that
 * unlocks stands for "found nothing" if nobody comes to it without having waited, all who come to
 * it lock again at once where they did before, if ever, and others leave the same section by
 * another place. At once: what passes in between is next to nothing of what they waited, since who
 * has found something does something with it. */
void repeated_waits_as_one(struct event_log *log);

#endif
