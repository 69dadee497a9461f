/* A thread that waits for a signal which another thread of the program sends it waits for that
 * thread, as it would on a semaphore, and not for a time. */
#ifndef PERSIK_MODELGEN_REWRITE_SIGNALS_H
#define PERSIK_MODELGEN_REWRITE_SIGNALS_H

#include <stdbool.h>

#include "modelgen/events/event_log.h"

/* Shows such waits, and the calls that sent what ended them, as those on a semaphore (ROLE_acquire,
 * ROLE_release), which threads that are created alike share. All else stays: what came from a
 * timer, the terminal or another process is waited for as long as it was, and signals that nobody
 * waits for have no effect that we know. */
void signals_as_permits(struct event_log *log);

/* Does the call wait for a signal, however long, and did it get one if it is over? */
bool signals_are_awaited(const struct trace_record *record);

#endif
