/* A mutex that guards several monitors, such as two queues of one type: each has conditions of its
 * own, and users of its own (object_users.h). */
#ifndef PERSIK_MODELGEN_EVENTS_MONITOR_DECOMPOSITION_H
#define PERSIK_MODELGEN_EVENTS_MONITOR_DECOMPOSITION_H

#include "modelgen/events/critical_section.h"

/* The sections of such a mutex get objects of their own, parts of the mutex that all of them lock;
 * conditions are told apart as their mutexes or these parts are. Needs the objects' classes, and
 * which are alone. */
void monitor_decomposition_split(const struct trace *trace, const int *pool_of, size_t n_pools,
                                 struct sections *sections);

#endif
