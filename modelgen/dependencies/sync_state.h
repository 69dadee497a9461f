/* What locks, conditions, semaphores and queues are like at one moment of the run: who let others
 * go on last. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_SYNC_STATE_H
#define PERSIK_MODELGEN_DEPENDENCIES_SYNC_STATE_H

#include "base/map.h"
#include "formats/dependencies.h"
#include "formats/trace.h"
#include "modelgen/dependencies/token_uses.h"

/* A step of a thread on which others depend. {0, DEPENDENCIES_NONE}: none. */
struct giver {
    uint32_t thread, step;
    uint64_t time_ns;
};
#define NO_GIVER ((struct giver){DEPENDENCIES_NONE, DEPENDENCIES_NONE, 0})

/* What was given and not yet taken, the oldest first. */
struct tokens {
    struct giver *items;
    size_t count, capacity;
    size_t taken;
};

struct sync_object {
    const struct token_pool *pool; /* that this is; NULL: none. Has `counts`, `given`, `release` */
    size_t owed;                   /* of a pool: of those given next, so many are not there */
    struct giver closed;           /* of a pool: by this one; NO_GIVER: not yet */
    enum api_object on;
    uint64_t address;
    uint32_t context;     /* of a call on it, which names it */
    bool is_named;        /* by one that is not its creation */
    struct giver release; /* unlocked, posted, written to */
    struct giver write;   /* of a read-write lock: unlocked by a writer */
    struct giver signal;
    bool written; /* a writer has the lock */
    /* Semaphore: permits; queue: items. Only where it is known how many were there at first. */
    bool counts;
    struct tokens given;
    struct tokens room; /* of a bounded queue */
    bool is_bounded;
    /* Barrier. */
    uint32_t parties, arrived;
    uint32_t gate;       /* thread that stands for it; DEPENDENCIES_NONE: none yet */
    struct giver opened; /* by the last one of the latest round */
    struct giver doer;   /* of once */
};

struct sync_states {
    struct map indices;
    struct {
        struct sync_object *items;
        size_t count, capacity;
    } objects;
};

/* Adds an object that no call is on, and gives its index. */
uint32_t sync_states_pool(struct sync_states *states, const struct token_pool *pool);

/* Index of the object that the call is on; DEPENDENCIES_NONE: on none. */
uint32_t sync_states_index(struct sync_states *states, const struct trace_record *record);

/* The same by kind and address. */
uint32_t sync_states_find(struct sync_states *states, enum api_object on, uint64_t address);

void sync_states_free(struct sync_states *states);

void tokens_give(struct tokens *tokens, struct giver giver);

/* The oldest; none: there is none. */
struct giver tokens_take(struct tokens *tokens);

/* It begins anew: with so many permits, parties or slots. */
void sync_object_begin(struct sync_object *object, int amount);

#endif
