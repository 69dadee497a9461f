#include "cli/prediction/function_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/prediction/variation_graph.h"
#include "critical-path/critical_path.h"

const char *node_place(const struct model *model, const struct node *node) {
    const char *pool = node->pool == MODEL_NONE ? "" : model->pools[node->pool].name;
    size_t length = strlen(pool);
    bool has_pool = length > 0 && strncmp(node->name, pool, length) == 0 &&
                    strncmp(node->name + length, ": ", 2) == 0;
    return node->name + (has_pool ? length + 2 : 0);
}

/* ---- what is known of it ---- */

/* Of whom a share is known, from the closest on. A model joins, splits and adds calls, so that two
 * of its calls may never have followed each other: then what leads to the second one tells, and if
 * that is none either, all that the thread computes. */
enum closeness { THREAD_AND_CALLS, CALLS, NEXT_CALL, THREAD, CLOSENESSES };

/* What is computed between two calls, or in one. */
struct stretch {
    const char *thread; /* its name, which may have a number at its end, "worker#2" */
    const char *from, *to;
};

static const char in_call[] = "in";

static uint64_t key_of(const struct stretch *stretch, enum closeness closeness) {
    uint64_t key = map_mix(1, closeness);
    if (closeness == THREAD_AND_CALLS || closeness == THREAD) {
        char *name = memory_format("%.*s", (int)strcspn(stretch->thread, "#"), stretch->thread);
        key = map_mix_text(key, name);
        free(name);
    }
    if (closeness != THREAD)
        key = map_mix_text(key, stretch->to);
    if (closeness == THREAD_AND_CALLS || closeness == CALLS)
        key = map_mix_text(key, stretch->from);
    return key;
}

struct known {
    struct map index_of; /* by key_of() */
    struct {
        struct times {
            double all_ns, function_ns;
        } * items;
        size_t count, capacity;
    } times;
};

static void know(struct known *known, const struct stretch *stretch, struct times times) {
    for (int c = 0; c < CLOSENESSES; c++) {
        uint64_t key = key_of(stretch, c);
        int index = map_get(&known->index_of, key, -1);
        if (index < 0) {
            index = (int)known->times.count;
            map_put(&known->index_of, key, index);
            *VECTOR_ADD(&known->times) = (struct times){0, 0};
        }
        known->times.items[index].all_ns += times.all_ns;
        known->times.items[index].function_ns += times.function_ns;
    }
}

static double share_of(const struct known *known, const struct stretch *stretch) {
    for (int c = 0; c < CLOSENESSES; c++) {
        int index = map_get(&known->index_of, key_of(stretch, c), -1);
        if (index >= 0 && known->times.items[index].all_ns > 0)
            return known->times.items[index].function_ns / known->times.items[index].all_ns;
    }
    return 0;
}

static char **labels_of(const struct dependencies *recorded) {
    char **labels = memory_alloc(recorded->n_places, sizeof *labels);
    for (size_t p = 0; p < recorded->n_places; p++)
        labels[p] = path_place_name(&recorded->places[p]);
    return labels;
}

static void free_labels(char **labels, size_t n) {
    for (size_t p = 0; p < n; p++)
        free(labels[p]);
    free(labels);
}

/* Per recorded place, whether the model has calls there. The others it left out, and its edges lead
 * past them. */
static bool *are_in(const struct model *model, char **labels, size_t n) {
    struct map places = MAP_EMPTY;
    for (size_t i = 0; i < model->n_nodes; i++)
        map_put(&places, map_mix_text(1, node_place(model, &model->nodes[i])), 1);
    bool *are = memory_alloc(n, sizeof *are);
    for (size_t p = 0; p < n; p++)
        are[p] = map_get(&places, map_mix_text(1, labels[p]), 0);
    map_free(&places);
    return are;
}

static const char *label_or(char **labels, uint32_t place, enum node_kind otherwise) {
    return place == DEPENDENCIES_NONE ? node_kind_name(otherwise) : labels[place];
}

/* False: there is no such function. */
static bool find(const struct dependencies *recorded, const struct model *model,
                 const char *function, struct known *known, struct times *total) {
    char **labels = labels_of(recorded);
    bool *counts = are_in(model, labels, recorded->n_places);
    size_t n;
    struct function_part *parts = critical_path_function_parts(recorded, function, counts, &n);
    for (size_t i = 0; i < n; i++) {
        const struct function_part *part = &parts[i];
        const struct stretch stretch = {
            .thread = part->thread,
            .from = part->in_call ? in_call : label_or(labels, part->from, NODE_START),
            .to = label_or(labels, part->to, NODE_END),
        };
        know(known, &stretch, (struct times){part->all_ns, part->function_ns});
        total->all_ns += part->all_ns;
        total->function_ns += part->function_ns;
    }
    free(parts);
    free(counts);
    free_labels(labels, recorded->n_places);
    return n > 0;
}

/* ---- the change ---- */

/* As label_or() has it. */
static const char *label_of(const struct model *model, const struct node *node) {
    bool is_terminal = node->kind == NODE_START || node->kind == NODE_END;
    return is_terminal ? node_kind_name(node->kind) : node_place(model, node);
}

static void scale_share(struct dist *dist, double share, double factor) {
    variation_graph_scale_dist(dist, 1 - share * (1 - factor));
}

static void change_node(const struct known *known, double factor, const struct model *model,
                        struct node *node) {
    struct stretch stretch = {
        .thread = model->pools[node->pool].name, .from = in_call, .to = label_of(model, node)};
    scale_share(&node->cpu_ns, share_of(known, &stretch), factor);
    stretch.from = stretch.to;
    for (size_t e = 0; e < node->n_edges; e++) {
        stretch.to = label_of(model, &model->nodes[node->edges[e].to]);
        scale_share(&node->edges[e].cpu_ns, share_of(known, &stretch), factor);
    }
}

bool function_change_apply(const struct change *change, const struct dependencies *recorded,
                           struct model *model, struct changed_parts *parts) {
    struct known known = {.index_of = MAP_EMPTY};
    struct times total = {0, 0};
    bool is_known = find(recorded, model, change->name, &known, &total);
    for (size_t n = 0; is_known && n < model->n_nodes; n++)
        if (model->nodes[n].pool != MODEL_NONE)
            change_node(&known, change->value, model, &model->nodes[n]);
    if (is_known)
        changed_parts_add(parts, change->name,
                          memory_format("computing x %g, %.3g %% of the CPU time", change->value,
                                        100 * total.function_ns / total.all_ns));
    map_free(&known.index_of);
    free(known.times.items);
    return is_known;
}
