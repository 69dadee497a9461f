#include "modelgen/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/build.h"
#include "modelgen/build_log.h"
#include "modelgen/calibrate/cache_reload_time.h"
#include "modelgen/calibrate/cold_starts.h"
#include "modelgen/calibrate/interrupt_costs.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/calibrate/scheduler_costs.h"
#include "modelgen/calibrate/shared_locks.h"
#include "modelgen/calibrate/thread_ends.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/critical_sections.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/form_check.h"
#include "modelgen/form_dump.h"
#include "modelgen/graph/ended_threads.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/graph/peg.h"
#include "modelgen/graph/token_returns.h"
#include "modelgen/notes.h"
#include "modelgen/report/descriptor_waits.h"
#include "modelgen/report/inlined_semaphores.h"
#include "modelgen/report/recognised_objects.h"
#include "modelgen/report/spinning.h"
#include "modelgen/report/waiting_shares.h"
#include "modelgen/rewrite/completion_countdowns.h"
#include "modelgen/rewrite/counted_semaphores.h"
#include "modelgen/rewrite/entry_functions.h"
#include "modelgen/rewrite/futex_barriers.h"
#include "modelgen/rewrite/futex_forks.h"
#include "modelgen/rewrite/futexes.h"
#include "modelgen/rewrite/futures.h"
#include "modelgen/rewrite/marked_tasks.h"
#include "modelgen/rewrite/page_faults.h"
#include "modelgen/rewrite/parked_workers.h"
#include "modelgen/rewrite/participating_creator.h"
#include "modelgen/rewrite/periodic_sleeps.h"
#include "modelgen/rewrite/pipes.h"
#include "modelgen/rewrite/private_mutex_waits.h"
#include "modelgen/rewrite/repeated_waits.h"
#include "modelgen/rewrite/requests_as_tasks.h"
#include "modelgen/rewrite/section_splitting.h"
#include "modelgen/rewrite/semaphore_mailboxes.h"
#include "modelgen/rewrite/signal_sources.h"
#include "modelgen/rewrite/signals.h"
#include "modelgen/rewrite/sleeping_polls.h"
#include "modelgen/rewrite/sleeping_watchers.h"
#include "modelgen/rewrite/spinning_barriers.h"
#include "modelgen/rewrite/sysv_semaphores.h"
#include "modelgen/rewrite/unsignalled_waits.h"
#include "modelgen/rewrite/worker_mailboxes.h"
#include "modelgen/run_notes.h"
#include "modelgen/sync/group_commit_cost.h"
#include "modelgen/sync/monitor_search.h"
#include "modelgen/sync/source_guards.h"
#include "modelgen/sync/statement_search.h"

/* ---- events ---- */

static void run_recording(struct build *build) {
    build->model = memory_alloc(1, sizeof *build->model);
    build->model->cpu_correction = 1;
    build->log = event_log_of(build->recorded);
    build->trace = &build->log.trace;
    build->teams = teams_none(build->trace);
    build->counts = event_counts_of(&build->log);
}

static void run_requests(struct build *build) {
    build->outside = requests_as_tasks(&build->log, build->model);
}

static void run_marked_tasks(struct build *build) {
    struct marked_tasks marked = marked_tasks_show(&build->log);
    if (marked.begun != marked.ended)
        notes_add(build->model,
                  "of the tasks that the user marked %zu begin and %zu end: response times are of "
                  "those that do both",
                  marked.begun, marked.ended);
}

static void run_entry_functions(struct build *build) {
    entry_functions_of_program(&build->log, build->facts);
}

static void run_signal_sources(struct build *build) {
    build->n_sources = signal_sources_as_threads(&build->log, build->model);
}

static void run_pipes(struct build *build) {
    pipes_as_queues(&build->log);
}

static void run_signals(struct build *build) {
    signals_as_permits(&build->log);
}

static void run_sysv_semaphores(struct build *build) {
    size_t left = sysv_semaphores_as_semaphores(&build->log);
    if (left)
        notes_add(build->model,
                  "%zu operations on System V semaphores, several at once, of more than one, or "
                  "waiting for zero, are taken for times that pass: what they wait for is not "
                  "modelled",
                  left);
}

static void run_unsignalled_waits(struct build *build) {
    unsignalled_waits_as_ends(&build->log);
    unsignalled_waits_as_sleeps(&build->log);
}

static void run_sleeping_polls(struct build *build) {
    if (sleeping_polls_as_joins(&build->log) > 0)
        notes_add(build->model,
                  "a creator sleeps and looks, again and again, whether its threads are done: how "
                  "long after their end it looks is taken as it was");
}

static void run_sleeping_watchers(struct build *build) {
    if (sleeping_watchers_as_unjoined(&build->log) > 0)
        notes_add(build->model, "a thread sleeps and looks, again and again, until it is told to "
                                "stop: how long others wait for it then is taken as it was");
}

static void run_periodic_sleeps(struct build *build) {
    periodic_sleeps_as_timers(&build->log);
}

static void run_private_mutex_waits(struct build *build) {
    private_mutex_waits_as_condition_waits(&build->log);
}

static void run_repeated_waits(struct build *build) {
    repeated_waits_as_one(&build->log);
}

static void run_counted_semaphores(struct build *build) {
    counted_semaphores_as_semaphores(&build->log);
}

static void run_spinning_barriers(struct build *build) {
    spinning_barriers_as_barriers(&build->log);
}

static void run_semaphore_mailboxes(struct build *build) {
    semaphore_mailboxes_as_queues(&build->log, build->facts);
}

static void run_parked_workers(struct build *build) {
    parked_workers_as_one(&build->log);
}

static void run_completion_countdowns(struct build *build) {
    completion_countdowns_as_semaphores(&build->log);
}

static void run_futex_barriers(struct build *build) {
    struct doubts *doubts = build->doubts;
    doubts->has_futex_barriers =
        !doubts->no_futex_barriers && futex_barriers_as_barriers(&build->log);
}

static void run_futex_forks(struct build *build) {
    futex_forks_as_barriers(&build->log);
}

static void run_futexes(struct build *build) {
    futexes_left_out(&build->log);
}

static void run_futures(struct build *build) {
    futures_as_permits(&build->log);
}

static void run_section_splitting(struct build *build) {
    section_splitting_apply(&build->log);
}

static void run_worker_mailboxes(struct build *build) {
    worker_mailboxes_as_queues(&build->log, build->facts);
}

static void run_openmp_teams(struct build *build) {
    teams_free(&build->teams);
    build->teams = teams_unfold(&build->log, build->model);
}

static void run_participating_creator(struct build *build) {
    participating_creator_unfold(&build->log, &build->teams, build->sample);
}

static void run_call_sites(struct build *build) {
    event_log_set_contexts(&build->log, call_sites_without_wrappers(build->trace));
}

static void run_page_faults(struct build *build) {
    build->page_faults = page_faults_as_reads(&build->log, build->facts, build->sample);
    if (build->page_faults.n_faults > 0)
        decision("page_faults", "the run", "reads",
                 "%zu page faults of mapped files, with %zu requests to disks, of which %zu were "
                 "made ahead",
                 build->page_faults.n_faults, build->page_faults.n_requests,
                 build->page_faults.n_ahead);
}

/* ---- time, machine, threads ---- */

static void run_thread_states(struct build *build) {
    const struct trace *trace = build->trace;
    build->timelines = memory_alloc(trace->n_threads, sizeof *build->timelines);
    build->cpu_ns = memory_alloc(trace->n_threads, sizeof *build->cpu_ns);
    for (size_t t = 0; t < trace->n_threads; t++) {
        build->timelines[t] = thread_states_make(&trace->threads[t]);
        build->cpu_ns[t] = thread_states_cpu(&build->timelines[t], trace->threads[t].end_ns);
    }
}

static void run_provenance(struct build *build) {
    run_notes_provenance(build);
}

static void run_shared_locks(struct build *build) {
    struct machine *machine = &build->model->machine;
    if (machine->cores == 1)
        machine->shared_locks_hz = shared_locks_hz(build->recorded);
}

static void run_scheduler_costs(struct build *build) {
    scheduler_costs_measure(build->recorded, build->model);
}

static void run_explained_time(struct build *build) {
    run_notes_explain_time(build);
}

/* Ends the losses. */
static void leave_out(struct build *build, struct excluded_time losses) {
    for (size_t t = 0; t < build->trace->n_threads; t++)
        thread_states_leave_out(&build->timelines[t], &losses);
    free(losses.items);
}

static void run_probe_overhead(struct build *build) {
    leave_out(build, probe_overhead_find(build->recorded));
}

static void run_interrupt_costs(struct build *build) {
    leave_out(build, interrupt_costs_find(build->recorded));
}

static void run_cache_reload_time(struct build *build) {
    leave_out(build, cache_reload_time_find(build->recorded, build->reload_costs));
}

static void run_cold_starts(struct build *build) {
    if (build->outside.n == 0)
        return;
    build->cold_starts = cold_starts_find(build->recorded, build->model->machine.block_cpu_ns);
    leave_out(build, cold_starts_time(build->recorded, &build->cold_starts));
    if (build->cold_starts.n_answers > 0)
        decision("cold_starts", "the run", build->cold_starts.whole_ns > 0 ? "costs" : "not seen",
                 "%.0f ns after a long sleep, by %.0f ns; %.1f standard errors of %zu answers",
                 build->cold_starts.whole_ns, build->cold_starts.pace_ns, build->cold_starts.errors,
                 build->cold_starts.n_answers);
}

static void run_work_phase(struct build *build) {
    if (build->outside.n == 0)
        return;
    for (size_t t = 0; t < build->trace->n_threads; t++)
        thread_states_keep_between(&build->timelines[t], build->outside.from_ns,
                                   build->outside.to_ns);
    build->model->measured_run_ns = (double)(build->outside.to_ns - build->outside.from_ns);
}

static void run_run_notes(struct build *build) {
    run_notes_attaching(build);
    run_notes_binding(build);
    run_notes_programs(build);
    descriptor_waits_tell(build->trace, build->model);
    inlined_semaphores_note(build->recorded, build->facts, build->model);
}

static void run_thread_pools(struct build *build) {
    build->pools = thread_pools_find(build->trace, &build->teams, build->log.thread_origins,
                                     build->facts, build->cpu_ns);
    /* Where threads come from unseen, so does what follows their number. */
    bool is_shown = source_shows_threads(build->facts) || build->teams.n_teams;
    build->thread_facts = is_shown ? build->facts : NULL;
    if (!build->thread_facts && build->pools.n_pools > 1)
        notes_add(build->model,
                  "no source shows how threads are created: what follows the thread count is "
                  "guessed from the trace");
    model_builder_pools(build->trace, &build->pools, build->cpu_ns, build->model);
    build_log_pools("thread_pools", build);
}

static void run_cache_reload_costs(struct build *build) {
    cache_reload_time_write(build->recorded, build->reload_costs, &build->pools, build->cpu_ns,
                            build->model);
}

/* Where most of a pool's threads answer requests. */
static void run_cold_start_costs(struct build *build) {
    for (size_t p = 0; p < build->pools.n_pools && build->cold_starts.whole_ns > 0; p++) {
        const struct thread_pool *pool = &build->pools.pools[p];
        size_t n = 0;
        for (size_t i = 0; i < pool->n_threads; i++) {
            int recorded = thread_origin_of(build->pools.origins, pool->threads[i]).recorded;
            n += build->cold_starts.answers[recorded];
        }
        if (2 * n > pool->n_threads)
            cold_starts_write(&build->cold_starts, &build->model->pools[p]);
    }
}

/* ---- objects ---- */

static void run_critical_sections(struct build *build) {
    build->sections = sections_find(build->trace, build->pools.pool_of);
    sections_set_origins(&build->sections, &build->log.origins);
}

static void run_monitor_search(struct build *build) {
    build->monitors =
        monitors_find(build->trace, &build->sections, build->facts, build->doubts->doubted);
    build_log_explanations("monitor_search", build, 0);
    build_log_rejected("monitor_search", build, 0);
}

static void run_queue_capacities(struct build *build) {
    size_t n_before = build->monitors.explanations.count;
    queue_capacities_find(build->trace, &build->sections, &build->pools, &build->monitors);
    build_log_explanations("queue_capacities", build, n_before);
}

static void run_suspects(struct build *build) {
    doubts_suspect(build->doubts, &build->monitors, &build->sections);
    build_log_suspects("suspects", build);
}

static void run_group_commit(struct build *build) {
    leave_out(build, group_commit_cost_excluded(build->trace, &build->sections, &build->monitors));
}

static void run_statements(struct build *build) {
    size_t n_rejected = build->monitors.rejected.count;
    statements_find(build->trace, &build->sections, build->facts, &build->pools, &build->monitors,
                    build->model);
    const struct explanation *first = explanation_next(&build->monitors, BY_STATEMENTS, NULL);
    if (first)
        build_log_explanations("statements", build, explanation_index(&build->monitors, first));
    build_log_rejected("statements", build, n_rejected);
}

static void run_call_places(struct build *build) {
    build->places = source_places(build->trace);
}

static void run_disk_service(struct build *build) {
    build->disks = disk_service_find(build->trace);
    build->commits = commits_find(&build->disks);
    build->write_back = write_back_find(&build->disks, &build->commits);
    run_notes_requests_outside(build);
    run_notes_requests_of_kernel(build);
}

/* ---- the model ---- */

static void run_lower(struct build *build) {
    struct lower_input input = build_lower_input(build);
    build->streams = lower_make(&input, build->model, &build->lowered);
    build_log_objects("lower", build);
    build_log_name_objects(build);
}

static void run_file_mix(struct build *build) {
    if (!build->file_mix)
        return;
    if (build->outside.n == 0) {
        build->mixed.refused = memory_strdup(
            "the program is no server whose requests are recognised: there is nothing that could "
            "be asked for more or less often");
        return;
    }
    build->mixed = file_mix_apply(build->file_mix, build->trace, build->streams.streams);
    if (!build->mixed.refused)
        decision("file_mix", "requests", "left out", "%zu of %zu make the mix", build->mixed.kept,
                 build->mixed.recorded);
}

static void run_graph(struct build *build) {
    build->evidence = memory_alloc(build->pools.n_pools, sizeof *build->evidence);
    struct peg_input input = {.trace = build->trace,
                              .facts = build->thread_facts,
                              .sample = build->sample,
                              .pools = &build->pools,
                              .timelines = build->timelines,
                              .places = build->places,
                              .disks = &build->disks,
                              .faults = &build->page_faults,
                              .streams = &build->streams,
                              .mixed = &build->mixed,
                              .evidence = build->evidence,
                              .puts_in_order = build->doubts->is_in_order,
                              .max_nodes = build->max_nodes};
    peg_build(&input, build->model);
}

static void run_thread_ends(struct build *build) {
    struct thread_ends found = thread_ends_find(build->recorded);
    if (found.share > 0)
        decision("thread_ends", "the run", found.end_ns > 0 ? "cost" : "little",
                 "%.0f threads were created; %.0f ns behind the recorded end of each; %.3f of the "
                 "CPU time to create and to end them",
                 found.created, found.end_ns, found.share);
    build->ended_ns = found.created * found.end_ns;
    ended_threads_write(&build->pools, &found, build->model);
}

static void run_token_returns(struct build *build) {
    struct graph_counts before = build_log_count_graph(build);
    token_returns_settle(build->model);
    build_log_graph("token_returns", build, before);
}

static void run_waiting_shares(struct build *build) {
    struct lower_input input = build_lower_input(build);
    waiting_shares_write(&input, &build->lowered, build->model);
}

static void run_recognised_objects(struct build *build) {
    struct lower_input input = build_lower_input(build);
    recognised_objects_write(&input, build->model);
    build_log_recognised("recognised_objects", build);
    build_log_name_recognised(build);
}

static void run_spinning(struct build *build) {
    spinning_note(build->facts, build->sample, build->model);
}

static void run_partition_rule(struct build *build) {
    partition_rule_decide(build->trace, build->thread_facts, &build->pools, build->timelines,
                          build->evidence, build->model);
    build_log_rules("partition_rule", build);
}

/* ---- the list ---- */

enum form_index {
#define FORM(id, name, what) AT_##id,
#include "modelgen/passes.def"
    N_FORMS
};

enum form_bit {
#define FORM(id, name, what) id = 1U << AT_##id,
#include "modelgen/passes.def"
};

static const struct form forms[] = {
#define FORM(id, name, what) {#name, what, form_dump_##name},
#include "modelgen/passes.def"
};

static const struct pass all[] = {
#define PASS(name, reads, writes, why)     {#name, reads, writes, false, why, run_##name},
#define OPTIONAL(name, reads, writes, why) {#name, reads, writes, true, why, run_##name},
#include "modelgen/passes.def"
};

static void begin_edits(const struct pass *pass, struct build *build) {
    if (build->trace && pass->writes & EVENTS)
        event_log_begin_pass(&build->log, pass->name);
}

/* What the filters did. */
static void log_events(const struct pass *pass, struct build *build) {
    if (pass->writes & EVENTS)
        event_counts_log(pass->name, &build->log, &build->counts);
}

static void note_broken(struct build *build, const char *what) {
    notes_add(build->model, "%s", what);
}

const struct pass_list passes = {.passes = all,
                                 .n_passes = sizeof all / sizeof *all,
                                 .forms = forms,
                                 .n_forms = N_FORMS,
                                 .begin = begin_edits,
                                 .done = log_events,
                                 .check = form_check,
                                 .broke = note_broken};

void passes_end(struct build *build) {
    mixed_run_free(&build->mixed);
    if (build->streams.streams)
        streams_free(&build->streams, build->trace->n_threads);
    lowered_objects_free(&build->lowered);
    free(build->evidence);
    free(build->places);
    if (build->disks.trace)
        disk_service_free(&build->disks);
    commits_free(&build->commits);
    write_back_free(&build->write_back);
    monitors_free(&build->monitors);
    if (build->sections.section_of_lock)
        sections_free(&build->sections, build->trace);
    thread_pools_free(&build->pools);
    for (size_t t = 0; build->timelines && t < build->trace->n_threads; t++)
        thread_states_free(&build->timelines[t]);
    free(build->timelines);
    free(build->cpu_ns);
    teams_free(&build->teams);
    cold_starts_free(&build->cold_starts);
    outside_queues_free(&build->outside);
    event_counts_free(&build->counts);
    event_log_free(&build->log);
    page_faults_free(&build->page_faults);
}
