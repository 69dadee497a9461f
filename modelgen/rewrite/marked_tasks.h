/* Tasks as the user has marked them (--task-begin, --task-end, or the catalog): what no call to a
 * library shows. */
#ifndef PERSIK_MODELGEN_REWRITE_MARKED_TASKS_H
#define PERSIK_MODELGEN_REWRITE_MARKED_TASKS_H

#include "modelgen/events/event_log.h"

struct marked_tasks {
    size_t begun, ended; /* 0, 0: nothing was marked */
};

/* Shows the marks as ROLE_task_begin and ROLE_task_end. The user's word replaces the ends of tasks
 * that other filters have found. */
struct marked_tasks marked_tasks_show(struct event_log *log);

#endif
