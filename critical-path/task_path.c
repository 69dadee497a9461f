/* What tasks hang on.
 *
 * The paths of all steps are a forest: each step has one before it. The path of a task is the way
 * back from its end to its begin, and those of many tasks have much in common. So each task is put
 * down where its way begins and taken off where it ends, and one pass over all steps, backwards,
 * adds up how many ways lead over each. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "critical-path/longest_path.h"
#include "critical-path/path_rows.h"
#include "critical-path/path_tasks.h"

struct forest {
    struct longest_path path;
    uint32_t *before; /* per step: the one before it on its path; DEPENDENCIES_NONE */
    uint32_t *jump;   /* per step: one further back, so that each is reached in O(log steps) */
    uint32_t *depth;
    uint32_t *row_of;      /* per step */
    struct path_rows rows; /* of all steps that have a time on their path */
};

/* ---- the forest ---- */

/* Jumps of lengths 1, 3, 7 ..., as in E. Myers, An applicative random-access stack (1983). */
static void add_jump(struct forest *forest, uint32_t step) {
    uint32_t before = forest->before[step];
    forest->depth[step] = before == DEPENDENCIES_NONE ? 0 : forest->depth[before] + 1;
    forest->jump[step] = before;
    if (before == DEPENDENCIES_NONE)
        return;
    uint32_t once = forest->jump[before];
    uint32_t twice = once == DEPENDENCIES_NONE ? once : forest->jump[once];
    if (twice != DEPENDENCIES_NONE &&
        forest->depth[before] - forest->depth[once] == forest->depth[once] - forest->depth[twice])
        forest->jump[step] = twice;
}

static struct forest forest_of(const struct dependencies *all) {
    struct forest forest = {.path = longest_path_find(all, longest_path_as_it_lasted, NULL),
                            .rows = path_rows_of(all)};
    forest.before = memory_alloc(all->n_steps, sizeof *forest.before);
    forest.jump = memory_alloc(all->n_steps, sizeof *forest.jump);
    forest.depth = memory_alloc(all->n_steps, sizeof *forest.depth);
    forest.row_of = memory_alloc(all->n_steps, sizeof *forest.row_of);
    for (uint32_t i = 0; i < all->n_steps; i++) {
        forest.before[i] = longest_path_previous(&forest.path, i);
        forest.row_of[i] = path_rows_find(&forest.rows, &all->steps[i]);
        add_jump(&forest, i);
    }
    return forest;
}

static void forest_free(struct forest *forest) {
    longest_path_free(&forest->path);
    path_rows_free(&forest->rows);
    free(forest->before);
    free(forest->jump);
    free(forest->depth);
    free(forest->row_of);
}

/* When the step's piece of its path begins. */
static uint64_t piece_from(const struct forest *forest, uint32_t step) {
    const struct dependencies *all = forest->path.all;
    uint32_t before = forest->before[step];
    return before == DEPENDENCIES_NONE ? all->threads[all->steps[step].thread].start_ns
                                       : all->steps[before].end_ns;
}

/* The first step of the path to `end` that ends behind that time; DEPENDENCIES_NONE: all end
 * before. */
static uint32_t step_at(const struct forest *forest, uint32_t end, uint64_t time_ns) {
    const struct dependency_step *steps = forest->path.all->steps;
    if (steps[end].end_ns <= time_ns)
        return DEPENDENCIES_NONE;
    for (uint32_t at = end;;) {
        uint32_t jump = forest->jump[at], before = forest->before[at];
        if (jump != DEPENDENCIES_NONE && steps[jump].end_ns > time_ns)
            at = jump;
        else if (before != DEPENDENCIES_NONE && steps[before].end_ns > time_ns)
            at = before;
        else
            return at;
    }
}

/* ---- sums ---- */

/* What lies on the paths of some tasks, in one of their two parts. */
struct sums {
    int32_t *ways;   /* per step: that begin there, less those that end; in the end: all */
    double *rows_ns; /* per row */
    double *held_ns; /* per object */
    double *wait_ns; /* per object: until it was handed over */
    double path_ns;
};

static struct sums sums_new(const struct forest *forest) {
    const struct dependencies *all = forest->path.all;
    return (struct sums){.ways = memory_alloc(all->n_steps, sizeof(int32_t)),
                         .rows_ns = memory_alloc(forest->rows.names.count, sizeof(double)),
                         .held_ns = memory_alloc(all->n_objects, sizeof(double)),
                         .wait_ns = memory_alloc(all->n_objects, sizeof(double))};
}

static void sums_free(struct sums *sums) {
    free(sums->ways);
    free(sums->rows_ns);
    free(sums->held_ns);
    free(sums->wait_ns);
}

static void add_time(const struct forest *forest, struct sums *sums, uint32_t step,
                     double time_ns) {
    const struct dependency_step *is = &forest->path.all->steps[step];
    uint32_t object = longest_path_object(&forest->path, step);
    sums->rows_ns[forest->row_of[step]] += time_ns;
    sums->path_ns += time_ns;
    if (object != DEPENDENCIES_NONE)
        sums->wait_ns[object] += time_ns;
    else if (path_holds_a_lock(is))
        sums->held_ns[is->object] += time_ns;
}

/* The path to `end` from its beginning up to that time, `ways` times. */
static void add_way(const struct forest *forest, struct sums *sums, uint32_t end, uint64_t to_ns,
                    int ways) {
    uint32_t last = step_at(forest, end, to_ns);
    if (last == DEPENDENCIES_NONE) {
        sums->ways[end] += ways;
        return;
    }
    uint64_t from_ns = piece_from(forest, last);
    if (forest->before[last] != DEPENDENCIES_NONE)
        sums->ways[forest->before[last]] += ways;
    if (to_ns > from_ns)
        add_time(forest, sums, last, ways * (double)(to_ns - from_ns));
}

static void add_part(const struct forest *forest, struct sums *sums, uint32_t end, uint64_t from_ns,
                     uint64_t to_ns) {
    add_way(forest, sums, end, to_ns, 1);
    add_way(forest, sums, end, from_ns, -1);
}

static void add_up(const struct forest *forest, struct sums *sums) {
    const struct dependencies *all = forest->path.all;
    for (uint32_t left = (uint32_t)all->n_steps; left > 0; left--) {
        uint32_t i = left - 1, before = forest->before[i];
        if (sums->ways[i] == 0)
            continue;
        if (before != DEPENDENCIES_NONE)
            sums->ways[before] += sums->ways[i];
        add_time(forest, sums, i,
                 sums->ways[i] * (double)(all->steps[i].end_ns - piece_from(forest, i)));
    }
}

static struct sums sums_of(const struct forest *forest, const struct path_tasks *tasks, size_t n,
                           enum task_part part) {
    struct sums sums = sums_new(forest);
    for (size_t i = 0; i < n; i++) {
        const struct path_task *task = &tasks->items[i];
        if (part == TASK_WAITS)
            add_part(forest, &sums, task->end, task->begin_ns, task->taken_ns);
        else
            add_part(forest, &sums, task->end, task->taken_ns, task->end_ns);
    }
    add_up(forest, &sums);
    return sums;
}

/* ---- what is told ---- */

static void add_rows(struct task_path *found, const struct forest *forest, enum task_part part,
                     const struct sums sums[TASK_GROUPS], const size_t n[TASK_GROUPS]) {
    for (size_t r = 0; r < forest->rows.names.count; r++) {
        const struct path_row_name *name = &forest->rows.names.items[r];
        struct task_row row = {.part = part, .subject = name->subject};
        for (size_t g = 0; g < TASK_GROUPS; g++)
            row.path_ns[g] = sums[g].rows_ns[r] / (double)n[g];
        if (row.path_ns[TASKS_ALL] <= 0)
            continue;
        row.name = memory_strdup(name->name);
        found->rows = memory_resize(found->rows, found->n_rows + 1, sizeof *found->rows);
        found->rows[found->n_rows++] = row;
    }
}

static void add_objects(struct task_path *found, const struct sums sums[TASK_GROUPS],
                        const size_t n[TASK_GROUPS]) {
    for (size_t o = 0; o < found->n_objects; o++)
        for (size_t g = 0; g < TASK_GROUPS; g++) {
            found->objects[o].held_ns[g] += sums[g].held_ns[o] / (double)n[g];
            found->objects[o].waited_ns[g] += sums[g].wait_ns[o] / (double)n[g];
        }
}

static void add_task_part(struct task_path *found, const struct forest *forest,
                          const struct path_tasks *tasks, enum task_part part) {
    const size_t n[TASK_GROUPS] = {[TASKS_SLOWEST] = found->n_slowest, [TASKS_ALL] = tasks->n};
    struct sums sums[TASK_GROUPS];
    for (size_t g = 0; g < TASK_GROUPS; g++) {
        sums[g] = sums_of(forest, tasks, n[g], part);
        found->groups[g].path_ns += sums[g].path_ns / (double)n[g];
        found->groups[g].waits_ns += part == TASK_WAITS ? sums[g].path_ns / (double)n[g] : 0;
    }
    add_rows(found, forest, part, sums, n);
    add_objects(found, sums, n);
    for (size_t g = 0; g < TASK_GROUPS; g++)
        sums_free(&sums[g]);
}

static int compare_rows(const void *left, const void *right) {
    const struct task_row *a = left, *b = right;
    for (size_t g = 0; g < TASK_GROUPS; g++)
        if (a->path_ns[g] != b->path_ns[g])
            return a->path_ns[g] > b->path_ns[g] ? -1 : 1;
    return 0;
}

static double mean_response(const struct path_tasks *tasks, size_t n) {
    double sum_ns = 0;
    for (size_t i = 0; i < n; i++)
        sum_ns += (double)(tasks->items[i].end_ns - tasks->items[i].begin_ns);
    return sum_ns / (double)n;
}

static void name_objects(struct task_path *found, const struct dependencies *all) {
    found->n_objects = all->n_objects;
    found->objects = memory_alloc(all->n_objects, sizeof *found->objects);
    for (size_t o = 0; o < all->n_objects; o++)
        found->objects[o].name = path_object_name(&all->objects[o]);
}

static size_t slowest_of(size_t n, double quantile) {
    double slowest = round((1 - quantile) * (double)n);
    return slowest < 1 ? 1 : slowest > (double)n ? n : (size_t)slowest;
}

struct task_path *critical_path_of_tasks(const struct dependencies *all, double quantile,
                                         struct error *error) {
    struct path_tasks tasks = path_tasks_of(all);
    if (tasks.n == 0) {
        path_tasks_free(&tasks);
        error_set(error, "no tasks were recognised in this run, neither requests nor jobs of a "
                         "queue: record it with --task-begin and --task-end");
        return NULL;
    }
    struct task_path *found = memory_alloc(1, sizeof *found);
    struct forest forest = forest_of(all);
    found->what = memory_strdup(tasks.what);
    found->n_tasks = tasks.n;
    found->n_slowest = slowest_of(tasks.n, quantile);
    const struct path_task *last = &tasks.items[found->n_slowest - 1];
    found->at_least_ns = (double)(last->end_ns - last->begin_ns);
    found->groups[TASKS_SLOWEST].response_ns = mean_response(&tasks, found->n_slowest);
    found->groups[TASKS_ALL].response_ns = mean_response(&tasks, tasks.n);
    name_objects(found, all);
    add_task_part(found, &forest, &tasks, TASK_WAITS);
    add_task_part(found, &forest, &tasks, TASK_IN_WORK);
    if (found->n_rows > 0)
        qsort(found->rows, found->n_rows, sizeof *found->rows, compare_rows);
    forest_free(&forest);
    path_tasks_free(&tasks);
    return found;
}

void task_path_free(struct task_path *path) {
    if (!path)
        return;
    for (size_t r = 0; r < path->n_rows; r++)
        free(path->rows[r].name);
    for (size_t o = 0; o < path->n_objects; o++)
        free(path->objects[o].name);
    free(path->rows);
    free(path->objects);
    free(path->what);
    free(path);
}
