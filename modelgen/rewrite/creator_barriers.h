/* Barriers at which a creator meets the threads it created: each of them comes there just as often.
 * What the creator does between its first arrival and its last one is its share of their work. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_BARRIERS_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_BARRIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct creator_barriers {
    uint64_t *items; /* barriers, and mutexes of such as are made by hand; none: they never meet */
    size_t count, capacity;
    size_t first,
        last; /* the creator's records from its first meeting to its last one: [first, last) */
};

/* In the creator's records [from, to), while all members are there. creator_barriers_free() ends
 * it. */
struct creator_barriers creator_barriers_find(const struct trace *trace, size_t creator,
                                              const size_t *members, size_t n_members, size_t from,
                                              size_t to);
void creator_barriers_free(struct creator_barriers *barriers);

/* Does a thread come to the object with this call: a barrier, or a mutex that may belong to one
 * made by hand? */
bool creator_barriers_arrives_at(const struct trace_record *record, uint64_t object);

/* The contexts of a thread's comings to one of the objects, in order; free() the items. */
struct arrivals {
    uint32_t *items;
    size_t count, capacity;
};
struct arrivals creator_barriers_arrivals(const struct trace_thread *thread, uint64_t object);

#endif
