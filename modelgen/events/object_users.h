/* Which pools use which things, and what that tells apart.
 *
 * A dispatcher that fills several queues does so at one place in the code; which of them it is,
 * only a variable says. But where each has consumers of its own, these show that it is another one.
 */
#ifndef PERSIK_MODELGEN_EVENTS_OBJECT_USERS_H
#define PERSIK_MODELGEN_EVENTS_OBJECT_USERS_H

#include <stdbool.h>
#include <stddef.h>

/* uses[thing * n_pools + pool] */
struct object_users {
    size_t n_things, n_pools;
    bool *uses; /* owned */
};

struct object_users object_users_of(size_t n_things, size_t n_pools);
void object_users_free(struct object_users *users);

void object_users_note(struct object_users *users, int thing, int pool);

/* False for things behind the last one. */
bool object_users_has(const struct object_users *users, int thing, int pool);

/* Per thing: the first pool that uses it and no other one of its class; -1 where it is the only
 * one, or not each of the class has such a pool. `class_of`: each thing's, below n_classes. The
 * caller frees. */
int *object_users_tell_apart(const struct object_users *users, const int *class_of,
                             size_t n_classes);

#endif
