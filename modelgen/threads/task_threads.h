/* Threads that are made for one task each: who takes a task creates a thread, which ends with it.
 * How many live follows how many tasks come and how long they take, not what the program was
 * configured for. */
#ifndef PERSIK_MODELGEN_THREADS_TASK_THREADS_H
#define PERSIK_MODELGEN_THREADS_TASK_THREADS_H

#include <stdbool.h>

#include "formats/trace.h"

/* Per thread: was it made by a thread that had taken something from outside (ROLE_get) and had made
 * no other thread for that? free() ends it. O(records). */
bool *task_threads_find(const struct trace *trace);

#endif
