/* The functions that are the work of threads that are created alike: those that their first one
 * calls. A creator that runs in these, too, does their work as one of them. */
#ifndef PERSIK_MODELGEN_REWRITE_WORKER_FUNCTIONS_H
#define PERSIK_MODELGEN_REWRITE_WORKER_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/sample.h"
#include "formats/trace.h"

struct worker_functions {
    const char **functions; /* their names belong to the trace or the sample */
    size_t n_functions;
};

/* Of the threads `members`, as their calls show and, unless NULL, the samples: what their outermost
 * function calls or, with `around`, what they call in between calls that are made around their
 * work, in functions that make those. worker_functions_free() ends it. */
struct worker_functions worker_functions_find(const struct trace *trace,
                                              const struct sample *sample, const size_t *members,
                                              size_t n_members,
                                              const struct worker_functions *around);
void worker_functions_free(struct worker_functions *functions);

void worker_functions_add(struct worker_functions *functions, const char *function);

bool worker_functions_contain(const struct worker_functions *functions, const char *function);
/* Is the call made in one of them? */
bool worker_functions_make(const struct worker_functions *functions,
                           const struct trace_context *calls);

/* Do the samples show the creator at it, for as long as makes it one of them? */
bool worker_functions_run_by_creator(const struct worker_functions *functions,
                                     const struct trace *trace, const struct sample *sample,
                                     size_t creator, const size_t *members, size_t n_members);

#endif
