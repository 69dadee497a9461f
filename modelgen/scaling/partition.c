#include "modelgen/scaling/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/modelgen.h"
#include "modelgen/monitors/statements.h"
#include "modelgen/scaling/source.h"

void partition_even_out(struct dist *stays, const struct scaling *scaling, int threads) {
    free(stays->values);
    *stays = (struct dist){.kind = DIST_CONSTANT, .mean = scaling->total / threads - scaling->less};
}

/* Without source, a loop's rounds do not tell of computation outside of them; from this share of
 * the pool's CPU on, that is said. */
#define OUTSIDE_SHARE 0.05

/* That a command for each thread is a part of a total: else more threads would do more work. */
#define COMMANDS_CONFIDENCE 0.8

/* ---- the pool's part of the graph ---- */

struct graph {
    struct model *model;
    size_t n; /* nodes that it was made of; the model may get more meanwhile */
    int pool;
    bool *is_own;   /* per node: of the pool */
    bool *reaches;  /* from * n + to, of all pools: no edge leads from one to another */
    bool *loops;    /* the same without going through nodes where threads meet */
    bool *supplied; /* per node: in a loop of the latter kind that takes from a supply */
};

/* Is what the node waits for signalled by the pool's own threads? */
static bool is_signalled_inside(const struct graph *graph, size_t n) {
    const struct node *nodes = graph->model->nodes;
    for (size_t m = 0; m < graph->n; m++)
        if (graph->is_own[m] && nodes[m].kind == NODE_SIGNAL && nodes[m].object == nodes[n].object)
            return true;
    return false;
}

static bool gives(const struct node *node, int object) {
    return node->object == object && (node->kind == NODE_PUT || node->kind == NODE_RELEASE);
}

/* Are there as many items of this supply as threads ask for, perhaps? Only then can an item become
 * smaller with every thread more. */
static bool may_follow_threads(const struct graph *graph, int object) {
    const struct model *model = graph->model;
    if (model->objects[object].amount.n_terms > 0)
        return true;
    if (model->objects[object].items_in_all > 0)
        return false;
    for (size_t p = 0; p < model->n_pools; p++) {
        bool fills = false, goes_by_threads = model->pools[p].scales;
        for (size_t n = 0; n < model->n_nodes; n++) {
            const struct node *node = &model->nodes[n];
            if (!draft_node_in_pool(node, &model->pools[p]))
                continue;
            bool acts = node->kind == NODE_STATEMENTS && node->object == object;
            fills |= gives(node, object) || (acts && (int)p != graph->pool);
            goes_by_threads |= node->stays_scaling.growth > 0 || node->count_scaling.growth > 0;
            for (size_t e = 0; e < node->n_edges; e++)
                goes_by_threads |= node->edges[e].runs_scaling.growth > 0;
        }
        if (fills && goes_by_threads)
            return true;
    }
    return false;
}

/* Is it a queue of commands: does who fills it count what is outstanding, and wait for that? */
static bool is_for_commands(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->kind != NODE_RELEASE || node->count >= 0 || node->n_edges != 1)
            continue;
        const struct node *next = &model->nodes[node->edges[0].to];
        if (next->kind == NODE_PUT && next->object == object)
            return true;
    }
    return false;
}

/* One of as many as there are threads, whatever their number. */
static bool takes_command(const struct graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    return graph->is_own[n] && node->kind == NODE_GET &&
           is_for_commands(graph->model, node->object) && may_follow_threads(graph, node->object);
}

/* Threads that wait for each other here go round equally often: such a loop's rounds are nobody's
 * share. */
static bool is_meeting(const struct graph *graph, size_t n) {
    enum node_kind kind = graph->model->nodes[n].kind;
    return kind == NODE_BARRIER || takes_command(graph, n) ||
           (kind == NODE_WAIT && is_signalled_inside(graph, n)) ||
           (kind == NODE_STATEMENTS && statements_meet(graph->model, n));
}

/* Between the nodes that may be passed. */
static void find_paths(const struct model *model, const bool *may_pass, bool *reaches) {
    for (size_t start = 0; start < model->n_nodes; start++)
        if (may_pass[start])
            model_mark_reached(model, (int)start, may_pass, reaches + start * model->n_nodes);
}

static bool same_loop(const bool *reaches, size_t n, size_t a, size_t b) {
    return reaches[a * n + b] && reaches[b * n + a];
}

/* Tokens that the pool's own threads give back are a lock rather than a supply. */
static bool gives_back(const struct graph *graph, int object) {
    for (size_t m = 0; m < graph->n; m++)
        if (graph->is_own[m] && graph->model->nodes[m].kind == NODE_RELEASE &&
            graph->model->nodes[m].object == object)
            return true;
    return false;
}

static bool takes(const struct node *node, int object) {
    return node->object == object && (node->kind == NODE_GET || node->kind == NODE_ACQUIRE);
}

static bool is_closed(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_CLOSE && model->nodes[n].object == object)
            return true;
    return false;
}

/* Tokens that come back for what the pool hands on: they bound how much is under way. What is
 * closed when there is no more of it is work. */
static bool is_credit(const struct graph *graph, int object) {
    const struct model *model = graph->model;
    if (is_closed(model, object))
        return false;
    for (size_t back = 0; back < graph->n; back++) {
        if (graph->is_own[back] || !gives(&model->nodes[back], object))
            continue;
        for (size_t own = 0; own < graph->n; own++) {
            int handed_on = model->nodes[own].object;
            if (!graph->is_own[own] || handed_on == object || !gives(&model->nodes[own], handed_on))
                continue;
            for (size_t taker = 0; taker < graph->n; taker++)
                if (!graph->is_own[taker] && takes(&model->nodes[taker], handed_on) &&
                    same_loop(graph->reaches, graph->n, taker, back))
                    return true;
        }
    }
    return false;
}

/* Do statements take from what others hand out, or do they say when there is no more? */
static bool takes_by_statements(const struct graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    if (node->kind != NODE_STATEMENTS)
        return false;
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when == OUTCOME_NO &&
            !graph->reaches[(size_t)node->edges[e].to * graph->n + n])
            return true;
    return statements_are_handed(graph->model, n);
}

static bool takes_supply(const struct graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    return node->kind == NODE_GET || takes_by_statements(graph, n) ||
           (node->kind == NODE_ACQUIRE && !gives_back(graph, node->object) &&
            !is_credit(graph, node->object));
}

static struct graph graph_make(struct model *model, int pool) {
    size_t n = model->n_nodes;
    struct graph graph = {.model = model,
                          .n = n,
                          .pool = pool,
                          .is_own = memory_alloc(n, sizeof(bool)),
                          .reaches = memory_alloc(n * n, sizeof(bool)),
                          .loops = memory_alloc(n * n, sizeof(bool)),
                          .supplied = memory_alloc(n, sizeof(bool))};
    bool *all = memory_alloc(n, sizeof *all), *apart = memory_alloc(n, sizeof *apart);
    for (size_t i = 0; i < n; i++) {
        all[i] = true;
        graph.is_own[i] = draft_node_in_pool(&model->nodes[i], &model->pools[pool]);
    }
    for (size_t i = 0; i < n; i++)
        apart[i] = graph.is_own[i] && !is_meeting(&graph, i);
    find_paths(model, all, graph.reaches);
    find_paths(model, apart, graph.loops);
    for (size_t j = 0; j < n; j++)
        if (graph.is_own[j] && takes_supply(&graph, j))
            for (size_t i = 0; i < n; i++)
                graph.supplied[i] |= same_loop(graph.loops, n, i, j);
    free(all);
    free(apart);
    return graph;
}

static void graph_free(struct graph *graph) {
    free(graph->is_own);
    free(graph->reaches);
    free(graph->loops);
    free(graph->supplied);
}

static bool is_in_loop(const struct graph *graph, size_t node) {
    return graph->loops[node * graph->n + node];
}

/* Does the edge stay in the loop that its node is in? */
static bool stays_in_loop(const struct graph *graph, size_t node, const struct edge *edge) {
    return same_loop(graph->loops, graph->n, node, (size_t)edge->to);
}

static bool has_way_out(const struct graph *graph, size_t n, enum outcome when) {
    const struct node *node = &graph->model->nodes[n];
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when == when && !stays_in_loop(graph, n, &node->edges[e]))
            return true;
    return false;
}

/* ---- making it follow a rule ---- */

static void make_share(struct scaling *scaling, int pool, double less) {
    scaling->share = 1;
    scaling->growth = 0;
    scaling->less = less;
    scaling->pool = pool;
}

/* As it was measured, in each thread; who got what of a total is still known. */
static void make_own(struct scaling *scaling) {
    scaling->share = scaling->growth = scaling->less = 0;
    if (scaling->rest == REST_NONE)
        scaling->pool = MODEL_NONE;
}

static void make_no_share(struct scaling *scaling) {
    scaling->share = 0;
    if (scaling->growth == 0)
        make_own(scaling);
}

/* A total of rounds where loops show, else of computation. */
static void split_node(struct graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    int threads = graph->model->pools[graph->pool].profiled_threads;
    if (graph->supplied[n])
        return;
    bool loop = is_in_loop(graph, n);
    for (size_t e = 0; e < node->n_edges; e++) {
        struct edge *edge = &node->edges[e];
        if (!loop || !stays_in_loop(graph, n, edge)) {
            make_share(&edge->cpu_scaling, graph->pool, 0);
            continue;
        }
        make_own(&edge->cpu_scaling);
        bool counted = node->stays.kind != DIST_NONE;
        if (edge->runs.kind != DIST_NONE && !counted && has_way_out(graph, n, edge->when))
            make_share(&edge->runs_scaling, graph->pool, 1);
    }
    if (!loop || node->stays.kind == DIST_NONE)
        return;
    make_share(&node->stays_scaling, graph->pool, 1);
    if (node->stays_scaling.rest != REST_NONE)
        partition_even_out(&node->stays, &node->stays_scaling, threads);
}

static void own_node(struct graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    make_own(&node->stays_scaling);
    for (size_t e = 0; e < node->n_edges; e++) {
        make_own(&node->edges[e].cpu_scaling);
        make_own(&node->edges[e].runs_scaling);
    }
}

/* Only a supply that is there from the start can be as large as the team. */
static bool is_initial_supply(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (gives(&model->nodes[n], object))
            return false;
    return model->objects[object].kind == OBJECT_TOKENS &&
           model->objects[object].amount.n_terms == 0;
}

static int own_supplies(struct graph *graph, struct error *error) {
    struct model *model = graph->model;
    const struct pool *pool = &model->pools[graph->pool];
    for (size_t n = 0; n < model->n_nodes; n++)
        if (graph->is_own[n] && takes_supply(graph, n) &&
            !is_initial_supply(model, model->nodes[n].object))
            return error_set(error,
                             "%s=perthread: its work comes from %s, which other threads fill: only "
                             "shared fits",
                             pool->name, model->objects[model->nodes[n].object].name);
    for (size_t n = 0; n < model->n_nodes; n++) {
        if (!graph->is_own[n] || !takes_supply(graph, n))
            continue;
        struct linear *amount = &model->objects[model->nodes[n].object].amount;
        if (amount->n_terms == 0)
            *amount = draft_per_thread(0, graph->pool, amount->base / pool->profiled_threads);
    }
    return 0;
}

/* How often all threads together went round again. Where several edges do, they were counted; else
 * each thread did as those of which the end is known. */
static double count_rounds(const struct node *decider, int threads) {
    double counted = 0;
    int n = 0;
    for (size_t e = 0; e < decider->n_edges; e++) {
        const struct edge *edge = &decider->edges[e];
        if (edge->leaves)
            continue;
        n++;
        counted += edge->probability * (edge->runs.kind == DIST_NONE ? 1 : dist_mean(&edge->runs));
    }
    return n > 1 ? counted : dist_mean(&decider->stays) * threads;
}

/* A node that takes a token for one more round, or tells that there is none. */
static int draft_taker(struct model *model, const struct pool *pool, int object) {
    int taker = draft_node(model, NODE_ACQUIRE, memory_format("%s: next round", pool->name));
    model->nodes[taker].object = object;
    model->nodes[taker].timeout_ns = 0;
    return taker;
}

/* Appends `from`'s edges for the outcome to those of `to`, and leaves it without. */
static void move_edges(struct node *from, enum outcome when, struct node *to) {
    size_t kept = 0;
    for (size_t e = 0; e < from->n_edges; e++)
        if (from->edges[e].when == when)
            *draft_edge(to, from->edges[e].to) = from->edges[e];
        else
            from->edges[kept++] = from->edges[e];
    from->n_edges = kept;
}

/* What the node must answer for its thread to decide whether to go round again. */
static enum outcome outcome_of_rounds(const struct node *node) {
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].leaves)
            return node->edges[e].when;
    return OUTCOME_ANY;
}

/* Each round but a thread's first takes a token: the place that decides whether to go round again
 * is followed by one that asks for it, which is given. */
static int supply_rounds(struct graph *graph, size_t n) {
    struct model *model = graph->model;
    const struct pool *pool = &model->pools[graph->pool];
    const struct node *decider = &model->nodes[n];
    double known = decider->stays_scaling.rest != REST_NONE ? decider->stays_scaling.total : 0;
    int threads = pool->profiled_threads;
    double rounds = known > 0 ? known : count_rounds(decider, threads) + threads;
    int object = draft_object(model, OBJECT_TOKENS, memory_format("rounds at %s", decider->name));
    model->objects[object].amount = draft_per_thread(rounds, graph->pool, -1);
    model->objects[object].evidence = memory_strdup("rounds of the pool, which its threads share");
    int taker = draft_taker(model, pool, object);
    struct node *node = &model->nodes[n], *take = &model->nodes[taker];
    enum outcome answer = outcome_of_rounds(node);
    move_edges(node, answer, take);
    for (size_t e = 0; e < take->n_edges; e++) {
        take->edges[e].when = take->edges[e].leaves ? OUTCOME_NO : OUTCOME_YES;
        take->edges[e].leaves = false;
        make_own(&take->edges[e].cpu_scaling);
    }
    free(node->stays.values);
    node->stays = (struct dist){0};
    node->stays_scaling = (struct scaling){.pool = MODEL_NONE};
    draft_edge(node, taker)->when = answer;
    return taker;
}

/* A thread's first round takes no token, at one of its loop's places: at the others all rounds do.
 */
static void count_first_rounds_elsewhere(struct graph *graph, int object) {
    struct linear *amount = &graph->model->objects[object].amount;
    if (amount->n_terms == 0)
        return;
    double rounds = amount->base - graph->model->pools[graph->pool].profiled_threads;
    free(amount->terms);
    *amount = draft_constant(rounds);
}

/* A loop whose threads decide at several places whether to go round again is done when the rounds
 * of all of them are: who finds none left at one goes on with those of another. */
static void join_rounds(struct graph *graph, const int *taker_at) {
    struct model *model = graph->model;
    for (size_t n = 0; n < graph->n; n++) {
        int last = taker_at[n];
        for (size_t m = 0; m < graph->n && last != MODEL_NONE; m++) {
            if (m == n || taker_at[m] == MODEL_NONE || !same_loop(graph->loops, graph->n, n, m))
                continue;
            int next =
                draft_taker(model, &model->pools[graph->pool], model->nodes[taker_at[m]].object);
            draft_copy_edges(&model->nodes[taker_at[m]], OUTCOME_YES, &model->nodes[next]);
            move_edges(&model->nodes[last], OUTCOME_NO, &model->nodes[next]);
            draft_edge(&model->nodes[last], next)->when = OUTCOME_NO;
            last = next;
            if (m > n)
                count_first_rounds_elsewhere(graph, model->nodes[next].object);
        }
    }
}

/* May its rounds become a supply: a loop that a thread passes once, with this one way out? */
static bool can_supply(const struct graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    size_t total = graph->n;
    if (!is_in_loop(graph, n) || graph->supplied[n] || node->stays.kind == DIST_NONE)
        return false;
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when != outcome_of_rounds(node) &&
            stays_in_loop(graph, n, &node->edges[e]))
            return false;
    for (size_t m = 0; m < total; m++)
        if (same_loop(graph->reaches, total, n, m) && !same_loop(graph->loops, total, n, m))
            return false;
    return true;
}

/* First come, first served: all get done at about the same time, whoever did how much. */
static void level_node(struct graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    split_node(graph, n);
    for (size_t e = 0; e < node->n_edges; e++) {
        struct edge *edge = &node->edges[e];
        if (edge->cpu_scaling.share == 0)
            continue;
        edge->cpu_scaling.rest = REST_NONE;
        double mean = dist_mean(&edge->cpu_ns);
        free(edge->cpu_ns.values);
        edge->cpu_ns = (struct dist){.kind = mean > 0 ? DIST_CONSTANT : DIST_NONE, .mean = mean};
    }
    node->stays_scaling.rest = REST_NONE;
}

static int apply(struct graph *graph, enum partition rule, struct error *error) {
    size_t n_nodes = graph->model->n_nodes;
    if (rule == PARTITION_PERTHREAD && own_supplies(graph, error) < 0)
        return -1;
    int *taker_at = memory_alloc(n_nodes, sizeof *taker_at);
    for (size_t n = 0; n < n_nodes; n++) {
        taker_at[n] = MODEL_NONE;
        if (!graph->is_own[n])
            continue;
        if (rule == PARTITION_PERTHREAD)
            own_node(graph, n);
        else if (rule == PARTITION_FIXED)
            split_node(graph, n);
        else if (can_supply(graph, n))
            taker_at[n] = supply_rounds(graph, n);
        else
            level_node(graph, n);
    }
    join_rounds(graph, taker_at);
    free(taker_at);
    return 0;
}

/* Does the pool take from the object in a loop of so many rounds, however many threads there are?
 * One that goes round until the object is closed takes whatever there is. */
static bool takes_so_many(const struct graph *graph, int pool, int object) {
    const struct model *model = graph->model;
    for (size_t n = 0; n < graph->n; n++) {
        if (!takes(&model->nodes[n], object) ||
            !draft_node_in_pool(&model->nodes[n], &model->pools[pool]))
            continue;
        bool counted = false;
        for (size_t m = 0; m < graph->n; m++)
            counted |= same_loop(graph->reaches, graph->n, n, m) &&
                       model->nodes[m].stays.kind != DIST_NONE &&
                       model->nodes[m].stays_scaling.pool == MODEL_NONE;
        if (!counted)
            return false;
    }
    return true;
}

/* A pool that takes, a number of times that does not follow the threads, what only this pool's
 * threads give in their rounds: then the rounds are a fixed total too. MODEL_NONE: none. */
static int who_takes_so_many(struct model *model, int pool) {
    int who = MODEL_NONE;
    struct graph graph = graph_make(model, pool);
    for (size_t n = 0; n < model->n_nodes && who == MODEL_NONE; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n] || !gives(node, node->object) || !is_in_loop(&graph, n) ||
            graph.supplied[n])
            continue;
        bool fits = true;
        for (size_t m = 0; m < model->n_nodes; m++)
            for (size_t p = 0; p < model->n_pools; p++) {
                if (!takes(&model->nodes[m], node->object) ||
                    !draft_node_in_pool(&model->nodes[m], &model->pools[p]))
                    continue;
                fits &= !model->pools[p].scales && takes_so_many(&graph, (int)p, node->object);
                who = (int)p;
            }
        who = fits ? who : MODEL_NONE;
    }
    graph_free(&graph);
    return who;
}

static const char *const rule_texts[] = {
    [PARTITION_NONE] = "does not follow --threads",
    [PARTITION_SHARED] = "takes work from a common supply",
    [PARTITION_FIXED] = "splits a fixed total among its threads",
    [PARTITION_PERTHREAD] = "each thread does the same work, however many there are",
    [PARTITION_MIXED] = "takes work from a common supply; splits fixed work",
};

/* With the bounds of the pool. Takes `text` over. */
static char *bounded_text(const struct pool *pool, char *text) {
    bool most = pool->most_threads > 0;
    int bound = most ? pool->most_threads : pool->least_threads;
    if (bound == 0)
        return text;
    char *longer = memory_format("%s; at %s %d thread%s", text, most ? "most" : "least", bound,
                                 bound == 1 ? "" : "s");
    free(text);
    return longer;
}

static void set_rule(struct pool *pool, enum partition rule, double confidence, char *text) {
    free(pool->rule);
    pool->partition = rule;
    pool->confidence = confidence;
    pool->rule = bounded_text(pool, text);
}

int modelgen_repartition(struct model *model, int pool, enum partition rule, struct error *error) {
    struct graph graph = graph_make(model, pool);
    int status = apply(&graph, rule, error);
    graph_free(&graph);
    if (status == 0)
        set_rule(&model->pools[pool], rule, 1,
                 memory_format("%s (told by --partition)", rule_texts[rule]));
    return status;
}

/* ---- which rule it is ---- */

/* To any rule but PARTITION_PERTHREAD, which some pools cannot follow. */
static void repartition(struct model *model, int pool, enum partition rule) {
    struct error ignored;
    modelgen_repartition(model, pool, rule, &ignored);
}

void partition_note(struct partition_evidence *evidence, const struct rounds_fit *fit) {
    if (fit->total <= 0)
        return;
    evidence->remainder |= fit->rest != REST_NONE && fit->uneven;
    evidence->equal |= fit->rest != REST_NONE && !fit->uneven;
    evidence->uneven |= fit->rest == REST_NONE;
    if (fit->total > evidence->total)
        evidence->total = fit->total;
}

struct contents {
    bool supply, share, part; /* part: only a part of some computation is a share */
};

static struct contents find_contents(struct model *model, int pool) {
    struct contents found = {0};
    struct graph graph = graph_make(model, pool);
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n])
            continue;
        found.supply |= (node->kind == NODE_GET && !takes_command(&graph, n)) ||
                        (node->kind == NODE_ACQUIRE &&
                         (node->timeout_ns == 0 ||
                          (is_in_loop(&graph, n) && has_way_out(&graph, n, OUTCOME_NO)))) ||
                        takes_by_statements(&graph, n);
        found.share |= node->stays_scaling.share > 0 && node->stays_scaling.pool == pool;
        for (size_t e = 0; e < node->n_edges; e++) {
            const struct edge *edge = &node->edges[e];
            bool own = edge->cpu_scaling.pool == pool;
            found.share |= (own && edge->cpu_scaling.share > 0) ||
                           (edge->runs_scaling.pool == pool && edge->runs_scaling.share > 0);
            found.part |= own && edge->cpu_scaling.share > 0.02 && edge->cpu_scaling.share < 0.98;
        }
    }
    graph_free(&graph);
    return found;
}

/* ---- what is no share after all ---- */

/* The supply that the node's loop takes from; MODEL_NONE when it may follow the threads. */
static int steady_supply(const struct graph *graph, size_t n) {
    const struct model *model = graph->model;
    int found = MODEL_NONE;
    for (size_t m = 0; m < graph->n; m++) {
        if (!graph->is_own[m] || !same_loop(graph->loops, graph->n, n, m) ||
            !takes_supply(graph, m))
            continue;
        found = model->nodes[m].object;
        if (may_follow_threads(graph, found))
            return MODEL_NONE;
    }
    return found;
}

/* Items that others make, so many however many threads there are, do not become smaller with more
 * threads, whatever the source seems to say of loops in between. */
static void own_items(struct graph *graph) {
    for (size_t n = 0; n < graph->n; n++) {
        struct node *node = &graph->model->nodes[n];
        if (!graph->is_own[n] || !graph->supplied[n] || steady_supply(graph, n) == MODEL_NONE)
            continue;
        for (size_t e = 0; e < node->n_edges; e++)
            if (stays_in_loop(graph, n, &node->edges[e]))
                make_no_share(&node->edges[e].cpu_scaling);
    }
}

/* ---- commands, one for each thread ---- */

static bool is_scaled(const struct scaling *scaling) {
    return scaling->share > 0 || scaling->growth > 0;
}

/* Does the number of rounds of a loop around the node follow the threads, or what is there to be
 * taken? */
static bool follows_already(const struct graph *graph, size_t n) {
    if (graph->supplied[n])
        return true;
    for (size_t m = 0; m < graph->n; m++) {
        const struct node *node = &graph->model->nodes[m];
        if (!same_loop(graph->loops, graph->n, n, m))
            continue;
        if (is_scaled(&node->stays_scaling))
            return true;
        for (size_t e = 0; e < node->n_edges; e++)
            if (stays_in_loop(graph, m, &node->edges[e]) && is_scaled(&node->edges[e].runs_scaling))
                return true;
    }
    return false;
}

/* Commands of which each thread gets one, however many threads there are, share out what a round is
 * about: of what the source says nothing about, too, each is a part. True: there are such. */
static bool split_commands(struct model *model, int pool) {
    bool any = false, guessed = false;
    struct graph graph = graph_make(model, pool);
    for (size_t n = 0; n < graph.n; n++)
        any |= takes_command(&graph, n);
    for (size_t n = 0; any && n < graph.n; n++) {
        if (!graph.is_own[n] || follows_already(&graph, n))
            continue;
        for (size_t e = 0; e < model->nodes[n].n_edges; e++) {
            struct scaling *scaling = &model->nodes[n].edges[e].cpu_scaling;
            if (is_scaled(scaling))
                continue;
            guessed |= dist_mean(&model->nodes[n].edges[e].cpu_ns) > 0;
            make_share(scaling, pool, 0);
        }
    }
    graph_free(&graph);
    if (guessed)
        draft_note(
            model,
            "%s: each round there is a command for each thread; what the source does not say "
            "of their computation is taken as a part of the round's total",
            model->pools[pool].name);
    return any;
}

static bool is_analysed(const struct facts *facts, const struct trace_context *calls) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (source_is_analysed(facts, calls->frames[f].file))
            return true;
    return false;
}

/* Was the source of the pool's threads there? They are known by their calls, or by who creates
 * them. */
static bool has_source(const struct trace *trace, const struct facts *facts,
                       const struct thread_pool *pool) {
    bool calls = false;
    for (size_t i = 0; facts && i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        for (size_t r = 0; r < thread->n_records; r++) {
            if (thread->records[r].context == TRACE_NO_CONTEXT)
                continue;
            calls = true;
            if (is_analysed(facts, &trace->contexts[thread->records[r].context]))
                return true;
        }
    }
    return facts && !calls && pool->creation_context != TRACE_NO_CONTEXT &&
           is_analysed(facts, &trace->contexts[pool->creation_context]);
}

/* How sure a remainder makes: with two threads, one round more is soon had by chance. */
static double remainder_confidence(const struct thread_pool *pool) {
    return pool->size > 2 ? 0.9 : 0.7;
}

/* Of a share, only the rounds are: what a thread computes outside of them is its own. */
static void own_outside(struct model *model, int pool, double outside_ns) {
    struct graph graph = graph_make(model, pool);
    double split_ns = 0; /* per thread */
    for (int apply = 0; apply < 2; apply++)
        for (size_t n = 0; n < model->n_nodes; n++)
            for (size_t e = 0; graph.is_own[n] && e < model->nodes[n].n_edges; e++) {
                struct edge *edge = &model->nodes[n].edges[e];
                if (edge->cpu_scaling.share == 0)
                    continue;
                if (!apply)
                    split_ns += dist_mean(&edge->cpu_ns);
                else if (outside_ns < split_ns)
                    edge->cpu_scaling.share = 1 - outside_ns / split_ns;
                else
                    make_own(&edge->cpu_scaling);
            }
    graph_free(&graph);
}

/* The rounds of a loop are a total; the rest of the computation may be anything. */
static void decide_outside(struct model *model, int p, const struct rounds_cpu *cpu, double total) {
    struct pool *pool = &model->pools[p];
    own_outside(model, p, cpu->outside_ns);
    set_rule(pool, PARTITION_UNKNOWN, 0.5,
             memory_format("unknown: give --partition %s=shared|fixed|perthread (%.0f rounds are "
                           "shared out; the %.0f %% of the computation outside of them are taken "
                           "as each thread's own)",
                           pool->name, total, 100 * cpu->outside_ns / cpu->all_ns));
    draft_note(model, "%s: %s", pool->name, pool->rule);
}

static void decide_from_trace(const struct trace *trace, const struct timeline *timelines,
                              const struct thread_pool *from,
                              const struct partition_evidence *evidence, struct model *model,
                              int p) {
    struct pool *pool = &model->pools[p];
    repartition(model, p, PARTITION_FIXED);
    if (evidence->remainder && !evidence->uneven) {
        struct rounds_cpu cpu = rounds_cpu(trace, timelines, from);
        if (cpu.outside_ns > OUTSIDE_SHARE * cpu.all_ns) {
            decide_outside(model, p, &cpu, evidence->total);
            return;
        }
        set_rule(
            pool, PARTITION_FIXED, remainder_confidence(from),
            memory_format("%s (no source, but %.0f rounds are shared out as evenly as they can "
                          "be)",
                          rule_texts[PARTITION_FIXED], evidence->total));
        return;
    }
    char *seen =
        evidence->equal && !evidence->uneven && evidence->total > pool->profiled_threads
            ? memory_format("%.0f rounds in each of %d threads, of a total or each "
                            "thread's own",
                            evidence->total / pool->profiled_threads, pool->profiled_threads)
            : memory_strdup("one run without source cannot tell a total from each "
                            "thread's own");
    set_rule(pool, PARTITION_UNKNOWN, 0.5,
             memory_format("unknown: give --partition %s=shared|fixed|perthread (%s; taken as "
                           "fixed)",
                           pool->name, seen));
    free(seen);
    draft_note(model, "%s: %s", pool->name, pool->rule);
}

static void decide(const struct trace *trace, const struct facts *facts,
                   const struct timeline *timelines, const struct thread_pool *from,
                   const struct partition_evidence *evidence, struct model *model, int p) {
    struct pool *pool = &model->pools[p];
    if (!pool->scales) {
        const char *none = rule_texts[PARTITION_NONE];
        set_rule(pool, PARTITION_NONE, 1,
                 from->fixed ? memory_format("%s (%s)", none, from->fixed) : memory_strdup(none));
        return;
    }
    if (from->divides_work || (from->team && from->team->splits))
        repartition(model, p, PARTITION_FIXED);
    if (facts) {
        struct graph graph = graph_make(model, p);
        own_items(&graph);
        graph_free(&graph);
    }
    bool commanded = split_commands(model, p);
    struct contents found = find_contents(model, p);
    bool told = from->team || has_source(trace, facts, from);
    if (!told && !found.supply && !commanded) {
        decide_from_trace(trace, timelines, from, evidence, model, p);
        return;
    }
    int taker = found.share ? MODEL_NONE : who_takes_so_many(model, p);
    if (taker != MODEL_NONE) {
        repartition(model, p, PARTITION_SHARED);
        set_rule(pool, PARTITION_SHARED, 0.9,
                 memory_format("%s (so much as %s takes from it, however many threads there are)",
                               rule_texts[PARTITION_SHARED], model->pools[taker].name));
        return;
    }
    enum partition rule = found.supply && found.share ? PARTITION_MIXED
                          : found.supply              ? PARTITION_SHARED
                          : found.part                ? PARTITION_MIXED
                          : found.share               ? PARTITION_FIXED
                                                      : PARTITION_PERTHREAD;
    const char *text = rule_texts[rule];
    if (rule == PARTITION_MIXED && !found.supply)
        text = "splits a fixed total among its threads, and each does work of its own besides";
    if (commanded)
        set_rule(pool, rule, COMMANDS_CONFIDENCE,
                 memory_format("%s (each round it is given one command for each thread)", text));
    else
        set_rule(pool, rule, told ? 1 : 0.9, memory_format("%s (%s)", text, from->why));
}

void partition_decide(const struct trace *trace, const struct facts *facts,
                      const struct thread_pools *pools, const struct timeline *timelines,
                      const struct partition_evidence *evidence, struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        decide(trace, facts, timelines, &pools->pools[p], &evidence[p], model, (int)p);
}
