#include "modelgen/dependencies/run_state.h"

struct sync_object *run_state_object(const struct run_state *run, uint32_t index) {
    return index == DEPENDENCIES_NONE ? NULL : &run->sync.objects.items[index];
}

struct dependency_step run_state_step(const struct run_state *run, uint32_t thread,
                                      enum step_kind kind) {
    const struct thread_run *is = &run->threads[thread];
    uint32_t lock = is->n_held > 0 ? is->held[is->n_held - 1] : DEPENDENCIES_NONE;
    bool is_working = kind == STEP_COMPUTE || kind == STEP_READY || kind == STEP_SLEEP;
    uint32_t object = is_working ? lock : is->at.in_call ? is->object : DEPENDENCIES_NONE;
    return (struct dependency_step){.kind = kind,
                                    .thread = thread,
                                    .place = thread_moments_context(&is->at),
                                    .object = object,
                                    .cause = DEPENDENCIES_NONE,
                                    .limit = DEPENDENCIES_NONE,
                                    .operand = DEPENDENCIES_NONE,
                                    .in_call = is->at.in_call};
}

uint32_t run_state_cut(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    const struct thread_run *is = &run->threads[thread];
    if (!is->has_begun || is->at.state != THREAD_ON_CORE)
        return step_log_last(&run->log, thread);
    return step_log_end(&run->log, run_state_step(run, thread, STEP_COMPUTE), now_ns);
}
