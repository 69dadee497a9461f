#include "simulator/plan_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* The choices that fit `outcome`, as a group. */
static bool fits(const struct edge *edge, enum outcome outcome) {
    return edge->when == OUTCOME_ANY || edge->when == outcome;
}

static int add_choice(struct plan_builder *builder, const struct node *node,
                      const struct edge *edge, int index) {
    const struct node *to = &builder->model->nodes[edge->to];
    int item_kind = node->kind == NODE_GET && to->kind == NODE_STEP ? to->item_kind : 0;
    *VECTOR_ADD(&builder->choices) = (struct plan_choice){
        .edge = index,
        .item_kind = item_kind,
        .weight = edge->probability,
        .first_weight = edge->first,
    };
    return item_kind;
}

/* Does a thread come to the node no more than once in its life? */
static bool comes_once(const struct model *model, const struct node *node) {
    size_t index = (size_t)(node - model->nodes);
    bool *after = memory_alloc(model->n_nodes, sizeof *after);
    model_mark_reached(model, (int)index, NULL, after);
    bool once = !after[index];
    free(after);
    return once;
}

/* Whole numbers as the smallest ones of the same proportions. */
static void reduce_weights(struct plan_choice *choices, struct plan_group *group) {
    double divisor = 0;
    for (int i = 0; i < group->n; i++)
        for (double rest = choices[i].weight; rest > 0;) {
            double next = fmod(divisor, rest);
            divisor = rest;
            rest = next;
        }
    for (int i = 0; i < group->n; i++)
        choices[i].weight /= divisor;
    group->weight /= divisor;
}

/* Which way threads go is dealt where it was counted, and they keep runs, or choose but once: of
 * two threads of which one went one way and one the other, the same is true in every run. */
static void deal(struct plan_builder *builder, const struct node *node, struct plan_group *group) {
    if (group->run == PLAN_NONE) {
        if (group->n < 2 || group->for_one != PLAN_NONE || group->by_item ||
            !comes_once(builder->model, node))
            return;
        reduce_weights(&builder->choices.items[group->first], group);
    }
    group->deck = builder->n_cards;
    builder->n_cards += group->n;
}

static struct plan_group add_group(struct plan_builder *builder, const struct node *node,
                                   int first_edge, enum outcome outcome) {
    struct plan_group group = {.first = (int)builder->choices.count,
                               .run = PLAN_NONE,
                               .stay = PLAN_NONE,
                               .deck = PLAN_NONE,
                               .for_one = PLAN_NONE};
    bool has_runs = false, has_counts = true;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (!fits(edge, outcome) || edge->leaves)
            continue;
        group.by_item |= add_choice(builder, node, edge, first_edge + (int)i) > 0;
        if (edge->taker != TAKER_ANY) {
            group.for_one = group.n;
            group.taker = edge->taker;
        }
        group.n++;
        group.weight += edge->probability;
        group.first_weight += edge->first;
        has_runs |= edge->runs.kind != DIST_NONE;
        has_counts &= edge->probability >= 1 && edge->probability == floor(edge->probability);
    }
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (!fits(edge, outcome) || !edge->leaves)
            continue;
        add_choice(builder, node, edge, first_edge + (int)i);
        group.n_leaving++;
    }
    if (has_runs)
        group.run = builder->n_runs++;
    if (group.n_leaving > 0)
        group.stay = builder->n_runs++;
    if (has_counts)
        deal(builder, node, &group);
    return group;
}

static bool can_time_out(enum node_kind kind) {
    return kind == NODE_LOCK || kind == NODE_RDLOCK || kind == NODE_WRLOCK ||
           kind == NODE_ACQUIRE || kind == NODE_PUT || kind == NODE_GET || kind == NODE_WAIT;
}

static double scale_count(const struct plan_builder *builder, const struct node *node) {
    struct plan_factor factor = plan_factor_of(builder, &node->count_scaling);
    double count = node->count == 0 ? 1 : node->count;
    return (count + factor.less) * factor.whole - factor.less;
}

static void compile_rows(struct plan_builder *builder, const struct node *node,
                         struct plan_node *compiled) {
    bool has_rows = node->n_goes_on > 0 && node->n_tasks == 0; /* a task's are together anyway */
    compiled->rows = has_rows ? builder->n_rows++ : PLAN_NONE;
    struct plan_call *calls = has_rows ? &builder->calls.items[compiled->first_call] : NULL;
    for (size_t c = 0; has_rows && c < node->n_goes_on; c++) {
        calls[c].goes_on = node->goes_on[c] > 0;
        if (calls[c].goes_on)
            calls[c - (size_t)node->goes_on[c]].next = compiled->first_call + (int)c;
    }
}

/* The recorded calls of a node. */
struct recorded_calls {
    size_t n;
    size_t *at;   /* where each begins in the node's list */
    size_t *next; /* n, or the number of the next one of the same task */
};

/* first[k]: the number of the first call of task k; n: it has none. */
static struct recorded_calls find_calls(const struct node *node, size_t n_tasks, size_t *first) {
    struct recorded_calls calls = {0, memory_alloc(node->n_calls, sizeof *calls.at),
                                   memory_alloc(node->n_calls, sizeof *calls.next)};
    for (size_t i = 0; i < node->n_calls; i += 1 + 3 * (size_t)node->calls[i])
        calls.at[calls.n++] = i;
    for (size_t k = 0; k < n_tasks; k++)
        first[k] = calls.n;
    for (size_t c = node->n_tasks; c-- > 0;) {
        if (node->tasks[c] < 0)
            continue;
        calls.next[c] = first[(size_t)node->tasks[c]];
        first[(size_t)node->tasks[c]] = c;
    }
    return calls;
}

static struct plan_call *add_call(struct plan_builder *builder) {
    struct plan_call *call = VECTOR_ADD(&builder->calls);
    *call = (struct plan_call){(int)builder->requests.count, 0, PLAN_NONE, false};
    return call;
}

/* `recorded`: its number of requests, and what is said of each. Those made ahead are waited for
 * nevertheless if more calls of the same task come. */
static void add_requests(struct plan_builder *builder, struct plan_call *call,
                         const double *recorded, bool more_come) {
    int n = (int)*recorded++;
    for (int r = 0; r < n; r++, recorded += 3)
        *VECTOR_ADD(&builder->requests) = (struct plan_request){
            recorded[0], recorded[1], r > 0 && recorded[2] > 0 && recorded[2] != REQUEST_AHEAD,
            recorded[2] >= REQUEST_AHEAD && !more_come};
    call->n += n;
}

/* Those of each task together, then those that are of none. */
static void compile_calls(struct plan_builder *builder, const struct node *node,
                          struct plan_node *compiled) {
    size_t n_tasks = node->n_tasks > 0 ? builder->n_tasks : 0;
    size_t *first = memory_alloc(n_tasks, sizeof *first);
    struct recorded_calls calls = find_calls(node, n_tasks, first);
    compiled->first_task_call = n_tasks > 0 ? (int)builder->calls.count : PLAN_NONE;
    for (size_t k = 0; k < n_tasks; k++) {
        struct plan_call *call = add_call(builder);
        for (size_t c = first[k]; c < calls.n; c = calls.next[c])
            add_requests(builder, call, &node->calls[calls.at[c]], calls.next[c] < calls.n);
    }
    compiled->first_call = (int)builder->calls.count;
    for (size_t c = 0; c < calls.n; c++)
        if (node->n_tasks == 0 || node->tasks[c] < 0)
            add_requests(builder, add_call(builder), &node->calls[calls.at[c]], false);
    compiled->n_calls = (int)builder->calls.count - compiled->first_call;
    free(first);
    free(calls.at);
    free(calls.next);
    compile_rows(builder, node, compiled);
}

struct plan_node plan_compile_node(struct plan_builder *builder, const struct plan *plan,
                                   const struct node *node) {
    struct plan_node compiled = {
        .kind = node->kind,
        .object = node->object,
        .mutex = node->mutex,
        .target_pool = node->target_pool,
        .item_kind = node->item_kind,
        .count = scale_count(builder, node),
        .counts = plan_add_draw(builder, &node->counts),
        .by_clock = node->by_clock,
        .ahead = node->ahead,
        .gives_back = node->gives_back,
        .timeout_ns = node->timeout_ns,
        .cpu = plan_add_cpu_draw(builder, &node->cpu_ns, NULL),
        .wait = plan_add_draw(builder, &node->wait_ns),
        .operations = plan_add_draw(builder, &node->operations),
        .service = plan_add_draw(builder, &node->service_ns),
        .near = plan_add_draw(builder, &node->near_ns),
        .stream = node->stream,
        .stays = plan_add_draw_of_parts(builder, &node->stays, &node->stays_scaling),
        .stays_factor = plan_factor_of(builder, &node->stays_scaling),
        .course = node->n_course > 0 ? builder->n_courses++ : PLAN_NONE,
        .first_leg = (int)builder->legs.count,
        .n_legs = (int)node->n_course / 2,
    };
    compile_calls(builder, node, &compiled);
    if (node->kind == NODE_STATEMENTS)
        compiled.section = plan->objects[node->object].first_section + node->section;
    int first_edge = (int)builder->edges.count;
    bool depends = false; /* on the outcome */
    if (!can_time_out(node->kind))
        compiled.timeout_ns = -1;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        *VECTOR_ADD(&builder->edges) = (struct plan_edge){
            .to = edge->to,
            .cpu = plan_add_cpu_draw(builder, &edge->cpu_ns, &edge->cpu_scaling),
            .runs = plan_add_draw_of_parts(builder, &edge->runs, &edge->runs_scaling),
            .cpu_factor = plan_factor_of(builder, &edge->cpu_scaling),
            .runs_factor = plan_factor_of(builder, &edge->runs_scaling),
            .n_cpu_by_place = edge->n_cpu_by_place,
            .cpu_by_place = edge->cpu_by_place,
        };
        depends |= edge->when != OUTCOME_ANY;
        compiled.says_no |= edge->when == OUTCOME_NO;
    }
    for (size_t i = 0; i < node->n_course; i += 2)
        *VECTOR_ADD(&builder->legs) =
            (struct plan_leg){first_edge + (int)node->course[i], node->course[i + 1]};
    compiled.yes = add_group(builder, node, first_edge, OUTCOME_YES);
    compiled.no = depends ? add_group(builder, node, first_edge, OUTCOME_NO) : compiled.yes;
    return compiled;
}

/* Which nodes are in a loop that one with `stays` decides to leave. */
void plan_find_counted(const struct plan_builder *builder, struct plan *plan) {
    const struct model *model = builder->model;
    for (size_t decider = 0; decider < model->n_nodes; decider++) {
        if (model->nodes[decider].stays.kind == DIST_NONE)
            continue;
        bool *after = memory_alloc(model->n_nodes, sizeof *after);
        after[decider] = true;
        model_mark_reached(model, (int)decider, NULL, after);
        for (size_t n = 0; n < model->n_nodes; n++) {
            struct plan_node *node = &plan->nodes[n];
            if (!after[n] || node->yes.counted ||
                (node->yes.deck == PLAN_NONE && node->no.deck == PLAN_NONE))
                continue;
            bool *seen = memory_alloc(model->n_nodes, sizeof *seen);
            model_mark_reached(model, (int)n, NULL, seen);
            node->yes.counted = node->no.counted = seen[decider] || n == decider;
            free(seen);
        }
        free(after);
    }
}
