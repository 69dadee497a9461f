#include "critical-path/path_tasks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "critical-path/step_clock.h"

struct found {
    struct path_task *items;
    size_t count, capacity;
};

/* ---- which queue ---- */

static bool takes(const struct dependency_step *step) {
    return step->operation == OPERATION_TAKE && step->operand != DEPENDENCIES_NONE;
}

/* What each thread computes in all. */
static double *cpu_of_threads(const struct dependencies *all) {
    double *cpu_ns = memory_alloc(all->n_threads, sizeof *cpu_ns);
    struct step_clock clock = step_clock_start(all);
    for (size_t i = 0; i < all->n_steps; i++) {
        double lasted_ns = step_clock_lasted(&clock, i);
        if (all->steps[i].kind == STEP_COMPUTE)
            cpu_ns[all->steps[i].thread] += lasted_ns;
    }
    step_clock_free(&clock);
    return cpu_ns;
}

enum { FEWEST_JOBS = 3 }; /* a word to begin, or to end, is none */

/* The object whose takers compute most; DEPENDENCIES_NONE: nobody takes items. */
static uint32_t busiest_queue(const struct dependencies *all) {
    size_t n = all->n_objects;
    double *cpu_ns = cpu_of_threads(all), *of_takers_ns = memory_alloc(n, sizeof *of_takers_ns);
    size_t *taken = memory_alloc(n, sizeof *taken);
    bool *is_taker = memory_alloc(n * all->n_threads, sizeof *is_taker);
    for (size_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        if (!takes(step) || dependency_item(step) == DEPENDENCIES_NONE)
            continue;
        taken[step->operand]++;
        bool *is = &is_taker[step->operand * all->n_threads + step->thread];
        of_takers_ns[step->operand] += *is ? 0 : cpu_ns[step->thread];
        *is = true;
    }
    uint32_t most = DEPENDENCIES_NONE;
    for (uint32_t o = 0; o < n; o++)
        if (taken[o] >= FEWEST_JOBS &&
            (most == DEPENDENCIES_NONE || of_takers_ns[o] > of_takers_ns[most]))
            most = o;
    free(is_taker);
    free(taken);
    free(of_takers_ns);
    free(cpu_ns);
    return most;
}

/* ---- its jobs ---- */

/* Per thread. */
struct taker {
    uint32_t outside; /* its last step that is in no call; DEPENDENCIES_NONE */
    uint32_t locked;  /* such a step, before it last locked */
    uint32_t came;    /* such a step, before it came to the queue once more */
    size_t job;       /* that it has, among those found; SIZE_MAX: none */
};

/* With the end of that step it was through with its job. */
static void end_job(const struct dependencies *all, struct found *found, struct taker *taker,
                    uint32_t with) {
    taker->came = DEPENDENCIES_NONE;
    if (taker->job == SIZE_MAX)
        return;
    struct path_task *job = &found->items[taker->job];
    bool is_behind = with != DEPENDENCIES_NONE && all->steps[with].end_ns >= job->taken_ns;
    job->end = is_behind ? with : job->end;
    job->end_ns = all->steps[job->end].end_ns;
    taker->job = SIZE_MAX;
}

static bool locks(const struct dependency_step *step) {
    return step->operation == OPERATION_LOCK || step->operation == OPERATION_SPIN;
}

static void take(const struct dependencies *all, struct found *found, struct taker *taker,
                 uint32_t index) {
    uint32_t put = dependency_item(&all->steps[index]);
    if (put == DEPENDENCIES_NONE)
        return;
    taker->job = found->count;
    *VECTOR_ADD(found) = (struct path_task){
        .begin_ns = all->steps[put].end_ns, .taken_ns = all->steps[index].end_ns, .end = index};
}

/* A thread that puts into the queue, too, has not come for a job. */
static void pass(const struct dependencies *all, uint32_t queue, struct found *found,
                 struct taker *taker, uint32_t index) {
    const struct dependency_step *step = &all->steps[index];
    bool is_on_queue = step->operation != OPERATION_NONE && step->operand == queue;
    uint32_t outside = step->in_call ? taker->outside : index;
    if (locks(step))
        taker->locked = outside;
    if (step->in_call && step->object == queue && taker->came == DEPENDENCIES_NONE)
        taker->came = outside;
    if (is_on_queue && step->operation == OPERATION_GIVE)
        taker->came = DEPENDENCIES_NONE;
    if (is_on_queue && (takes(step) || step->operation == OPERATION_LEFT))
        end_job(all, found, taker, all->objects[queue].is_pool ? taker->locked : outside);
    if (is_on_queue && takes(step))
        take(all, found, taker, index);
    taker->outside = outside;
}

static void drop_unended(struct found *found) {
    size_t kept = 0;
    for (size_t j = 0; j < found->count; j++)
        if (found->items[j].end_ns > 0)
            found->items[kept++] = found->items[j];
    found->count = kept;
}

/* A thread's last job has an end only where it came once more, and found nothing. */
static struct found jobs_of(const struct dependencies *all, uint32_t queue) {
    struct found found = {0};
    struct taker *takers = memory_alloc(all->n_threads, sizeof *takers);
    for (size_t t = 0; t < all->n_threads; t++)
        takers[t] =
            (struct taker){DEPENDENCIES_NONE, DEPENDENCIES_NONE, DEPENDENCIES_NONE, SIZE_MAX};
    for (uint32_t i = 0; i < all->n_steps; i++)
        pass(all, queue, &found, &takers[all->steps[i].thread], i);
    for (size_t t = 0; t < all->n_threads; t++)
        if (takers[t].came != DEPENDENCIES_NONE)
            end_job(all, &found, &takers[t], takers[t].came);
    drop_unended(&found);
    free(takers);
    return found;
}

/* ---- all ---- */

static struct found given_tasks(const struct dependencies *all) {
    struct found found = {0};
    for (size_t i = 0; i < all->n_tasks; i++) {
        const struct dependency_task *task = &all->tasks[i];
        uint64_t taken_ns =
            task->taken == DEPENDENCIES_NONE ? task->begin_ns : all->steps[task->taken].end_ns;
        taken_ns = taken_ns < task->begin_ns ? task->begin_ns : taken_ns;
        *VECTOR_ADD(&found) =
            (struct path_task){task->begin_ns, taken_ns < task->end_ns ? taken_ns : task->end_ns,
                               task->end_ns, task->end};
    }
    return found;
}

static int compare_tasks(const void *left, const void *right) {
    const struct path_task *a = left, *b = right;
    uint64_t a_ns = a->end_ns - a->begin_ns, b_ns = b->end_ns - b->begin_ns;
    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

struct path_tasks path_tasks_of(const struct dependencies *all) {
    struct path_tasks tasks = {0};
    uint32_t queue = all->n_tasks > 0 ? DEPENDENCIES_NONE : busiest_queue(all);
    if (all->n_tasks == 0 && queue == DEPENDENCIES_NONE)
        return tasks;
    struct found found = all->n_tasks > 0 ? given_tasks(all) : jobs_of(all, queue);
    if (found.count > 0)
        tasks.what = all->n_tasks > 0
                         ? memory_strdup(all->task_kind)
                         : memory_format("jobs of the queue %s", all->objects[queue].name);
    tasks.n = found.count;
    tasks.items = found.items;
    if (tasks.n > 0)
        qsort(tasks.items, tasks.n, sizeof *tasks.items, compare_tasks);
    return tasks;
}

void path_tasks_free(struct path_tasks *tasks) {
    free(tasks->what);
    free(tasks->items);
}
