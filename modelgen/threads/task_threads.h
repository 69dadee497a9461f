/* Threads that are made for what came from outside. For a task: who takes one creates a thread,
 * which ends with it; how many live follows how many tasks come and how long they take. For a
 * connection, over which tasks come later: as many as there are clients. Neither is what the
 * program was configured for. */
#ifndef PERSIK_MODELGEN_THREADS_TASK_THREADS_H
#define PERSIK_MODELGEN_THREADS_TASK_THREADS_H

#include "formats/trace.h"

enum made_for { MADE_FOR_ANYTHING, MADE_FOR_TASK, MADE_FOR_CONNECTION };

/* Per thread: by what its creator did just before. For a task where it had taken one (ROLE_get) and
 * had made no other thread for that; for a connection where it had waited for what comes from
 * outside (ROLE_idle), the same. free() ends it. O(records). */
enum made_for *task_threads_find(const struct trace *trace);

#endif
