/* A mutex that guards several monitors, such as two queues of one type: each has conditions of its
 * own, and users of its own (users.h). */
#ifndef PERSIK_MODELGEN_RUN_PARTS_H
#define PERSIK_MODELGEN_RUN_PARTS_H

#include "modelgen/run/sections.h"

/* The sections of such a mutex get objects of their own, parts of the mutex that all of them lock;
 * conditions are told apart as their mutexes or these parts are. Needs the objects' classes, and
 * which are alone. */
void parts_split(const struct trace *trace, const int *pool_of, size_t n_pools,
                 struct sections *sections);

#endif
