/* A trace as a graph of dependencies (formats/dependencies.h): goes through the whole run once, in
 * the order of time, and ends a step of a thread wherever something happens to it.
 *
 *   thread_moments   what happens to a thread next
 *   sync_state       who let others go on last, by each lock, condition, semaphore, queue
 *   call_effects     what calls give to others, and what they must have waited for
 *   wait_cause       what ended a wait
 *   token_uses       what is known of waits for conditions
 *   pool_steps       these as steps
 *   task_moments     which calls begin and end requests and marked tasks
 *   step_log         the steps */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_DEPENDENCIES_H
#define PERSIK_MODELGEN_DEPENDENCIES_DEPENDENCIES_H

#include "formats/dependencies.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/dependencies/token_uses.h"

/* `facts` may be NULL: objects are then called by where they are used; `uses` may be NULL: nothing
 * is known. The caller frees it with dependencies_free(). Time: linear in the trace, but for the
 * logarithm of the number of threads.
 */
struct dependencies *dependencies_of_trace(const struct trace *trace, const struct facts *facts,
                                           const struct token_uses *uses);

#endif
