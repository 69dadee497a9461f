#include "modelgen/dependencies/step_log.h"

#include "base/memory.h"

uint32_t step_log_thread(struct step_log *log, char *name, uint64_t start_ns, bool is_made) {
    size_t index = log->threads.count;
    *VECTOR_ADD(&log->threads) = (struct dependency_thread){name, start_ns, is_made};
    if (index >= log->last_capacity) {
        log->last_capacity = 2 * index + 8;
        log->last = memory_resize(log->last, log->last_capacity, sizeof *log->last);
    }
    log->last[index] = (struct last_step){start_ns, DEPENDENCIES_NONE};
    return (uint32_t)index;
}

uint64_t step_log_now(const struct step_log *log, uint32_t thread) {
    return log->last[thread].end_ns;
}

uint32_t step_log_last(const struct step_log *log, uint32_t thread) {
    return log->last[thread].step;
}

uint32_t step_log_end(struct step_log *log, struct dependency_step step, uint64_t end_ns) {
    struct last_step *last = &log->last[step.thread];
    if (end_ns < last->end_ns) /* clocks of two sources */
        end_ns = last->end_ns;
    bool matters = step.cause != DEPENDENCIES_NONE || step.limit != DEPENDENCIES_NONE ||
                   step.operation != OPERATION_NONE;
    if (end_ns == last->end_ns && !matters && last->step != DEPENDENCIES_NONE)
        return last->step;
    step.end_ns = end_ns & ((UINT64_C(1) << 56) - 1);
    last->end_ns = end_ns;
    last->step = (uint32_t)log->steps.count;
    *VECTOR_ADD(&log->steps) = step;
    return last->step;
}
