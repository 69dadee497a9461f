/* persik build-model: stage 4, then the self-check: the model must reproduce its own run. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/file_mix_option.h"
#include "cli/arguments/options.h"
#include "cli/arguments/scope.h"
#include "cli/command.h"
#include "cli/judgement.h"
#include "cli/prediction/another_recording.h"
#include "cli/prediction/explanation.h"
#include "cli/prediction/other_run.h"
#include "cli/prediction/page_cache_resize.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/refusal.h"
#include "cli/prediction/turn_costs.h"
#include "cli/prediction/uncertainty.h"
#include "cli/recording/workspace.h"
#include "cli/report/drawing.h"
#include "cli/report/model_tables.h"
#include "cli/text/quantity.h"
#include "cli/text/text_page.h"
#include "formats/disk_calibration.h"
#include "formats/recorded_speed.h"
#include "formats/user_word.h"
#include "modelgen/modelgen.h"
#include "tracer/tracer.h"

enum {
    KEY_MAX_NODES = 0x4000,
    KEY_INSIGNIFICANT,
    KEY_EXPLAIN,
    KEY_BLKTRACE,
    KEY_ALSO,
    KEY_DISK,
    KEY_FILE_MIX,
    KEY_LIST_PASSES,
    KEY_EVIDENCE,
    KEY_LIST_EVIDENCE,
    KEY_DUMP_AFTER,
    KEY_STOP_AFTER,
    KEY_WITHOUT
};

struct build_options {
    struct common_options common;
    struct modelgen_options modelgen;
    enum table_format format;
    const char *explain;   /* NULL: the usual summary */
    const char *also;      /* NULL: no other recording */
    const char *block_log; /* NULL: the recording's own requests to disks */
    struct {
        const char **items;
        size_t count, capacity;
    } disks;             /* [MAJOR:MINOR=]FILE */
    struct file_mix mix; /* none: as recorded */
    bool list_passes;    /* and build nothing */
    bool list_evidence;  /* the same */
    struct {
        const char **items;
        size_t count, capacity;
    } without;  /* what options->modelgen.passes leaves out */
    bool aside; /* of a recording with another number of threads: nothing is shown of it */
};

static const struct argp_option options_list[] = {
    {"max-nodes", KEY_MAX_NODES, "N", 0,
     "tell nodes apart by what came before them only up to so many (default: 100)", 1},
    {"insignificant", KEY_INSIGNIFICANT, "SHARE", 0,
     "drop code fragments below this share of the run (default: 0.05%)", 1},
    {"explain", KEY_EXPLAIN, "NAME", 0,
     "say what the object or the pool is, how persik knows, and which pass decided what on it; a "
     "part of its name, or a function of a hand-made object, will do",
     1},
    {"blktrace", KEY_BLKTRACE, "NAME", 0,
     "take the requests to disks from NAME.blktrace.*, which `blktrace -o NAME` wrote during the "
     "recording, or from the text NAME of ftrace's blk tracer, its block events or blkparse; clock "
     "and threads may be others",
     1},
    {"also", KEY_ALSO, "DIR", 0,
     "another recording of the program, with its model and another number of threads: tells the "
     "rules that one run cannot",
     1},
    {"disk", KEY_DISK, "[MAJOR:MINOR=]FILE", 0,
     "take what persik calibrate wrote to FILE for requests to its disk that the recording had "
     "none "
     "of, such as one at a time; with MAJOR:MINOR, of that disk of the recording; may be given "
     "several times",
     1},
    {"file-mix", KEY_FILE_MIX, "FILES=FACTOR", 0,
     "make the model of another mix of requests: those of a server that read these files, a "
     "pattern of the shell's, or all below a folder, come FACTOR times as often beside the others "
     "as they did; may be given several times",
     1},
    {"list-passes", KEY_LIST_PASSES, NULL, 0,
     "list the passes that make a model of a recording, in order, and build none", 2},
    {"dump-after", KEY_DUMP_AFTER, "PASS", 0,
     "print what the pass wrote, as text, in the place of the summary", 2},
    {"stop-after", KEY_STOP_AFTER, "PASS", 0, "run the passes up to this one; write no model", 2},
    {"without", KEY_WITHOUT, "PASS", 0,
     "leave out an optional pass, or a candidate for what explains waits, to see what it is good "
     "for; may be given several times",
     2},
    {"evidence", KEY_EVIDENCE, "NAME=VALUE", 0,
     "ask for more or less evidence, to see what a threshold is good for; may be given several "
     "times",
     2},
    {"list-evidence", KEY_LIST_EVIDENCE, NULL, 0,
     "list the thresholds of evidence with their values, and build no model", 2},
    {0},
};

static void check_format(const struct build_options *options) {
    if (options->format == FORMAT_CSV)
        usage_error("--format csv: a model is several tables: give table or json");
    if (options->format == FORMAT_JSON &&
        (options->explain || options->list_passes || options->list_evidence ||
         options->modelgen.passes.dump_after || options->modelgen.passes.stop_after))
        usage_error("--format json is of the model that is built: leave out --explain, --list-..., "
                    "--dump-after and --stop-after");
}

static error_t parse_build(int key, char *argument, struct argp_state *state) {
    struct build_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct build_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_MAX_NODES:
        options->modelgen.max_nodes = (size_t)option_integer("--max-nodes", argument, 10, 1000000);
        return 0;
    case KEY_INSIGNIFICANT:
        if (quantity_parse(argument, UNIT_SHARE, &options->modelgen.insignificant_share) < 0 ||
            options->modelgen.insignificant_share < 0 || options->modelgen.insignificant_share >= 1)
            usage_error("--insignificant %s: give a share such as 0.1%%", argument);
        return 0;
    case KEY_EXPLAIN:
        options->explain = argument;
        return 0;
    case KEY_BLKTRACE:
        options->block_log = argument;
        return 0;
    case KEY_ALSO:
        options->also = argument;
        return 0;
    case KEY_DISK:
        *VECTOR_ADD(&options->disks) = argument;
        return 0;
    case KEY_FILE_MIX: {
        struct error error = {0};
        if (file_mix_option_add(&options->mix, argument, &error) < 0)
            usage_error("%s", error.text);
        return 0;
    }
    case KEY_LIST_PASSES:
        options->list_passes = true;
        return 0;
    case KEY_DUMP_AFTER:
        options->modelgen.passes.dump_after = argument;
        return 0;
    case KEY_STOP_AFTER:
        options->modelgen.passes.stop_after = argument;
        return 0;
    case KEY_EVIDENCE: {
        struct error error = {0};
        if (modelgen_set_evidence(argument, &error) < 0)
            usage_error("%s", error.text);
        return 0;
    }
    case KEY_LIST_EVIDENCE:
        options->list_evidence = true;
        return 0;
    case KEY_WITHOUT:
        if (!modelgen_leave_out_candidate(argument))
            *VECTOR_ADD(&options->without) = argument;
        return 0;
    case ARGP_KEY_ARG:
        usage_error("build-model takes no argument '%s': name the recording's folder with -i",
                    argument);
    case ARGP_KEY_END:
        check_format(options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp build_argp = {
    .options = options_list,
    .parser = parse_build,
    .doc =
        "Turns the recording into a model, model.json with its drawing model.svg, then simulates "
        "the profiled configuration itself and prints measured against simulated.\v"
        "Examples:\n"
        "  persik build-model\n"
        "  persik build-model -i run1 --max-nodes 50\n"
        "  persik build-model --format json | jq .checks\n"
        "  persik build-model --explain queue\n"
        "  persik build-model --explain worker_run\n"
        "  persik build-model --blktrace sda\n"
        "  persik build-model -i with-4-threads --also with-2-threads\n"
        "  persik build-model --disk persik-disk.json\n"
        "  persik build-model --file-mix /srv/video=2\n"
        "  persik build-model --dump-after thread_pools --stop-after thread_pools\n"
        "  persik build-model --without worker_mailboxes\n",
    .children = children,
};

/* ---- input ---- */

struct disk_list {
    struct disk_probe *items;
    size_t count, capacity;
};

struct recording {
    struct trace *trace;
    struct disk_list disks;                 /* measured beside it */
    struct cache_reload_costs reload_costs; /* none: no evictions-1.persik */
    struct facts *facts;                    /* NULL: no static.json */
    struct sample *sample;                  /* NULL: no sample.json */
};

static int apply_catalog(const char *directory, struct facts *facts, struct error *error) {
    char *path = workspace_path(directory, WORKSPACE_CATALOG);
    struct user_catalog *catalog = user_catalog_load(path, error);
    int status = catalog ? user_word_apply(catalog, facts, error) : -1;
    user_catalog_free(catalog);
    free(path);
    return status;
}

static int measure_evictions(const char *directory, struct cache_reload_costs *reload_costs,
                             struct error *error) {
    struct {
        struct trace **items;
        size_t count, capacity;
    } runs = {0};
    int status = 0;
    for (bool there = true; status == 0 && there;) {
        char *name = memory_format(WORKSPACE_EVICTIONS, runs.count + 1);
        char *path = workspace_path(directory, name);
        there = workspace_has(directory, name);
        struct trace *run = there ? trace_load(path, error) : NULL;
        if (run)
            *VECTOR_ADD(&runs) = run;
        else if (there)
            status = -1;
        free(name);
        free(path);
    }
    if (status == 0)
        *reload_costs = cache_reload_costs_measure(runs.items, runs.count);
    for (size_t i = 0; i < runs.count; i++)
        trace_free(runs.items[i]);
    free(runs.items);
    return status;
}

/* ---- disks that were measured ---- */

static bool is_asked(const struct trace *trace, uint32_t device) {
    for (size_t b = 0; b < trace->n_blocks; b++)
        if (trace->blocks[b].device == device)
            return true;
    return false;
}

/* `text` is [MAJOR:MINOR=]FILE. */
static int load_disk(const char *text, const struct trace *trace, struct disk_list *disks,
                     struct error *error) {
    unsigned disk_major, disk_minor;
    int n = 0;
    bool is_named = sscanf(text, "%u:%u=%n", &disk_major, &disk_minor, &n) == 2 && n > 0;
    struct disk_probe disk;
    if (disk_calibration_load(is_named ? text + n : text, &disk, error) < 0)
        return -1;
    if (is_named)
        disk.device = disk_major << 20 | disk_minor;
    *VECTOR_ADD(disks) = disk;
    if (is_asked(trace, disk.device))
        return 0;
    if (trace->n_blocks == 0)
        return error_set(error, "--disk %s: the recording has no requests to disks", text);
    uint32_t other = trace->blocks[0].device;
    return error_set(error,
                     "--disk %s: the recording has no requests to disk %u:%u, but to %u:%u: if "
                     "that is the disk which was measured, give --disk %u:%u=FILE",
                     text, disk.device >> 20, disk.device & 0xfffff, other >> 20, other & 0xfffff,
                     other >> 20, other & 0xfffff);
}

static int load_disks(const struct build_options *options, const struct trace *trace,
                      struct disk_list *disks, struct error *error) {
    for (size_t i = 0; i < options->disks.count; i++)
        if (load_disk(options->disks.items[i], trace, disks, error) < 0)
            return -1;
    return 0;
}

static void free_disks(struct disk_list *disks) {
    for (size_t i = 0; i < disks->count; i++)
        disk_probe_free(&disks->items[i]);
    free(disks->items);
}

static int load_recording(const char *directory, struct recording *recording, struct error *error) {
    recording->trace = workspace_load_trace(directory, error);
    if (!recording->trace)
        return -1;
    char *facts = workspace_path(directory, WORKSPACE_FACTS);
    char *sample = workspace_path(directory, WORKSPACE_SAMPLE);
    int status = measure_evictions(directory, &recording->reload_costs, error);
    if (status == 0 && workspace_has(directory, WORKSPACE_FACTS)) {
        recording->facts = facts_load(facts, error);
        status = recording->facts ? 0 : -1;
    }
    if (status == 0 && workspace_has(directory, WORKSPACE_SAMPLE)) {
        recording->sample = sample_load(sample, error);
        status = recording->sample ? 0 : -1;
    }
    if (status == 0 && recording->facts && workspace_has(directory, WORKSPACE_CATALOG))
        status = apply_catalog(directory, recording->facts, error);
    if (status == 0)
        modelgen_name_lambdas(recording->facts, recording->trace, recording->sample);
    free(facts);
    free(sample);
    return status;
}

static void free_recording(struct recording *recording) {
    trace_free(recording->trace);
    free(recording->reload_costs.items);
    facts_free(recording->facts);
    sample_free(recording->sample);
    free_disks(&recording->disks);
}

/* ---- the self-check (design, invariant 1) ---- */

/* The traced run, and what it took. */
struct own_run {
    const struct trace *trace;
    struct modelgen_measured measured; /* modelgen_build() fills it */
};

/* Share of the cores' time that the program's threads were on them. */
static double measured_utilisation(const struct own_run *own_run) {
    return own_run->measured.cpu_ns / (own_run->measured.run_ns * own_run->trace->meta.cores);
}

static const struct thread_choice own = {.label = "as profiled"};
static const char without_probes[] = "without probes";

static int simulate_itself(const struct model *model, const struct trace *trace,
                           struct sim_result *result, struct error *error) {
    const struct sim_config config = {
        .seed = 1, .cores = trace->meta.cores, .arrivals = ARRIVALS_RECORDED};
    return sim_predict(model, &config, result, error);
}

/* What is missed is the larger of the shares of running time and CPU utilisation. */
static struct modelgen_trial try_out(const struct model *model, void *context) {
    const struct own_run *own_run = context;
    struct sim_result result;
    struct error unused;
    if (simulate_itself(model, own_run->trace, &result, &unused) < 0)
        return (struct modelgen_trial){.misfit = INFINITY, .stalls = true, .fails = true};
    struct modelgen_trial trial = {.misfit =
                                       fabs(result.run_ns.mean / own_run->measured.run_ns - 1),
                                   .stalls = result.stalls > 0,
                                   .guesses = result.guessed > 0};
    if (own_run->trace->meta.has_slices)
        trial.misfit = fmax(trial.misfit,
                            fabs(result.cpu_utilisation.mean / measured_utilisation(own_run) - 1));
    char *refused = refusal_of_own_run(model, &result, own_run->measured.cpu_ns);
    trial.fails = refused;
    free(refused);
    sim_result_free(&result);
    return trial;
}

/* What a server did: throughput and response times. */
static void add_request_checks(struct model *model, const struct modelgen_measured *measured,
                               const struct sim_result *result) {
    if (measured->requests == 0)
        return;
    modelgen_add_check(model, "throughput (1/s)", measured->requests * 1e9 / measured->run_ns,
                       result->throughput_hz.mean);
    if (measured->response_ns > 0)
        modelgen_add_check(model, "mean response (ms)", measured->response_ns / 1e6,
                           result->response_ns.mean / 1e6);
}

static void add_checks(struct model *model, const struct own_run *own_run,
                       const struct sim_result *result) {
    const struct prediction prediction = {
        .threads = &own, .cores = own_run->trace->meta.cores, .result = *result};
    prediction_warn_of_stalls(&prediction);
    modelgen_add_check(model, "running time", own_run->measured.run_ns / 1e9,
                       result->run_ns.mean / 1e9);
    if (own_run->trace->meta.has_slices)
        modelgen_add_check(model, "CPU utilisation", measured_utilisation(own_run),
                           result->cpu_utilisation.mean);
    add_request_checks(model, &own_run->measured, result);
}

/* Of the model as it was recorded, before its CPU demands are corrected. 1: it has no figures, for
 * it came to a standstill. */
static int check_itself(struct model *model, const struct own_run *own_run, struct error *error) {
    struct sim_result result;
    int status = simulate_itself(model, own_run->trace, &result, error);
    if (status == SIM_STUCK) {
        modelgen_add_standstill(model, error->text);
        return 1;
    }
    if (status < 0)
        return -1;
    char *refused = refusal_of_own_run(model, &result, own_run->measured.cpu_ns);
    if (refused)
        modelgen_add_standstill(model, refused);
    else
        add_checks(model, own_run, &result);
    sim_result_free(&result);
    free(refused);
    return refused ? 1 : 0;
}

/* The recorded runs without probes are what the corrected model stands for. They tell whether a
 * traced run that it misses was out of the ordinary. */
static int check_untraced(struct model *model, const struct own_run *own_run, struct error *error) {
    const struct trace *trace = own_run->trace;
    struct sim_result result;
    if (trace->meta.untraced_run_ns == 0 || own_run->measured.requests > 0)
        return 0; /* how long a server runs is up to those who start and stop it */
    if (simulate_itself(model, trace, &result, error) < 0)
        return -1;
    modelgen_add_check(model, without_probes, recorded_untraced_ns(&trace->meta) / 1e9,
                       result.run_ns.mean / 1e9);
    sim_result_free(&result);
    return 0;
}

/* Per pool, as many as the program has where it may use one core. NULL: one thread goes another
 * way, so that nothing can be compared. */
static int *threads_on_one_core(const struct model *model, struct error *error) {
    int *threads = thread_choice_resolve(&own, model, error);
    for (size_t p = 0; threads && p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        int fewer = model_within_cores(pool, threads[p], 1, model->machine.cores);
        if (fewer < threads[p] && fewer == 1 && pool->one_thread) {
            free(threads);
            return NULL;
        }
        threads[p] = fewer;
    }
    return threads;
}

/* Where one core takes more CPU time than several, it is by turns. */
static int explain_one_core(struct model *model, const int *threads, struct error *error) {
    double ratio = model->one_core_cpu;
    int fitted = ratio > 1 ? turn_costs_fit(model, threads, error) : 0;
    if (ratio > 0 && fitted >= 0)
        modelgen_note_one_core(model, ratio, fitted > 0);
    return fitted < 0 ? -1 : 0;
}

/* The runs that had one core only tell what several cost each other, and what turns on one do. */
static int compare_one_core(struct model *model, const struct own_run *own_run,
                            struct error *error) {
    if (own_run->trace->meta.n_one_core == 0 || own_run->measured.requests > 0)
        return 0;
    int *threads = threads_on_one_core(model, error);
    const struct sim_config config = {.seed = 1, .cores = 1, .pool_threads = threads};
    struct sim_result result;
    int status = threads ? sim_predict(model, &config, &result, error) : 0;
    if (threads && status == 0) {
        char *refused = refusal_of_own_run(model, &result, own_run->measured.cpu_ns);
        if (!refused)
            modelgen_compare_one_core(model, own_run->trace, &own_run->measured,
                                      result.cpu_ns.mean);
        free(refused);
        status = explain_one_core(model, threads, error);
        sim_result_free(&result);
    }
    free(threads);
    return status;
}

static double relative_error(const struct model_check *check) {
    return check->simulated / check->measured - 1;
}

static void print_checks(const struct model *model) {
    struct table *table = model_check_table(model);
    table_print_text(table, stdout);
    table_free(table);
}

static void print_refills(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        char cost[QUANTITY_BYTES];
        if (pool->n_refill)
            printf("sharing a core's cache costs %s up to %s a turn\n", pool->name,
                   quantity_show(pool->refill[pool->n_refill - 1].cpu_ns, UNIT_TIME, cost));
        if (pool->cold_cpu_ns > 0)
            printf("sleeping costs %s up to %s a time, as what it needs has left the caches\n",
                   pool->name, quantity_show(pool->cold_cpu_ns, UNIT_TIME, cost));
    }
}

/* What more runs would tell. */
static void print_unknown(const struct model *model) {
    if (!uncertainty_knows_spread(model))
        printf("%sby how much runs differ is not known: intervals suppose 5 %%\n",
               isfinite(model->perturbation) ? "" : "what the probes cost and ");
    char *advice = another_recording_advice(model);
    if (advice)
        printf("%s\n", advice);
    free(advice);
}

static void print_summary(const struct model *model) {
    printf("%zu nodes in %zu pools, %zu shared objects; explains %.1f %% of the threads' time",
           model->n_nodes, model->n_pools, model->n_objects, 100 * model->explained_share);
    if (isfinite(model->perturbation))
        printf("; probes cost %+.1f %%", 100 * model->perturbation);
    if (fabs(model->cpu_correction - 1) >= 0.0005) /* what is shown of it */
        printf("; CPU demands %+.1f %%, as in the median run on cores of its own",
               100 * (model->cpu_correction - 1));
    if (uncertainty_knows_spread(model))
        printf("; CPU time within %.1f %% in all runs", 100 * model->cpu_spread);
    printf("\n");
    print_unknown(model);
    if (scope_is_single(model))
        printf("the program has one thread: there are none to have more of\n");
    char *waiting = model_waiting_text(model);
    if (waiting)
        printf("waiting for other threads: %s\n", waiting);
    free(waiting);
    print_refills(model);
    printf("\n");
    if (model->n_checks > 0)
        print_checks(model);
    else
        printf(
            "self-check: none: simulated as it was recorded, the program comes to a standstill\n");
    model_tables_print_notes(model);
}

/* A model that misses its own run is not to be trusted elsewhere, unless that run was unlike others
 * of the same configuration. The caller frees; NULL: the check holds. */
static char *warning_of(const struct model *model, const struct model_check *check) {
    const struct model_check *untraced = NULL;
    for (size_t i = 0; i < model->n_checks; i++)
        if (strcmp(model->checks[i].what, without_probes) == 0)
            untraced = &model->checks[i];
    if (check == untraced || fabs(relative_error(check)) <= judgement.tolerated_miss)
        return NULL;
    bool is_odd = untraced && fabs(relative_error(untraced)) <= judgement.tolerated_miss;
    return memory_format("the model misses the measured %s by %+.1f %%%s", check->what,
                         100 * relative_error(check),
                         is_odd ? ", but not the time of the runs without probes" : "");
}

static void warn_of_checks(const struct model *model) {
    for (size_t i = 0; i < model->n_checks; i++) {
        char *warning = warning_of(model, &model->checks[i]);
        if (warning)
            log_warning("%s", warning);
        free(warning);
    }
}

static json_t *warnings_json(const struct model *model) {
    json_t *warnings = json_array();
    for (size_t i = 0; i < model->n_checks; i++) {
        char *warning = warning_of(model, &model->checks[i]);
        if (warning)
            json_array_append_new(warnings, json_string(warning));
        free(warning);
    }
    return warnings;
}

/* What is not known is null. */
static json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *known_text(const char *text) {
    json_t *json = text && *text ? json_string(text) : NULL;
    return json ? json : json_null();
}

static void print_json(const struct model *model) {
    struct table *checks = model_check_table(model);
    json_t *json = model_tables_json(model);
    json_object_set_new(json, "nodes", json_integer((json_int_t)model->n_nodes));
    json_object_set_new(json, "explained_share", known(model->explained_share));
    json_object_set_new(json, "perturbation_share", known(model->perturbation));
    json_object_set_new(json, "cpu_correction_share", known(model->cpu_correction - 1));
    json_object_set_new(json, "cpu_spread_share",
                        known(uncertainty_knows_spread(model) ? model->cpu_spread : NAN));
    json_object_set_new(json, "checks", table_json(checks));
    json_object_set_new(json, "warnings", warnings_json(model));
    json_object_set_new(json, "standstill", known_text(model->standstill));
    json_object_set_new(json, "unpredicted", known_text(model->unpredicted));
    table_print_json(json, stdout);
    table_free(checks);
}

/* ---- output ---- */

/* Graphviz takes a second for 100 nodes, and minutes for 600. */
#define MOST_DRAWN 250

/* The drawing is a convenience: without Graphviz there is a model all the same. */
static void draw(const struct model *model, const char *directory) {
    char *dot = workspace_path(directory, WORKSPACE_DOT);
    char *svg = workspace_path(directory, WORKSPACE_SVG);
    struct error error;
    if (drawing_write_dot(model, dot, &error) < 0)
        log_warning("no drawing model.dot: %s", error.text);
    if (model->n_nodes > MOST_DRAWN) {
        unlink(svg); /* of an earlier model */
        log_note("no drawing model.svg: %zu nodes would take minutes; `persik graph --svg` draws "
                 "them",
                 model->n_nodes);
    } else if (drawing_write_svg(model, svg, &error) < 0) {
        log_warning("no drawing model.svg: %s", error.text);
    }
    free(dot);
    free(svg);
}

static int save(const struct model *model, const struct build_options *options,
                struct error *error) {
    char *path = workspace_path(options->common.directory, WORKSPACE_MODEL);
    int status = model_save(model, path, error);
    free(path);
    if (status == 0 && !options->aside)
        draw(model, options->common.directory);
    return status;
}

/* Why the model is as it is. */
static int save_decisions(struct decision_log *decisions, const char *directory,
                          struct error *error) {
    char *path = workspace_path(directory, WORKSPACE_DECISIONS);
    int status = decision_log_save(decisions, path, error);
    free(path);
    return status;
}

static void tell(const struct build_options *options, const struct model *model) {
    if (options->format == FORMAT_JSON) {
        print_json(model);
    } else if (!options->modelgen.passes.dump_after) {
        text_page_begin();
        print_summary(model);
    }
    warn_of_checks(model);
    log_note("the model is in %s/%s: next, `persik predict --threads N --cores N`",
             options->common.directory, WORKSPACE_MODEL);
}

/* What the recordings with other numbers of threads tell, whose models are built. One that tells
 * nothing leaves the model as it is. */
static void apply_others(struct model *model, const char *directory) {
    int *threads;
    size_t n = workspace_others(directory, &threads);
    for (size_t i = 0; i < n; i++) {
        char *other = workspace_other(directory, threads[i]);
        struct error error;
        if (other_run_apply(model, other, &error) < 0)
            log_warning("%s", error.text);
        free(other);
    }
    free(threads);
}

/* What was found out by simulating the recorded mix holds for another one of the same program: no
 * run of that was recorded that could tell. */
static int complete_mixed(const struct build_options *options, const struct recording *recording,
                          const struct own_run *own_run, struct model *model, struct model *mixed,
                          struct error *error) {
    mixed->checks = model->checks;
    mixed->n_checks = model->n_checks;
    model->checks = NULL;
    model->n_checks = 0;
    mixed->standstill = memory_strdup(model->standstill);
    modelgen_correct(mixed, recording->trace, &recording->reload_costs, &own_run->measured);
    int status = page_cache_refill(mixed, error);
    if (status == 0 && options->also)
        status = other_run_apply(mixed, options->also, error);
    if (status == 0)
        apply_others(mixed, options->common.directory);
    return status;
}

/* The models that were built: of the recorded run, and of another mix of requests (NULL: none is
 * asked for). */
struct built_models {
    struct model *recorded, *mixed;
};

/* 0, EXIT_NO_FIGURES, or -1 and `error`. */
static int check_and_save(const struct build_options *options, const struct recording *recording,
                          const struct own_run *own_run, const struct decision_log *decisions,
                          struct built_models built, struct error *error) {
    struct model *model = built.recorded;
    int status = check_itself(model, own_run, error);
    bool refused = status > 0;
    modelgen_correct(model, recording->trace, &recording->reload_costs, &own_run->measured);
    if (status == 0)
        status = check_untraced(model, own_run, error);
    if (status == 0)
        status = compare_one_core(model, own_run, error);
    if (status == 0 && options->also)
        status = other_run_apply(model, options->also, error);
    if (status == 0)
        apply_others(model, options->common.directory);
    if (status >= 0 && built.mixed) {
        if (complete_mixed(options, recording, own_run, model, built.mixed, error) < 0)
            return -1;
        model = built.mixed;
    }
    struct error second;
    /* One that stalls is kept too: `persik graph` shows what is wrong with it. */
    if (save(model, options, status >= 0 ? error : &second) != 0)
        status = -1;
    if (status >= 0 && options->explain) {
        status = explanation_print(model, decisions, options->explain, error);
    } else if (status >= 0) {
        status = 0;
        if (!options->aside)
            tell(options, model);
    }
    return status == 0 && refused ? EXIT_NO_FIGURES : status;
}

/* 0, EXIT_NO_FIGURES, or -1 and `error`. */
static int build(const struct build_options *options, const struct recording *recording,
                 struct error *error) {
    struct decision_log decisions = {0};
    struct modelgen_options modelgen = options->modelgen;
    modelgen.try_out = try_out;
    struct own_run own_run = {.trace = recording->trace};
    modelgen.context = &own_run;
    modelgen.measured = &own_run.measured;
    modelgen.reload_costs = &recording->reload_costs;
    const struct measured_disks disks = {recording->disks.items, recording->disks.count};
    modelgen.measured_disks = &disks;
    modelgen.dump = stdout;
    modelgen.decisions = &decisions;
    struct built_models built = {0};
    modelgen.file_mix = options->mix.n > 0 ? &options->mix : NULL;
    modelgen.mixed = &built.mixed;
    if (modelgen.passes.stop_after) {
        modelgen.decisions = NULL;
        return modelgen_run_passes(recording->trace, recording->facts, recording->sample, &modelgen,
                                   error);
    }
    built.recorded =
        modelgen_build(recording->trace, recording->facts, recording->sample, &modelgen, error);
    /* what is decided by simulating the model belongs to it, too */
    struct decision_log *outer = decision_log_use(&decisions);
    int status = built.recorded
                     ? check_and_save(options, recording, &own_run, &decisions, built, error)
                     : -1;
    decision_log_use(outer);
    if (status >= 0 && save_decisions(&decisions, options->common.directory, error) < 0)
        status = -1;
    decision_log_free(&decisions);
    model_free(built.recorded);
    model_free(built.mixed);
    return status;
}

/* Names of passes that make no sense end the command with its usage's status. */
static void check_passes(struct build_options *options) {
    struct error error;
    options->modelgen.passes.without = options->without.items;
    options->modelgen.passes.n_without = options->without.count;
    if (modelgen_check_passes(&options->modelgen.passes, &error) < 0)
        usage_error("%s", error.text);
    if (options->modelgen.passes.stop_after && options->explain)
        usage_error("--explain needs a model, which --stop-after leaves unbuilt");
}

/* Of the folder's recording. */
static int build_of(const struct build_options *options, struct error *error) {
    struct recording recording = {0};
    int status = load_recording(options->common.directory, &recording, error);
    if (status == 0 && options->block_log)
        status = tracer_add_block_log(recording.trace, options->block_log, error);
    if (status == 0)
        status = load_disks(options, recording.trace, &recording.disks, error);
    if (status == 0)
        status = build(options, &recording, error);
    free_recording(&recording);
    return status;
}

/* The models of the recordings with other numbers of threads, which that of the first one is
 * compared with. */
static void build_others(const struct build_options *options) {
    if (options->modelgen.passes.stop_after || options->modelgen.passes.dump_after)
        return;
    int *threads;
    size_t n = workspace_others(options->common.directory, &threads);
    for (size_t i = 0; i < n; i++) {
        struct build_options other = *options;
        struct error error;
        char *directory = workspace_other(options->common.directory, threads[i]);
        other.common.directory = directory;
        other.aside = true;
        other.explain = other.also = other.block_log = NULL;
        if (build_of(&other, &error) < 0)
            log_warning("%s", error.text);
        free(directory);
    }
    free(threads);
}

int command_build_model(int argc, char **argv) {
    struct build_options options;
    argp_parse(&build_argp, argc, argv, 0, NULL, &options);
    text_page_end(); /* dumps are no page: only the summary is */
    if (options.list_passes)
        modelgen_list_passes(stdout);
    if (options.list_evidence)
        modelgen_list_evidence(stdout);
    if (options.list_passes || options.list_evidence)
        return 0;
    check_passes(&options);
    umask(077); /* the drawing says as much about the program as the trace does */
    build_others(&options);
    struct error error;
    int status = build_of(&options, &error);
    free(options.without.items);
    free(options.disks.items);
    file_mix_option_free(&options.mix);
    return status < 0 ? command_failed(&error) : status;
}
