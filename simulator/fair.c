#include "simulator/fair.h"

#include <float.h>
#include <math.h>

#define ROUNDING_NS 1e-3

bool fair_is_shared(const struct engine *engine) {
    return engine->plan->tick_ns <= 0;
}

struct fair_queue *fair_queue_of(const struct engine *engine, int core) {
    return &engine->queues[fair_is_shared(engine) ? 0 : core];
}

void fair_reset(struct fair_queue *queue) {
    heap_clear(&queue->waiting);
    queue->n_delayed = 0;
    queue->sum_vruntime_ns = queue->average_ns = 0;
}

/* ---- who competes ---- */

struct fair_cores fair_cores_of(const struct engine *engine, int core) {
    if (fair_is_shared(engine))
        return (struct fair_cores){0, engine->plan->cores};
    return (struct fair_cores){core, core + 1};
}

double fair_competitors(const struct engine *engine, int core) {
    struct fair_cores cores = fair_cores_of(engine, core);
    double n = fair_queue_of(engine, core)->waiting.count;
    for (int i = cores.first; i < cores.end; i++)
        n += engine->cores[i].running != NULL;
    return n;
}

/* Of the virtual runtimes of all that compete; without any, the last one known. */
static double average(const struct engine *engine, int core) {
    struct fair_queue *queue = fair_queue_of(engine, core);
    struct fair_cores cores = fair_cores_of(engine, core);
    double n = queue->waiting.count, sum = queue->sum_vruntime_ns;
    for (int i = cores.first; i < cores.end; i++)
        if (engine->cores[i].running) {
            n++;
            sum += engine->cores[i].running->vruntime_ns;
        }
    if (n > 0)
        queue->average_ns = sum / n;
    return queue->average_ns;
}

void fair_charge(struct engine *engine, int core) {
    struct fair_cores cores = fair_cores_of(engine, core);
    for (int i = cores.first; i < cores.end; i++) {
        struct core *charged = &engine->cores[i];
        struct thread *running = charged->running;
        if (!running || charged->is_starting)
            continue;
        running->vruntime_ns += engine->now_ns - charged->charged_ns;
        charged->charged_ns = engine->now_ns;
        /* late in a long run the clock is coarser than that */
        double rounding_ns = fmax(ROUNDING_NS, 4 * DBL_EPSILON * engine->now_ns);
        if (running->vruntime_ns >= running->deadline_ns - rounding_ns)
            running->deadline_ns = running->vruntime_ns + engine->plan->quantum_ns;
    }
}

/* ---- coming and going ---- */

/* What a thread may be owed, or owe, for later. */
static double clamp_lag(const struct engine *engine, double lag) {
    double limit = fmax(2 * engine->plan->quantum_ns, engine->plan->tick_ns);
    return fmin(fmax(lag, -limit), limit);
}

void fair_put_back(struct engine *engine, struct thread *thread, int core) {
    struct fair_queue *queue = fair_queue_of(engine, core);
    heap_set(&queue->waiting, thread->id, thread->deadline_ns);
    queue->sum_vruntime_ns += thread->vruntime_ns;
}

void fair_take(struct engine *engine, struct thread *thread, int core) {
    struct fair_queue *queue = fair_queue_of(engine, core);
    heap_remove(&queue->waiting, thread->id);
    queue->sum_vruntime_ns =
        queue->waiting.count > 0 ? queue->sum_vruntime_ns - thread->vruntime_ns : 0;
    if (!thread->is_delayed)
        return;
    thread->is_delayed = false;
    thread->lag_ns = 0;
    queue->n_delayed--;
}

/* As far from the average as its lag says; adding it moves the average, hence the factor. */
static void place(struct engine *engine, struct thread *thread, int core, double slice_ns) {
    double n = fair_competitors(engine, core);
    thread->vruntime_ns = average(engine, core);
    if (n > 0)
        thread->vruntime_ns -= thread->lag_ns * (n + 1) / n;
    thread->deadline_ns = thread->vruntime_ns + slice_ns;
}

void fair_join(struct engine *engine, struct thread *thread, int core, bool begins) {
    double slice = engine->plan->quantum_ns;
    place(engine, thread, core, begins ? slice / 2 : slice);
    fair_put_back(engine, thread, core);
}

void fair_rejoin(struct engine *engine, struct thread *thread, int core) {
    if (average(engine, core) <= thread->vruntime_ns) { /* still ahead: it keeps its place */
        thread->is_delayed = false;
        fair_queue_of(engine, core)->n_delayed--;
        return;
    }
    fair_take(engine, thread, core);
    fair_join(engine, thread, core, false);
}

bool fair_sleep(struct engine *engine, struct thread *thread, int core) {
    struct fair_queue *queue = fair_queue_of(engine, core);
    thread->lag_ns = clamp_lag(engine, average(engine, core) - thread->vruntime_ns);
    if (thread->lag_ns >= -ROUNDING_NS || queue->waiting.count == 0)
        return false;
    thread->is_delayed = true;
    queue->n_delayed++;
    fair_put_back(engine, thread, core);
    return true;
}

void fair_move(struct engine *engine, struct thread *thread, int from, int to) {
    double left = thread->deadline_ns - thread->vruntime_ns;
    thread->lag_ns = clamp_lag(engine, average(engine, from) - thread->vruntime_ns);
    fair_take(engine, thread, from);
    place(engine, thread, to, left);
    fair_put_back(engine, thread, to);
}

/* ---- choosing ---- */

struct thread *fair_pick(const struct engine *engine, int core, struct thread *running) {
    const struct heap *waiting = &fair_queue_of(engine, core)->waiting;
    if (waiting->count == 0)
        return running;
    double limit = average(engine, core) + ROUNDING_NS;
    if (running && running->vruntime_ns > limit)
        running = NULL;
    if (running && running->vruntime_ns < running->protected_ns)
        return running;
    struct thread *best = running, *least = NULL;
    for (uint32_t i = 0; i < waiting->count; i++) {
        struct thread *thread = &engine->threads[waiting->entries[i].id];
        if (!least || thread->vruntime_ns < least->vruntime_ns)
            least = thread;
        if (thread->vruntime_ns > limit || (best && best->deadline_ns <= thread->deadline_ns))
            continue;
        best = thread;
        if (i == 0)
            return best; /* nobody's deadline is earlier */
    }
    return best ? best : least;
}
