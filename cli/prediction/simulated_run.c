#include "cli/prediction/simulated_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What is still to be put together of a thread. */
struct growing {
    struct {
        struct trace_slice *items;
        size_t count, capacity;
    } slices;
    uint64_t wake_ns; /* of the time on a core that comes next ... */
    uint32_t waker;   /* ... as in struct trace_slice */
    bool is_born, has_ended;
};

struct collector {
    const struct model *model;
    struct simulated_run *run;
    struct growing *growing;
};

static uint64_t whole(double time_ns) {
    return (uint64_t)llround(time_ns);
}

static void begins(void *context, int n_threads, const int *pools) {
    struct collector *collector = context;
    struct trace *trace = collector->run->trace;
    trace->n_threads = (size_t)n_threads;
    trace->threads = memory_alloc(trace->n_threads, sizeof *trace->threads);
    collector->growing = memory_alloc(trace->n_threads, sizeof *collector->growing);
    collector->run->operations = memory_alloc(trace->n_threads, sizeof *collector->run->operations);
    for (int i = 0; i < n_threads; i++)
        trace->threads[i] = (struct trace_thread){
            .index = i,
            .creator = -1,
            .start_routine = memory_strdup(collector->model->pools[pools[i]].name),
            .creation_context = TRACE_NO_CONTEXT};
}

static void wakes(void *context, int thread, int waker, double at_ns) {
    struct collector *collector = context;
    struct growing *growing = &collector->growing[thread];
    growing->wake_ns = whole(at_ns);
    growing->waker = waker == MODEL_NONE ? 0 : (uint32_t)waker + 1;
    if (!growing->is_born)
        collector->run->trace->threads[thread].start_ns = whole(at_ns);
    growing->is_born = true;
}

/* What took no time is left out. */
static void ran(void *context, int thread, int core, double from_ns, double to_ns,
                enum sim_leaving leaving) {
    struct collector *collector = context;
    struct growing *growing = &collector->growing[thread];
    if (whole(to_ns) > whole(from_ns)) {
        *VECTOR_ADD(&growing->slices) =
            (struct trace_slice){.wake_ns = growing->wake_ns,
                                 .on_ns = whole(from_ns),
                                 .off_ns = whole(to_ns),
                                 .cpu = (uint32_t)core,
                                 .preempted = leaving == LEAVES_PREEMPTED,
                                 .waker = growing->waker};
        growing->wake_ns = 0;
        growing->waker = 0;
    }
    if (leaving == LEAVES_ENDED) {
        collector->run->trace->threads[thread].end_ns = whole(to_ns);
        growing->has_ended = true;
    }
}

static void passed(void *context, int thread, int node, double from_ns, double to_ns, bool is_yes) {
    struct collector *collector = context;
    if (!simulated_is_silent(collector->model->nodes[node].kind))
        *VECTOR_ADD(&collector->run->operations[thread]) = (struct simulated_operation){
            .node = node, .is_yes = is_yes, .start_ns = whole(from_ns), .end_ns = whole(to_ns)};
}

static void ends(void *context, double at_ns) {
    struct collector *collector = context;
    struct trace *trace = collector->run->trace;
    trace->meta.run_ns = whole(at_ns);
    for (size_t i = 0; i < trace->n_threads; i++) {
        struct growing *growing = &collector->growing[i];
        if (!growing->has_ended)
            trace->threads[i].end_ns = growing->is_born ? whole(at_ns) : 0;
        trace->threads[i].slices = growing->slices.items;
        trace->threads[i].n_slices = growing->slices.count;
    }
}

static struct trace *empty_trace(const struct model *model, int cores) {
    struct trace *trace = memory_alloc(1, sizeof *trace);
    trace->meta.n_args = 1;
    trace->meta.args = memory_alloc(1, sizeof *trace->meta.args);
    trace->meta.args[0] = memory_strdup(model->program ? model->program : "?");
    trace->meta.cores = cores;
    trace->meta.complete = true;
    trace->meta.has_slices = trace->meta.has_wakes = trace->meta.has_wakers = true;
    return trace;
}

int simulated_run_make(const struct model *model, const struct sim_config *config,
                       struct simulated_run *run, struct error *error) {
    *run = (struct simulated_run){
        .trace = empty_trace(model, config->cores ? config->cores : model->machine.cores)};
    struct collector collector = {.model = model, .run = run};
    const struct sim_observer observer = {.context = &collector,
                                          .begins = begins,
                                          .wakes = wakes,
                                          .ran = ran,
                                          .passed = passed,
                                          .ends = ends};
    int status = sim_watch(model, config, &observer, error);
    free(collector.growing);
    return status;
}

void simulated_run_free(struct simulated_run *run) {
    for (size_t i = 0; run->operations && i < run->trace->n_threads; i++)
        free(run->operations[i].items);
    free(run->operations);
    trace_free(run->trace);
    *run = (struct simulated_run){0};
}

const char *simulated_place(const struct node *node) {
    const char *pool_ends = strstr(node->name, ": ");
    return pool_ends ? pool_ends + 2 : node->name;
}

bool simulated_is_silent(enum node_kind kind) {
    return kind == NODE_START || kind == NODE_END || kind == NODE_STEP;
}
