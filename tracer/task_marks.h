/* Calls of functions that mark tasks (formats/catalog.def: task, task_from, task_until). Other
 * calls are made inside them, which no other record of a thread has: they become points in time. */
#ifndef PERSIK_TRACER_TASK_MARKS_H
#define PERSIK_TRACER_TASK_MARKS_H

#include "formats/trace.h"
#include "tracer/lacks.h"
#include "tracer/wraps.h"

/* Of the thread's records, which are sorted by start: ROLE_task_from where a function that begins
 * tasks was entered, ROLE_task_until where one that ends them returned, both without duration. Of a
 * function that calls itself only the outermost call counts; one that did not return ends nothing.
 */
void task_marks_place(struct trace_thread *thread);

/* Functions were to mark tasks, and no task has begun or none has ended. */
void task_marks_tell(const struct trace *trace, const struct wraps *wraps, struct lacks *lacks);

#endif
