/* The share that a creator has in the work of the threads it created together, in whatever way: in
 * one part of its own, command by command, or between meetings with them. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_SHARE_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/events/object_origin.h"
#include "modelgen/rewrite/creator_groups.h"

/* Fills in the group's share: its function and parts, its commands, or where it meets its creator;
 * none of these where the creator has none. `origins` and `sample` may be NULL. */
void creator_share_find(const struct trace *trace, const struct object_origins *origins,
                        const struct sample *sample, const struct creator_groups *groups,
                        struct creator_group *group);

/* Is the creator a thread like the members, which starts another one when there is work for it and
 * leaves it to others to wait for that? It runs the same routine and makes nearly all of their
 * calls. `places`: see source_places(). */
bool creator_share_is_like_members(const struct trace *trace, const struct creator_groups *groups,
                                   const struct creator_group *group, const uint32_t *places);

#endif
