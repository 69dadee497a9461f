#include "modelgen/scaling/other_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/scaling/partition_rule.h"

/* CPU time of equal work differs from run to run. Both rules are told apart all the same: at the
 * least, one thread's work is half of that of two. */
static bool is_same(double one, double other) {
    return fabs(log(one / other)) <= log1p(evidence.same_work);
}

enum partition other_run_rule(struct pool_seen one, struct pool_seen other) {
    if (one.threads == other.threads || one.cpu_ns <= 0 || other.cpu_ns <= 0)
        return PARTITION_UNKNOWN;
    bool total = is_same(one.cpu_ns, other.cpu_ns);
    bool own = is_same(one.cpu_ns / one.threads, other.cpu_ns / other.threads);
    if (total == own)
        return PARTITION_UNKNOWN;
    return total ? PARTITION_FIXED : PARTITION_PERTHREAD;
}

/* The note that its rule is not known, which is no longer true. */
static void drop_note(struct model *model, const struct pool *pool) {
    char *note = memory_format("%s: %s", pool->name, pool->rule ? pool->rule : "");
    size_t kept = 0;
    for (size_t i = 0; i < model->n_notes; i++) {
        if (strcmp(model->notes[i], note) == 0)
            free(model->notes[i]);
        else
            model->notes[kept++] = model->notes[i];
    }
    model->n_notes = kept;
    free(note);
}

static char *runs_text(const char *what, struct pool_seen recorded, struct pool_seen other) {
    return memory_format("%s (%d threads computed %.3g s, %d of another recording %.3g s)", what,
                         recorded.threads, recorded.cpu_ns / 1e9, other.threads,
                         other.cpu_ns / 1e9);
}

void other_run_tells(struct model *model, int p, struct pool_seen other) {
    struct pool *pool = &model->pools[p];
    const struct pool_seen recorded = {pool->profiled_threads, pool->profiled_cpu_ns};
    enum partition rule = other_run_rule(recorded, other);
    drop_note(model, pool);
    struct error unfit; /* some pools cannot follow a rule */
    if (rule != PARTITION_UNKNOWN && partition_rule_change(model, p, rule, &unfit) == 0) {
        free(pool->rule);
        pool->rule = runs_text(rule == PARTITION_FIXED ? "splits a fixed total among its threads"
                                                       : "each thread does the same work",
                               recorded, other);
        pool->confidence = 1 - evidence.rule_doubt; /* the user's word would be certain */
        return;
    }
    pool->partition = PARTITION_UNKNOWN; /* also what was a guess */
    free(pool->rule);
    char *unknown = memory_format("unknown: give --partition %s=shared|fixed|perthread; neither a "
                                  "total nor each thread's own",
                                  pool->name);
    pool->rule = runs_text(unknown, recorded, other);
    free(unknown);
    notes_add(model, "%s: %s", pool->name, pool->rule);
}

bool other_run_refutes(const struct pool *pool, struct pool_seen other, double simulated_ns) {
    bool is_guess = pool->scales && pool->partition != PARTITION_NONE &&
                    pool->partition != PARTITION_UNKNOWN && pool->confidence < 1;
    bool goes_another_way = other.threads == 1 && model_is_said(pool->one_thread);
    return is_guess && !goes_another_way && other.threads != pool->profiled_threads &&
           other.cpu_ns > 0 && simulated_ns > 0 && !is_same(simulated_ns, other.cpu_ns);
}
