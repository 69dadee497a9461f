#include "modelgen/events/object_users.h"

#include <stdlib.h>

#include "base/memory.h"

struct object_users object_users_of(size_t n_things, size_t n_pools) {
    return (struct object_users){n_things, n_pools,
                                 memory_alloc(n_things * n_pools + 1, sizeof(bool))};
}

void object_users_free(struct object_users *users) {
    free(users->uses);
}

void object_users_note(struct object_users *users, int thing, int pool) {
    users->uses[(size_t)thing * users->n_pools + (size_t)pool] = true;
}

bool object_users_has(const struct object_users *users, int thing, int pool) {
    return (size_t)thing < users->n_things &&
           users->uses[(size_t)thing * users->n_pools + (size_t)pool];
}

int *object_users_tell_apart(const struct object_users *users, const int *class_of,
                             size_t n_classes) {
    size_t n_pools = users->n_pools;
    int *used = memory_alloc(n_classes * n_pools + 1, sizeof *used); /* of the class, by the pool */
    int *members = memory_alloc(n_classes + 1, sizeof *members);
    bool *untold = memory_alloc(n_classes + 1, sizeof *untold);
    int *own = memory_alloc(users->n_things + 1, sizeof *own);
    for (size_t i = 0; i < users->n_things; i++)
        for (size_t p = 0; p < n_pools; p++)
            used[(size_t)class_of[i] * n_pools + p] += users->uses[i * n_pools + p];
    for (size_t i = 0; i < users->n_things; i++) {
        own[i] = -1;
        for (size_t p = n_pools; p-- > 0;)
            if (users->uses[i * n_pools + p] && used[(size_t)class_of[i] * n_pools + p] == 1)
                own[i] = (int)p;
        untold[class_of[i]] |= own[i] < 0;
        members[class_of[i]]++;
    }
    for (size_t i = 0; i < users->n_things; i++)
        if (untold[class_of[i]] || members[class_of[i]] == 1)
            own[i] = -1;
    free(used);
    free(members);
    free(untold);
    return own;
}
