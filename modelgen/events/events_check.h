/* The invariants of the event log. A log that breaks one was damaged by the pass that edited it
 * last. */
#ifndef PERSIK_MODELGEN_EVENTS_EVENTS_CHECK_H
#define PERSIK_MODELGEN_EVENTS_EVENTS_CHECK_H

#include "base/error.h"
#include "modelgen/events/event_log.h"

/* Each event that there ever was is shown once or was dropped, whatever was not recorded was
 * inserted, each edit names its pass, the recorded events of a thread are in the order of their
 * times, and the others in its life; each is called from a call site that is there. -1 and `error`:
 * one of these does not hold. */
int events_check(const struct event_log *log, struct error *error);

#endif
