#include "modelgen/scaling/partition_rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/path.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/notes.h"
#include "modelgen/scaling/apply_rule.h"
#include "modelgen/scaling/given_time.h"
#include "modelgen/scaling/pool_graph.h"
#include "modelgen/scaling/unknown_limit.h"

/* How sure a rule is that takes so many guesses. */
static double confidence_of(int guesses) {
    return fmax(1 - guesses * evidence.rule_doubt, 0);
}

static bool is_scaled(const struct scaling *scaling) {
    return scaling->share > 0 || scaling->growth > 0;
}

/* Does the pool take from the object in a loop of so many rounds, however many threads there are?
 * One that goes round until the object is closed takes whatever there is. */
static bool takes_so_many(const struct pool_graph *graph, int pool, int object) {
    const struct model *model = graph->model;
    for (size_t n = 0; n < graph->n; n++) {
        if (!pool_graph_takes(&model->nodes[n], object) || model->nodes[n].pool != pool)
            continue;
        bool counted = false; /* but not where it takes one from each thread */
        for (size_t m = 0; m < graph->n && !is_scaled(&model->nodes[n].count_scaling); m++)
            counted |= pool_graph_same_loop(graph->reaches, graph->n, n, m) &&
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
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t n = 0; n < model->n_nodes && who == MODEL_NONE; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n] || !pool_graph_gives(node, node->object) ||
            !pool_graph_in_loop(&graph, n) || graph.supplied[n])
            continue;
        bool fits = true;
        for (size_t m = 0; m < model->n_nodes; m++) {
            if (!pool_graph_takes(&model->nodes[m], node->object) ||
                model->nodes[m].pool == MODEL_NONE)
                continue;
            who = model->nodes[m].pool;
            fits &= !model->pools[who].scales && takes_so_many(&graph, who, node->object);
        }
        who = fits ? who : MODEL_NONE;
    }
    pool_graph_free(&graph);
    return who;
}

static const char *const rule_texts[] = {
    [PARTITION_NONE] = "does not follow --threads",
    [PARTITION_SHARED] = "takes work from a common supply",
    [PARTITION_FIXED] = "splits a fixed total among its threads",
    [PARTITION_PERTHREAD] = "each thread does the same work, however many there are",
    [PARTITION_MIXED] = "takes work from a common supply; splits fixed work",
};

/* With how many there are for so many asked for. Takes `text` over. */
static char *asked_text(const struct pool *pool, char *text) {
    if (pool->asked_factor == 0)
        return text;
    char *longer =
        memory_format("%s; %g * N %c %g of them for --threads N", text, pool->asked_factor,
                      pool->asked_offset < 0 ? '-' : '+', fabs(pool->asked_offset));
    free(text);
    return longer;
}

/* With what the cores allow it. Takes `text` over. */
static char *within_cores_text(const struct pool *pool, char *text) {
    if (pool->cores_factor == 0)
        return text;
    const char *whose = pool->cores_online ? "cores of the machine" : "cores";
    char *longer =
        pool->cores_factor == 1 && pool->cores_offset == 0
            ? memory_format("%s; no more than there are %s", text, whose)
            : memory_format("%s; at most %g * %s %c %g", text, pool->cores_factor, whose,
                            pool->cores_offset < 0 ? '-' : '+', fabs(pool->cores_offset));
    free(text);
    return longer;
}

/* With the bounds of the pool. Takes `text` over. */
static char *bounded_text(const struct pool *pool, char *text) {
    text = within_cores_text(pool, text);
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
    pool->rule = bounded_text(pool, asked_text(pool, text));
}

/* With the pool's note. Takes `why`. */
static void set_unknown(struct model *model, int p, char *why) {
    struct pool *pool = &model->pools[p];
    set_rule(
        pool, PARTITION_UNKNOWN, 0.5,
        memory_format("unknown: give --partition %s=shared|fixed|perthread (%s)", pool->name, why));
    notes_add(model, "%s: %s", pool->name, pool->rule);
    free(why);
}

int partition_rule_change(struct model *model, int pool, enum partition rule, struct error *error) {
    struct pool_graph graph = pool_graph_make(model, pool);
    int status = apply_rule(&graph, rule, error);
    pool_graph_free(&graph);
    if (status == 0)
        set_rule(&model->pools[pool], rule, 1,
                 memory_format("%s (told by --partition)", rule_texts[rule]));
    return status;
}

/* ---- which rule it is ---- */

/* A pool whose rule is decided, and what that goes by. */
struct subject {
    struct model *model;
    int pool;
    const struct thread_pool *from;
    const struct thread_pools *pools;
    const struct partition_evidence *evidence;
    const struct trace *trace;
    const struct facts *facts; /* NULL without source */
    const struct thread_states *timelines;
    bool in_rounds; /* see follows_rounds() */
};

/* To any rule but PARTITION_PERTHREAD, which some pools cannot follow. */
static void repartition(struct model *model, int pool, enum partition rule) {
    struct error ignored;
    partition_rule_change(model, pool, rule, &ignored);
}

struct contents {
    bool supply, share, part; /* part: only a part of some computation is a share */
};

/* `cpu_ns`: what each of the pool's threads computed, on average, in its life. What each thread
 * takes once, as the word to begin, is no supply. */
static struct contents find_contents(struct model *model, int pool, double cpu_ns) {
    struct contents found = {0};
    bool met = false; /* shares of what is done again and again between two barriers */
    struct pool_graph graph = pool_graph_make(model, pool);
    double least_ns = evidence.negligible * cpu_ns;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n])
            continue;
        found.supply |=
            (node->kind == NODE_GET && pool_graph_in_loop(&graph, n) &&
             !pool_graph_takes_command(&graph, n)) ||
            (node->kind == NODE_ACQUIRE &&
             (node->timeout_ns == 0 ||
              (pool_graph_in_loop(&graph, n) && pool_graph_has_way_out(&graph, n, OUTCOME_NO)))) ||
            pool_graph_takes_by_statements(&graph, n);
        found.share |= node->stays_scaling.share > 0 && node->stays_scaling.pool == pool;
        for (size_t e = 0; e < node->n_edges; e++) {
            const struct edge *edge = &node->edges[e];
            bool between_meetings =
                pool_graph_same_loop(graph.reaches, graph.n, n, (size_t)edge->to);
            bool own = edge->cpu_scaling.pool == pool &&
                       (pool_graph_stays(&graph, n, edge) || dist_mean(&edge->cpu_ns) >= least_ns);
            met |= edge->cpu_scaling.pool == pool && between_meetings &&
                   edge->cpu_scaling.share >= 1 - evidence.negligible;
            found.share |= (own && edge->cpu_scaling.share > 0) ||
                           (edge->runs_scaling.pool == pool && edge->runs_scaling.share > 0);
            found.part |= own && edge->cpu_scaling.share > evidence.negligible &&
                          edge->cpu_scaling.share < 1 - evidence.negligible;
        }
    }
    pool_graph_free(&graph);
    found.share |= met && !found.supply;
    return found;
}

/* ---- what is no share after all ---- */

/* The supply that the node's loop takes from; MODEL_NONE when it may follow the threads. */
static int steady_supply(const struct pool_graph *graph, size_t n) {
    const struct model *model = graph->model;
    int found = MODEL_NONE;
    for (size_t m = 0; m < graph->n; m++) {
        if (!graph->is_own[m] || !pool_graph_same_loop(graph->loops, graph->n, n, m) ||
            !pool_graph_takes_supply(graph, m))
            continue;
        found = model->nodes[m].object;
        if (pool_graph_may_follow_threads(graph, found))
            return MODEL_NONE;
    }
    return found;
}

/* Items that others make, so many however many threads there are, do not become smaller with more
 * threads, whatever the source seems to say of loops in between. */
static void own_items(struct pool_graph *graph) {
    for (size_t n = 0; n < graph->n; n++) {
        struct node *node = &graph->model->nodes[n];
        if (!graph->is_own[n] || !graph->supplied[n] || steady_supply(graph, n) == MODEL_NONE)
            continue;
        for (size_t e = 0; e < node->n_edges; e++)
            if (pool_graph_stays(graph, n, &node->edges[e]))
                model_builder_make_no_share(&node->edges[e].cpu_scaling);
    }
}

/* ---- commands, one for each thread ---- */

/* Does the number of rounds of a loop around the node follow the threads, or what is there to be
 * taken? */
static bool follows_already(const struct pool_graph *graph, size_t n) {
    if (graph->supplied[n])
        return true;
    for (size_t m = 0; m < graph->n; m++) {
        const struct node *node = &graph->model->nodes[m];
        if (!pool_graph_same_loop(graph->loops, graph->n, n, m))
            continue;
        if (is_scaled(&node->stays_scaling))
            return true;
        for (size_t e = 0; e < node->n_edges; e++)
            if (pool_graph_stays(graph, m, &node->edges[e]) &&
                is_scaled(&node->edges[e].runs_scaling))
                return true;
    }
    return false;
}

/* Commands of which each thread gets one, however many threads there are, share out what a round is
 * about: of what the source says nothing about, too, each is a part. True: there are such. */
static bool split_commands(struct model *model, int pool) {
    bool any = false, guessed = false;
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t n = 0; n < graph.n; n++)
        any |= pool_graph_takes_command(&graph, n);
    for (size_t n = 0; any && n < graph.n; n++) {
        if (!graph.is_own[n] || follows_already(&graph, n))
            continue;
        for (size_t e = 0; e < model->nodes[n].n_edges; e++) {
            struct scaling *scaling = &model->nodes[n].edges[e].cpu_scaling;
            if (is_scaled(scaling))
                continue;
            guessed |= dist_mean(&model->nodes[n].edges[e].cpu_ns) > 0;
            model_builder_make_share(scaling, pool, 0);
        }
    }
    pool_graph_free(&graph);
    if (guessed)
        notes_add(model,
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
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            if (at.event->context == TRACE_NO_CONTEXT || trace_is_page_fault(at.event))
                continue;
            const struct trace_context *context = &trace->contexts[at.event->context];
            calls |= call_sites_own_frames(context) > 0; /* the library's only hand over a result */
            if (is_analysed(facts, context))
                return true;
        }
    }
    return facts && !calls && pool->creation_context != TRACE_NO_CONTEXT &&
           is_analysed(facts, &trace->contexts[pool->creation_context]);
}

static bool is_in_loop(const struct trace *trace, const struct facts *facts, uint32_t context) {
    for (size_t l = 0; l < facts->n_loops; l++)
        if (source_context_in_loop(trace, context, &facts->loops[l]))
            return true;
    return false;
}

/* Does the source show the loops in which the pool's threads make their calls? Where these are not
 * seen, as they are reached through virtual functions, it does not show either what ends them. */
static bool are_loops_known(const struct trace *trace, const struct facts *facts,
                            const struct thread_pool *pool) {
    double repeated = 0, known = 0;
    size_t *times = memory_alloc(trace->n_contexts, sizeof *times);
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
            if (at.event->context != TRACE_NO_CONTEXT && !trace_is_nap(at.event) &&
                !trace_is_page_fault(at.event))
                times[at.event->context]++;
    }
    for (size_t c = 0; c < trace->n_contexts; c++) {
        if ((double)times[c] < evidence.times_alike * (double)pool->n_threads)
            continue;
        repeated += (double)times[c];
        known += is_in_loop(trace, facts, (uint32_t)c) ? (double)times[c] : 0;
    }
    free(times);
    return known >= evidence.majority * repeated;
}

/* How sure a remainder makes: with two threads, one round more is soon had by chance. */
static double remainder_confidence(const struct thread_pool *pool) {
    return confidence_of(pool->size > 2 ? 1 : 3);
}

/* Of a share, only the rounds are: what a thread computes outside of them is its own. */
static void own_outside(struct model *model, int pool, double outside_ns) {
    struct pool_graph graph = pool_graph_make(model, pool);
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
                    model_builder_make_own(&edge->cpu_scaling);
            }
    pool_graph_free(&graph);
}

/* The rounds of a loop are a total; the rest of the computation may be anything. */
static void decide_outside(struct model *model, int p, const struct iteration_partition_cpu *cpu,
                           double total) {
    own_outside(model, p, cpu->outside_ns);
    set_unknown(model, p,
                memory_format("%.0f rounds are shared out; the %.0f %% of the computation outside "
                              "of them are taken as each thread's own",
                              total, 100 * cpu->outside_ns / cpu->all_ns));
}

/* They go on for so long. */
static void decide_given_time(struct model *model, int p, double given_ns) {
    struct pool *pool = &model->pools[p];
    pool->given_ns = given_ns;
    set_rule(
        pool, PARTITION_UNKNOWN, 0.5,
        memory_format("unknown: its threads go on for a given time, %.3g s, until they are told "
                      "to end: what they do in it elsewhere is not predicted",
                      given_ns / 1e9));
    notes_add(model, "%s: %s", pool->name, pool->rule);
}

/* The source is there, but does not tell of a loop, which has so much of the computation. */
static void decide_undecided(const struct subject *subject, const struct facts_loop *loop,
                             double share) {
    double given_ns = given_time_of(subject->trace, subject->from);
    if (given_ns > 0) {
        decide_given_time(subject->model, subject->pool, given_ns);
        return;
    }
    set_unknown(subject->model, subject->pool,
                memory_format("%.0f %% of the computation is in loops of which the source does "
                              "not tell who ends them, as in %s (%s:%d); taken as each thread's "
                              "own",
                              100 * share, loop->function, path_name(loop->file),
                              loop->first_line));
}

/* Its threads are created in a loop over the thread count; but is that in another one of which the
 * source does not tell how often it goes round? NULL: no. */
static const struct facts_loop *undecided_creation(const struct trace *trace,
                                                   const struct facts *facts,
                                                   const struct thread_pool *from) {
    for (size_t l = 0; facts && l < facts->n_loops; l++)
        if (facts->loops[l].bound == BOUND_UNKNOWN && !facts->loops[l].waits &&
            from->creation_context != TRACE_NO_CONTEXT &&
            source_context_in_loop(trace, from->creation_context, &facts->loops[l]))
            return &facts->loops[l];
    return NULL;
}

static void decide_batches(const struct facts_loop *loop, struct model *model, int p) {
    set_unknown(model, p,
                memory_format("its threads are created in a loop of which the source does not "
                              "tell how often it goes round: %s in %s (%s:%d); taken as so often",
                              loop->why, loop->function, path_name(loop->file), loop->first_line));
}

/* The innermost loop that makes the pool's threads, if it goes round however many live at a time:
 * no loop around the creation goes over the thread count. NULL: none. */
static const struct facts_loop *loop_of_all(const struct trace *trace, const struct facts *facts,
                                            const struct thread_pool *from) {
    const struct facts_loop *innermost = NULL;
    bool made_anew = from->n_threads > (size_t)from->size && !from->team && !from->divides_work &&
                     from->creation_context != TRACE_NO_CONTEXT;
    for (size_t l = 0; facts && made_anew && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (!source_context_in_loop(trace, from->creation_context, loop))
            continue;
        if (loop->bound != BOUND_FIXED)
            return NULL;
        if (!innermost || loop->first_line > innermost->first_line)
            innermost = loop;
    }
    return innermost;
}

/* Does the creator wait for something between two creations, which may be what keeps so few alive?
 */
static bool waits_in(const struct trace *trace, const struct thread_pool *from,
                     const struct facts_loop *loop) {
    int creator = trace->threads[from->threads[0]].creator;
    if (creator < 0 || (size_t)creator >= trace->n_threads)
        return false;
    for (struct event_cursor at = event_cursor_of_thread(&trace->threads[creator]);
         event_cursor_next(&at);)
        if (at.event->flags & TRACE_WAITED && trace_op(at.event) != OP_CREATE &&
            at.event->context != TRACE_NO_CONTEXT &&
            source_context_in_loop(trace, at.event->context, loop))
            return true;
    return false;
}

static void decide_one_by_one(const struct facts_loop *loop, const struct subject *subject) {
    set_unknown(subject->model, subject->pool,
                memory_format("%zu threads are made in %s (%s:%d) however many live at a time, "
                              "%d here: what keeps them to so many is not known",
                              subject->from->n_threads, loop->function, path_name(loop->file),
                              loop->first_line, subject->from->size));
}

/* `without`: what of the source is missing. */
static void decide_from_trace(const struct subject *subject, const char *without) {
    struct model *model = subject->model;
    struct pool *pool = &model->pools[subject->pool];
    const struct partition_evidence *found = subject->evidence;
    repartition(model, subject->pool, PARTITION_FIXED);
    if (found->remainder && !found->uneven) {
        struct iteration_partition_cpu cpu =
            iteration_partition_cpu(subject->trace, subject->timelines, subject->from);
        if (cpu.outside_ns > evidence.matters * cpu.all_ns) {
            decide_outside(model, subject->pool, &cpu, found->total);
            return;
        }
        set_rule(
            pool, PARTITION_FIXED, remainder_confidence(subject->from),
            memory_format("%s (no %s, but %.0f rounds are shared out as evenly as they can be)",
                          rule_texts[PARTITION_FIXED], without, found->total));
        return;
    }
    double named_ns = given_time_named(&subject->trace->meta);
    if (named_ns > 0) {
        decide_given_time(model, subject->pool, named_ns);
        return;
    }
    char *seen =
        found->equal && !found->uneven && found->total > pool->profiled_threads
            ? memory_format("%.0f rounds in each of %d threads, of a total or each "
                            "thread's own",
                            found->total / pool->profiled_threads, pool->profiled_threads)
            : memory_format("one run without %s cannot tell a total from each thread's own",
                            without);
    set_unknown(model, subject->pool, memory_format("%s; taken as fixed", seen));
    free(seen);
}

/* Is there as much of something as the pool has threads? */
static bool is_amount(const struct model *model, int pool) {
    for (size_t o = 0; o < model->n_objects; o++)
        for (size_t t = 0; t < model->objects[o].amount.n_terms; t++)
            if (model->objects[o].amount.terms[t].pool == pool)
                return true;
    return false;
}

/* However many of its threads may live at a time: all together are as many, and each does its part.
 */
static void decide_limited(const struct subject *subject) {
    set_rule(&subject->model->pools[subject->pool], PARTITION_SHARED,
             confidence_of(1), /* that it is the limit which the program was asked for */
             memory_format("%s (one thread for each piece, %zu in all; --threads is how many may "
                           "live at a time)",
                           rule_texts[PARTITION_SHARED], subject->from->n_threads));
}

static void decide_none(const struct subject *subject) {
    const char *none = rule_texts[PARTITION_NONE];
    const char *why = subject->from->limit     ? "so many live at a time as what is not told allows"
                      : subject->from->in_tree ? subject->from->why
                                               : subject->from->fixed;
    set_rule(&subject->model->pools[subject->pool], PARTITION_NONE, 1,
             why ? memory_format("%s (%s)", none, why) : memory_strdup(none));
}

static bool is_taken_by(const struct pool_graph *graph, int object) {
    for (size_t n = 0; n < graph->n; n++)
        if (graph->is_own[n] && pool_graph_takes(&graph->model->nodes[n], object))
            return true;
    return false;
}

/* Does the node decide how often its loop goes round, the less often the more threads there are? */
static bool decides_rounds(const struct node *node, int pool) {
    bool decides = node->stays_scaling.share > 0 && node->stays_scaling.pool == pool;
    for (size_t e = 0; e < node->n_edges; e++)
        decides |=
            node->edges[e].runs_scaling.share > 0 && node->edges[e].runs_scaling.pool == pool;
    return decides;
}

/* Rounds times size is the total: are the pool's threads made in each round of a loop of another
 * one's of which there are fewer with more threads? Then what a thread does in a round is the same,
 * and of what is handed out before it there is more. */
static bool follows_rounds(struct model *model, int pool) {
    bool follows = false;
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t c = 0; c < model->n_nodes; c++) {
        if (model->nodes[c].kind != NODE_CREATE || model->nodes[c].target_pool != pool)
            continue;
        for (size_t n = 0; n < model->n_nodes; n++)
            if (pool_graph_same_loop(graph.reaches, graph.n, c, n))
                follows |= decides_rounds(&model->nodes[n], pool);
        for (size_t n = 0; n < model->n_nodes && follows; n++)
            if (model->nodes[n].kind == NODE_RELEASE && model->nodes[n].count > 1 &&
                pool_graph_same_loop(graph.reaches, graph.n, c, n) &&
                is_taken_by(&graph, model->nodes[n].object))
                model->nodes[n].count_scaling = (struct scaling){.pool = pool, .growth = 1};
    }
    pool_graph_free(&graph);
    return follows;
}

/* The recorded threads must fit what the source says of them. */
static void keep_within_cores(const struct subject *subject) {
    const struct facts_core_cap *cap = &subject->facts->core_cap;
    struct model *model = subject->model;
    struct pool *pool = &model->pools[subject->pool];
    double most = cap->factor * model->machine.cores + cap->offset;
    if (!cap->text || cap->factor <= 0)
        return;
    if (!cap->unclear && pool->profiled_threads <= most) {
        pool->cores_factor = cap->factor;
        pool->cores_offset = cap->offset;
        pool->cores_online = cap->online;
        return;
    }
    if (model->asks_cores)
        return;
    model->asks_cores = memory_format(
        "%s: its number of threads follows that of the cores in a way that is not known (%s)",
        pool->name, cap->text);
    notes_add(model, "%s", model->asks_cores);
}

/* What must be known of the pool's graph before its contents tell the rule. */
static void prepare(struct subject *subject) {
    struct model *model = subject->model;
    const struct thread_pool *from = subject->from;
    if (subject->facts)
        keep_within_cores(subject);
    if (from->one_thread && from->size > 1) {
        model->pools[subject->pool].one_thread = memory_strdup(from->one_thread);
        notes_add(model,
                  "%s: with one thread the program goes another way (%s), which was not recorded",
                  model->pools[subject->pool].name, from->one_thread);
    }
    subject->in_rounds = follows_rounds(model, subject->pool);
    if (!subject->in_rounds && (from->divides_work || (from->team && from->team->splits)))
        repartition(model, subject->pool, PARTITION_FIXED);
    if (subject->facts) {
        struct pool_graph graph = pool_graph_make(model, subject->pool);
        own_items(&graph);
        pool_graph_free(&graph);
    }
}

/* True: another pool takes a fixed number of what this one gives, which decides. */
static bool decide_by_taker(const struct subject *subject) {
    struct model *model = subject->model;
    int taker = who_takes_so_many(model, subject->pool);
    if (taker == MODEL_NONE)
        return false;
    repartition(model, subject->pool, PARTITION_SHARED);
    set_rule(&model->pools[subject->pool], PARTITION_SHARED, confidence_of(1),
             memory_format("%s (so much as %s takes from it, however many threads there are)",
                           rule_texts[PARTITION_SHARED], model->pools[taker].name));
    return true;
}

/* True: its threads take several items at once, so that how many takes there are follows neither
 * from the items nor from the threads: as many as recorded are shared out. How much one of them
 * takes is not modelled, only what is done about it. */
static bool decide_batched(const struct subject *subject) {
    double batch = subject->evidence->batch;
    if (batch == 0)
        return false;
    struct pool_graph graph = pool_graph_make(subject->model, subject->pool);
    memset(graph.supplied, 0, graph.n * sizeof *graph.supplied);
    struct error ignored;
    apply_rule(&graph, PARTITION_SHARED, &ignored);
    pool_graph_free(&graph);
    set_rule(&subject->model->pools[subject->pool], PARTITION_SHARED, confidence_of(1),
             memory_format("%s (%.3g items at once on average; as often as recorded)",
                           rule_texts[PARTITION_SHARED], batch));
    return true;
}

/* True: it makes room in what is limited in units that were not recorded. */
static bool decide_unlimited(const struct subject *subject, enum partition rule) {
    const struct hand_made *limit = unknown_limit_of(subject->model, subject->pool);
    if (!limit || rule == PARTITION_PERTHREAD)
        return false;
    set_unknown(subject->model, subject->pool,
                memory_format("its threads make room in %s, of which the recording does not tell "
                              "how much each piece takes: how often more threads let others go on "
                              "is not known",
                              limit->name));
    return true;
}

static enum partition rule_of(const struct contents *found) {
    return found->supply && found->share ? PARTITION_MIXED
           : found->supply               ? PARTITION_SHARED
           : found->part                 ? PARTITION_MIXED
           : found->share                ? PARTITION_FIXED
                                         : PARTITION_PERTHREAD;
}

/* True: the source leaves too much open for `rule`, and the pool has another one. `commanded`: its
 * threads get a command each. */
static bool decide_open(const struct subject *subject, enum partition rule, bool commanded) {
    const struct partition_evidence *found = subject->evidence;
    bool is_own = rule == PARTITION_PERTHREAD && !commanded;
    const struct facts_loop *batches, *all;
    if (is_own && !subject->from->team &&
        !are_loops_known(subject->trace, subject->facts, subject->from))
        decide_from_trace(subject, "the source of its loops");
    else if (!commanded && found->undecided_ns > evidence.matters * found->cpu_ns)
        decide_undecided(subject, found->undecided, found->undecided_ns / found->cpu_ns);
    else if (is_own && found->by_pieces_ns > evidence.matters * found->cpu_ns)
        decide_undecided(subject, found->by_pieces, /* the pieces are no supply: whose are they? */
                         found->by_pieces_ns / found->cpu_ns);
    else if (is_own && found->hidden_share > evidence.majority)
        decide_undecided(subject, found->hidden, found->hidden_share);
    else if (rule != PARTITION_SHARED &&
             (batches = undecided_creation(subject->trace, subject->facts, subject->from)))
        decide_batches(batches, subject->model, subject->pool);
    else if (rule != PARTITION_SHARED &&
             (all = loop_of_all(subject->trace, subject->facts, subject->from)) &&
             waits_in(subject->trace, subject->from, all))
        decide_one_by_one(all, subject);
    else
        return false;
    return true;
}

/* How often threads of the pool, and of those that do not follow --threads, take the pool's locks
 * in the loop. */
struct visitors {
    double own, others;
    int other; /* a pool of the others; MODEL_NONE: there are none */
};

/* Locks of other objects are of other data: a library's loop has one queue for each of its pools.
 * Who takes the same one elsewhere, for what the rounds call, does not go round for it: a task may
 * hand on to another pool. */
static struct visitors visitors_of(const struct subject *subject, const struct facts_loop *loop) {
    struct visitors visitors = {.other = MODEL_NONE};
    const struct thread_pools *pools = subject->pools;
    uint32_t *places = source_places_within(subject->trace, 1);
    struct map locks = MAP_EMPTY; /* of the pool's, and where it takes them */
    for (int others = 0; others < 2; others++)
        for (struct event_cursor at = event_cursor_of_run(subject->trace);
             event_cursor_next(&at);) {
            int pool = pools->pool_of[at.thread];
            bool is_asked =
                others ? pool != subject->pool && pool != MODEL_NONE && !pools->pools[pool].scales
                       : pool == subject->pool;
            if (!is_asked || !trace_is_lock(at.event) ||
                !source_context_in_loop(subject->trace, at.event->context, loop))
                continue;
            uint64_t lock = map_mix(map_mix(11, at.event->object), places[at.event->context]);
            if (!others) {
                map_put(&locks, lock, 1);
                visitors.own++;
            } else if (map_get(&locks, lock, 0)) {
                visitors.others++;
                visitors.other = pool;
            }
        }
    map_free(&locks);
    free(places);
    return visitors;
}

/* Do threads of both pools take from one object? Then each of them finds what others have left. */
static bool take_alike(const struct model *model, int pool, int other) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->pool != pool || node->object == MODEL_NONE ||
            !pool_graph_takes(node, node->object))
            continue;
        for (size_t m = 0; m < model->n_nodes; m++)
            if (model->nodes[m].pool == other && pool_graph_takes(&model->nodes[m], node->object))
                return true;
    }
    return false;
}

/* True: who made its threads, or another one, goes round a loop with them that shares something
 * out, and takes no less of it for being one of few or of many. */
static bool decide_joint(const struct subject *subject) {
    const struct facts *facts = subject->facts;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (loop->bound != BOUND_SHARED || !loop->has_fragments || loop->waits)
            continue;
        struct visitors visitors = visitors_of(subject, loop);
        double all = visitors.own + visitors.others;
        if (fmin(visitors.own, visitors.others) <= evidence.matters * all ||
            visitors.own < evidence.times_alike ||
            take_alike(subject->model, subject->pool, visitors.other))
            continue;
        set_unknown(subject->model, subject->pool,
                    memory_format("%s goes round the loop in %s (%s:%d), too, which shares "
                                  "something out: how much each does with more threads or fewer "
                                  "is not known",
                                  subject->model->pools[visitors.other].name, loop->function,
                                  path_name(loop->file), loop->first_line));
        return true;
    }
    return false;
}

/* True: one thread alone does something now and then, which each of them would in the model. */
static bool decide_alone(const struct subject *subject) {
    if (!subject->evidence->one_at_times)
        return false;
    set_unknown(subject->model, subject->pool,
                memory_format("one of its threads alone comes to %s, in some rounds: which one "
                              "that is with more threads or fewer is not modelled",
                              subject->evidence->one_at_times));
    return true;
}

/* True: its threads make teams of their own. Of how many threads these are elsewhere, and what
 * these do to each other, is not in the model. */
static bool decide_nested(const struct subject *subject) {
    const struct team *team = subject->from->team;
    if (!team || !team->nests)
        return false;
    set_unknown(subject->model, subject->pool,
                memory_strdup("regions inside of its own say how many threads they have: how many "
                              "that are with more threads or fewer is not modelled"));
    return true;
}

static void decide(struct subject *subject) {
    struct model *model = subject->model;
    struct pool *pool = &model->pools[subject->pool];
    const struct thread_pool *from = subject->from;
    if (!pool->scales || from->limit) {
        pool->scales = pool->scales && is_amount(model, subject->pool);
        if (pool->scales)
            decide_limited(subject);
        else
            decide_none(subject);
        return;
    }
    prepare(subject);
    if (decide_nested(subject))
        return;
    bool commanded = split_commands(model, subject->pool);
    struct contents found =
        find_contents(model, subject->pool, subject->evidence->cpu_ns / (double)from->n_threads);
    bool told = from->team || has_source(subject->trace, subject->facts, from);
    if (!told && !found.supply && !commanded) {
        decide_from_trace(subject, "source");
        return;
    }
    if (!found.share && (decide_by_taker(subject) || (found.supply && decide_batched(subject))))
        return;
    enum partition rule = rule_of(&found);
    if (decide_joint(subject) || decide_alone(subject))
        return;
    if (decide_open(subject, rule, commanded) || decide_unlimited(subject, rule))
        return;
    const char *text = rule_texts[rule];
    if (rule == PARTITION_PERTHREAD && subject->in_rounds) {
        rule = PARTITION_FIXED;
        text = "splits a fixed total among its threads, in the fewer rounds the more there are";
    }
    if (rule == PARTITION_MIXED && !found.supply)
        text = "splits a fixed total among its threads, and each does work of its own besides";
    if (commanded)
        set_rule(pool, rule, confidence_of(2), /* else more threads would do more work */
                 memory_format("%s (each round it is given one command for each thread)", text));
    else
        set_rule(pool, rule, told ? 1 : confidence_of(1),
                 memory_format("%s (%s)", text, from->why));
}

void partition_rule_decide(const struct trace *trace, const struct facts *facts,
                           const struct thread_pools *pools, const struct thread_states *timelines,
                           const struct partition_evidence *evidence, struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++) {
        struct subject subject = {.model = model,
                                  .pool = (int)p,
                                  .from = &pools->pools[p],
                                  .pools = pools,
                                  .evidence = &evidence[p],
                                  .trace = trace,
                                  .facts = facts,
                                  .timelines = timelines};
        decide(&subject);
    }
}
