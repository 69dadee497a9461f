#include "critical-path/longest_path.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

double longest_path_recorded(const struct dependencies *all, uint32_t step, double lasted_ns,
                             void *context) {
    (void)context;
    enum step_kind kind = (enum step_kind)all->steps[step].kind;
    return kind == STEP_UNEXPLAINED ? 0 : lasted_ns;
}

double longest_path_as_it_lasted(const struct dependencies *all, uint32_t step, double lasted_ns,
                                 void *context) {
    (void)all, (void)step, (void)context;
    return lasted_ns;
}

double longest_path_latency(const struct dependencies *all, uint32_t step) {
    const struct dependency_step *is = &all->steps[step];
    return (double)is->end_ns - (double)all->steps[is->cause].end_ns;
}

static uint64_t began_ns(const struct longest_path *path, uint32_t step) {
    uint32_t before = path->before[step];
    return before == DEPENDENCIES_NONE ? path->all->threads[path->all->steps[step].thread].start_ns
                                       : path->all->steps[before].end_ns;
}

double longest_path_lasted(const struct longest_path *path, uint32_t step) {
    return (double)path->all->steps[step].end_ns - (double)began_ns(path, step);
}

/* A step with a cause waits: how long, its cause tells. */
static double weigh(const struct longest_path *path, uint32_t step, step_weight *weight,
                    void *context) {
    if (path->all->steps[step].cause != DEPENDENCIES_NONE)
        return 0;
    return weight(path->all, step, longest_path_lasted(path, step), context);
}

/* A thread that nobody is known to have created begins when it did. */
static void reach(struct longest_path *path, uint32_t step, double weight_ns) {
    const struct dependency_step *is = &path->all->steps[step];
    uint32_t before = path->before[step];
    double length = -INFINITY;
    uint8_t via = VIA_START;
    if (before != DEPENDENCIES_NONE) {
        length = path->length_ns[before] + weight_ns;
        via = VIA_THREAD;
    } else if (is->cause == DEPENDENCIES_NONE) {
        length = (double)(path->all->threads[is->thread].start_ns - path->start_ns) + weight_ns;
    }
    if (is->cause != DEPENDENCIES_NONE) {
        double by_cause = path->length_ns[is->cause] + longest_path_latency(path->all, step);
        if (by_cause > length) {
            length = by_cause;
            via = VIA_CAUSE;
        }
    }
    if (is->limit != DEPENDENCIES_NONE && path->length_ns[is->limit] > length) {
        length = path->length_ns[is->limit];
        via = VIA_LIMIT;
    }
    path->length_ns[step] = length;
    path->via[step] = via;
}

uint32_t longest_path_end(const struct dependencies *all) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < all->n_steps; i++)
        if (all->steps[i].end_ns > all->steps[end].end_ns ||
            (all->steps[i].end_ns == all->steps[end].end_ns && all->steps[i].thread == 0))
            end = i;
    return end;
}

uint64_t longest_path_start(const struct dependencies *all) {
    uint64_t start_ns = UINT64_MAX;
    for (size_t t = 0; t < all->n_threads; t++)
        if (!all->threads[t].is_made && all->threads[t].start_ns < start_ns)
            start_ns = all->threads[t].start_ns;
    return start_ns;
}

struct longest_path longest_path_find(const struct dependencies *all, step_weight *weight,
                                      void *context) {
    struct longest_path path = {
        .all = all, .start_ns = longest_path_start(all), .end = longest_path_end(all)};
    path.length_ns = memory_alloc(all->n_steps, sizeof *path.length_ns);
    path.via = memory_alloc(all->n_steps, sizeof *path.via);
    path.before = memory_alloc(all->n_steps, sizeof *path.before);
    uint32_t *last = memory_alloc(all->n_threads, sizeof *last);
    for (size_t t = 0; t < all->n_threads; t++)
        last[t] = DEPENDENCIES_NONE;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        path.before[i] = last[all->steps[i].thread];
        last[all->steps[i].thread] = i;
        reach(&path, i, weigh(&path, i, weight ? weight : longest_path_recorded, context));
    }
    free(last);
    return path;
}

void longest_path_free(struct longest_path *path) {
    free(path->length_ns);
    free(path->via);
    free(path->before);
}

uint32_t longest_path_previous(const struct longest_path *path, uint32_t step) {
    switch ((enum path_via)path->via[step]) {
    case VIA_THREAD:
        return path->before[step];
    case VIA_CAUSE:
        return path->all->steps[step].cause;
    case VIA_LIMIT:
        return path->all->steps[step].limit;
    default:
        return DEPENDENCIES_NONE;
    }
}

/* Who wakes a thread on its own core keeps it waiting until it leaves that, and the path comes over
 * the core; it is handed over all the same. */
uint32_t longest_path_object(const struct longest_path *path, uint32_t index) {
    const struct dependency_step *steps = path->all->steps, *step = &steps[index];
    if (path->via[index] < VIA_CAUSE)
        return DEPENDENCIES_NONE;
    if (path->via[index] != VIA_CAUSE || step->cause_kind != LINK_CORE)
        return step->object;
    uint32_t before = path->before[index];
    bool is_of_waker = before != DEPENDENCIES_NONE && steps[before].cause != DEPENDENCIES_NONE &&
                       steps[steps[before].cause].thread == steps[step->cause].thread;
    return is_of_waker ? steps[before].object : DEPENDENCIES_NONE;
}

static void bound(double *latest_ns, uint32_t step, double to_ns) {
    if (step != DEPENDENCIES_NONE && to_ns < latest_ns[step])
        latest_ns[step] = to_ns;
}

double *longest_path_slack(const struct longest_path *path, step_weight *weight, void *context) {
    const struct dependencies *all = path->all;
    double *latest_ns = memory_alloc(all->n_steps, sizeof *latest_ns);
    double end_ns = path->length_ns[path->end];
    for (size_t i = 0; i < all->n_steps; i++)
        latest_ns[i] = end_ns;
    for (uint32_t left = (uint32_t)all->n_steps; left > 0; left--) {
        uint32_t i = left - 1;
        const struct dependency_step *step = &all->steps[i];
        bound(latest_ns, path->before[i],
              latest_ns[i] - weigh(path, i, weight ? weight : longest_path_recorded, context));
        if (step->cause != DEPENDENCIES_NONE)
            bound(latest_ns, step->cause, latest_ns[i] - longest_path_latency(all, i));
        bound(latest_ns, step->limit, latest_ns[i]);
        latest_ns[i] -= path->length_ns[i];
    }
    return latest_ns;
}
