#include "cli/prediction/path_candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/prediction/path_interval.h"

/* ---- changes ---- */

/* What is made, and room for one more. */
struct made {
    const struct path_question *question;
    struct scale *scales;
    size_t n;
    int cores;
};

static struct made made_of(const struct path_question *question, size_t room) {
    struct made made = {question, memory_alloc(question->n_made + room, sizeof(struct scale)),
                        question->n_made, question->cores};
    if (question->n_made > 0)
        memcpy(made.scales, question->made, question->n_made * sizeof *made.scales);
    return made;
}

/* A factor of the waiting for a limit that there are more of: half of it, twice as many. More cores
 * than threads change nothing. */
static double limit_at(const struct made *made, const struct candidate *candidate, double factor) {
    double most = candidate->is_cores ? (double)made->question->all->n_threads : INFINITY;
    double before = candidate->is_cores && made->cores > 0 ? made->cores : candidate->limit;
    double wanted = factor > 0 ? before / factor : INFINITY;
    return fmax(before, isfinite(wanted) ? fmin(round(wanted), most) : most);
}

/* Makes it; false: with this factor it is as it was. */
static bool make(struct made *made, const struct candidate *candidate, double factor) {
    if (candidate->is_cores) {
        int before = made->cores > 0 ? made->cores : (int)candidate->limit;
        made->cores = (int)limit_at(made, candidate, factor);
        return made->cores != before;
    }
    bool is_limit = isfinite(candidate->limit);
    double value = is_limit ? limit_at(made, candidate, factor) : factor;
    made->scales[made->n++] =
        (struct scale){.of = candidate->of, .name = candidate->name, .factor = value};
    return !is_limit || value != candidate->limit;
}

static struct what_if predict(struct made *made) {
    return critical_path_predict(made->question->all, made->scales, made->n, made->cores);
}

/* The run with what is made and this, too. NAN: it changes nothing. */
static struct what_if try(struct made made, const struct candidate *candidate, double factor) {
    bool changes = make(&made, candidate, factor);
    return changes ? predict(&made) : (struct what_if){.rescheduled_ns = NAN};
}

/* ---- the best ---- */

struct tried {
    const struct candidate *candidate;
    double half_ns; /* the run if it takes half, ... */
    long left;      /* ... in thousandths of the recorded one */
};

/* Within a thousandth they gain the same: the first one, as the candidates stand. */
static int compare_tried(const void *left, const void *right) {
    const struct tried *a = left, *b = right;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    return a->candidate < b->candidate ? -1 : 1;
}

/* By what the run takes if each takes half, the best first; those that then change nothing are left
 * out. The caller frees. */
static struct tried *try_all(const struct made *made, const struct candidate *candidates,
                             size_t n_candidates, size_t *n) {
    struct tried *tried = memory_alloc(n_candidates, sizeof *tried);
    double run_ns = made->question->path->checks.traced_ns;
    *n = 0;
    for (size_t c = 0; c < n_candidates; c++) {
        double half_ns = try(*made, &candidates[c], 0.5).rescheduled_ns;
        if (isfinite(half_ns))
            tried[(*n)++] =
                (struct tried){&candidates[c], half_ns, lround(1000 * half_ns / run_ns)};
    }
    if (*n > 0)
        qsort(tried, *n, sizeof *tried, compare_tried);
    return tried;
}

/* As --scale, --set and --cores name it; the caller frees. */
static char *name_of(const struct candidate *candidate) {
    static const char *const kinds[] = {
        [SCALE_COMPUTING] = "",    [SCALE_SLEEPS] = "sleep:", [SCALE_DEVICE] = "io:",
        [SCALE_HOLDING] = "lock:", [SET_CAPACITY] = "",       [SET_PERMITS] = ""};
    if (candidate->is_cores)
        return memory_strdup(candidate->name);
    return memory_format("%s%s%s", kinds[candidate->of], candidate->name,
                         candidate->of == SET_CAPACITY  ? ".capacity"
                         : candidate->of == SET_PERMITS ? ".permits"
                                                        : "");
}

static const struct table_column candidate_columns[] = {
    {"candidate", "what"},         {"gain_10_share", "10 % less"}, {"gain_10_low_share", NULL},
    {"gain_10_high_share", NULL},  {"gain_25_share", "25 % less"}, {"gain_25_low_share", NULL},
    {"gain_25_high_share", NULL},  {"gain_50_share", "half"},      {"gain_50_low_share", NULL},
    {"gain_50_high_share", NULL},  {"gain_100_share", "gone"},     {"gain_100_low_share", NULL},
    {"gain_100_high_share", NULL},
};

static const double factors[] = {0.9, 0.75, 0.5, 0};

static void add_gain(struct table *table, const struct made *made, const struct what_if *predicted,
                     double unchanged_ns) {
    double gain = 1 - predicted->rescheduled_ns / unchanged_ns;
    double half = path_half_width(&made->question->path->checks, predicted, NULL) / unchanged_ns;
    bool is_known = isfinite(gain);
    table_add_share_range(table, gain, is_known ? gain - half : NAN,
                          is_known ? fmin(gain + half, 1) : NAN);
}

struct table *path_candidates(const struct path_question *question, size_t most) {
    struct table *table =
        table_new(candidate_columns, sizeof candidate_columns / sizeof *candidate_columns);
    TABLE_SPARE(table, "gain_25_share", "gain_10_share");
    struct made made = made_of(question, 1);
    double unchanged_ns = predict(&made).rescheduled_ns;
    size_t n_candidates, n;
    struct candidate *candidates =
        critical_path_candidates(question->path, question->all, &n_candidates);
    struct tried *tried = try_all(&made, candidates, n_candidates, &n);
    for (size_t i = 0; i < n && i < most; i++) {
        char *name = name_of(tried[i].candidate);
        table_add_text(table, name);
        free(name);
        for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
            struct what_if predicted = try(made, tried[i].candidate, factors[f]);
            add_gain(table, &made, &predicted, unchanged_ns);
        }
    }
    free(tried);
    free(candidates);
    free(made.scales);
    return table;
}

/* ---- one after the other ---- */

static const struct table_column chain_columns[] = {
    {"step", "step"},         {"bottleneck", "bottleneck"}, {"becomes", "becomes"},
    {"left_ns", "run takes"}, {"half_width_ns", "+-"},      {"gain_share", "gain"},
};

static void add_link(struct table *table, const struct made *made, const char *name, double becomes,
                     const struct what_if *predicted, double before_ns) {
    table_add_integer(table, (long)table_rows(table));
    table_add_text(table, name);
    table_add_number(table, becomes, UNIT_NONE);
    table_add_number(table, predicted->rescheduled_ns, UNIT_TIME);
    table_add_number(table, path_half_width(&made->question->path->checks, predicted, NULL),
                     UNIT_TIME);
    table_add_signed_share(table, 1 - predicted->rescheduled_ns / before_ns);
}

/* Makes what gains most now; what becomes of it. False: nothing gains. */
static bool find_next(struct made *made, const struct candidate *candidates, size_t n_candidates,
                      double now_ns, double factor, char **name, double *becomes) {
    size_t n;
    struct tried *tried = try_all(made, candidates, n_candidates, &n);
    bool gains = n > 0 && tried[0].half_ns < now_ns * (1 - judgement.path_gains);
    if (gains) {
        const struct candidate *best = tried[0].candidate;
        *name = name_of(best);
        make(made, best, factor);
        *becomes = best->is_cores ? made->cores : made->scales[made->n - 1].factor;
    }
    free(tried);
    return gains;
}

struct table *path_chain(const struct path_question *question, size_t steps, double factor) {
    struct table *table = table_new(chain_columns, sizeof chain_columns / sizeof *chain_columns);
    struct made made = made_of(question, steps + 1);
    struct what_if predicted = predict(&made);
    add_link(table, &made, NULL, NAN, &predicted, predicted.rescheduled_ns);
    size_t n_candidates;
    struct candidate *candidates =
        critical_path_candidates(question->path, question->all, &n_candidates);
    for (size_t i = 0; i < steps; i++) {
        double now_ns = predicted.rescheduled_ns, becomes;
        char *name;
        if (!find_next(&made, candidates, n_candidates, now_ns, factor, &name, &becomes))
            break;
        predicted = predict(&made);
        add_link(table, &made, name, becomes, &predicted, now_ns);
        free(name);
    }
    free(candidates);
    free(made.scales);
    return table;
}
