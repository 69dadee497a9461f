#include "modelgen/modelgen.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/build.h"
#include "modelgen/build_log.h"
#include "modelgen/calibrate/cold_starts.h"
#include "modelgen/calibrate/demand_calibration.h"
#include "modelgen/calibrate/one_core.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/candidates.h"
#include "modelgen/dependencies/dependencies.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/probe_cost.h"
#include "modelgen/events/symbol_names.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/passes.h"
#include "modelgen/report/dot.h"
#include "modelgen/rewrite/entry_functions.h"
#include "modelgen/sync/monitor_tokens.h"

#define INSIGNIFICANT_SHARE 0.0005
#define MAX_NODES           100
/* Environment variable: whatever its value, each form is checked that a pass wrote (form_check.h).
 */
#define CHECKS "PERSIK_CHECKS"

/* What a build is given. */
struct input {
    const struct trace *trace;
    const struct facts *facts;
    const struct sample *sample;
    const struct modelgen_options *options;
    const struct file_mix *file_mix; /* NULL: as recorded */
};

/* What came of a build. */
struct built {
    struct model *model; /* NULL: there is none */
    struct decision_log decisions;
    char *dump; /* what --dump-after prints */
    size_t dump_bytes;
    char *suspects[SUSPECTS_LIMIT]; /* names of those in doubts->suspects */
};

static struct build begin(const struct input *input, struct doubts *doubts) {
    const struct modelgen_options *options = input->options;
    return (struct build){.recorded = input->trace,
                          .facts = input->facts,
                          .sample = input->sample,
                          .reload_costs = options->reload_costs,
                          .measured_disks = options->measured_disks,
                          .insignificant_share = options->insignificant_share > 0
                                                     ? options->insignificant_share
                                                     : INSIGNIFICANT_SHARE,
                          .max_nodes = options->max_nodes ? options->max_nodes : MAX_NODES,
                          .file_mix = input->file_mix,
                          .doubts = doubts};
}

static int check_model(const struct build *build, struct error *error) {
    size_t n_records = 0;
    for (size_t t = 0; t < build->trace->n_threads; t++)
        n_records += build->trace->threads[t].n_records;
    if (model_check(build->model, error) == 0)
        return 0;
    return error_prefix(error, "the model built from this trace is not sound (%zu records)",
                        n_records);
}

static void tell_not_sought(const char *name, void *context) {
    notes_add(context, "built without the candidate %s, as --without asked", name);
    decision("monitor_search", name, "not sought", "as --without asked");
}

/* A model is less than it could be without a pass: whoever reads it should know. */
static void tell_left_out(const struct pass_choice *choice, struct model *model) {
    for (size_t i = 0; i < choice->n_without; i++) {
        notes_add(model, "built without the pass %s, as --without asked", choice->without[i]);
        decision(choice->without[i], "the whole pass", "left out", "as --without asked");
    }
    candidates_tell_left_out(tell_not_sought, model);
}

static void note_mix(const struct file_mix *mix, const struct mixed_run *run, struct model *model) {
    char *text = memory_strdup("");
    for (size_t k = 0; k < mix->n; k++) {
        char *longer =
            memory_format("%s%sthose for %s %g times as often as recorded, beside the "
                          "others",
                          text, k > 0 ? "; " : "", mix->kinds[k].name, mix->kinds[k].factor);
        free(text);
        text = longer;
    }
    model->file_mix = text;
    notes_add(model,
              "another mix of requests than was recorded, with which the self-check has nothing to "
              "do: %s: %zu of the %zu recorded requests make it, and a run of more asks disks for "
              "what their second half did",
              text, run->kept, run->recorded);
}

static struct modelgen_measured measured_of(const struct build *build) {
    const struct outside_queues *outside = &build->outside;
    if (outside->n > 0)
        return (struct modelgen_measured){.run_ns = (double)(outside->to_ns - outside->from_ns),
                                          .cpu_ns = outside->measured.cpu_ns,
                                          .requests = outside->measured.requests,
                                          .response_ns = outside->measured.response_ns,
                                          .ended_ns = build->ended_ns};
    return (struct modelgen_measured){.run_ns = probe_overhead_run_ns(build->recorded),
                                      .cpu_ns = build->recorded->meta.has_slices
                                                    ? probe_overhead_on_core_ns(build->recorded)
                                                    : NAN,
                                      .ended_ns = build->ended_ns};
}

/* Believes what it finds out, but for what is doubted. -1 and `error`: no model. Stopped before the
 * last pass, it has no model either. */
static int build(const struct input *input, struct doubts *doubts, struct built *built,
                 struct error *error) {
    if (pass_list_check(&passes, error) < 0)
        return -1;
    if (input->trace->n_threads == 0)
        return error_set(error, "the trace has no threads: run `persik trace` again");
    struct build build = begin(input, doubts);
    FILE *dump = open_memstream(&built->dump, &built->dump_bytes);
    struct decision_log *outer = decision_log_use(&built->decisions);
    struct pass_choice choice = input->options->passes;
    choice.strict |= getenv(CHECKS) != NULL;
    enum pass_end end = pass_run(&passes, &choice, &build, dump, error);
    tell_left_out(&choice, build.model);
    if (build.mixed.kept > 0)
        note_mix(build.file_mix, &build.mixed, build.model);
    decision_log_use(outer);
    fclose(dump);
    for (size_t i = 0; end != PASS_BROKEN && i < doubts->n_suspects; i++)
        built->suspects[i] = build_log_object_name(&build, doubts->suspects[i]);
    if (end == PASS_END && input->options->measured)
        *input->options->measured = measured_of(&build);
    int status = end == PASS_END ? check_model(&build, error) : end == PASS_STOPPED ? 0 : -1;
    if (build.mixed.refused)
        status = error_set(error, "--file-mix: %s", build.mixed.refused);
    if (end == PASS_END && status == 0)
        built->model = build.model;
    else
        model_free(build.model);
    passes_end(&build);
    return status;
}

static void built_free(struct built *built) {
    model_free(built->model);
    decision_log_free(&built->decisions);
    free(built->dump);
    for (size_t i = 0; i < SUSPECTS_LIMIT; i++)
        free(built->suspects[i]);
    *built = (struct built){0};
}

/* Gives the caller what it asked for, and frees the rest. */
static struct model *hand_over(struct built *built, const struct modelgen_options *options) {
    struct model *model = built->model;
    built->model = NULL;
    if (options->dump && built->dump)
        fwrite(built->dump, 1, built->dump_bytes, options->dump);
    if (options->decisions) {
        *options->decisions = built->decisions;
        built->decisions = (struct decision_log){0};
    }
    built_free(built);
    return model;
}

static bool never_stalls(const struct modelgen_trial *trial) {
    return !trial->stalls && !trial->guesses && !trial->fails;
}

/* Builds once more with one more doubt, and keeps the better one in `best`: that misses the run by
 * less than half of what the other does, or, where that has no figures, never stands still.
 * `doubted` is of `doubts`, and says afterwards whether it is the better one; `given_up` is what
 * that means. */
static void doubt(const struct input *input, struct doubts *doubts, bool *doubted, const char *name,
                  const char *given_up, struct built *best, struct modelgen_trial *trial) {
    const struct modelgen_options *options = input->options;
    struct error unused;
    struct built other = {0};
    log_debug("the model stalls: once more, %s: %s", name, given_up);
    *doubted = true;
    struct modelgen_trial without = {.misfit = INFINITY, .fails = true};
    if (build(input, doubts, &other, &unused) == 0)
        without = options->try_out(other.model, options->context);
    bool better = without.misfit < evidence.majority * trial->misfit ||
                  (trial->fails && never_stalls(&without));
    *doubted = better;
    struct decision_log *outer = decision_log_use(better ? &other.decisions : &best->decisions);
    decision("doubts", name, better ? given_up : "kept",
             "the model stalls and misses its run by %.1f %%, without what was found here by "
             "%.1f %%%s",
             100 * trial->misfit, 100 * without.misfit,
             never_stalls(&without) ? ", and does not stall" : "");
    decision_log_use(outer);
    if (better) {
        struct built worse = *best;
        *best = other;
        other = worse;
        *trial = without;
    }
    built_free(&other);
}

/* How near its run's end is says nothing of a model that is let go on and has no figures. */
static bool is_doubtful(const struct modelgen_trial *trial) {
    return trial->stalls && (trial->misfit > evidence.matters || trial->fails);
}

/* Names that outlive the model in which they were found. */
static void doubt_all(const struct input *input, struct doubts *doubts, struct built *best) {
    const struct modelgen_options *options = input->options;
    char *names[SUSPECTS_LIMIT] = {0};
    for (size_t i = 0; i < doubts->n_suspects; i++)
        names[i] = memory_strdup(best->suspects[i]);
    struct modelgen_trial trial = options->try_out(best->model, options->context);
    if (is_doubtful(&trial))
        doubt(input, doubts, &doubts->is_in_order, "how often a thread that is alone puts in a row",
              "as recorded", best, &trial);
    if (doubts->has_futex_barriers && is_doubtful(&trial))
        doubt(input, doubts, &doubts->no_futex_barriers, "words of memory where threads meet",
              "no barriers", best, &trial);
    for (size_t i = 0; i < doubts->n_suspects && is_doubtful(&trial); i++)
        doubt(input, doubts, &doubts->doubted[doubts->suspects[i]], names[i], "given up", best,
              &trial);
    for (size_t i = 0; i < doubts->n_suspects; i++)
        free(names[i]);
}

/* With what was doubted of the recorded mix, whose dump this one's takes the place of. */
static int build_mixed(const struct input *input, struct doubts *doubts, struct built *recorded,
                       struct error *error) {
    struct input of_mix = *input;
    struct modelgen_options options = *input->options;
    struct built built = {0};
    of_mix.file_mix = options.file_mix;
    of_mix.options = &options;
    options.measured = NULL; /* of the recorded mix */
    options.decisions = NULL;
    int status = build(&of_mix, doubts, &built, error);
    free(recorded->dump);
    recorded->dump = NULL;
    *options.mixed = hand_over(&built, &options);
    return status;
}

static const struct modelgen_options usual = {0};

void modelgen_name_lambdas(const struct facts *facts, struct trace *trace, struct sample *sample) {
    symbol_names_of_lambdas(facts, trace, sample);
}

static void name_threads(struct trace *trace) {
    const char **routines = memory_alloc(trace->n_threads, sizeof *routines);
    for (size_t t = 0; t < trace->n_threads; t++)
        routines[t] = entry_function_of(trace, t);
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (!routines[t])
            continue;
        free(trace->threads[t].start_routine);
        trace->threads[t].start_routine = memory_strdup(routines[t]);
    }
    free(routines);
}

void modelgen_name_calls(struct trace *trace) {
    name_threads(trace);
    struct trace_context *named = call_sites_without_wrappers(trace);
    for (size_t c = 0; c < trace->n_contexts; c++) {
        struct trace_context *context = &trace->contexts[c];
        if (named[c].n_frames > 0)
            trace_drop_frames(trace, context, context->n_frames - named[c].n_frames);
    }
    free(named);
}

struct model *modelgen_build(const struct trace *trace, const struct facts *facts,
                             const struct sample *sample, const struct modelgen_options *options,
                             struct error *error) {
    const struct input input = {trace, facts, sample, options ? options : &usual, NULL};
    struct doubts doubts = {0};
    struct built best = {0};
    int status = build(&input, &doubts, &best, error);
    if (status == 0 && best.model && input.options->try_out)
        doubt_all(&input, &doubts, &best);
    if (status == 0 && input.options->file_mix)
        status = build_mixed(&input, &doubts, &best, error);
    doubts_free(&doubts);
    if (status < 0) {
        model_free(best.model);
        best.model = NULL;
    }
    return hand_over(&best, input.options);
}

int modelgen_run_passes(const struct trace *trace, const struct facts *facts,
                        const struct sample *sample, const struct modelgen_options *options,
                        struct error *error) {
    const struct input input = {trace, facts, sample, options, options->file_mix};
    struct doubts doubts = {0};
    struct built built = {0};
    int status = build(&input, &doubts, &built, error);
    doubts_free(&doubts);
    model_free(hand_over(&built, options));
    return status;
}

/* Threads that spin for a lock burn more CPU the longer others hold it: that is no sign of a slower
 * machine. A team that waits awake burns as much as the run takes, which is. */
static bool has_spinning(const struct model *model) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].spins || model->objects[o].kind == OBJECT_SPIN)
            return true;
    return false;
}

static bool has_cold_starts(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].cold_cpu_ns > 0)
            return true;
    return false;
}

/* What the probes cost a program that calls all the time. */
static void describe_probes(struct model *model, const struct trace *trace) {
    struct probe_cost cost = probe_cost_find(trace);
    if (cost.is_told)
        notes_add(model,
                  "the program calls so often that the probes had much of the traced run's CPU "
                  "time (%.0f ns a record): CPU demands are made those of the plain runs, but who "
                  "waited for whom is as with probes",
                  cost.record_ns);
    else if (cost.is_often)
        notes_add(model,
                  "the program calls so often that the probes had %.0f %% of its CPU time at "
                  "least, and perhaps several times that, which is in its demands: with "
                  "--plain-runs 1 it would be known",
                  100 * cost.share);
}

void modelgen_correct(struct model *model, const struct trace *trace,
                      const struct cache_reload_costs *reload_costs,
                      const struct modelgen_measured *measured) {
    model->slowed_share = recorded_slowed_share(&trace->meta);
    if (has_spinning(model))
        return;
    one_core_note_spinning(&trace->meta, model);
    struct cold_starts cold_starts = {0};
    if (has_cold_starts(model))
        cold_starts = cold_starts_find(trace, model->machine.block_cpu_ns);
    struct demand_calibration correction = demand_calibration_find(
        trace, reload_costs, has_cold_starts(model) ? &cold_starts : NULL, measured->ended_ns);
    cold_starts_free(&cold_starts);
    demand_calibration_apply(model, correction);
    if (correction.known)
        model->machine.pace = recorded_pace(&trace->meta);
    describe_probes(model, trace);
}

void modelgen_compare_one_core(struct model *model, const struct trace *trace,
                               const struct modelgen_measured *measured, double simulated_cpu_ns) {
    if (!has_spinning(model))
        one_core_compare(trace, measured->ended_ns, simulated_cpu_ns, model);
}

void modelgen_note_one_core(struct model *model, double ratio, bool turns_explain) {
    one_core_note(model, ratio, turns_explain);
}

void modelgen_scale_demands(struct model *model, double factor) {
    demand_calibration_apply(
        model, (struct demand_calibration){.factor = factor, .spread = model->cpu_spread});
}

void modelgen_add_standstill(struct model *model, const char *reason) {
    free(model->standstill);
    model->standstill = memory_format("the recorded run cannot be simulated: %s", reason);
    notes_add(model, "%s", model->standstill);
}

void modelgen_add_check(struct model *model, const char *what, double measured, double simulated) {
    model->checks = memory_resize(model->checks, model->n_checks + 1, sizeof *model->checks);
    model->checks[model->n_checks++] =
        (struct model_check){memory_strdup(what), measured, simulated};
}

int modelgen_repartition(struct model *model, int pool, enum partition rule, struct error *error) {
    return partition_rule_change(model, pool, rule, error);
}

void modelgen_learn_rule(struct model *model, int p, struct pool_seen other, double simulated_ns) {
    const struct pool *pool = &model->pools[p];
    if (pool->given_ns == 0 &&
        (pool->partition == PARTITION_UNKNOWN || other_run_refutes(pool, other, simulated_ns)))
        other_run_tells(model, p, other);
}

int modelgen_check_passes(const struct pass_choice *choice, struct error *error) {
    return pass_choice_check(&passes, choice, error);
}

void modelgen_list_passes(FILE *out) {
    pass_list_print(&passes, out);
    candidates_list(out);
}

bool modelgen_leave_out_candidate(const char *name) {
    return candidates_leave_out(name);
}

int modelgen_set_evidence(const char *assignment, struct error *error) {
    return evidence_set(assignment, error);
}

void modelgen_list_evidence(FILE *out) {
    evidence_list(out);
}

/* The last pass that says more about who waits under which mutex. */
#define LAST_OF_WAITS "queue_capacities"

/* Nothing where no thread waits for a condition, or nothing can be found. */
static struct token_uses find_token_uses(const struct trace *trace, const struct facts *facts) {
    struct token_uses uses = {0};
    struct doubts doubts = {0};
    struct error unused;
    const struct modelgen_options options = {.passes = {.stop_after = LAST_OF_WAITS}};
    const struct input input = {trace, facts, NULL, &options, NULL};
    struct build build = begin(&input, &doubts);
    struct decision_log decisions = {0};
    struct decision_log *outer = decision_log_use(&decisions);
    if (pass_run(&passes, &options.passes, &build, NULL, &unused) == PASS_STOPPED)
        uses = monitor_tokens_find(&build.log, facts, &build.sections, &build.monitors);
    decision_log_use(outer);
    decision_log_free(&decisions);
    model_free(build.model);
    passes_end(&build);
    doubts_free(&doubts);
    return uses;
}

static bool has_condition_waits(const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (trace_is_condition_wait(&trace->threads[t].records[r]))
                return true;
    return false;
}

struct dependencies *modelgen_dependencies(const struct trace *trace, const struct facts *facts) {
    struct token_uses uses = {0};
    if (has_condition_waits(trace))
        uses = find_token_uses(trace, facts);
    struct dependencies *all = dependencies_of_trace(trace, facts, &uses);
    token_uses_free(&uses);
    return all;
}

int modelgen_write_dot(const struct model *model, FILE *out) {
    return dot_write(model, out);
}
