/* Where the objects of an event log come from: most were recorded, others stand for something that
 * the program made itself. A new object has an address that no recorded one can have, so that
 * records name it as they name any other. */
#ifndef PERSIK_MODELGEN_EVENTS_OBJECT_ORIGIN_H
#define PERSIK_MODELGEN_EVENTS_OBJECT_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_origin {
    ORIGIN_RECORDED,
    ORIGIN_PIPE,             /* rewrite/pipes.h */
    ORIGIN_SIGNAL,           /* rewrite/signals.h */
    ORIGIN_SPINNING_BARRIER, /* rewrite/spinning_barriers.h */
    ORIGIN_FUTEX_BARRIER,    /* rewrite/futex_barriers.h */
    ORIGIN_MAILBOX,          /* rewrite/mailbox_group.h: a queue of commands, and a semaphore */
    ORIGIN_PARKING,          /* rewrite/parked_workers.h */
    ORIGIN_COUNTDOWN,        /* rewrite/completion_countdowns.h */
    ORIGIN_FUTURE,           /* rewrite/futures.h */
    ORIGIN_SYSV_SEMAPHORE,   /* rewrite/sysv_semaphores.h */
    ORIGIN_COUNTED,          /* rewrite/counted_semaphores.h */
    ORIGIN_OUTSIDE,          /* rewrite/requests_as_tasks.h */
};

/* The new objects in the order of their addresses. {0}: there are none. */
struct object_origins {
    enum object_origin *items;
    size_t count, capacity;
};

/* The address of one more object. object_origins_free() ends the table. */
uint64_t object_origins_add(struct object_origins *origins, enum object_origin origin);

/* `origins` may be NULL: all objects were recorded. */
enum object_origin object_origins_get(const struct object_origins *origins, uint64_t address);

void object_origins_free(struct object_origins *origins);

/* Is what it counts work that is not done yet? A thread that waits for it waits for all of it. */
bool object_origin_counts_outstanding(enum object_origin origin);

#endif
