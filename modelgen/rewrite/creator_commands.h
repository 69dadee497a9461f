/* The commands that a creator carries out itself: it gives each of its threads a command, by
 * mailboxes (worker_mailboxes.h) or all at once (fork_join.h), carries out the last one itself, and
 * waits for the others. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_COMMANDS_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_COMMANDS_H

#include "modelgen/events/object_origin.h"
#include "modelgen/rewrite/creator_command.h"

/* `members` are created by `creator`, all alike. `origins` and `sample` may be NULL. Belongs to
 * the trace; creator_commands_free() ends it. */
struct creator_commands creator_commands_find(const struct trace *trace,
                                              const struct object_origins *origins,
                                              const struct sample *sample, size_t creator,
                                              const size_t *members, size_t n_members);
void creator_commands_free(struct creator_commands *commands);

#endif
