#include "modelgen/graph/self_scheduled_work.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"

/* In how many pieces a round's work is taken does not show: so many that threads are done with the
 * last ones at about the same time, and few enough to simulate. What takes no longer than to wake a
 * thread is worth no piece, and a round of no more than that none at all. */
#define MOST_PIECES  128
#define LEAST_PIECES 4 /* per profiled thread */
#define PIECE_NS     20000.0

void self_scheduled_work_note(const struct peg_builder *builder, struct peg_edge *draft,
                              double share) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    size_t *places = loop_passes_numbers(&draft->passes, pool);
    size_t n_rounds = draft->passes.count / (size_t)pool->size;
    double sum = 0;
    for (size_t i = 0; i < draft->cpu_ns.count; i++)
        sum += draft->cpu_ns.items[i];
    double round_total_ns = share * sum / (double)n_rounds;
    /* Who comes but once has no round to be late for. */
    draft->round_total_ns =
        places && n_rounds > 1 && round_total_ns > PIECE_NS ? round_total_ns : 0;
    free(places);
}

static int draft_supply(struct model *model, int pool, int threads, const char *where,
                        double pieces) {
    int object = model_add_object(model, OBJECT_TOKENS, memory_format("work taken at %s", where));
    model->objects[object].amount = model_builder_constant(pieces);
    model->objects[object].refilled_after = model->pools[pool].scales
                                                ? model_builder_per_thread(0, pool, 1)
                                                : model_builder_constant(threads);
    model->objects[object].evidence = memory_format(
        "the source says that threads take it; in how many pieces is not known: %.0f", pieces);
    return object;
}

/* The edge without the computation that its threads take. */
static void keep_rest(struct edge *edge, double share) {
    model_builder_make_no_share(&edge->cpu_scaling);
    double rest = share < 1 - evidence.negligible ? 1 - share : 0;
    edge->cpu_ns.mean *= rest;
    for (size_t i = 0; i < edge->cpu_ns.n_values; i++)
        edge->cpu_ns.values[i] *= rest;
}

static void share_out(const struct peg_builder *builder, const struct peg_edge *draft, size_t e) {
    struct model *model = builder->model;
    int pool = builder->nodes.items[draft->from].pool;
    int threads = builder->in->pools->pools[pool].size;
    double pieces =
        fmax(fmin(draft->round_total_ns / PIECE_NS, MOST_PIECES), LEAST_PIECES * threads);
    pieces = round(pieces);
    const char *where = model->nodes[draft->from].name;
    int object = draft_supply(model, pool, threads, where, pieces);
    int taker = model_add_node(model, pool, NODE_ACQUIRE,
                               memory_format("%s: takes more", model->pools[pool].name));
    struct edge *edge = &model->nodes[draft->from].edges[e];
    struct node *node = &model->nodes[taker];
    node->object = object;
    node->timeout_ns = 0;
    struct edge *again = model_add_edge(node, taker);
    again->when = OUTCOME_YES;
    again->cpu_ns = (struct dist){.kind = DIST_CONSTANT, .mean = draft->round_total_ns / pieces};
    model_add_edge(node, edge->to)->when = OUTCOME_NO;
    keep_rest(edge, edge->cpu_scaling.share);
    edge->to = taker;
}

void self_scheduled_work_share_out(const struct peg_builder *builder) {
    for (size_t d = 0; d < builder->edges.count; d++) {
        const struct peg_edge *draft = &builder->edges.items[d];
        if (draft->round_total_ns == 0)
            continue;
        const struct node *from = &builder->model->nodes[draft->from];
        for (size_t e = 0; e < from->n_edges; e++)
            if (from->edges[e].to == draft->to &&
                (from->edges[e].when == draft->when || draft->when == OUTCOME_ANY)) {
                share_out(builder, draft, e);
                break;
            }
    }
}
