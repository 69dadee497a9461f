#include "modelgen/graph/peg_builder.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/graph/model_builder.h"

/* How many the step takes or gives, where that is the same each time; 0: one, or it is not. */
static double fixed_count(const struct step *step) {
    struct step_amount amount = step_amount(step);
    return amount.in_units ? 0 : amount.count;
}

static uint64_t step_key(int pool, const struct step *step) {
    uint64_t key = map_mix(11, (uint64_t)pool);
    key = map_mix(key, step->kind);
    if (step->kind == NODE_START || step->kind == NODE_END)
        return key;
    key = map_mix(map_mix(key, (uint64_t)step_object(step)), (uint64_t)step_mutex(step));
    key = map_mix(map_mix(key, (uint64_t)step_target_pool(step)), step->context);
    key = map_mix(map_mix(key, (uint64_t)(long)fixed_count(step)), step_timeout_ns(step) == 0);
    key = map_mix(key, (uint64_t)step_section(step));
    if (step_stage(step))
        key = map_mix(key, (uint64_t)step_stage(step));
    if (step->held)
        key = map_mix(key, step->held);
    key = map_mix(map_mix(key, step->phase), (uint64_t)step_item_kind(step));
    return map_mix(map_mix(key, step->within), step->retrying);
}

static char *node_name(const struct peg_builder *builder, const struct step *step, int pool) {
    const struct trace *trace = builder->in->trace;
    const char *pool_name = builder->in->pools->pools[pool].name;
    if (step->context == TRACE_NO_CONTEXT || trace->contexts[step->context].n_frames == 0)
        return memory_format("%s: %s", pool_name, node_kind_name(step->kind));
    const struct trace_frame *frame = &trace->contexts[step->context].frames[0];
    if (!frame->file && !frame->module)
        return memory_format("%s: %s", pool_name, frame->function);
    return memory_format("%s: %s (%s:%d)", pool_name, frame->function,
                         frame->file ? path_name(frame->file) : frame->module, frame->line);
}

int peg_builder_busiest_pool(const struct thread_pools *pools) {
    int best = MODEL_NONE;
    for (size_t p = 0; p < pools->n_pools; p++)
        if (thread_pools_follows(pools, p) &&
            (best < 0 || pools->pools[p].cpu_ns > pools->pools[best].cpu_ns))
            best = (int)p;
    return best;
}

int peg_builder_new_node(struct peg_builder *builder, const struct step *step, int pool) {
    int index = model_add_node(builder->model, pool, step->kind, node_name(builder, step, pool));
    struct node *node = &builder->model->nodes[index];
    struct step_amount amount = step_amount(step);
    node->object = step_object(step);
    node->mutex = step_mutex(step);
    node->target_pool = step_target_pool(step);
    node->section = step_section(step);
    node->item_kind = step_item_kind(step);
    node->count = fixed_count(step);
    node->gives_back = amount.in_units && step->kind == NODE_RELEASE;
    node->timeout_ns = step_timeout_ns(step);
    node->by_clock = step->kind == NODE_SLEEP && step->time.by_clock;
    if (amount.count_per_thread) {
        node->count_scaling.growth = 1;
        node->count_scaling.less = amount.for_others;
        node->count_scaling.pool = peg_builder_busiest_pool(builder->in->pools);
    }
    *VECTOR_ADD(&builder->nodes) =
        (struct peg_node_values){.pool = pool, .context = step->context, .phase = step->phase};
    return index;
}

void peg_builder_number_nodes(struct peg_builder *builder) {
    const struct trace *trace = builder->in->trace;
    struct map known = MAP_EMPTY;
    builder->node_of = memory_alloc(trace->n_threads, sizeof(int *));
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        int pool = builder->in->pools->pool_of[t];
        builder->node_of[t] = memory_alloc(stream->n_steps, sizeof(int));
        for (size_t s = 0; s < stream->n_steps; s++) {
            uint64_t key = step_key(pool, &stream->steps[s]);
            int node = map_get(&known, key, -1);
            if (node < 0) {
                node = peg_builder_new_node(builder, &stream->steps[s], pool);
                map_put(&known, key, node);
                if (stream->steps[s].kind == NODE_START)
                    builder->model->pools[pool].entry = node;
            }
            builder->node_of[t][s] = node;
        }
    }
    map_free(&known);
}

static void drop_edge(struct peg_edge *draft) {
    free(draft->cpu_ns.items);
    free(draft->runs.items);
    free(draft->passes.items);
    free(draft->between.items);
}

int peg_builder_find_edge(struct peg_builder *builder, int from, enum outcome when, int to) {
    uint64_t key = map_mix(map_mix(map_mix(17, (uint64_t)from), when), (uint64_t)to);
    int edge = map_get(&builder->edge_of, key, -1);
    if (edge < 0) {
        edge = (int)builder->edges.count;
        map_put(&builder->edge_of, key, edge);
        *VECTOR_ADD(&builder->edges) = (struct peg_edge){.from = from, .to = to, .when = when};
    }
    return edge;
}

void peg_builder_find_edges(struct peg_builder *builder) {
    for (size_t e = 0; e < builder->edges.count; e++)
        drop_edge(&builder->edges.items[e]);
    builder->edges.count = 0;
    map_free(&builder->edge_of);
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        for (size_t s = 0; s + 1 < stream->n_steps; s++)
            peg_builder_find_edge(builder, builder->node_of[t][s], stream->steps[s].outcome,
                                  builder->node_of[t][s + 1]);
    }
}

void peg_builder_free(struct peg_builder *builder) {
    for (size_t t = 0; t < builder->in->trace->n_threads; t++)
        free(builder->node_of[t]);
    free(builder->node_of);
    for (size_t n = 0; n < builder->nodes.count; n++)
        free(builder->nodes.items[n].passes.items);
    free(builder->nodes.items);
    free(builder->loop_is_visible);
    free(builder->is_in_share);
    free(builder->counts.items);
    map_free(&builder->sites);
    for (size_t e = 0; e < builder->edges.count; e++)
        drop_edge(&builder->edges.items[e]);
    free(builder->edges.items);
    map_free(&builder->edge_of);
}

const struct thread_pool *peg_builder_pool_of(const struct peg_builder *builder,
                                              const struct peg_edge *draft) {
    return &builder->in->pools->pools[builder->nodes.items[draft->from].pool];
}
