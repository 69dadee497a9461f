#include "modelgen/graph/step_tasks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

/* When a step of a thread does what it does. */
struct moment {
    uint64_t at_ns;
    size_t thread, step;
};

/* The tasks in a queue, in their order; from `first` on they are still there. */
struct fifo {
    int *items;
    size_t count, capacity;
    size_t first;
};

struct finder {
    const struct model *model;
    const struct stream *streams;
    int **of;
    int *at_work;        /* per thread */
    struct fifo *queues; /* per object */
    int come;
    size_t ended, unknown; /* ends of tasks; in threads that have none */
};

static bool comes_from_outside(const struct object *object) {
    return object->kind == OBJECT_QUEUE && object->interarrival_ns.kind != DIST_NONE;
}

static bool has_source(const struct model *model) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (comes_from_outside(&model->objects[o]))
            return true;
    return false;
}

static bool asks_disk(const struct step *step) {
    return step->kind == NODE_IO && step->time.disk != MODEL_NONE;
}

static int compare_moments(const void *left, const void *right) {
    const struct moment *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* What is put is there when the call begins at the earliest, and taken when one returns. */
static struct moment *list_moments(const struct stream *streams, size_t n_threads, size_t *n) {
    struct {
        struct moment *items;
        size_t count, capacity;
    } moments = {0};
    for (size_t t = 0; t < n_threads; t++)
        for (size_t s = 0; s < streams[t].n_steps; s++) {
            const struct step *step = &streams[t].steps[s];
            if (step->kind == NODE_GET || step->kind == NODE_PUT || step->kind == NODE_TASK_END ||
                asks_disk(step))
                *VECTOR_ADD(&moments) =
                    (struct moment){step->kind == NODE_GET ? step->end_ns : step->start_ns, t, s};
        }
    VECTOR_SORT(&moments, compare_moments);
    *n = moments.count;
    return moments.items;
}

/* What is returned to the queue by the program's own threads has another kind, which the step
 * behind the get tells. */
static bool is_arrival(const struct object *queue, const struct stream *stream, size_t get) {
    if (!comes_from_outside(queue))
        return false;
    const struct step *behind = &stream->steps[get + 1 < stream->n_steps ? get + 1 : get];
    return queue->item_kind == 0 || behind->kind != NODE_STEP ||
           behind->item_kind == queue->item_kind;
}

static void take(struct finder *finder, const struct moment *moment) {
    const struct stream *stream = &finder->streams[moment->thread];
    int object = stream->steps[moment->step].use.object;
    struct fifo *queue = &finder->queues[object];
    int *at_work = &finder->at_work[moment->thread];
    if (is_arrival(&finder->model->objects[object], stream, moment->step))
        *at_work = finder->come++;
    else
        *at_work = queue->first < queue->count ? queue->items[queue->first++] : STEP_OF_NO_TASK;
}

static void pass(struct finder *finder, const struct moment *moment) {
    const struct step *step = &finder->streams[moment->thread].steps[moment->step];
    int *at_work = &finder->at_work[moment->thread];
    finder->of[moment->thread][moment->step] = *at_work;
    if (step->kind == NODE_TASK_END) {
        finder->ended++;
        finder->unknown += *at_work == STEP_OF_NO_TASK;
        *at_work = STEP_OF_NO_TASK;
    } else if (step->kind == NODE_PUT && step->outcome != OUTCOME_NO) {
        *VECTOR_ADD(&finder->queues[step->use.object]) = *at_work;
    } else if (step->kind == NODE_GET && step->outcome != OUTCOME_NO) {
        take(finder, moment);
    }
}

int **step_tasks_find(const struct model *model, const struct stream *streams, size_t n_threads) {
    if (!has_source(model))
        return NULL;
    struct finder finder = {.model = model, .streams = streams};
    finder.of = memory_alloc(n_threads, sizeof *finder.of);
    finder.at_work = memory_alloc(n_threads, sizeof *finder.at_work);
    finder.queues = memory_alloc(model->n_objects, sizeof *finder.queues);
    for (size_t t = 0; t < n_threads; t++) {
        finder.of[t] = memory_alloc(streams[t].n_steps, sizeof **finder.of);
        finder.at_work[t] = STEP_OF_NO_TASK;
    }
    size_t n;
    struct moment *moments = list_moments(streams, n_threads, &n);
    for (size_t i = 0; i < n; i++)
        pass(&finder, &moments[i]);
    free(moments);
    for (size_t o = 0; o < model->n_objects; o++)
        free(finder.queues[o].items);
    free(finder.queues);
    free(finder.at_work);
    if ((double)finder.unknown <= evidence.violation_share * (double)finder.ended)
        return finder.of;
    step_tasks_free(finder.of, n_threads);
    return NULL;
}

void step_tasks_free(int **tasks, size_t n_threads) {
    for (size_t t = 0; tasks && t < n_threads; t++)
        free(tasks[t]);
    free(tasks);
}
