/* Creators that take part in the work of the threads they create.
 *
 * Many programs create one thread less than they are asked for, and the creator then calls the
 * threads' function itself; or each thread splits its work, creates a thread for one half and does
 * the other. In either case the program says "N threads do this and are waited for". So the
 * creator's share becomes a thread of its own, which it creates and joins with the others; in each
 * step, where it creates them anew. Threads that members create belong to the creator of the first
 * one; also where each creates only the next one when there is work for it. Everything after works
 * on such a trace as on any other. */
#ifndef PERSIK_MODELGEN_REWRITE_PARTICIPATING_CREATOR_H
#define PERSIK_MODELGEN_REWRITE_PARTICIPATING_CREATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/events/object_origin.h"
#include "modelgen/rewrite/openmp_teams.h"
#include "modelgen/rewrite/thread_origin.h"

struct participating_creator {
    const struct trace *trace; /* with creators' parts as threads, behind all others */
    struct trace *made;        /* what `trace` is when it was made here; else NULL */
    bool *is_own;              /* per thread of `made`: its records and slices were made here */
    const struct thread_origin *origins; /* per thread of `trace`; NULL: all are as recorded */
    struct thread_origin *made_origins;  /* what `origins` is when it was made here; else NULL */
};

/* Of teams->trace, which must outlive it; `origins` and `sample` may be NULL.
 * participating_creator_free() ends it. */
struct participating_creator participating_creator_unfold(const struct teams *teams,
                                                          const struct object_origins *origins,
                                                          const struct sample *sample);
void participating_creator_free(struct participating_creator *result);

#endif
