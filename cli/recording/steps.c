#include "cli/recording/steps.h"

#include <stdlib.h>

#include "base/log.h"
#include "cli/recording/workspace.h"
#include "formats/facts.h"
#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/modelgen.h"

/* Facts that cannot be read cost names, no more. */
static struct facts *load_facts(const char *directory) {
    struct error error;
    struct facts *facts;
    if (workspace_load_facts(directory, &facts, &error) < 0)
        log_warning("%s; locks and queues are called by where they are used", error.text);
    return facts;
}

static int make(const char *directory, struct steps *steps, struct error *error) {
    struct trace *trace = workspace_load_trace(directory, error);
    if (!trace)
        return -1;
    struct facts *facts = load_facts(directory);
    steps->all = modelgen_dependencies(trace, facts);
    steps->is_new = true;
    facts_free(facts);
    trace_free(trace);
    return 0;
}

/* Without a trace beside it, the file stands for itself. */
static int check_trace(const char *directory, const char *path, const struct dependencies *all,
                       struct error *error) {
    if (!workspace_has(directory, WORKSPACE_TRACE))
        return 0;
    char *of = workspace_path(directory, WORKSPACE_TRACE);
    struct trace *trace = trace_load_header(of, error);
    free(of);
    if (!trace)
        return -1;
    bool is_same = trace->meta.start_real_ns == all->start_real_ns &&
                   trace->meta.records == all->records && trace->meta.run_ns == all->run_ns;
    trace_free(trace);
    return is_same ? 0
                   : error_set(error, "%s: is of another trace than the one beside it: remove it",
                               path);
}

/* Made by an older persik, which saw less in the trace that lies beside it. */
static bool is_outdated(const char *directory, const struct dependencies *all) {
    return all->version < DEPENDENCIES_VERSION && workspace_has(directory, WORKSPACE_TRACE);
}

/* Those that cannot be read leave open what lies between calls, no more. */
static void load_samples(const char *directory, struct steps *steps) {
    struct error error;
    if (!workspace_has(directory, WORKSPACE_SAMPLE))
        return;
    char *path = workspace_path(directory, WORKSPACE_SAMPLE);
    steps->sampled = sample_load(path, &error);
    free(path);
    if (!steps->sampled)
        log_warning("%s; what lies between two calls is not shared out among functions",
                    error.text);
    steps->all->sampled = steps->sampled;
}

static int open_steps(const char *directory, struct steps *steps, struct error *error) {
    if (!workspace_has(directory, WORKSPACE_STEPS))
        return make(directory, steps, error);
    char *path = workspace_path(directory, WORKSPACE_STEPS);
    steps->all = dependencies_load(path, error);
    int status = steps->all ? check_trace(directory, path, steps->all, error) : -1;
    free(path);
    if (status == 0 && !is_outdated(directory, steps->all))
        return 0;
    dependencies_free(steps->all);
    steps->all = NULL;
    return status == 0 ? make(directory, steps, error) : status;
}

int steps_open(const char *directory, struct steps *steps, struct error *error) {
    *steps = (struct steps){0};
    if (open_steps(directory, steps, error) != 0)
        return -1;
    load_samples(directory, steps);
    return 0;
}

void steps_close(const char *directory, struct steps *steps) {
    struct error error;
    char *path = workspace_path(directory, WORKSPACE_STEPS);
    if (steps->is_new && dependencies_save(steps->all, path, &error) != 0)
        log_warning("%s; the next answer takes as long as this one", error.text);
    free(path);
    dependencies_free(steps->all);
    sample_free(steps->sampled);
    *steps = (struct steps){0};
}
