#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/run_end.h"
#include "cli/prediction/simulated_run.h"
#include "cli/report/html_sections.h"
#include "cli/report/model_tables.h"
#include "cli/report/state_timeline.h"
#include "cli/report/tally_table.h"
#include "formats/recorded_speed.h"
#include "html/lanes.h"
#include "html/page.h"
#include "html/writer.h"

/* ---- waits ---- */

enum { SHOWN_WAITS = 15 };

/* Those at which nobody waited are only counted. */
static void print_tally(FILE *out, const struct trace *trace, struct tally *tally,
                        enum tally_of of) {
    size_t waited = 0;
    tally_sort(tally);
    while (waited < tally->count && tally->items[waited].wait_ns > 0)
        waited++;
    size_t shown = waited < SHOWN_WAITS ? waited : SHOWN_WAITS;
    struct table *table = tally_table(trace, tally, of, shown);
    if (shown > 0)
        table_print_html(table, "total wait", out);
    else
        html_print(out, "<p class=\"quiet\">Nobody waited.</p>\n");
    if (waited > shown)
        html_print(out, "<p class=\"quiet\">%zu more waited less, %zu not at all.</p>\n",
                   waited - shown, tally->count - waited);
    else if (tally->count > shown)
        html_print(out, "<p class=\"quiet\">%zu more did not wait at all.</p>\n",
                   tally->count - waited);
    table_free(table);
    free(tally->items);
}

void html_waits(FILE *out, const struct trace *trace) {
    page_section(out, "waits", "Waits by source line",
                 "Where the threads of the recorded run waited, all of them together.");
    struct tally sites = tally_sites(trace);
    print_tally(out, trace, &sites, TALLY_OF_SITES);
    html_print(out, "<details><summary>The same by lock, condition and queue</summary>\n");
    struct tally objects = tally_objects(trace);
    print_tally(out, trace, &objects, TALLY_OF_OBJECTS);
    html_print(out, "</details>\n");
    page_section_end(out);
}

/* ---- timeline ---- */

enum { BINS = 400, SHOWN_LANES = 32 };

static char *lane_title(const struct thread_timeline *thread, double run_ns) {
    char cpu[QUANTITY_BYTES], ready[QUANTITY_BYTES], life[QUANTITY_BYTES];
    return memory_format("%s, thread %d: lived %s, computed %s, waited %s for a core",
                         thread->thread->start_routine ? thread->thread->start_routine : "?",
                         thread->thread->index,
                         quantity_show((thread->to - thread->from) * run_ns, UNIT_TIME, life),
                         quantity_show(thread->cpu_ns, UNIT_TIME, cpu),
                         quantity_show(thread->ready_ns, UNIT_TIME, ready));
}

static struct lane lane_of(const struct thread_timeline *thread, double run_ns) {
    const char *routine = thread->thread->start_routine ? thread->thread->start_routine : "?";
    return (struct lane){.name = memory_format("%d %s", thread->thread->index, routine),
                         .title = lane_title(thread, run_ns),
                         .computing = thread->computing,
                         .ready = thread->ready,
                         .from = thread->from,
                         .to = thread->to};
}

/* Lanes of its threads; what they mean is said above them. */
static void print_lanes(FILE *out, const struct trace *trace) {
    struct state_timeline timeline = state_timeline_of(trace, BINS, SHOWN_LANES);
    double run_ns = (double)trace->meta.run_ns;
    char end[QUANTITY_BYTES];
    struct lane *lanes = memory_alloc(timeline.n_threads, sizeof *lanes);
    for (size_t i = 0; i < timeline.n_threads; i++)
        lanes[i] = lane_of(&timeline.threads[i], run_ns);
    const struct lanes all = {.n_lanes = timeline.n_threads,
                              .n_bins = BINS,
                              .items = lanes,
                              .begin = "0",
                              .end = quantity_show(run_ns, UNIT_TIME, end)};
    lanes_print(out, &all);
    if (timeline.n_left_out > 0)
        html_print(out,
                   "<p class=\"quiet\">%zu more threads, which computed less, are left "
                   "out.</p>\n",
                   timeline.n_left_out);
    for (size_t i = 0; i < timeline.n_threads; i++) {
        free((char *)lanes[i].name);
        free((char *)lanes[i].title);
    }
    free(lanes);
    state_timeline_free(&timeline);
}

void html_timeline(FILE *out, const struct trace *trace) {
    page_section(out, "timeline", "Timeline of the recorded run",
                 trace->meta.has_slices
                     ? "One lane for each thread. Heights are shares of the time in each part."
                     : "One lane for each thread. Scheduling was not recorded: all time outside of "
                       "recorded calls is shown as computing.");
    print_lanes(out, trace);
    page_section_end(out);
}

void html_simulated_timeline(FILE *out, const struct model *model) {
    const struct sim_config config = {.seed = 1, .cores = model->machine.cores};
    struct simulated_run run;
    struct error unsaid; /* the other sections say why the model has no figures */
    if (model->standstill && *model->standstill)
        return;
    if (simulated_run_make(model, &config, &run, &unsaid) == 0) {
        page_section(out, "simulated-timeline", "Timeline of one simulated run",
                     "The recorded configuration, simulated once: where its lanes do not look like "
                     "the recorded ones, the model is not to be trusted.");
        print_lanes(out, run.trace);
        page_section_end(out);
    }
    simulated_run_free(&run);
}

/* ---- quality ---- */

static void fact(FILE *out, const char *what, const char *value) {
    if (value && *value)
        html_print(out, "<dt>%s</dt><dd>%s</dd>\n", what, value);
}

/* As fact(), and frees the value. */
static void fact_of(FILE *out, const char *what, char *value) {
    fact(out, what, value);
    free(value);
}

static void print_losses(FILE *out, const struct trace_meta *meta) {
    char rate[QUANTITY_BYTES];
    quantity_show((double)meta->records / ((double)meta->run_ns / 1e9), UNIT_RATE, rate);
    fact_of(out, "Probes",
            memory_format("%llu records, %s, %.0f ns each", (unsigned long long)meta->records, rate,
                          meta->probe_ns));
    fact_of(out, "Running time with probes",
            meta->untraced_run_ns ? memory_format("%+.1f %%", 100 * recorded_perturbation(meta))
                                  : memory_strdup("not compared with a run without"));
    fact_of(out, "Lost",
            memory_format("%llu records, %llu scheduling events",
                          (unsigned long long)meta->lost_records,
                          (unsigned long long)meta->lost_events));
    for (size_t i = 0; i < meta->n_lacks; i++)
        fact(out, "Lacks", meta->lacks[i]);
}

static void print_end(FILE *out, const struct trace_meta *meta) {
    char status[128];
    run_end_describe(meta->exit_status, status, sizeof status);
    fact_of(out, "End of the run",
            memory_format("%s%s", status, meta->complete ? "" : "; the trace is incomplete"));
}

static void print_checks(FILE *out, const struct model *model) {
    struct table *table = model_check_table(model);
    html_print(out, "<h3>The recorded run, simulated</h3>\n");
    table_print_html(table, NULL, out);
    table_free(table);
}

static void print_notes(FILE *out, const struct model *model) {
    html_print(out, "<h3>Not modelled exactly</h3>\n");
    if (model->n_outside + model->n_notes == 0) {
        html_print(out, "<p>Nothing that is known of.</p>\n");
        return;
    }
    html_print(out, "<ul>\n");
    for (size_t i = 0; i < model->n_outside; i++)
        html_print(out, "<li>%s</li>\n", model->outside[i]);
    for (size_t i = 0; i < model->n_notes; i++)
        html_print(out, "<li>%s</li>\n", model->notes[i]);
    html_print(out, "</ul>\n");
}

void html_quality(FILE *out, const struct html_report *report) {
    page_section(out, "quality", "How far to trust it", NULL);
    html_print(out, "<dl class=\"facts\">\n");
    if (report->trace) {
        print_end(out, &report->trace->meta);
        print_losses(out, &report->trace->meta);
    }
    if (report->model) {
        fact_of(out, "Explained",
                memory_format("%.1f %% of the threads\xE2\x80\x99 time",
                              100 * report->model->explained_share));
        char *waiting = model_waiting_text(report->model);
        if (waiting)
            fact_of(out, "Waiting for other threads", waiting);
    }
    html_print(out, "</dl>\n");
    if (report->model && report->model->n_checks > 0)
        print_checks(out, report->model);
    if (report->model)
        print_notes(out, report->model);
    page_section_end(out);
}

/* ---- provenance ---- */

static void print_trace_facts(FILE *out, const struct trace_meta *meta) {
    html_print(out, "<dt>Command</dt><dd><code>");
    for (int i = 0; i < meta->n_args; i++)
        html_print(out, "%s%s", i ? " " : "", meta->args[i]);
    html_print(out, "</code></dd>\n");
    fact(out, "Folder", meta->directory);
    fact(out, "Build id", meta->build_id);
    fact(out, "Recorded", meta->date);
    fact(out, "Machine", meta->host);
    fact(out, "C library", meta->libc);
}

static void print_model_facts(FILE *out, const struct model *model) {
    fact(out, "Model built", model->built);
    fact_of(out, "Model",
            memory_format("%zu nodes, %zu pools, %zu shared objects", model->n_nodes,
                          model->n_pools, model->n_objects));
}

void html_provenance(FILE *out, const struct html_report *report) {
    page_section(out, "provenance", "Provenance", NULL);
    html_print(out, "<dl class=\"facts\">\n");
    if (report->trace)
        print_trace_facts(out, &report->trace->meta);
    else
        fact(out, "Command", report->model->program);
    if (report->model)
        print_model_facts(out, report->model);
    if (report->prediction)
        fact_of(out, "Seed",
                memory_format("%lld", (long long)json_integer_value(
                                          json_object_get(report->prediction, "seed"))));
    fact(out, "Made by", argp_program_version);
    html_print(out, "</dl>\n");
    page_section_end(out);
}
