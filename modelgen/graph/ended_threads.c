#include "modelgen/graph/ended_threads.h"

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/notes.h"

/* All ways to the pool's end lead through a step before it. */
static void add_step(int pool, int end, double end_ns, struct model *model) {
    size_t n_before = model->n_nodes;
    int step = model_add_node(model, pool, NODE_STEP,
                              memory_format("%s: cleared up", model->pools[pool].name));
    for (size_t n = 0; n < n_before; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            if (model->nodes[n].edges[e].to == end)
                model->nodes[n].edges[e].to = step;
    model_add_edge(&model->nodes[step], end)->cpu_ns =
        (struct dist){.kind = DIST_CONSTANT, .mean = end_ns};
}

static bool is_made(const struct thread_pool *pool) {
    return pool->creator >= 0 && !pool->team;
}

/* More of them at a time find no stacks that the C library has kept, and wait for each other in the
 * kernel. */
static void note_remade(const struct thread_pool *from, double share, struct pool *pool,
                        struct model *model) {
    if (!from->scales || !is_made(from) || share < evidence.creations)
        return;
    pool->remade = memory_format("%.0f %% of the run's CPU time goes into creating and ending "
                                 "threads, %zu of them one after the other",
                                 100 * share, from->n_threads);
    notes_add(model, "%s: %s", pool->name, pool->remade);
}

void ended_threads_write(const struct thread_pools *pools, const struct thread_ends *found,
                         struct model *model) {
    size_t n_nodes = model->n_nodes;
    for (size_t n = 0; n < n_nodes && found->end_ns > 0; n++) {
        int pool = model->nodes[n].pool;
        if (model->nodes[n].kind == NODE_END && is_made(&pools->pools[pool]))
            add_step(pool, (int)n, found->end_ns, model);
    }
    for (size_t p = 0; p < pools->n_pools; p++)
        note_remade(&pools->pools[p], found->share, &model->pools[p], model);
}
