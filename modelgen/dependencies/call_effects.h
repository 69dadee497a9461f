/* What a call lets others do, and what it must have waited for. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_CALL_EFFECTS_H
#define PERSIK_MODELGEN_DEPENDENCIES_CALL_EFFECTS_H

#include "modelgen/dependencies/run_state.h"

/* The thread is about to make the call: objects that it initialises begin anew, and it is known
 * which mutex it gives back to wait for a condition. */
void call_effects_begin(struct run_state *run, uint32_t thread, const struct trace_record *record,
                        uint32_t object);

/* A step without which the thread could not have gone on with what it asked for. */
struct limit {
    uint32_t step; /* DEPENDENCIES_NONE: nothing limits it */
    enum link_kind link;
};

/* The thread has just got what the call asks for: a lock, a permit, an item. Also where it did not
 * have to wait, as it would have to if others were slower. */
struct limit call_effects_take(struct run_state *run, uint32_t thread,
                               const struct trace_record *record, uint32_t object);

/* What the call does to an object in the moment in which it is made, or returns, for those who
 * replay the run: written into the step that ends there. */
void call_effects_tell(const struct run_state *run, uint32_t thread,
                       const struct trace_record *record, bool returns,
                       struct dependency_step *step);

/* The thread makes the call now; `step` is the one that ends here. What it gives others is there
 * from now on. */
void call_effects_give(struct run_state *run, uint32_t thread, const struct trace_record *record,
                       uint32_t object, uint32_t step);

#endif
