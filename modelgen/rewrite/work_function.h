/* The function that is the work of threads created together, as their calls show. */
#ifndef PERSIK_MODELGEN_REWRITE_WORK_FUNCTION_H
#define PERSIK_MODELGEN_REWRITE_WORK_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/rewrite/creator_groups.h"

/* The one function at this depth below almost all calls of the members; at depth 0 it is what a
 * thread begins with. NULL: there is none. `makes_several` gets whether it calls in more than one
 * place: what only passes on to another function is not the work itself. */
const char *work_function_common(const struct trace *trace, const struct creator_group *group,
                                 size_t depth, bool *makes_several);

/* How often the function is among the calls that lead to the context, which may be none. */
size_t work_function_times_in(const struct trace_context *contexts, uint32_t context,
                              const char *function);

/* Was a thread that begins with `outer` ever seen in `inner`? `sample` may be NULL: no. */
bool work_function_is_seen_in(const struct sample *sample, const char *outer, const char *inner);

#endif
