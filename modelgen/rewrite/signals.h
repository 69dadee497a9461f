/* A thread that waits for a signal which another thread of the program sends it waits for that
 * thread, as it would on a semaphore, and not for a time. */
#ifndef PERSIK_MODELGEN_REWRITE_SIGNALS_H
#define PERSIK_MODELGEN_REWRITE_SIGNALS_H

#include <stdbool.h>

#include "modelgen/events/view.h"

/* Shows such waits, and the calls that sent what ended them, as those on a semaphore (ROLE_acquire,
 * ROLE_release). All else stays: what came from a timer, the terminal or another process is waited
 * for as long as it was, and signals that nobody waits for have no effect that we know. */
void signals_as_permits(struct view *view);

/* Is it the semaphore of such waits? Threads that are created alike share one. */
bool signals_are_object(uint64_t address);

#endif
