/* Appending to a model. What is new refers to nothing yet. */
#include "base/memory.h"
#include "formats/model.h"

int model_add_object(struct model *model, enum object_kind kind, char *name) {
    model->objects = memory_resize(model->objects, model->n_objects + 1, sizeof *model->objects);
    model->objects[model->n_objects] = (struct object){.kind = kind,
                                                       .name = name,
                                                       .servers = 1,
                                                       .dealt_to = MODEL_NONE,
                                                       .condition_of = MODEL_NONE,
                                                       .comes_by = MODEL_NONE,
                                                       .goes_by = MODEL_NONE};
    return (int)model->n_objects++;
}

int model_add_pool(struct model *model, char *name) {
    model->pools = memory_resize(model->pools, model->n_pools + 1, sizeof *model->pools);
    model->pools[model->n_pools] = (struct pool){.name = name, .entry = MODEL_NONE};
    return (int)model->n_pools++;
}

int model_add_node(struct model *model, int pool, enum node_kind kind, char *name) {
    model->nodes = memory_resize(model->nodes, model->n_nodes + 1, sizeof *model->nodes);
    model->nodes[model->n_nodes] = (struct node){.name = name,
                                                 .kind = kind,
                                                 .pool = pool,
                                                 .object = MODEL_NONE,
                                                 .mutex = MODEL_NONE,
                                                 .target_pool = MODEL_NONE,
                                                 .timeout_ns = -1,
                                                 .count_scaling.pool = MODEL_NONE,
                                                 .stays_scaling.pool = MODEL_NONE};
    return (int)model->n_nodes++;
}

struct edge *model_add_edge(struct node *node, int to) {
    node->edges = memory_resize(node->edges, node->n_edges + 1, sizeof *node->edges);
    struct edge *edge = &node->edges[node->n_edges++];
    *edge = (struct edge){.to = to,
                          .probability = 1,
                          .runs_scaling.pool = MODEL_NONE,
                          .cpu_scaling.pool = MODEL_NONE};
    return edge;
}
