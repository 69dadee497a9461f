/* What critical sections do to the pools that explain their waits: items, room, permits that a
 * program counts itself under a mutex. modelgen/sync/ finds them; here they become steps of the
 * graph, so that waits for a condition follow from what is there and not from the recorded order.
 */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_TOKEN_USES_H
#define PERSIK_MODELGEN_DEPENDENCIES_TOKEN_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dependencies.h"

struct token_use {
    uint32_t record;          /* number of the recorded call in its thread */
    bool at_return;           /* happens when that has returned, else when it is made */
    enum step_operation does; /* PAUSE: the call waits for what pools stand for */
    uint32_t pool;
    uint32_t amount;
};

struct token_pool {
    const char *kind; /* not owned */
    char *name;
    int start;
};

/* {0}: nothing is known. */
struct token_uses {
    struct {
        struct token_pool *items;
        size_t count, capacity;
    } pools;
    size_t n_threads;
    struct thread_token_uses {
        struct token_use *items; /* by record, then by `at_return` */
        size_t count, capacity;
    } * threads; /* per thread of the recorded trace; NULL: none */
};

void token_uses_free(struct token_uses *uses);

#endif
