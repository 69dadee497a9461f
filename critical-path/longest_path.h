/* The longest path to the end of each step, and back. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_LONGEST_PATH_H
#define PERSIK_CRITICAL_PATH_LONGEST_PATH_H

#include "formats/dependencies.h"

/* Over which edge the longest path comes to the end of a step. */
enum path_via { VIA_START, VIA_THREAD, VIA_CAUSE, VIA_LIMIT };

struct longest_path {
    const struct dependencies *all;
    double *length_ns; /* to the end of each step, from the start of the work */
    uint8_t *via;      /* per step: enum path_via */
    uint32_t *before;  /* per step: the one before it of its thread; DEPENDENCIES_NONE */
    uint64_t start_ns; /* of the work */
    uint32_t end;      /* the step that ends it */
};

/* What a step itself takes, scaled or not; its index is given. */
typedef double step_weight(const struct dependencies *all, uint32_t step, double lasted_ns,
                           void *context);

/* `weight` NULL: as recorded, waits that nothing explains take no time. There must be steps. */
struct longest_path longest_path_find(const struct dependencies *all, step_weight *weight,
                                      void *context);
void longest_path_free(struct longest_path *path);

/* The step that ends the work: the last one of the first thread; where that ended early, the last
 * of all. */
uint32_t longest_path_end(const struct dependencies *all);

/* When the work begins. */
uint64_t longest_path_start(const struct dependencies *all);

/* How long the step lasted in the run. */
double longest_path_lasted(const struct longest_path *path, uint32_t step);

/* From the end of its cause until its own: a cost that no change takes away. */
double longest_path_latency(const struct dependencies *all, uint32_t step);

/* The step over whose end the path comes to this one's; DEPENDENCIES_NONE: it begins there. */
uint32_t longest_path_previous(const struct longest_path *path, uint32_t step);

/* Through which lock or queue the path comes to the step from another thread; DEPENDENCIES_NONE:
 * none. */
uint32_t longest_path_object(const struct longest_path *path, uint32_t step);

/* By how much each step may become longer until the end of the work moves; of steps on which that
 * does not depend, the time from them to the end. The caller frees. */
double *longest_path_slack(const struct longest_path *path, step_weight *weight, void *context);

/* What the step itself takes as recorded. */
step_weight longest_path_recorded;

/* The same, and what nothing explains, too. */
step_weight longest_path_as_it_lasted;

#endif
