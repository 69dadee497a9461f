#include "modelgen/graph/steps.h"

#include <stdlib.h>

static bool has_pool(enum node_kind kind) {
    return kind == NODE_CREATE || kind == NODE_JOIN;
}

struct step step_new(enum node_kind kind, uint64_t start_ns, uint64_t end_ns, uint32_t context) {
    struct step step = {.kind = kind, .start_ns = start_ns, .end_ns = end_ns, .context = context};
    if (step_has_use(kind))
        step.use = (struct step_use){.object = MODEL_NONE, .mutex = MODEL_NONE, .timeout_ns = -1};
    else if (step_has_time(kind))
        step.time.disk = MODEL_NONE;
    else if (has_pool(kind))
        step.target_pool = MODEL_NONE;
    return step;
}

int step_object(const struct step *step) {
    return step_has_use(step->kind)    ? step->use.object
           : step_has_time(step->kind) ? step->time.disk
                                       : MODEL_NONE;
}

int step_mutex(const struct step *step) {
    return step_has_use(step->kind) ? step->use.mutex : MODEL_NONE;
}

int step_section(const struct step *step) {
    return step->kind == NODE_STATEMENTS ? step->use.section
           : step->kind == NODE_TASK_END ? step->taking_section
                                         : 0;
}

int step_target_pool(const struct step *step) {
    return has_pool(step->kind) ? step->target_pool : MODEL_NONE;
}

int step_item_kind(const struct step *step) {
    return step->kind == NODE_STEP ? step->item_kind : step_amount(step).item_kind;
}

int step_stage(const struct step *step) {
    return step_has_time(step->kind) ? step->time.stage : 0;
}

double step_timeout_ns(const struct step *step) {
    return step_has_use(step->kind) ? step->use.timeout_ns : -1;
}

struct step_amount step_amount(const struct step *step) {
    return step_has_amount(step->kind) ? step->use.amount : (struct step_amount){0};
}

void streams_free(struct stream_result *result, size_t n_threads) {
    for (size_t t = 0; t < n_threads; t++)
        free(result->streams[t].steps);
    free(result->streams);
    for (size_t p = 0; p < result->n_pools; p++)
        free(result->loop_is_tokens[p]);
    free(result->loop_is_tokens);
    free(result->loop_has_answer);
}
