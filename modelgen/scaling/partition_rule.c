#include "modelgen/scaling/partition_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/scaling/apply_rule.h"
#include "modelgen/scaling/given_time.h"
#include "modelgen/scaling/pool_contents.h"
#include "modelgen/scaling/pool_graph.h"
#include "modelgen/scaling/pool_rule.h"
#include "modelgen/scaling/pool_shares.h"
#include "modelgen/scaling/pool_source.h"
#include "modelgen/scaling/unknown_limit.h"

int partition_rule_change(struct model *model, int pool, enum partition rule, struct error *error) {
    struct pool_graph graph = pool_graph_make(model, pool);
    int status = apply_rule(&graph, rule, error);
    pool_graph_free(&graph);
    if (status == 0)
        pool_rule_set(&model->pools[pool], rule, 1,
                      memory_format("%s (told by --partition)", pool_rule_text(rule)));
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
    bool in_rounds; /* see pool_shares_grow_handed_out() */
};

/* How sure a rule is that takes so many guesses. */
static double confidence_of(int guesses) {
    return fmax(1 - guesses * evidence.rule_doubt, 0);
}

/* To any rule but PARTITION_PERTHREAD, which some pools cannot follow. */
static void repartition(struct model *model, int pool, enum partition rule) {
    struct error ignored;
    partition_rule_change(model, pool, rule, &ignored);
}

/* ---- pools whose size does not follow --threads, or follows it as a limit ---- */

/* However many of its threads may live at a time: all together are as many, and each does its part.
 */
static void decide_limited(const struct subject *subject) {
    pool_rule_set(
        &subject->model->pools[subject->pool], PARTITION_SHARED,
        confidence_of(1), /* that it is the limit which the program was asked for */
        memory_format("%s (one thread for each piece, %zu in all; --threads is how many may "
                      "live at a time)",
                      pool_rule_text(PARTITION_SHARED), subject->from->n_threads));
}

static void decide_none(const struct subject *subject) {
    const char *none = pool_rule_text(PARTITION_NONE);
    const char *why = subject->from->limit     ? "so many live at a time as what is not told allows"
                      : subject->from->in_tree ? subject->from->why
                                               : subject->from->fixed;
    pool_rule_set(&subject->model->pools[subject->pool], PARTITION_NONE, 1,
                  why ? memory_format("%s (%s)", none, why) : memory_strdup(none));
}

/* ---- before its contents are asked ---- */

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
    subject->in_rounds = pool_shares_grow_handed_out(model, subject->pool);
    if (!subject->in_rounds && (from->divides_work || (from->team && from->team->splits)))
        repartition(model, subject->pool, PARTITION_FIXED);
    if (subject->facts)
        pool_shares_keep_items(model, subject->pool);
}

/* True: its threads make teams of their own. Of how many threads these are elsewhere, and what
 * these do to each other, is not in the model. */
static bool decide_nested(const struct subject *subject) {
    const struct team *team = subject->from->team;
    if (!team || !team->nests)
        return false;
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_strdup("regions inside of its own say how many threads they have: how many "
                      "that are with more threads or fewer is not modelled"));
    return true;
}

/* ---- without the source ---- */

/* They go on for so long. */
static void decide_given_time(struct model *model, int p, double given_ns) {
    struct pool *pool = &model->pools[p];
    pool->given_ns = given_ns;
    pool_rule_set(
        pool, PARTITION_UNKNOWN, 0.5,
        memory_format("unknown: its threads go on for a given time, %.3g s, until they are told "
                      "to end: what they do in it elsewhere is not predicted",
                      given_ns / 1e9));
    notes_add(model, "%s: %s", pool->name, pool->rule);
}

/* How sure a remainder makes: with two threads, one round more is soon had by chance. */
static double remainder_confidence(const struct thread_pool *pool) {
    return confidence_of(pool->size > 2 ? 1 : 3);
}

/* The rounds of a loop are a total; the rest of the computation may be anything. */
static void decide_outside(struct model *model, int p, const struct iteration_partition_cpu *cpu,
                           double total) {
    pool_shares_keep_outside(model, p, cpu->outside_ns);
    pool_rule_set_unknown(
        model, p,
        memory_format("%.0f rounds are shared out; the %.0f %% of the computation outside "
                      "of them are taken as each thread's own",
                      total, 100 * cpu->outside_ns / cpu->all_ns));
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
        pool_rule_set(
            pool, PARTITION_FIXED, remainder_confidence(subject->from),
            memory_format("%s (no %s, but %.0f rounds are shared out as evenly as they can be)",
                          pool_rule_text(PARTITION_FIXED), without, found->total));
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
    pool_rule_set_unknown(model, subject->pool, memory_format("%s; taken as fixed", seen));
    free(seen);
}

/* ---- who takes what it gives, or gives what it takes ---- */

/* True: another pool takes a fixed number of what this one gives, which decides. */
static bool decide_by_taker(const struct subject *subject) {
    struct model *model = subject->model;
    int taker = pool_contents_fixed_taker(model, subject->pool);
    if (taker == MODEL_NONE)
        return false;
    repartition(model, subject->pool, PARTITION_SHARED);
    pool_rule_set(&model->pools[subject->pool], PARTITION_SHARED, confidence_of(1),
                  memory_format("%s (so much as %s takes from it, however many threads there are)",
                                pool_rule_text(PARTITION_SHARED), model->pools[taker].name));
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
    pool_rule_set(&subject->model->pools[subject->pool], PARTITION_SHARED, confidence_of(1),
                  memory_format("%s (%.3g items at once on average; as often as recorded)",
                                pool_rule_text(PARTITION_SHARED), batch));
    return true;
}

/* ---- what one rule cannot say ---- */

/* True: who made its threads, or another one, goes round a loop with them that shares something
 * out, and takes no less of it for being one of few or of many. */
static bool decide_joint(const struct subject *subject) {
    const struct facts *facts = subject->facts;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (loop->bound != BOUND_SHARED || !loop->has_fragments || loop->waits)
            continue;
        struct loop_visitors visitors =
            pool_source_visitors(subject->trace, subject->pools, subject->pool, loop);
        double all = visitors.own + visitors.others;
        if (fmin(visitors.own, visitors.others) <= evidence.matters * all ||
            visitors.own < evidence.times_alike ||
            pool_contents_share_supply(subject->model, subject->pool, visitors.other))
            continue;
        pool_rule_set_unknown(
            subject->model, subject->pool,
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
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_format("one of its threads alone comes to %s, in some rounds: which one "
                      "that is with more threads or fewer is not modelled",
                      subject->evidence->one_at_times));
    return true;
}

/* True: it makes room in what is limited in units that were not recorded. */
static bool decide_unlimited(const struct subject *subject, enum partition rule) {
    const struct hand_made *limit = unknown_limit_of(subject->model, subject->pool);
    if (!limit || rule == PARTITION_PERTHREAD)
        return false;
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_format("its threads make room in %s, of which the recording does not tell "
                      "how much each piece takes: how often more threads let others go on "
                      "is not known",
                      limit->name));
    return true;
}

/* ---- what the source leaves open ---- */

/* The source is there, but does not tell of a loop, which has so much of the computation. */
static void decide_undecided(const struct subject *subject, const struct facts_loop *loop,
                             double share) {
    double given_ns = given_time_of(subject->trace, subject->from);
    if (given_ns > 0) {
        decide_given_time(subject->model, subject->pool, given_ns);
        return;
    }
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_format("%.0f %% of the computation is in loops of which the source does "
                      "not tell who ends them, as in %s (%s:%d); taken as each thread's "
                      "own",
                      100 * share, loop->function, path_name(loop->file), loop->first_line));
}

/* What they wait for there is not known: it may be work that one of them takes from the others. */
static void decide_awaited(const struct subject *subject, int flag) {
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_format("its threads wait at %s for what is not known, and another one tells them: "
                      "whether they share out what it brings is not known either; taken as each "
                      "thread's own",
                      subject->model->objects[flag].name));
}

static void decide_batches(const struct facts_loop *loop, struct model *model, int p) {
    pool_rule_set_unknown(
        model, p,
        memory_format("its threads are created in a loop of which the source does not "
                      "tell how often it goes round: %s in %s (%s:%d); taken as so often",
                      loop->why, loop->function, path_name(loop->file), loop->first_line));
}

static void decide_one_by_one(const struct facts_loop *loop, const struct subject *subject) {
    pool_rule_set_unknown(
        subject->model, subject->pool,
        memory_format("%zu threads are made in %s (%s:%d) however many live at a time, "
                      "%d here: what keeps them to so many is not known",
                      subject->from->n_threads, loop->function, path_name(loop->file),
                      loop->first_line, subject->from->size));
}

/* True: the source leaves too much open for `rule`, and the pool has another one. `commanded`: its
 * threads get a command each. */
static bool decide_open(const struct subject *subject, enum partition rule, bool commanded) {
    const struct partition_evidence *found = subject->evidence;
    bool is_own = rule == PARTITION_PERTHREAD && !commanded;
    const struct facts_loop *batches, *all;
    int flag = is_own ? pool_contents_awaited_flag(subject->model, subject->pool) : MODEL_NONE;
    if (is_own && !subject->from->team &&
        !pool_source_shows_loops(subject->trace, subject->facts, subject->from))
        decide_from_trace(subject, "the source of its loops");
    else if (!commanded && found->undecided_ns > evidence.matters * found->cpu_ns)
        decide_undecided(subject, found->undecided, found->undecided_ns / found->cpu_ns);
    else if (is_own && found->by_pieces_ns > evidence.matters * found->cpu_ns)
        decide_undecided(subject, found->by_pieces, /* the pieces are no supply: whose are they? */
                         found->by_pieces_ns / found->cpu_ns);
    else if (is_own && found->hidden_share > evidence.majority)
        decide_undecided(subject, found->hidden, found->hidden_share);
    else if (flag != MODEL_NONE)
        decide_awaited(subject, flag);
    else if (rule != PARTITION_SHARED && (batches = pool_source_undecided_creation(
                                              subject->trace, subject->facts, subject->from)))
        decide_batches(batches, subject->model, subject->pool);
    else if (rule != PARTITION_SHARED &&
             (all = pool_source_fixed_creation(subject->trace, subject->facts, subject->from)) &&
             pool_source_creator_waits(subject->trace, subject->from, all))
        decide_one_by_one(all, subject);
    else
        return false;
    return true;
}

/* ---- the whole ---- */

static enum partition rule_of(const struct pool_contents *found) {
    return found->supply && found->share ? PARTITION_MIXED
           : found->supply               ? PARTITION_SHARED
           : found->part                 ? PARTITION_MIXED
           : found->share                ? PARTITION_FIXED
                                         : PARTITION_PERTHREAD;
}

static void decide(struct subject *subject) {
    struct model *model = subject->model;
    struct pool *pool = &model->pools[subject->pool];
    const struct thread_pool *from = subject->from;
    if (!pool->scales || from->limit) {
        pool->scales = pool->scales && pool_contents_is_amount(model, subject->pool);
        if (pool->scales)
            decide_limited(subject);
        else
            decide_none(subject);
        return;
    }
    prepare(subject);
    if (decide_nested(subject))
        return;
    bool commanded = pool_shares_split_commands(model, subject->pool);
    struct pool_contents found = pool_contents_find(
        model, subject->pool, subject->evidence->cpu_ns / (double)from->n_threads);
    bool told = from->team || pool_source_is_analysed(subject->trace, subject->facts, from);
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
    const char *text = pool_rule_text(rule);
    if (rule == PARTITION_PERTHREAD && subject->in_rounds) {
        rule = PARTITION_FIXED;
        text = "splits a fixed total among its threads, in the fewer rounds the more there are";
    }
    if (rule == PARTITION_MIXED && !found.supply)
        text = "splits a fixed total among its threads, and each does work of its own besides";
    if (commanded)
        pool_rule_set(
            pool, rule, confidence_of(2), /* else more threads would do more work */
            memory_format("%s (each round it is given one command for each thread)", text));
    else
        pool_rule_set(pool, rule, told ? 1 : confidence_of(1),
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
