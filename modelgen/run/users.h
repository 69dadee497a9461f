/* Which pools use which things, and what that tells apart.
 *
 * A dispatcher that fills several queues does so at one place in the code; which of them it is,
 * only a variable says. But where each has consumers of its own, these show that it is another one.
 */
#ifndef PERSIK_MODELGEN_RUN_USERS_H
#define PERSIK_MODELGEN_RUN_USERS_H

#include <stdbool.h>
#include <stddef.h>

/* uses[thing * n_pools + pool] */
struct users {
    size_t n_things, n_pools;
    bool *uses; /* owned */
};

struct users users_of(size_t n_things, size_t n_pools);
void users_free(struct users *users);

void users_note(struct users *users, int thing, int pool);

/* False for things behind the last one. */
bool users_has(const struct users *users, int thing, int pool);

/* Per thing: the first pool that uses it and no other one of its class; -1 where it is the only
 * one, or not each of the class has such a pool. `class_of`: each thing's, below n_classes. The
 * caller frees. */
int *users_tell_apart(const struct users *users, const int *class_of, size_t n_classes);

#endif
