/* What ended a wait. The kernel says which thread woke another one, the recorded calls say which
 * operation that was; where the kernel says nothing, the calls alone tell. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_WAIT_CAUSE_H
#define PERSIK_MODELGEN_DEPENDENCIES_WAIT_CAUSE_H

#include "modelgen/dependencies/run_state.h"

/* The step of a thread that waited until `now_ns`. `slice`: the time on a core that it was woken
 * for; NULL: not known. Ends the step of who woke it. */
struct dependency_step wait_cause_find(struct run_state *run, uint32_t thread,
                                       const struct trace_slice *slice, uint64_t now_ns);

/* May the call sleep until others, a device or a time limit end it? */
bool wait_cause_may_block(const struct trace_record *record);

#endif
