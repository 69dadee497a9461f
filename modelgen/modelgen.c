#include "modelgen/modelgen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/calibrate/cache_reload_time.h"
#include "modelgen/calibrate/demand_calibration.h"
#include "modelgen/calibrate/interrupt_costs.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/calibrate/scheduler_costs.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/events/view.h"
#include "modelgen/graph/last_leaver.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/graph/peg.h"
#include "modelgen/graph/token_returns.h"
#include "modelgen/lower/lower.h"
#include "modelgen/notes.h"
#include "modelgen/report/dot.h"
#include "modelgen/report/external_activity.h"
#include "modelgen/report/recognised_objects.h"
#include "modelgen/report/spinning.h"
#include "modelgen/report/unexplained_time.h"
#include "modelgen/rewrite/completion_countdowns.h"
#include "modelgen/rewrite/entry_functions.h"
#include "modelgen/rewrite/futures.h"
#include "modelgen/rewrite/parked_workers.h"
#include "modelgen/rewrite/participating_creator.h"
#include "modelgen/rewrite/pipes.h"
#include "modelgen/rewrite/private_mutex_waits.h"
#include "modelgen/rewrite/section_splitting.h"
#include "modelgen/rewrite/semaphore_mailboxes.h"
#include "modelgen/rewrite/signals.h"
#include "modelgen/rewrite/spinning_barriers.h"
#include "modelgen/rewrite/worker_mailboxes.h"
#include "modelgen/scaling/partition_rule.h"
#include "modelgen/sync/doubts.h"
#include "modelgen/sync/group_commit_replay.h"
#include "modelgen/sync/monitor_search.h"
#include "modelgen/sync/queue_capacities.h"
#include "modelgen/sync/statement_search.h"
#include "modelgen/sync/statements.h"

#define INSIGNIFICANT_SHARE 0.0005
#define MAX_NODES           100
/* Time that no record explains is worth a note from this share on, and what the probes took of the
 * CPU time to get ready in new threads from this one. */
#define UNEXPLAINED_NOTE 0.01
#define ATTACHING_NOTE   0.02
#define MISFIT           0.05 /* of a model that is not worth believing */
#define SLOWED           0.8 /* what the plain runs have of the CPU demands, or less: by the probes */
#define CLEARLY          0.5 /* of the misfit that must remain at most, to believe otherwise */

/* ---- where the model comes from ---- */

static char *join_args(const struct trace_meta *meta) {
    char *joined = memory_strdup("");
    for (int i = 0; i < meta->n_args; i++) {
        char *longer = memory_format("%s%s%s", joined, i ? " " : "", meta->args[i]);
        free(joined);
        joined = longer;
    }
    return joined;
}

/* CPU time is what others that have a core do not add to, so that it tells how fast the cores
 * were. */
static void measure_plain_cpu(const struct trace_meta *meta, struct model *model) {
    double *cpu_ns = memory_alloc(meta->n_untraced + 1, sizeof *cpu_ns);
    size_t n = 0;
    for (size_t i = 0; i < meta->n_untraced; i++)
        if (meta->untraced[i].cpu_ns > 0)
            cpu_ns[n++] = (double)meta->untraced[i].cpu_ns;
    if (n > 0) {
        gsl_sort(cpu_ns, 1, n);
        model->plain_cpu_ns = gsl_stats_median_from_sorted_data(cpu_ns, 1, n);
        model->plain_cpu_spread = (cpu_ns[n - 1] - cpu_ns[0]) / model->plain_cpu_ns;
    }
    free(cpu_ns);
}

/* The recording has it in words only (tracer/collect.c). */
static void note_foreign(const char *lack, struct model *model) {
    char *end;
    double percent = strtod(lack, &end);
    if (percent > 0 &&
        strncmp(end, " % of the CPU time: other", strlen(" % of the CPU time: other")) == 0)
        model->foreign_share = percent / 100;
}

static void write_provenance(const struct trace *trace, struct model *model) {
    const struct trace_meta *meta = &trace->meta;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    model->version = MODEL_VERSION;
    model->program = join_args(meta);
    model->built = memory_strdup(date);
    model->host = memory_strdup(meta->host ? meta->host : "");
    model->build_id = memory_strdup(meta->build_id ? meta->build_id : "");
    model->measured_run_ns = (double)meta->run_ns;
    model->perturbation = recorded_perturbation(meta);
    measure_plain_cpu(meta, model);
    model->probe_ns = meta->probe_ns;
    model->lost_events = (double)(meta->lost_records + meta->lost_events);
    if (!meta->complete)
        notes_add(model, "the traced run was cut off: the model covers what ran until then");
    if (model->lost_events > 0)
        notes_add(model, "%.0f events were lost while tracing", model->lost_events);
    for (size_t i = 0; i < meta->n_lacks; i++) {
        notes_add(model, "%s", meta->lacks[i]);
        note_foreign(meta->lacks[i], model);
    }
}

/* ---- pools ---- */

static char *pool_origin(const struct trace *trace, const struct thread_pool *pool) {
    if (pool->creation_context == TRACE_NO_CONTEXT)
        return memory_strdup("the program's first thread");
    const struct trace_context *calls = &trace->contexts[pool->creation_context];
    if (calls->n_frames == 0)
        return memory_strdup("?");
    const struct trace_frame *frame = &calls->frames[0];
    const struct trace_frame *caller = calls->n_frames > 1 ? &calls->frames[1] : frame;
    return memory_format("created in %s (%s:%d), called from %s%s", frame->function,
                         frame->file ? frame->file : frame->module, frame->line, caller->function,
                         pool->with_creator && !pool->team ? "; one of them is the creator itself"
                                                           : "");
}

static void write_pools(const struct trace *trace, const struct thread_pools *pools,
                        struct model *model) {
    for (size_t p = 0; p < pools->n_pools; p++) {
        const struct thread_pool *from = &pools->pools[p];
        int index = model_builder_pool(model, memory_strdup(from->name));
        struct pool *pool = &model->pools[index];
        pool->origin = pool_origin(trace, from);
        pool->threads = model_builder_constant(from->size);
        pool->profiled_threads = from->size;
        pool->scales = from->scales;
        bool is_plain = from->factor == 1 && from->offset == 0;
        pool->asked_factor = is_plain ? 0 : from->factor;
        pool->asked_offset = from->offset;
        pool->most_threads = from->most;
        pool->least_threads = from->least;
        pool->at_start = from->creator < 0;
        pool->with_creator = from->with_creator && !from->team;
        pool->awake = from->team && from->team->spins;
        pool->sleep_cpu_ns = from->team ? from->team->sleep_cpu_ns : 0;
    }
}

/* ---- the whole ---- */

static void note_unexplained(const struct sample *sample, double share, struct model *model) {
    char *place = sample ? unexplained_time_place(sample) : NULL;
    notes_add(model, "%.1f %% of the threads' time was blocked outside of any recorded call%s%s",
              100 * share, place ? ", mostly in " : "", place ? place : "");
    free(place);
}

/* Of the threads' time, or of the CPU time of all that ran, whichever is less. */
static void explain_time(const struct trace *trace, const struct thread_states *timelines,
                         const double *cpu_ns, const struct sample *sample, struct model *model) {
    double life = 0, unexplained = 0, cpu = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states_totals parts = thread_states_totals(&timelines[t]);
        life += parts.life_ns;
        unexplained += parts.unexplained_ns;
        cpu += cpu_ns[t];
    }
    double of_time = life > 0 ? 1 - unexplained / life : 1;
    model->explained_share = fmin(of_time, external_activity_recorded_share(trace, cpu));
    if (!trace->meta.has_slices)
        notes_add(model, "scheduling was not recorded: CPU time is wall time outside of "
                         "blocking calls, too long when the traced run had too few cores");
    if (unexplained > UNEXPLAINED_NOTE * life)
        note_unexplained(sample, unexplained / life, model);
    external_activity_tell(trace, cpu, model);
}

static void note_requests_outside(const struct disk_service *disks, struct model *model) {
    struct disk_service_outside outside = disk_service_outside(disks);
    if (outside.requests > 0)
        notes_add(model,
                  "%zu requests to disks (%.1f MB) were made outside of any recorded call, by page "
                  "faults of mapped files or write-back: not modelled",
                  outside.requests, outside.bytes / 1e6);
}

/* The first thread's share is no part of the measured running time. */
static void note_attaching(const struct trace *trace, struct model *model) {
    double on_core_ns = thread_states_on_core(trace);
    double left_out_ns = (double)trace->meta.run_ns - probe_overhead_run_ns(trace);
    double share = (on_core_ns - probe_overhead_on_core_ns(trace) - left_out_ns) / on_core_ns;
    if (share > ATTACHING_NOTE)
        notes_add(model,
                  "%.1f %% of the CPU time went into recording threads from their start: the model "
                  "leaves that out, the measured running time has it in it",
                  100 * share);
}

/* Simulated threads run on any core. */
static void note_binding(const struct trace *trace, struct model *model) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (trace_op(record) != OP_BIND || record->value != 0)
                continue;
            char *place = source_place(trace, record->context);
            notes_add(model,
                      "the program binds threads to cores, %s in %s: the model lets them run on "
                      "all cores",
                      api_catalog[record->api].name, place);
            free(place);
        }
}

/* Builds streams and graph at one level of detail. */
static void write_graph(const struct lower_input *input, const struct sample *sample,
                        size_t max_nodes, struct partition_rule_evidence *evidence,
                        struct model *model) {
    struct stream_result streams = lower_make(input, model);
    struct peg_input peg = {.trace = input->trace,
                            .facts = input->thread_facts,
                            .sample = sample,
                            .pools = input->pools,
                            .timelines = input->timelines,
                            .places = input->places,
                            .streams = &streams,
                            .evidence = evidence,
                            .max_nodes = max_nodes};
    peg_build(&peg, model);
    token_returns_settle(model);
    last_leaver_settle(model);
    streams_free(&streams, input->trace->n_threads);
}

/* Ends the losses. */
static void leave_out(struct excluded_time losses, const struct trace *trace,
                      struct thread_states *timelines) {
    for (size_t t = 0; t < trace->n_threads; t++)
        thread_states_leave_out(&timelines[t], &losses);
    free(losses.items);
}

/* Believes what it finds out, but for what is doubted. */
static struct model *build(const struct trace *recorded, const struct facts *facts,
                           const struct sample *sample, const struct modelgen_options *options,
                           struct doubts *doubts, struct error *error) {
    if (recorded->n_threads == 0) {
        error_set(error, "the trace has no threads: run `persik trace` again");
        return NULL;
    }
    struct model *model = memory_alloc(1, sizeof *model);
    model->cpu_correction = 1;
    struct view view = view_of(recorded);
    entry_functions_of_program(&view, facts);
    pipes_as_queues(&view);
    signals_as_permits(&view);
    private_mutex_waits_as_condition_waits(&view);
    spinning_barriers_as_barriers(&view);
    semaphore_mailboxes_as_queues(&view, facts);
    parked_workers_as_one(&view);
    completion_countdowns_as_semaphores(&view);
    futures_as_permits(&view);
    section_splitting_apply(&view);
    worker_mailboxes_as_queues(&view, facts);
    struct teams teams = teams_unfold(&view.trace, model);
    struct participating_creator participating =
        participating_creator_unfold(&teams, &view.origins, sample);
    struct trace placed =
        *participating.trace; /* where calls are as the program's author sees it */
    const struct trace *trace = &placed;
    size_t n_records = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        n_records += trace->threads[t].n_records;
    placed.contexts = call_sites_without_wrappers(trace);
    struct thread_states *timelines = memory_alloc(trace->n_threads, sizeof *timelines);
    double *cpu_ns = memory_alloc(trace->n_threads, sizeof *cpu_ns);
    for (size_t t = 0; t < trace->n_threads; t++) {
        timelines[t] = thread_states_make(&trace->threads[t]);
        cpu_ns[t] = thread_states_cpu(&timelines[t], trace->threads[t].end_ns);
    }
    write_provenance(trace, model);
    scheduler_costs_measure(recorded, model);
    explain_time(trace, timelines, cpu_ns, sample, model);
    const struct cache_reload_costs *reload_costs = options ? options->reload_costs : NULL;
    leave_out(probe_overhead_find(recorded), trace, timelines);
    leave_out(interrupt_costs_find(recorded), trace, timelines);
    leave_out(cache_reload_time_find(recorded, reload_costs), trace, timelines);
    note_attaching(recorded, model);
    note_binding(trace, model);
    struct thread_pools pools =
        thread_pools_find(trace, &teams, participating.origins, facts, cpu_ns);
    /* Where threads come from unseen, so does what follows their number. */
    const struct facts *thread_facts = source_shows_threads(facts) || teams.n_teams ? facts : NULL;
    if (!thread_facts && pools.n_pools > 1)
        notes_add(model,
                  "no source shows how threads are created: what follows the thread count is "
                  "guessed from the trace");
    write_pools(trace, &pools, model);
    cache_reload_time_write(recorded, reload_costs, &pools, cpu_ns, model);
    struct sections sections = sections_find(trace, pools.pool_of);
    sections_set_origins(&sections, &view.origins);
    struct monitors monitors = monitors_find(trace, &sections, facts, doubts->doubted);
    queue_capacities_find(trace, &sections, &pools, &monitors);
    doubts_suspect(doubts, &monitors, &sections);
    leave_out(group_commit_replay_excluded(trace, &sections, &monitors), trace, timelines);
    statements_find(trace, &sections, facts, &pools, &monitors, model);
    uint32_t *places = source_places(trace);
    struct disk_service disks = disk_service_find(trace);
    note_requests_outside(&disks, model);
    struct lower_input input = {.trace = trace,
                                .places = places,
                                .disks = &disks,
                                .facts = facts,
                                .thread_facts = thread_facts,
                                .pools = &pools,
                                .sections = &sections,
                                .monitors = &monitors,
                                .timelines = timelines,
                                .insignificant_share = options && options->insignificant_share > 0
                                                           ? options->insignificant_share
                                                           : INSIGNIFICANT_SHARE};
    struct partition_rule_evidence *evidence = memory_alloc(pools.n_pools, sizeof *evidence);
    write_graph(&input, sample, options && options->max_nodes ? options->max_nodes : MAX_NODES,
                evidence, model);
    recognised_objects_write(&input, model);
    spinning_note(facts, sample, model);
    partition_rule_decide(trace, thread_facts, &pools, timelines, evidence, model);
    free(evidence);
    free(places);
    disk_service_free(&disks);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    thread_pools_free(&pools);
    participating_creator_free(&participating);
    teams_free(&teams);
    for (size_t t = 0; t < trace->n_threads; t++)
        thread_states_free(&timelines[t]);
    free(timelines);
    free(cpu_ns);
    free(placed.contexts);
    view_free(&view);
    if (model_check(model, error)) {
        error_prefix(error, "the model built from this trace is not sound (%zu records)",
                     n_records);
        model_free(model);
        return NULL;
    }
    return model;
}

struct model *modelgen_build(const struct trace *trace, const struct facts *facts,
                             const struct sample *sample, const struct modelgen_options *options,
                             struct error *error) {
    struct doubts doubts = {0};
    struct model *best = build(trace, facts, sample, options, &doubts, error);
    if (!best || !options || !options->try_out || doubts.n_suspects == 0) {
        doubts_free(&doubts);
        return best;
    }
    struct modelgen_trial trial = options->try_out(best, options->context);
    for (size_t i = 0; i < doubts.n_suspects && trial.stalls && trial.misfit > MISFIT; i++) {
        struct error unused;
        doubts.doubted[doubts.suspects[i]] = true;
        struct model *other = build(trace, facts, sample, options, &doubts, &unused);
        struct modelgen_trial without = {.misfit = INFINITY};
        if (other)
            without = options->try_out(other, options->context);
        bool better = without.misfit < CLEARLY * trial.misfit;
        doubts.doubted[doubts.suspects[i]] = better;
        model_free(better ? best : other);
        best = better ? other : best;
        trial = better ? without : trial;
    }
    doubts_free(&doubts);
    return best;
}

/* Threads that spin for a lock burn more CPU the longer others hold it: that is no sign of a slower
 * machine. A team that waits awake burns as much as the run takes, which is. */
static bool has_spinning(const struct model *model) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].spins || model->objects[o].kind == OBJECT_SPIN)
            return true;
    return false;
}

void modelgen_correct(struct model *model, const struct trace *trace,
                      const struct cache_reload_costs *reload_costs) {
    if (has_spinning(model))
        return;
    struct demand_calibration correction = demand_calibration_find(trace, reload_costs);
    demand_calibration_apply(model, correction);
    if (correction.known)
        model->machine.pace = recorded_pace(&trace->meta);
    if (correction.often && correction.factor < SLOWED)
        notes_add(model, "the program calls so often that the probes took most of the traced run's "
                         "additional time: CPU demands are made those of the plain runs, but who "
                         "waited for whom is as with probes");
}

void modelgen_add_standstill(struct model *model, const char *reason) {
    notes_add(model, "the recorded run cannot be simulated: %s", reason);
}

void modelgen_add_check(struct model *model, const char *what, double measured, double simulated) {
    model->checks = memory_resize(model->checks, model->n_checks + 1, sizeof *model->checks);
    model->checks[model->n_checks++] =
        (struct model_check){memory_strdup(what), measured, simulated};
}

int modelgen_repartition(struct model *model, int pool, enum partition rule, struct error *error) {
    return partition_rule_change(model, pool, rule, error);
}

int modelgen_write_dot(const struct model *model, FILE *out) {
    return dot_write(model, out);
}
