/* Creators that take part in the work of the threads they create.
 *
 * Many programs create one thread less than they are asked for, and the creator then calls the
 * threads' function itself; or each thread splits its work, creates a thread for one half and does
 * the other. In either case the program says "N threads do this and are waited for". So the
 * creator's share becomes a thread of its own, which it creates and joins with the others; in each
 * step, where it creates them anew. Threads that members create belong to the creator of the first
 * one; also where each creates only the next one when there is work for it. Everything after works
 * on such a run as on any other.
 *
 * creator_groups.h finds the threads that are created together, creator_share.h what their creator
 * does of their work, and creator_split.h shows that as threads. */
#ifndef PERSIK_MODELGEN_REWRITE_PARTICIPATING_CREATOR_H
#define PERSIK_MODELGEN_REWRITE_PARTICIPATING_CREATOR_H

#include "formats/sample.h"
#include "modelgen/events/event_log.h"
#include "modelgen/rewrite/openmp_teams.h"

/* The new threads stand behind all others. `sample` may be NULL. */
void participating_creator_unfold(struct event_log *log, const struct teams *teams,
                                  const struct sample *sample);

#endif
