#include "critical-path/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

double *limits_recorded(const struct dependencies *all) {
    double *limits = memory_alloc(all->n_objects, sizeof *limits);
    for (size_t o = 0; o < all->n_objects; o++) {
        const struct dependency_object *object = &all->objects[o];
        bool is_limited = object->is_pool && (strcmp(object->kind, "room") == 0 ||
                                              strcmp(object->kind, "permits") == 0);
        limits[o] = is_limited ? object->start : NAN;
    }
    for (size_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        bool begins = step->operation == OPERATION_PERMIT ||
                      (step->operation == OPERATION_BOUND && step->amount > 0);
        if (begins && isnan(limits[step->operand]))
            limits[step->operand] = step->amount;
    }
    return limits;
}

/* A bounded queue's room is taken by who puts. */
static bool takes_of_limit(const struct dependencies *all, const struct dependency_step *step) {
    enum step_operation operation = (enum step_operation)step->operation;
    const struct dependency_object *object = &all->objects[step->operand];
    bool has_permits = object->is_pool || strcmp(object->kind, "semaphore") == 0;
    return operation == (has_permits ? OPERATION_TAKE : OPERATION_GIVE);
}

uint64_t *limits_reached(const struct longest_path *path, const double *limits) {
    const struct dependencies *all = path->all;
    uint64_t *reached = memory_alloc(all->n_objects, sizeof *reached);
    bool *is_on_path = memory_alloc(all->n_steps, sizeof *is_on_path);
    bool *was_handed = memory_alloc(all->n_threads, sizeof *was_handed); /* since it locked last */
    for (uint32_t at = path->end; at != DEPENDENCIES_NONE; at = longest_path_previous(path, at))
        is_on_path[at] = true;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        bool *handed = &was_handed[step->thread];
        *handed |= is_on_path[i] && longest_path_object(path, i) != DEPENDENCIES_NONE;
        if (step->operation == OPERATION_NONE || step->operation == OPERATION_PAUSE ||
            step->operation == OPERATION_RESUME)
            continue;
        if (*handed && !isnan(limits[step->operand]) && takes_of_limit(all, step))
            reached[step->operand]++;
        *handed = false;
    }
    free(is_on_path);
    free(was_handed);
    return reached;
}
