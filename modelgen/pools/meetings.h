/* Where a creator meets the threads it created, as one of them: at a barrier, which each of them
 * comes to just as often. What it does there between its first meeting and its last one is its part
 * of their work. */
#ifndef PERSIK_MODELGEN_POOLS_MEETINGS_H
#define PERSIK_MODELGEN_POOLS_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/trace.h"

/* Narrows [*first, *last), the creator's records while all members are there, to those from its
 * first meeting with them to its last one. False: they do not meet, or only once. */
bool meetings_find(const struct trace *trace, size_t creator, const size_t *members,
                   size_t n_members, size_t *first, size_t *last);

#endif
