/* A signal's handler that makes calls does not belong to the thread that it interrupts: what brings
 * it, a timer or another process, is a source of its own. Its calls are shown as those of one more
 * thread, which waits for the next signal in between. */
#ifndef PERSIK_MODELGEN_REWRITE_SIGNAL_SOURCES_H
#define PERSIK_MODELGEN_REWRITE_SIGNAL_SOURCES_H

#include "formats/model.h"
#include "modelgen/events/event_log.h"

/* Handlers are those that the recording names. Calls that a handler interrupted last until their
 * thread went on. Tells the model's reader how often each came. The number of handlers that are
 * shown so. */
size_t signal_sources_as_threads(struct event_log *log, struct model *model);

#endif
