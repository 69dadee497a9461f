/* Fork and join: under one mutex a creator opens a round for all of its threads at once, does a
 * part of it itself, and waits under the same mutex until they have done theirs; each of them waits
 * there for the next round, and comes there again when it has done its part. */
#ifndef PERSIK_MODELGEN_POOLS_FORKS_H
#define PERSIK_MODELGEN_POOLS_FORKS_H

#include "modelgen/pools/pieces.h"

/* Fills in the pieces, and what the members do around theirs, where all members came to such a
 * mutex as often as the creator and what each did there follows that. Else there are none. */
void forks_find(const struct trace *trace, size_t creator, const size_t *members, size_t n_members,
                struct pieces *pieces);

#endif
