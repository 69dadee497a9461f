/* Tasks that calls show by themselves: requests of a server, and what the user has marked
 * (--task-begin, --task-end). Jobs of queues need no moments: steps tell who put and took what. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_TASK_MOMENTS_H
#define PERSIK_MODELGEN_DEPENDENCIES_TASK_MOMENTS_H

#include "formats/dependencies.h"
#include "formats/trace.h"

enum task_moment_kind { TASK_TAKEN, TASK_ENDS, TASK_BEGINS }; /* in this order within a call */

/* What the return from a call is for a task. */
struct task_moment {
    uint32_t record; /* number of the call in its thread */
    uint8_t kind;    /* enum task_moment_kind */
    uint32_t task;   /* of a request; else not known yet */
    uint32_t step;   /* with which it came about; DEPENDENCIES_NONE: not yet */
};

struct task_moments {
    const char *kind; /* "requests", "marked tasks"; NULL: there are none */
    struct {
        struct dependency_task *items;
        size_t count, capacity;
    } tasks;
    size_t n_threads;
    struct thread_task_moments {
        struct task_moment *items; /* by record */
        size_t count, capacity;
        size_t next; /* that has not come about */
    } * threads;
};

/* Of the trace's tasks; the user's marks, if there are some, else requests. When a request came is
 * drawn where nobody waited for it (modelgen/events/arrivals.h). */
struct task_moments task_moments_of(const struct trace *trace);

/* The thread is back from the call of that number, with this step. */
void task_moments_reach(struct task_moments *moments, uint32_t thread, size_t record,
                        uint32_t step);

/* Gives `all` the tasks that have ended, when all of its steps are there, and frees the rest. What
 * begins in one thread and ends in another one is one task where an item brought it there. */
void task_moments_finish(struct task_moments *moments, struct dependencies *all);

#endif
