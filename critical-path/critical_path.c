#include "critical-path/critical_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "critical-path/judgement.h"
#include "critical-path/limits.h"
#include "critical-path/longest_path.h"
#include "critical-path/path_rows.h"
#include "critical-path/replay.h"

/* ---- rows ---- */

struct rows {
    struct path_rows known;
    struct {
        struct path_row *items; /* one for each of those, without their names */
        size_t count, capacity;
    } sums;
};

static struct path_row *row_of_step(struct rows *rows, const struct dependency_step *step) {
    uint32_t number = path_rows_find(&rows->known, step);
    if (number == rows->sums.count)
        *VECTOR_ADD(&rows->sums) = (struct path_row){.least_slack_ns = INFINITY};
    return &rows->sums.items[number];
}

static int compare_rows(const void *left, const void *right) {
    const struct path_row *a = left, *b = right;
    if (a->path_ns != b->path_ns)
        return a->path_ns > b->path_ns ? -1 : 1;
    return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

static void finish_rows(struct rows *rows, struct critical_path *found) {
    found->rows = rows->sums.items;
    found->n_rows = rows->sums.count;
    for (size_t r = 0; r < found->n_rows; r++) {
        struct path_row *row = &found->rows[r];
        row->subject = rows->known.names.items[r].subject;
        row->name = rows->known.names.items[r].name;
        rows->known.names.items[r].name = NULL;
        if (row->total_ns > 0)
            row->mean_slack_ns /= row->total_ns;
    }
    if (found->n_rows > 0)
        qsort(found->rows, found->n_rows, sizeof *found->rows, compare_rows);
    path_rows_free(&rows->known);
}

/* ---- all steps ---- */

static void least(double *slack_ns, double step_ns) {
    if (step_ns < *slack_ns)
        *slack_ns = step_ns;
}

static void add_up(struct critical_path *found, struct rows *rows, const struct longest_path *path,
                   const double *slack_ns) {
    const struct dependencies *all = path->all;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        double lasted_ns = longest_path_lasted(path, i);
        if (all->threads[step->thread].is_made || lasted_ns <= 0)
            continue;
        struct path_thread *thread = &found->threads[step->thread];
        struct path_row *row = row_of_step(rows, step);
        row->total_ns += lasted_ns;
        row->mean_slack_ns += lasted_ns * slack_ns[i];
        least(&row->least_slack_ns, slack_ns[i]);
        least(&thread->slack_ns, slack_ns[i]);
        if (step->kind == STEP_COMPUTE) {
            thread->cpu_ns += lasted_ns;
            found->cpu_ns += lasted_ns;
        }
        if (path_holds_a_lock(step))
            least(&found->objects[step->object].slack_ns, slack_ns[i]);
        if (step->kind == STEP_BLOCKED && step->object != DEPENDENCIES_NONE)
            found->objects[step->object].waited_ns += lasted_ns;
    }
}

/* ---- the path ---- */

static void take_step(struct critical_path *found, struct rows *rows,
                      const struct longest_path *path, uint32_t index) {
    const struct dependencies *all = path->all;
    const struct dependency_step *step = &all->steps[index];
    bool crosses = path->via[index] == VIA_CAUSE;
    double took_ns = crosses ? longest_path_latency(all, index) : longest_path_lasted(path, index);
    bool has_weight = crosses || step->cause == DEPENDENCIES_NONE;
    if (path->via[index] != VIA_LIMIT && has_weight) {
        struct path_row *row = row_of_step(rows, step);
        row->path_ns += took_ns;
        row->visits++;
        found->threads[step->thread].path_ns += took_ns;
        if (!crosses && path_holds_a_lock(step))
            found->objects[step->object].held_ns += took_ns;
    }
    uint32_t object = longest_path_object(path, index);
    if (object != DEPENDENCIES_NONE)
        found->objects[object].handed++;
}

static void walk_back(struct critical_path *found, struct rows *rows,
                      const struct longest_path *path) {
    for (uint32_t at = path->end; at != DEPENDENCIES_NONE; at = longest_path_previous(path, at))
        take_step(found, rows, path, at);
}

static void add_limits(struct critical_path *found, const struct longest_path *path) {
    double *limits = limits_recorded(path->all);
    uint64_t *reached = limits_reached(path, limits);
    for (size_t o = 0; o < found->n_objects; o++) {
        found->objects[o].limit = limits[o];
        found->objects[o].closed = reached[o];
    }
    free(reached);
    free(limits);
}

/* ---- checks ---- */

static void check_waits(struct path_checks *checks, const struct longest_path *path) {
    const struct dependencies *all = path->all;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        if (step->kind == STEP_COMPUTE || step->kind == STEP_READY ||
            all->threads[step->thread].is_made)
            continue;
        double lasted_ns = longest_path_lasted(path, i);
        checks->blocked_ns += lasted_ns;
        checks->explained_ns += step->kind == STEP_UNEXPLAINED ? 0 : lasted_ns;
        checks->outside_ns += step->kind == STEP_OUTSIDE ? lasted_ns : 0;
        checks->by_kernel_ns += step->cause_kind == LINK_WAKER ? lasted_ns : 0;
        checks->told += step->witness != WITNESS_NONE;
        checks->confirmed += step->witness == WITNESS_CONFIRMS;
    }
}

static void name_what_is_missing(struct critical_path *found) {
    struct path_checks *checks = &found->checks;
    if (checks->as_recorded_ns >= checks->traced_ns * (1 - path_judgement.same_time))
        return;
    for (size_t r = 0; r < found->n_rows; r++)
        if (found->rows[r].subject == PATH_UNKNOWN && found->rows[r].path_ns > 0) {
            checks->missing = memory_strdup(found->rows[r].name);
            return;
        }
}

/* ---- all of it ---- */

static void name_parts(struct critical_path *found, const struct dependencies *all) {
    found->n_objects = all->n_objects;
    found->objects = memory_alloc(all->n_objects, sizeof *found->objects);
    for (size_t o = 0; o < all->n_objects; o++) {
        found->objects[o].name = path_object_name(&all->objects[o]);
        found->objects[o].slack_ns = INFINITY;
    }
    found->n_threads = all->n_threads;
    found->threads = memory_alloc(all->n_threads, sizeof *found->threads);
    for (size_t t = 0; t < all->n_threads; t++) {
        found->threads[t].name = memory_format("%s#%zu", all->threads[t].name, t);
        found->threads[t].slack_ns = INFINITY;
    }
}

/* Are there counters by which waits are replayed? */
static bool has_pools(const struct dependencies *all) {
    for (size_t o = 0; o < all->n_objects; o++)
        if (all->objects[o].is_pool)
            return true;
    return false;
}

static double replay_unchanged(const struct dependencies *all, bool without_pools) {
    const struct replay_change nothing = {.weight = longest_path_as_it_lasted,
                                          .without_pools = without_pools};
    struct replayed again = replay(all, &nothing);
    replayed_free(&again);
    return again.end_ns;
}

/* How long the unchanged run takes. Counters are a conclusion: where it does not come out with
 * them, and does better without, they are not believed. */
static double reschedule_unchanged(struct dependencies *all, double traced_ns) {
    double with_ns = replay_unchanged(all, false);
    all->are_pools_off = false;
    if (fabs(with_ns - traced_ns) <= path_judgement.sure * traced_ns || !has_pools(all))
        return with_ns;
    double without_ns = replay_unchanged(all, true);
    all->are_pools_off = fabs(without_ns - traced_ns) < fabs(with_ns - traced_ns);
    return all->are_pools_off ? without_ns : with_ns;
}

struct critical_path *critical_path_find(struct dependencies *all, struct error *error) {
    if (all->n_steps == 0) {
        error_set(error, "the recording holds no steps of any thread: record the program again");
        return NULL;
    }
    struct critical_path *found = memory_alloc(1, sizeof *found);
    struct longest_path path = longest_path_find(all, NULL, NULL);
    found->checks.as_recorded_ns = path.length_ns[path.end];
    longest_path_free(&path);
    path = longest_path_find(all, longest_path_as_it_lasted, NULL);
    found->checks.traced_ns = (double)(all->steps[path.end].end_ns - path.start_ns);
    double *slack_ns = longest_path_slack(&path, longest_path_as_it_lasted, NULL);
    struct rows rows = {.known = path_rows_of(all)};
    name_parts(found, all);
    add_up(found, &rows, &path, slack_ns);
    walk_back(found, &rows, &path);
    add_limits(found, &path);
    check_waits(&found->checks, &path);
    found->checks.rescheduled_ns = NAN;
    if (all->has_operations)
        found->checks.rescheduled_ns = reschedule_unchanged(all, found->checks.traced_ns);
    finish_rows(&rows, found);
    name_what_is_missing(found);
    free(slack_ns);
    longest_path_free(&path);
    return found;
}

void critical_path_free(struct critical_path *path) {
    if (!path)
        return;
    for (size_t r = 0; r < path->n_rows; r++)
        free(path->rows[r].name);
    for (size_t o = 0; o < path->n_objects; o++)
        free(path->objects[o].name);
    for (size_t t = 0; t < path->n_threads; t++)
        free(path->threads[t].name);
    free(path->rows);
    free(path->objects);
    free(path->threads);
    free(path->checks.missing);
    free(path);
}
