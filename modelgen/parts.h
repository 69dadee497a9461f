/* Objects of one kind that their users tell apart.
 *
 * A dispatcher that fills several queues does so at one place in the code; which of them it is,
 * only a variable says. But where each has consumers of its own, these show that it is another one.
 */
#ifndef PERSIK_MODELGEN_PARTS_H
#define PERSIK_MODELGEN_PARTS_H

#include "modelgen/sections.h"

/* Which pools use which things: uses[thing * n_pools + pool]. */
struct users {
    size_t n_things, n_pools;
    bool *uses; /* owned */
};

struct users users_of(size_t n_things, size_t n_pools);
void users_free(struct users *users);

/* Per thing: the first pool that uses it and no other one of its class; -1 where it is the only
 * one, or not each of the class has such a pool. `class_of`: each thing's, below n_classes. The
 * caller frees. */
int *users_tell_apart(const struct users *users, const int *class_of, size_t n_classes);

/* A mutex may guard several monitors, such as two queues of one type: each has conditions of its
 * own, and users of its own. Their sections get objects of their own, parts of the mutex that all
 * of them lock. */
void parts_split(const struct trace *trace, const int *pool_of, size_t n_pools,
                 struct sections *sections);

#endif
