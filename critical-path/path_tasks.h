/* The tasks of a run: requests and marked tasks, which the graph brings along, or else the jobs of
 * the queue whose takers compute most. A job begins when it is put, is taken, and ends when its
 * taker comes back for the next one. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_PATH_TASKS_H
#define PERSIK_CRITICAL_PATH_PATH_TASKS_H

#include "formats/dependencies.h"

struct path_task {
    uint64_t begin_ns, taken_ns, end_ns; /* since the run's start */
    uint32_t end;                        /* the step with whose end it was done */
};

struct path_tasks {
    char *what; /* "requests", "jobs of items struct queue.lock"; NULL: there are none */
    size_t n;
    struct path_task *items; /* the longest first */
};

/* O(steps + tasks log tasks). */
struct path_tasks path_tasks_of(const struct dependencies *all);
void path_tasks_free(struct path_tasks *tasks);

#endif
