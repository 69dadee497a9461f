#include "cli/prediction/change_apply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/whole_words.h"
#include "cli/prediction/function_change.h"
#include "cli/prediction/variation_graph.h"
#include "cli/text/nearest.h"
#include "cli/text/quantity.h"

/* No run has as many. */
#define UNLIMITED_TOKENS 1e9

/* ---- what can be changed so ---- */

static bool is_of_place(enum change_kind kind) {
    return kind == CHANGE_CPU || kind == CHANGE_IO || kind == CHANGE_SLEEP || kind == CHANGE_DELAY;
}

static bool computes(const struct node *node) {
    bool any = dist_mean(&node->cpu_ns) > 0;
    for (size_t e = 0; e < node->n_edges; e++)
        any |= dist_mean(&node->edges[e].cpu_ns) > 0;
    return any;
}

static bool place_has(const struct node *node, enum change_kind kind) {
    bool waits = node->object == MODEL_NONE && dist_mean(&node->wait_ns) > 0;
    switch (kind) {
    case CHANGE_CPU:
        return computes(node);
    case CHANGE_IO:
        return waits && node->kind == NODE_IO;
    case CHANGE_SLEEP:
        return waits && node->kind == NODE_SLEEP;
    case CHANGE_DELAY:
        return waits && (node->kind == NODE_IO || node->kind == NODE_SLEEP);
    default:
        return false;
    }
}

/* Tokens that are a part of a bounded queue are the room in it: its capacity. */
static const struct hand_made *queue_of(const struct model *model, int object) {
    for (size_t m = 0; m < model->n_monitors; m++)
        for (size_t i = 0; i < model->monitors[m].n_made_of; i++)
            if (model->monitors[m].made_of[i].object == object &&
                model->monitors[m].kind == HAND_MADE_BOUNDED_QUEUE)
                return &model->monitors[m];
    return NULL;
}

static bool object_has(const struct model *model, int index, enum change_kind kind) {
    const struct object *object = &model->objects[index];
    switch (kind) {
    case CHANGE_HOLD:
        return object->kind == OBJECT_MUTEX || object->kind == OBJECT_RWLOCK ||
               object->kind == OBJECT_SPIN;
    case CHANGE_CAPACITY:
        return (object->kind == OBJECT_QUEUE && object->bounded) ||
               (object->kind == OBJECT_TOKENS && queue_of(model, index));
    case CHANGE_PERMITS:
        return object->kind == OBJECT_TOKENS;
    case CHANGE_PARTIES:
        return object->kind == OBJECT_BARRIER;
    case CHANGE_SERVICE:
    case CHANGE_SERVERS:
    case CHANGE_SERVICE_TIME:
        return object->kind == OBJECT_DISK;
    default:
        return false;
    }
}

/* ---- which of them are named ---- */

/* Call places, objects or pools, of one kind. */
struct selection {
    int *indices;
    const char **names;
    size_t count;
};

static struct selection selection_new(size_t most) {
    return (struct selection){memory_alloc(most + 1, sizeof(int)),
                              memory_alloc(most + 1, sizeof(char *)), 0};
}

static void selection_free(struct selection *selection) {
    free(selection->indices);
    free(selection->names);
}

static void select_one(struct selection *selection, int index, const char *name) {
    selection->indices[selection->count] = index;
    selection->names[selection->count++] = name;
}

static struct selection all_places(const struct model *model, enum change_kind kind) {
    struct selection all = selection_new(model->n_nodes);
    for (size_t n = 0; n < model->n_nodes; n++)
        if (place_has(&model->nodes[n], kind))
            select_one(&all, (int)n, node_place(model, &model->nodes[n]));
    return all;
}

static struct selection all_objects(const struct model *model, enum change_kind kind) {
    struct selection all = selection_new(model->n_objects);
    for (size_t o = 0; o < model->n_objects; o++)
        if (object_has(model, (int)o, kind))
            select_one(&all, (int)o, model->objects[o].name);
    return all;
}

static struct selection named(const struct selection *all, const char *name) {
    struct selection found = selection_new(all->count);
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            select_one(&found, all->indices[i], all->names[i]);
    for (size_t i = 0, exact = found.count; i < all->count && exact == 0; i++)
        if (whole_words_stand_in(name, all->names[i]))
            select_one(&found, all->indices[i], all->names[i]);
    return found;
}

/* The places of the pool of that name. */
static struct selection of_pool(const struct model *model, const struct selection *all,
                                const char *name) {
    struct selection found = selection_new(all->count);
    for (size_t i = 0; i < all->count; i++) {
        int pool = model->nodes[all->indices[i]].pool;
        if (pool != MODEL_NONE && strcmp(model->pools[pool].name, name) == 0)
            select_one(&found, all->indices[i], all->names[i]);
    }
    return found;
}

/* ---- the change itself ---- */

static char *times(const char *what, double factor) {
    return memory_format("%s x %g", what, factor);
}

static char *from_to(const char *what, double from, double to, enum unit unit) {
    char a[QUANTITY_BYTES], b[QUANTITY_BYTES];
    if (unit == UNIT_TIME)
        return memory_format("%s %s to %s", what, quantity_show(from, unit, a),
                             quantity_show(to, unit, b));
    snprintf(a, sizeof a, "%.0f", from);
    snprintf(b, sizeof b, "%.0f", to);
    return memory_format("%s %s to %s", what, isfinite(from) ? a : "unlimited",
                         isfinite(to) ? b : "unlimited");
}

static void become_constant(struct dist *dist, double value) {
    free(dist->values);
    *dist = (struct dist){.kind = DIST_CONSTANT, .mean = value};
}

static void change_place(struct node *node, const struct change *change,
                         struct changed_parts *parts) {
    double mean = dist_mean(&node->wait_ns);
    switch (change->kind) {
    case CHANGE_CPU:
        variation_graph_scale_dist(&node->cpu_ns, change->value);
        for (size_t e = 0; e < node->n_edges; e++)
            variation_graph_scale_dist(&node->edges[e].cpu_ns, change->value);
        changed_parts_add(parts, node->name, times("computing", change->value));
        break;
    case CHANGE_DELAY:
        become_constant(&node->wait_ns, change->value);
        changed_parts_add(parts, node->name, from_to("delay", mean, change->value, UNIT_TIME));
        break;
    default:
        variation_graph_scale_dist(&node->wait_ns, change->value);
        changed_parts_add(parts, node->name,
                          times(change->kind == CHANGE_IO ? "I/O" : "sleep", change->value));
        break;
    }
}

static void set_amount(struct linear *amount, double value) {
    free(amount->terms);
    *amount = (struct linear){.base = fmin(value, UNLIMITED_TOKENS)};
}

/* With the recorded numbers of threads, which it is shown for. */
static double amount_of(const struct model *model, const struct linear *amount) {
    int *threads = memory_alloc(model->n_pools + 1, sizeof *threads);
    for (size_t p = 0; p < model->n_pools; p++)
        threads[p] = model->pools[p].profiled_threads;
    double value = round(linear_value(amount, threads));
    free(threads);
    return value;
}

static char *change_amount(const struct model *model, struct object *object, const char *what,
                           double value) {
    double before = amount_of(model, &object->amount);
    set_amount(&object->amount, value);
    if (object->kind == OBJECT_QUEUE)
        object->bounded = isfinite(value);
    return from_to(what, before, value, UNIT_NONE);
}

static char *change_servers(struct object *disk, double value) {
    double before = disk->servers > 0 ? disk->servers : INFINITY;
    disk->servers = isfinite(value) ? value : 0;
    return from_to("servers", before, value, UNIT_NONE);
}

static char *change_service_time(struct object *disk, double value) {
    double before = dist_mean(&disk->service_ns);
    become_constant(&disk->service_ns, value);
    return from_to("service", before, value, UNIT_TIME);
}

static char *change_object(struct model *model, int index, const struct change *change) {
    struct object *object = &model->objects[index];
    switch (change->kind) {
    case CHANGE_HOLD:
        variation_graph_scale_hold(model, index, change->value);
        return times("held", change->value);
    case CHANGE_SERVICE:
        variation_graph_scale_dist(&object->service_ns, change->value);
        return times("service times", change->value);
    case CHANGE_SERVERS:
        return change_servers(object, change->value);
    case CHANGE_SERVICE_TIME:
        return change_service_time(object, change->value);
    case CHANGE_CAPACITY:
        return change_amount(model, object, "capacity", change->value);
    case CHANGE_PARTIES:
        return change_amount(model, object, "parties", change->value);
    default:
        return change_amount(model, object, "permits", change->value);
    }
}

/* ---- all of it ---- */

static const char *const changeable[] = {
    [CHANGE_CPU] = "function, call or pool that computes",
    [CHANGE_HOLD] = "lock",
    [CHANGE_IO] = "call or pool that waits for a device which is no disk of the model",
    [CHANGE_SLEEP] = "call or pool that sleeps",
    [CHANGE_SERVICE] = "disk",
    [CHANGE_CAPACITY] = "bounded queue",
    [CHANGE_PERMITS] = "semaphore",
    [CHANGE_PARTIES] = "barrier",
    [CHANGE_SERVERS] = "disk",
    [CHANGE_SERVICE_TIME] = "disk",
    [CHANGE_DELAY] = "call or pool that waits by itself",
};

static void select_name(struct selection *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return;
    select_one(names, MODEL_NONE, name);
}

/* What could have been named, each name once. */
static struct selection names_of(const struct model *model, const struct selection *all,
                                 bool at_place) {
    struct selection names = selection_new(2 * all->count);
    for (size_t i = 0; i < all->count; i++) {
        int pool = at_place ? model->nodes[all->indices[i]].pool : MODEL_NONE;
        select_name(&names, all->names[i]);
        if (pool != MODEL_NONE)
            select_name(&names, model->pools[pool].name);
    }
    return names;
}

static int refuse(const struct model *model, const struct change *change,
                  const struct selection *all, struct error *error) {
    const char *what = changeable[change->kind];
    if (all->count == 0)
        return error_set(error, "%s: the model has no %s", change->text, what);
    struct selection names = names_of(model, all, is_of_place(change->kind));
    char *nearest = nearest_list(change->name, names.names, names.count);
    error_set(error, "%s: no %s is called '%s': nearest: %s", change->text, what, change->name,
              nearest);
    free(nearest);
    selection_free(&names);
    return -1;
}

/* Of places: the pool, else the places of that name; of waits, which a pool has of many kinds, the
 * other way round. */
static struct selection places_named(const struct model *model, const struct selection *all,
                                     const struct change *change) {
    bool is_pool_first = change->kind == CHANGE_CPU;
    struct selection found =
        is_pool_first ? of_pool(model, all, change->name) : named(all, change->name);
    if (found.count > 0)
        return found;
    selection_free(&found);
    return is_pool_first ? named(all, change->name) : of_pool(model, all, change->name);
}

/* `recorded` may be NULL. */
static int apply(const struct change *change, const struct dependencies *recorded,
                 struct model *model, struct changed_parts *parts, struct error *error) {
    if (change->kind == CHANGE_CPU && recorded &&
        model_find_pool(model, change->name) == MODEL_NONE &&
        function_change_apply(change, recorded, model, parts))
        return 0;
    bool at_place = is_of_place(change->kind);
    struct selection all =
        at_place ? all_places(model, change->kind) : all_objects(model, change->kind);
    struct selection found =
        at_place ? places_named(model, &all, change) : named(&all, change->name);
    for (size_t i = 0; i < found.count; i++) {
        int index = found.indices[i];
        if (at_place)
            change_place(&model->nodes[index], change, parts);
        else
            changed_parts_add(parts, found.names[i], change_object(model, index, change));
    }
    int status = found.count > 0 ? 0 : refuse(model, change, &all, error);
    selection_free(&found);
    selection_free(&all);
    return status;
}

int changes_apply(const struct changes *changes, const struct dependencies *recorded,
                  struct model *model, struct changed_parts *parts, struct error *error) {
    for (size_t i = 0; i < changes->count; i++)
        if (apply(&changes->items[i], recorded, model, parts, error) < 0)
            return -1;
    return 0;
}
