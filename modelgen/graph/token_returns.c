#include "modelgen/graph/token_returns.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"

/* A place where a token is given back with some items: one edge leads past it. */
struct token_return {
    size_t fork;         /* node */
    size_t giving, past; /* edges of the fork */
    double given, passed;
};

struct token_returns {
    struct token_return *items;
    size_t count, capacity;
};

/* How often the edge was taken in the recorded run. */
static double times(const struct edge *edge) {
    return edge->probability * (edge->runs.kind == DIST_NONE ? 1 : dist_mean(&edge->runs));
}

static size_t *count_ways_in(const struct model *model) {
    size_t *ways = memory_alloc(model->n_nodes, sizeof *ways);
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            ways[model->nodes[n].edges[e].to]++;
    return ways;
}

/* Follows the edge while there is one way: to where other ways join it. MODEL_NONE: it does more
 * than give back one token of `object`, under a mutex perhaps. */
static int end_of_return(const struct model *model, const size_t *ways_in, const struct edge *edge,
                         int object) {
    size_t given = 0;
    int at = edge->to;
    while (ways_in[at] == 1) {
        const struct node *node = &model->nodes[at];
        bool gives = node->kind == NODE_RELEASE && node->object == object && node->count <= 1;
        given += gives;
        if (node->n_edges != 1 || (!gives && node->kind != NODE_LOCK && node->kind != NODE_UNLOCK))
            return MODEL_NONE;
        at = node->edges[0].to;
    }
    return given == 1 ? at : MODEL_NONE;
}

static void find_at(const struct model *model, const size_t *ways_in, size_t fork, int object,
                    struct token_returns *found) {
    const struct node *node = &model->nodes[fork];
    for (size_t giving = 0; giving < node->n_edges; giving++) {
        const struct edge *edge = &node->edges[giving];
        int end = end_of_return(model, ways_in, edge, object);
        size_t past = node->n_edges, others = 0;
        for (size_t e = 0; e < node->n_edges; e++) {
            if (e == giving || node->edges[e].when != edge->when || node->edges[e].leaves)
                continue;
            others++;
            past = node->edges[e].to == end ? e : past;
        }
        if (end != MODEL_NONE && others == 1 && past < node->n_edges)
            *VECTOR_ADD(found) = (struct token_return){.fork = fork,
                                                       .giving = giving,
                                                       .past = past,
                                                       .given = times(edge),
                                                       .passed = times(&node->edges[past])};
    }
}

/* All that go by this fork from now on take the edge; the other one is gone. */
static void decide(struct model *model, const struct token_return *token_return, bool gives) {
    struct node *node = &model->nodes[token_return->fork];
    struct edge *kept = &node->edges[gives ? token_return->giving : token_return->past];
    struct edge *gone = &node->edges[gives ? token_return->past : token_return->giving];
    free(kept->runs.values);
    kept->runs = (struct dist){.kind = DIST_NONE};
    kept->probability = 1;
    kept->first = 0;
    model_forget_course(node);
    model_free_edge(gone);
    *gone = node->edges[--node->n_edges];
}

/* Does each item pass all these places, and is given back at one of them? */
static bool once_per_item(const struct token_returns *found) {
    double given = 0, most = 0;
    for (size_t i = 0; i < found->count; i++) {
        double items = found->items[i].given + found->items[i].passed;
        given += found->items[i].given;
        most = items > most ? items : most;
    }
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].given + found->items[i].passed < (1 - evidence.violation_share) * most)
            return false;
    return found->count > 1 && fabs(given - most) <= evidence.violation_share * most + 1;
}

static bool settle(struct model *model, int object) {
    struct token_returns found = {0};
    size_t *ways_in = count_ways_in(model);
    for (size_t n = 0; n < model->n_nodes; n++)
        find_at(model, ways_in, n, object, &found);
    free(ways_in);
    bool once = once_per_item(&found);
    size_t most = 0;
    for (size_t i = 0; once && i < found.count; i++)
        most = found.items[i].given > found.items[most].given ? i : most;
    for (size_t i = 0; once && i < found.count; i++)
        decide(model, &found.items[i], i == most);
    free(found.items);
    return once;
}

void token_returns_settle(struct model *model) {
    bool any = false;
    for (size_t o = 0; o < model->n_objects; o++)
        any |= model->objects[o].kind == OBJECT_TOKENS && settle(model, (int)o);
    if (any)
        model_builder_remove_unreachable(model);
}
