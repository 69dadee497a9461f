/* What threads that are created alike have to do: the functions that their first one calls. A
 * creator that runs in these, too, does their work as one of them. */
#ifndef PERSIK_MODELGEN_POOLS_DUTIES_H
#define PERSIK_MODELGEN_POOLS_DUTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/sample.h"
#include "formats/trace.h"

/* A creator that does less of it than this share of what a thread does only lends a hand. */
#define DUTIES_PART_SHARE 0.1

struct duties {
    const char **functions; /* their names belong to the trace or the sample */
    size_t n_functions;
};

/* Of the threads `members`, as their calls show and, unless NULL, the samples: what their outermost
 * function calls or, with `around`, what they call in between calls that are made around their
 * work, in functions that make those. duties_free() ends it. */
struct duties duties_find(const struct trace *trace, const struct sample *sample,
                          const size_t *members, size_t n_members, const struct duties *around);
void duties_free(struct duties *duties);

void duties_add(struct duties *duties, const char *function);

bool duties_are_in(const struct duties *duties, const char *function);
/* Is the call made in one of them? */
bool duties_make(const struct duties *duties, const struct trace_context *calls);

/* Do the samples show the creator at it, for as long as makes it one of them? */
bool duties_creator_has(const struct duties *duties, const struct trace *trace,
                        const struct sample *sample, size_t creator, const size_t *members,
                        size_t n_members);

#endif
