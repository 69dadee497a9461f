#include "modelgen/graph/batch_takes.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

/* Of one queue: items that were put, and that were taken if each take was of one. */
struct takes {
    double put, taken;
};

static double items_of(const struct step *step) {
    double count = step_amount(step).count;
    return count > 0 ? count : 1;
}

static void count_stream(const struct stream *stream, struct takes *takes) {
    for (size_t s = 0; s < stream->n_steps; s++) {
        const struct step *step = &stream->steps[s];
        if (step->outcome == OUTCOME_NO || step_object(step) == MODEL_NONE)
            continue;
        struct takes *queue = &takes[step_object(step)];
        queue->put += step->kind == NODE_PUT ? items_of(step) : 0;
        queue->taken += step->kind == NODE_GET ? items_of(step) : 0;
    }
}

/* Of what the thread takes; 0: one item each time. */
static double most_at_once(const struct stream *stream, const struct takes *takes) {
    double most = 0;
    for (size_t s = 0; s < stream->n_steps; s++) {
        const struct step *step = &stream->steps[s];
        if (step->kind != NODE_GET || step->outcome == OUTCOME_NO ||
            step_object(step) == MODEL_NONE)
            continue;
        const struct takes *queue = &takes[step_object(step)];
        if (queue->taken < (1 - evidence.left_over) * queue->put)
            most = fmax(most, queue->put / queue->taken);
    }
    return most;
}

void batch_takes_note(const struct peg_input *input, size_t n_objects) {
    struct takes *takes = memory_alloc(n_objects, sizeof *takes);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        count_stream(&input->streams->streams[t], takes);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        struct partition_evidence *found = &input->evidence[input->pools->pool_of[t]];
        found->batch = fmax(found->batch, most_at_once(&input->streams->streams[t], takes));
    }
    free(takes);
}
