#include "formats/model_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/model_fields.h"

/* What a node of this kind must be given. */
struct node_rule {
    unsigned objects; /* bit set of the object kinds it works on; 0 = none */
    bool may_lack_object;
    bool may_hold_mutex; /* `mutex` allowed */
    bool needs_pool;     /* `target_pool` needed */
    bool may_time_out;   /* `timeout_ns` allowed */
};

#define ON(kind) (1U << OBJECT_##kind)
#define WAITS    .may_hold_mutex = true, .may_time_out = true

static const struct node_rule node_rules[] = {
    [NODE_START] = {0},
    [NODE_END] = {0},
    [NODE_STEP] = {0},
    [NODE_LOCK] = {.objects = ON(MUTEX) | ON(SPIN), .may_time_out = true},
    [NODE_UNLOCK] = {.objects = ON(MUTEX) | ON(SPIN)},
    [NODE_RDLOCK] = {.objects = ON(RWLOCK), WAITS},
    [NODE_WRLOCK] = {.objects = ON(RWLOCK), WAITS},
    [NODE_RWUNLOCK] = {.objects = ON(RWLOCK)},
    [NODE_ACQUIRE] = {.objects = ON(TOKENS), WAITS},
    [NODE_RELEASE] = {.objects = ON(TOKENS)},
    [NODE_PUT] = {.objects = ON(QUEUE), WAITS},
    [NODE_GET] = {.objects = ON(QUEUE), WAITS},
    [NODE_CLOSE] = {.objects = ON(QUEUE) | ON(TOKENS)},
    [NODE_WAIT] = {.objects = ON(FLAG), WAITS},
    [NODE_SIGNAL] = {.objects = ON(FLAG)},
    [NODE_BARRIER] = {.objects = ON(BARRIER), .may_hold_mutex = true},
    [NODE_DRAW] = {.objects = ON(ORDER)},
    [NODE_TURN] = {.objects = ON(ORDER), .may_hold_mutex = true},
    [NODE_ADVANCE] = {.objects = ON(ORDER)},
    [NODE_PASS] = {.objects = ON(ORDER)},
    [NODE_COLLECT] = {.objects = ON(ORDER), .may_hold_mutex = true},
    [NODE_STATEMENTS] = {.objects = ON(MONITOR), .may_hold_mutex = true},
    [NODE_CREATE] = {.needs_pool = true},
    [NODE_JOIN] = {.needs_pool = true},
    [NODE_SLEEP] = {0},
    [NODE_IO] = {.objects = ON(DISK), .may_lack_object = true},
    [NODE_TASK_BEGIN] = {0},
    [NODE_TASK_END] = {0},
};

bool model_works_on(enum node_kind kind, enum object_kind object) {
    return node_rules[kind].objects & 1U << object;
}

#define N_NODE_KINDS ((int)(sizeof node_rules / sizeof *node_rules))

static int check_by_place(const struct edge *edge, const struct place *place, struct error *error) {
    double sum = 0;
    for (size_t i = 0; i < edge->n_cpu_by_place; i++) {
        double part = edge->cpu_by_place[i];
        if (!isfinite(part) || part < 0)
            return model_violation(PLACE_INDEX(place, i), error,
                                   "%g is not a finite number from 0 up", part);
        sum += part;
    }
    if (edge->n_cpu_by_place > 0 && fabs(sum / (double)edge->n_cpu_by_place - 1) > 1e-6)
        return model_violation(place, error, "the mean is %g, not 1",
                               sum / (double)edge->n_cpu_by_place);
    return 0;
}

static int check_edge(const struct model *model, const struct edge *edge, const struct place *place,
                      struct error *error) {
    if (model_check_index(edge->to, model->n_nodes, "a node", PLACE_KEY(place, "to"), error))
        return -1;
    if ((int)edge->when < OUTCOME_ANY || (int)edge->when > OUTCOME_NO)
        return model_violation(PLACE_KEY(place, "when"), error, "an unknown outcome");
    if ((int)edge->taker < TAKER_ANY || (int)edge->taker > TAKER_LEADER)
        return model_violation(PLACE_KEY(place, "taker"), error, "an unknown taker");
    if (edge->taker != TAKER_ANY && edge->leaves)
        return model_violation(PLACE_KEY(place, "taker"), error,
                               "a loop is left by all threads, not by one in each round");
    if (model_check_amount(edge->probability, "probability", place, error) ||
        model_check_amount(edge->first, "first", place, error) ||
        model_check_dist(&edge->runs, "runs", place, error) ||
        model_check_scaling(model, &edge->runs_scaling, "runs_scaling", place, error) ||
        model_check_dist(&edge->cpu_ns, "cpu_ns", place, error) ||
        check_by_place(edge, PLACE_KEY(place, "cpu_by_place"), error))
        return -1;
    return model_check_scaling(model, &edge->cpu_scaling, "cpu_scaling", place, error);
}

bool *model_find_closed(const struct model *model) {
    bool *closed = memory_alloc(model->n_objects, sizeof *closed);
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct node *node = &model->nodes[i];
        if (node->kind == NODE_CLOSE && node->object >= 0 &&
            (size_t)node->object < model->n_objects)
            closed[node->object] = true;
    }
    return closed;
}

/* Whether the node's outcome is told by what it carries out. */
static bool is_told(const struct model *model, const struct node *node) {
    return node->kind == NODE_STATEMENTS &&
           statement_section_answers(&model->objects[node->object].sections[node->section]);
}

/* Whether the node's object may be closed under it. */
static bool is_closable(const bool *closed, const struct node *node) {
    return (node->kind == NODE_ACQUIRE || node->kind == NODE_PUT || node->kind == NODE_GET) &&
           closed[node->object];
}

static bool says_no(const struct node *node) {
    for (size_t i = 0; i < node->n_edges; i++) {
        if (node->edges[i].when == OUTCOME_NO && node->edges[i].probability > 0)
            return true;
    }
    return false;
}

static double edge_weight(const struct node *node, enum outcome outcome) {
    double sum = 0;
    for (size_t i = 0; i < node->n_edges; i++) {
        if (node->edges[i].when == OUTCOME_ANY || node->edges[i].when == outcome)
            sum += node->edges[i].probability;
    }
    return sum;
}

static int check_course(const struct node *node, const struct place *place, struct error *error) {
    if (node->n_course % 2 != 0)
        return model_violation(place, error, "no pairs of an edge and how often it is taken");
    for (size_t i = 0; i < node->n_course; i += 2) {
        double edge = node->course[i], times = node->course[i + 1];
        if (!(edge >= 0 && edge < (double)node->n_edges && edge == floor(edge)))
            return model_violation(PLACE_INDEX(place, i), error, "the node has no edge %g", edge);
        if (!(times >= 1 && times == floor(times) && isfinite(times)))
            return model_violation(PLACE_INDEX(place, i + 1), error,
                                   "an edge is not taken %g times in a row", times);
    }
    return 0;
}

/* "How many requests, then first sector, sectors and whether it comes with the one before" of each
 * call. */
static int check_calls(const struct node *node, const struct place *place, struct error *error) {
    if (node->n_calls > 0 && (node->kind != NODE_IO || node->object == MODEL_NONE))
        return model_violation(place, error, "only an io node with a disk has them");
    for (size_t i = 0; i < node->n_calls;) {
        double n = node->calls[i++];
        if (!(n >= 0 && n == floor(n) && n <= (double)(node->n_calls - i) / 3))
            return model_violation(PLACE_INDEX(place, i - 1), error, "%g is no number of requests",
                                   n);
        for (size_t r = 0; r < (size_t)n; r++, i += 3)
            if (!(node->calls[i] >= 0 && isfinite(node->calls[i]) && node->calls[i + 1] >= 0 &&
                  isfinite(node->calls[i + 1])))
                return model_violation(PLACE_INDEX(place, i), error, "no place on a disk");
    }
    return 0;
}

static size_t count_calls(const struct node *node) {
    size_t n = 0;
    for (size_t i = 0; i < node->n_calls; i += 1 + 3 * (size_t)node->calls[i])
        n++;
    return n;
}

/* One for each call, behind those that it goes on from. */
static int check_rows(const struct node *node, const struct place *place, struct error *error) {
    size_t n = count_calls(node);
    if (node->n_goes_on > 0 && node->n_goes_on != n)
        return model_violation(place, error, "there are %zu for %zu calls", node->n_goes_on, n);
    for (size_t i = 0; i < node->n_goes_on; i++)
        if (!(node->goes_on[i] >= 0 && node->goes_on[i] <= (double)i &&
              node->goes_on[i] == floor(node->goes_on[i])))
            return model_violation(PLACE_INDEX(place, i), error, "%g calls before it is none",
                                   node->goes_on[i]);
    return 0;
}

/* One for each call. */
static int check_tasks(const struct node *node, const struct place *place, struct error *error) {
    size_t n = count_calls(node);
    if (node->n_tasks > 0 && node->n_tasks != n)
        return model_violation(place, error, "there are %zu for %zu calls", node->n_tasks, n);
    for (size_t i = 0; i < node->n_tasks; i++)
        if (!(node->tasks[i] >= -1 && node->tasks[i] <= MOST_TASKS &&
              node->tasks[i] == floor(node->tasks[i])))
            return model_violation(PLACE_INDEX(place, i), error, "%g is no number of a task",
                                   node->tasks[i]);
    return 0;
}

static int check_edges(const struct model *model, const bool *closed, const struct node *node,
                       const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, "edges");
    if (node->kind == NODE_END)
        return node->n_edges ? model_violation(place, error, "an end node has no edges") : 0;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (check_edge(model, edge, PLACE_INDEX(place, i), error))
            return -1;
        if (node->n_course > 0 && (edge->when != OUTCOME_ANY || edge->taker != TAKER_ANY))
            return model_violation(PLACE_INDEX(place, i), error,
                                   "the node has a course: which edge is taken cannot depend on %s",
                                   edge->taker != TAKER_ANY ? "who takes it" : "the outcome");
    }
    double yes = edge_weight(node, OUTCOME_YES);
    if (!(yes > 0) || !isfinite(yes))
        return model_violation(place, error, "no edge to go on by (probabilities add up to %g)",
                               yes);
    if (is_closable(closed, node) && !says_no(node))
        return model_violation(
            place, error, "no edge for outcome \"no\", although object %d is closed by some node",
            node->object);
    double no = edge_weight(node, OUTCOME_NO);
    if (is_told(model, node) && !(no > 0))
        return model_violation(place, error,
                               "no edge for outcome \"no\", which its statements may give");
    if (node_rules[node->kind].may_time_out && node->timeout_ns >= 0 && !(no > 0))
        return model_violation(place, error, "no edge for outcome \"no\", which a timeout gives");
    if (!isfinite(no))
        return model_violation(place, error, "probabilities add up to %g", no);
    return 0;
}

static int check_node_object(const struct model *model, const struct node *node,
                             const struct place *above, struct error *error) {
    const struct node_rule *rule = &node_rules[node->kind];
    const struct place *place = PLACE_KEY(above, "object");
    const char *kind = node_kind_name(node->kind);
    if (!rule->objects)
        return node->object == MODEL_NONE
                   ? 0
                   : model_violation(place, error, "a %s node has no object", kind);
    if (node->object == MODEL_NONE && rule->may_lack_object)
        return 0;
    if (model_check_index(node->object, model->n_objects, "an object", place, error))
        return -1;
    enum object_kind object = model->objects[node->object].kind;
    if (!(rule->objects & (1U << object)))
        return model_violation(place, error, "a %s node cannot work on a %s (object %d)", kind,
                               object_kind_name(object), node->object);
    if (node->kind == NODE_STATEMENTS)
        return model_check_index(node->section, model->objects[node->object].n_sections,
                                 "a section of its monitor", PLACE_KEY(above, "section"), error);
    return 0;
}

/* Statements wait by giving up the mutex under which their monitor is. */
static int check_statements_mutex(const struct model *model, const struct node *node,
                                  const struct place *place, struct error *error) {
    if (node->kind != NODE_STATEMENTS || node->mutex != MODEL_NONE)
        return 0;
    const struct statement_section *section = &model->objects[node->object].sections[node->section];
    for (size_t i = 0; i < section->n_statements; i++)
        if (section->statements[i].kind == STATEMENT_WAIT)
            return model_violation(PLACE_KEY(place, "mutex"), error,
                                   "its statements wait, but there is no mutex to give up");
    return 0;
}

static int check_node_references(const struct model *model, const struct node *node,
                                 const struct place *place, struct error *error) {
    const struct node_rule *rule = &node_rules[node->kind];
    const char *kind = node_kind_name(node->kind);
    if (check_node_object(model, node, place, error))
        return -1;
    const struct place *mutex = PLACE_KEY(place, "mutex");
    if (node->mutex != MODEL_NONE) {
        if (!rule->may_hold_mutex)
            return model_violation(mutex, error, "a %s node gives up no mutex", kind);
        if (model_check_index(node->mutex, model->n_objects, "an object", mutex, error))
            return -1;
        if (model->objects[node->mutex].kind != OBJECT_MUTEX)
            return model_violation(mutex, error, "object %d is not a mutex", node->mutex);
    }
    if (check_statements_mutex(model, node, place, error))
        return -1;
    const struct place *pool = PLACE_KEY(place, "target_pool");
    if (rule->needs_pool)
        return model_check_index(node->target_pool, model->n_pools, "a pool", pool, error);
    if (node->target_pool != MODEL_NONE)
        return model_violation(pool, error, "a %s node has no target pool", kind);
    return 0;
}

int model_check_node(const struct model *model, const bool *closed, size_t i, struct error *error) {
    const struct node *node = &model->nodes[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "nodes"), i);
    if (!node->name)
        return model_violation(PLACE_KEY(place, "name"), error, "missing");
    if ((int)node->kind < 0 || (int)node->kind >= N_NODE_KINDS)
        return model_violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
    if (check_node_references(model, node, place, error))
        return -1;
    const struct place *timeout = PLACE_KEY(place, "timeout_ns");
    if (isnan(node->timeout_ns) || isinf(node->timeout_ns))
        return model_violation(timeout, error, "not a finite number (-1 waits for ever)");
    if (node->timeout_ns > 0 && !node_rules[node->kind].may_time_out)
        return model_violation(timeout, error, "a %s node cannot time out",
                               node_kind_name(node->kind));
    bool may_subtract = node->kind == NODE_RELEASE && isfinite(node->count);
    if (node->kind == NODE_PUT && node->count > 1 && model->objects[node->object].bounded)
        return model_violation(PLACE_KEY(place, "count"), error,
                               "more than one item at once into a bounded queue");
    if (node->counts.kind != DIST_NONE && node->kind != NODE_ACQUIRE)
        return model_violation(PLACE_KEY(place, "counts"), error, "only an acquire node has them");
    if (node->gives_back && node->kind != NODE_RELEASE)
        return model_violation(PLACE_KEY(place, "gives_back"), error, "only a release node does");
    if (node->stream < 0 || (node->stream > 0 && node->kind != NODE_IO))
        return model_violation(PLACE_KEY(place, "stream"), error,
                               "not a positive number of an io node");
    if (node->ahead && (node->kind != NODE_IO || node->object == MODEL_NONE))
        return model_violation(PLACE_KEY(place, "ahead"), error, "only an io node with a disk is");
    if (node->item_kind < 0 ||
        (node->item_kind > 0 && node->kind != NODE_PUT && node->kind != NODE_STEP))
        return model_violation(PLACE_KEY(place, "item_kind"), error,
                               "not a positive number of a put or a step");
    if ((!may_subtract && model_check_amount(node->count, "count", place, error)) ||
        model_check_scaling(model, &node->count_scaling, "count_scaling", place, error) ||
        model_check_dist(&node->counts, "counts", place, error) ||
        model_check_dist(&node->stays, "stays", place, error) ||
        model_check_scaling(model, &node->stays_scaling, "stays_scaling", place, error) ||
        model_check_dist(&node->cpu_ns, "cpu_ns", place, error) ||
        model_check_dist(&node->wait_ns, "wait_ns", place, error) ||
        model_check_dist(&node->operations, "operations", place, error) ||
        model_check_dist(&node->service_ns, "service_ns", place, error) ||
        model_check_dist(&node->near_ns, "near_ns", place, error))
        return -1;
    return check_edges(model, closed, node, place, error) ||
                   check_course(node, PLACE_KEY(place, "course"), error) ||
                   check_calls(node, PLACE_KEY(place, "calls"), error) ||
                   check_rows(node, PLACE_KEY(place, "goes_on"), error) ||
                   check_tasks(node, PLACE_KEY(place, "tasks"), error)
               ? -1
               : 0;
}
