/* Crews: threads whose creator does their work too.
 *
 * Many programs create one thread less than they are asked for, and whoever creates them then calls
 * the threads' function itself; or each thread splits its work, creates a thread for one half and
 * does the other. What the program says in either case is "N threads do this and are waited for".
 * So the creator's part becomes a thread of its own, which it creates and joins with the others; in
 * each step, where it creates them anew. Threads that members create belong to whoever created the
 * first one; also where each creates only the next one when there is work for it. Everything after
 * works on such a trace as on any other. */
#ifndef PERSIK_MODELGEN_POOLS_CREWS_H
#define PERSIK_MODELGEN_POOLS_CREWS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/pools/teams.h"

struct crews {
    const struct trace *trace; /* with creators' parts as threads, behind all others */
    struct trace *made;        /* what `trace` is when it was made here; else NULL */
    bool *is_own;              /* per thread of `made`: its records and slices were made here */
};

/* Of teams->trace, which must outlive it; `sample` may be NULL. crews_free() ends it. */
struct crews crews_unfold(const struct teams *teams, const struct sample *sample);
void crews_free(struct crews *crews);

#endif
