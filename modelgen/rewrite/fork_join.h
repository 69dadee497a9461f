/* Fork and join under one mutex: a creator starts all of its threads at once, does a share of the
 * work itself, and waits under the same mutex until they have done theirs; each of them waits there
 * for the next start, and comes there again when it has done its share. */
#ifndef PERSIK_MODELGEN_REWRITE_FORK_JOIN_H
#define PERSIK_MODELGEN_REWRITE_FORK_JOIN_H

#include "modelgen/rewrite/creator_command.h"

/* Fills in the pieces, and what the members do around theirs, where all members came to such a
 * mutex as often as the creator and what each did there follows that. Else there are none. */
void fork_join_find(const struct trace *trace, size_t creator, const size_t *members,
                    size_t n_members, struct creator_commands *commands);

#endif
