/* Where a creator meets the threads it created, as one of them: at a barrier, which each of them
 * comes to just as often. What it does there between its first meeting and its last one is its part
 * of their work. */
#ifndef PERSIK_MODELGEN_POOLS_MEETINGS_H
#define PERSIK_MODELGEN_POOLS_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct meetings {
    uint64_t *items; /* barriers, and mutexes of such as are made by hand; none: they never meet */
    size_t count, capacity;
    size_t first,
        last; /* the creator's records from its first meeting to its last one: [first, last) */
};

/* In the creator's records [from, to), while all members are there. meetings_free() ends it. */
struct meetings meetings_find(const struct trace *trace, size_t creator, const size_t *members,
                              size_t n_members, size_t from, size_t to);
void meetings_free(struct meetings *meetings);

/* Does a thread come to the object with this call: a barrier, or a mutex that may belong to one
 * made by hand? */
bool meetings_comes_to(const struct trace_record *record, uint64_t object);

/* The contexts of a thread's comings to one of the objects, in order; free() the items. */
struct comings {
    uint32_t *items;
    size_t count, capacity;
};
struct comings meetings_comings(const struct trace_thread *thread, uint64_t object);

#endif
