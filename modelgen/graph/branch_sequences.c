#include "modelgen/graph/branch_sequences.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"

/* Numbers in a course. One thread that changes its mind more often does so by what others have done
 * meanwhile, and chance evens out; threads that go alike must go on to. */
#define LONGEST_ALONE 1000
#define LONGEST       65536

/* What the threads of one number in a pool decided at a node. */
struct decided {
    uint64_t edges; /* in their order, hashed */
    size_t count;
};

/* What a thread puts back may be what it took before, where it hands on in order what comes in
 * any: how often it puts then depends on how often it took. A queue that is closed answers. */
static bool may_put_in_order(const struct peg_builder *builder, const struct node *node,
                             bool alone) {
    return alone && builder->in->puts_in_order &&
           !model_builder_is_closed(builder->model, node->object);
}

/* Are there different ways to go from the node, of which none is told by an answer, the thread's
 * place or the number of threads? */
static bool is_open(const struct peg_builder *builder, const struct node *node, bool alone) {
    size_t stay = 0, leave = 0;
    bool takes = node->kind == NODE_GET || node->kind == NODE_ACQUIRE || node->kind == NODE_WAIT ||
                 node->kind == NODE_STATEMENTS ||
                 (node->kind == NODE_PUT && !may_put_in_order(builder, node, alone));
    if (takes || node->stays_scaling.pool != MODEL_NONE)
        return false;
    for (size_t e = 0; e < node->n_edges; e++) {
        const struct edge *edge = &node->edges[e];
        if (edge->when != OUTCOME_ANY || edge->taker != TAKER_ANY ||
            edge->runs_scaling.pool != MODEL_NONE)
            return false;
        stay += !edge->leaves;
        leave += edge->leaves;
    }
    return stay > 1 || leave > 1 || (stay && leave && node->stays.kind == DIST_EMPIRICAL);
}

/* `all`: by node and number of the thread, `size` of them. */
static void read_thread(const struct peg_builder *builder, size_t t, size_t number, size_t size,
                        struct decided *all) {
    const struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    for (size_t s = 0; s + 1 < stream->n_steps; s++) {
        struct decided *decided = &all[(size_t)node_of[s] * size + number];
        decided->edges = map_mix(decided->edges, (uint64_t)node_of[s + 1]);
        decided->count++;
    }
}

/* By no chance? Where all meet, or begin, fewer decisions tell. */
static bool are_same(const struct decided *decided, size_t size, bool meet) {
    for (size_t k = 1; k < size; k++)
        if (decided[k].edges != decided[0].edges || decided[k].count != decided[0].count)
            return false;
    return size > 1 ? (double)decided[0].count >= (meet ? 2 : evidence.times_alike) : meet;
}

/* Does one thread of the pool, always the same, have a role of its own? */
static bool has_leader(const struct peg_builder *builder, size_t p) {
    for (size_t n = 0; n < builder->nodes.count; n++)
        for (size_t e = 0; e < builder->model->nodes[n].n_edges; e++)
            if (builder->nodes.items[n].pool == (int)p &&
                builder->model->nodes[n].edges[e].taker == TAKER_LEADER)
                return true;
    return false;
}

/* The number of a thread whose order of decisions at a node is that of all who come there; -1: they
 * decide each for itself. */
static int find_example(const struct peg_builder *builder, const struct thread_pool *pool, size_t n,
                        const struct decided *decided, bool leader) {
    size_t size = (size_t)pool->size, others = 0;
    enum node_kind kind = builder->model->nodes[n].kind;
    bool meet = kind == NODE_BARRIER || kind == NODE_START; /* made together, for a round */
    if (!pool->scales)
        return 0;
    for (size_t k = 1; k < size; k++)
        others += decided[k].count;
    if (leader && others == 0)
        return 0;
    if (leader && decided[0].count == 0)
        return size == 2 || are_same(decided + 1, size - 1, meet) ? 1 : -1;
    return are_same(decided, size, meet) ? 0 : -1;
}

/* Index of the node's edge; n_edges: it has none that leads there. */
static size_t edge_to(const struct node *node, int to) {
    size_t e = 0;
    while (e < node->n_edges && node->edges[e].to != to)
        e++;
    return e;
}

/* A node's course as it is read. */
struct course {
    int example;         /* the number of the thread to be read; -1: there is no course */
    struct values edges; /* edge, how often in a row, edge, ... */
};

static void add_decision(struct course *course, const struct node *node, int to, size_t longest) {
    struct values *edges = &course->edges;
    size_t edge = edge_to(node, to);
    if (edges->count > 0 && edges->items[edges->count - 2] == (double)edge) {
        edges->items[edges->count - 1]++;
        return;
    }
    bool is_gone = edge == node->n_edges; /* poison_pills are */
    if (is_gone || edges->count >= longest) {
        course->example = -1;
        return;
    }
    *VECTOR_ADD(edges) = (double)edge;
    *VECTOR_ADD(edges) = 1;
}

static void add_thread(const struct peg_builder *builder, size_t t, int number, size_t longest,
                       struct course *courses) {
    const struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    for (size_t s = 0; s + 1 < stream->n_steps; s++) {
        struct course *course = &courses[node_of[s]];
        if (course->example == number)
            add_decision(course, &builder->model->nodes[node_of[s]], node_of[s + 1], longest);
    }
}

static void find_in_pool(const struct peg_builder *builder, size_t p) {
    const struct thread_pool *pool = &builder->in->pools->pools[p];
    size_t size = (size_t)pool->size, n_nodes = builder->nodes.count;
    if (size == 0 || (!pool->scales && size > 1) || pool->n_threads % size != 0)
        return;
    struct decided *all = memory_alloc(n_nodes * size, sizeof *all);
    for (size_t i = 0; i < pool->n_threads; i++)
        read_thread(builder, pool->threads[i], i % size, size, all);
    struct course *courses = memory_alloc(n_nodes, sizeof *courses);
    bool leader = has_leader(builder, p);
    for (size_t n = 0; n < n_nodes; n++) {
        bool open = builder->nodes.items[n].pool == (int)p &&
                    is_open(builder, &builder->model->nodes[n], !pool->scales);
        courses[n].example = open ? find_example(builder, pool, n, &all[n * size], leader) : -1;
    }
    size_t longest = pool->scales ? LONGEST : LONGEST_ALONE;
    for (size_t i = 0; i < pool->n_threads; i++)
        add_thread(builder, pool->threads[i], (int)(i % size), longest, courses);
    for (size_t n = 0; n < n_nodes; n++) {
        if (courses[n].example < 0) {
            free(courses[n].edges.items);
            continue;
        }
        builder->model->nodes[n].course = courses[n].edges.items;
        builder->model->nodes[n].n_course = courses[n].edges.count;
    }
    free(courses);
    free(all);
}

void branch_sequences_find(const struct peg_builder *builder) {
    for (size_t p = 0; p < builder->in->pools->n_pools; p++)
        find_in_pool(builder, p);
}
