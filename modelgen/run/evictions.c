#include "modelgen/run/evictions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/run/timeline.h"

/* Between the moment when the evictor takes a core and that of the switch to it. */
#define SWITCH_NS 60000
/* Of its CPU time, in which a thread has most of its data back. The longer it is followed, the more
 * else differs. */
#define HORIZON_NS 2e6
/* Fewer of a kind, or evictions of a plan, tell nothing. */
#define FEW 5
/* Standard errors by which a cost must differ from none. */
#define CLEARLY 4.0
/* The largest standard error of the share of its data that is a thread's own. */
#define SURE 0.3
/* What differs by more standard deviations is something else. */
#define OUTLIER 6.0
/* Of the lines, less than this share is hard to tell from none. */
#define LEAST_SURVIVED 0.02

uint64_t eviction_role(const struct trace *trace, size_t thread) {
    const struct trace_thread *of = &trace->threads[thread];
    uint64_t role = map_mix_text(1, of->start_routine ? of->start_routine : "");
    if (of->creation_context == TRACE_NO_CONTEXT)
        return role;
    const struct trace_context *calls = &trace->contexts[of->creation_context];
    for (size_t i = 0; i < calls->n_frames; i++) {
        role = map_mix_text(role, calls->frames[i].module ? calls->frames[i].module : "");
        role = map_mix(role, calls->frames[i].offset);
    }
    return role;
}

/* ---- how fast others' lines go ---- */

/* From a look at the lines back to when they were put there. */
struct window {
    uint32_t cpu;
    uint64_t from_ns, to_ns;
    double survived;
    double *ran_ns; /* of each role, on that core */
};

struct windows {
    struct window *items; /* those of a run and a core by time */
    size_t count, capacity;
};

/* Adds what the thread ran in each window. */
static void add_running(const struct trace_thread *thread, size_t role, struct window *windows,
                        size_t n) {
    for (size_t w = 0; w < n; w++) {
        struct window *window = &windows[w];
        size_t low = 0, high = thread->n_slices;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (thread->slices[middle].off_ns <= window->from_ns)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < thread->n_slices && thread->slices[low].on_ns < window->to_ns; low++) {
            const struct trace_slice *slice = &thread->slices[low];
            double from = fmax((double)slice->on_ns, (double)window->from_ns);
            double to = fmin((double)slice->off_ns, (double)window->to_ns);
            if (slice->cpu == window->cpu)
                window->ran_ns[role] += to - from;
        }
    }
}

/* Of one run. */
static void find_windows(const struct trace *trace, const size_t *role_of, size_t n_roles,
                         struct windows *windows) {
    size_t first = windows->count;
    for (size_t i = 1; i < trace->n_evictions; i++) {
        const struct trace_eviction *put = &trace->evictions[i - 1], *look = &trace->evictions[i];
        if (look->kind == EVICTION_PROBE && put->kind == EVICTION_PRIME && put->cpu == look->cpu)
            *VECTOR_ADD(windows) =
                (struct window){look->cpu, put->to_ns, look->from_ns, look->survived,
                                memory_alloc(n_roles, sizeof(double))};
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        add_running(&trace->threads[t], role_of[t], windows->items + first, windows->count - first);
}

/* Least squares of -ln(survived) over the times that each role ran, none below 0. The share itself
 * is what is measured equally well everywhere, so its logarithm counts by the share's square. */
static void fit_displacement(const struct windows *windows, struct refills *refills) {
    size_t n = windows->count < FEW ? 0 : refills->count;
    for (int round = 0; round < 100; round++)
        for (size_t r = 0; r < n; r++) {
            double up = 0, down = 0;
            for (size_t w = 0; w < windows->count; w++) {
                const struct window *window = &windows->items[w];
                double share = fmin(fmax(window->survived, LEAST_SURVIVED), 1);
                double rest = -log(share);
                for (size_t other = 0; other < n; other++)
                    if (other != r)
                        rest -= refills->items[other].displaces_per_ns * window->ran_ns[other];
                up += share * share * window->ran_ns[r] * rest;
                down += share * share * window->ran_ns[r] * window->ran_ns[r];
            }
            refills->items[r].displaces_per_ns = down > 0 ? fmax(up / down, 0) : 0;
        }
}

/* ---- fragments, and evictions in them ---- */

struct fragment {
    uint32_t kind;
    double from_ns, to_ns; /* of its thread's CPU time */
    double calm_ns;        /* up to the first eviction in it, or its length */
    double until_ns;       /* when the thread has done what it does after it, up to the horizon;
                            * NaN: it ends before */
};

/* Fragments between the same two calls, of one role. */
struct kind {
    size_t first, count; /* in work.done, those that were calm the shortest first */
    double mean_ns;      /* of a fragment */
    double variance;     /* with what follows */
    double *sums;        /* of the times from each one of these on; count + 1 */
};

/* One of a kind. */
struct done {
    double calm_ns, all_ns; /* ... with what follows */
};

/* What may cost something: evictions of each plan, those whose victim went on on another core, and
 * what is not to be counted on. */
enum { MOVED = EVICTION_PLANS, OTHER, N_COSTS };

struct eviction_event {
    size_t plan; /* or MOVED, OTHER */
    size_t fragment;
    double at_ns; /* of its thread's CPU time */
    double away_ns;
};

struct work {
    const struct trace *trace;
    size_t n_plans;
    uint64_t planned_ns[EVICTION_PLANS];
    struct {
        struct fragment *items;
        size_t count, capacity;
    } fragments;        /* by thread, then by time */
    size_t *thread_end; /* per thread: the first fragment after its own */
    struct {
        struct eviction_event *items;
        size_t count, capacity;
    } events;            /* likewise */
    size_t *first_event; /* per thread, and one more */
    struct map kind_ids;
    size_t n_kinds;
    struct kind *kinds;
    struct done *done;
};

static void find_plans(struct work *work) {
    for (size_t i = 0; i < work->trace->n_evictions; i++) {
        const struct trace_eviction *eviction = &work->trace->evictions[i];
        size_t p = 0;
        while (p < work->n_plans && work->planned_ns[p] < eviction->planned_ns)
            p++;
        bool known = p < work->n_plans && work->planned_ns[p] == eviction->planned_ns;
        if (eviction->kind != EVICTION_HOLD || known || work->n_plans == EVICTION_PLANS)
            continue;
        for (size_t i2 = work->n_plans++; i2 > p; i2--)
            work->planned_ns[i2] = work->planned_ns[i2 - 1];
        work->planned_ns[p] = eviction->planned_ns;
    }
}

/* The eviction that made the thread leave its core at the end of the slice. */
static const struct trace_eviction *find_eviction(const struct trace *trace,
                                                  const struct trace_slice *slice) {
    size_t low = 0, high = trace->n_evictions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct trace_eviction *eviction = &trace->evictions[middle];
        if (eviction->cpu < slice->cpu ||
            (eviction->cpu == slice->cpu && eviction->from_ns + SWITCH_NS < slice->off_ns))
            low = middle + 1;
        else
            high = middle;
    }
    const struct trace_eviction *eviction = &trace->evictions[low];
    bool fits = low < trace->n_evictions && eviction->cpu == slice->cpu &&
                eviction->from_ns < slice->off_ns + SWITCH_NS;
    return fits ? eviction : NULL;
}

static size_t plan_of(const struct work *work, const struct trace_eviction *eviction,
                      const struct trace_slice *back) {
    if (eviction->kind != EVICTION_HOLD)
        return OTHER;
    if (back->cpu != eviction->cpu)
        return MOVED;
    size_t p = 0;
    while (p < work->n_plans && work->planned_ns[p] != eviction->planned_ns)
        p++;
    return p < work->n_plans ? p : OTHER;
}

static void find_events(struct work *work, size_t t, const struct timeline *timeline) {
    const struct trace_thread *thread = &work->trace->threads[t];
    size_t fragment = t ? work->thread_end[t - 1] : 0, end = work->thread_end[t];
    for (size_t s = 0; s + 1 < thread->n_slices; s++) {
        const struct trace_slice *slice = &thread->slices[s];
        const struct trace_eviction *eviction =
            slice->preempted ? find_eviction(work->trace, slice) : NULL;
        if (!eviction)
            continue;
        double at_ns = timeline_cpu(timeline, slice->off_ns);
        while (fragment < end && work->fragments.items[fragment].to_ns <= at_ns)
            fragment++;
        struct fragment *in = &work->fragments.items[fragment];
        if (fragment == end || in->from_ns > at_ns)
            continue;
        in->calm_ns = fmin(in->calm_ns, at_ns - in->from_ns);
        *VECTOR_ADD(&work->events) =
            (struct eviction_event){plan_of(work, eviction, slice + 1), fragment, at_ns,
                                    (double)(slice[1].on_ns - slice->off_ns)};
    }
}

static void find_fragments(struct work *work, size_t t, uint64_t role,
                           const struct timeline *timeline) {
    const struct trace_thread *thread = &work->trace->threads[t];
    for (size_t r = 0; r + 1 < thread->n_records; r++) {
        const struct trace_record *before = &thread->records[r], *after = before + 1;
        uint64_t key = map_mix(map_mix(map_mix(role, before->context), before->api),
                               (uint64_t)after->context << 16 | after->api);
        int kind = map_get(&work->kind_ids, key, -1);
        if (kind < 0) {
            kind = (int)work->n_kinds++;
            map_put(&work->kind_ids, key, kind);
        }
        double from_ns = timeline_cpu(timeline, trace_end_ns(before));
        double to_ns = timeline_cpu(timeline, after->start_ns);
        *VECTOR_ADD(&work->fragments) = (struct fragment){
            .kind = (uint32_t)kind, .from_ns = from_ns, .to_ns = to_ns, .calm_ns = to_ns - from_ns};
    }
    work->thread_end[t] = work->fragments.count;
}

static double length(const struct fragment *fragment) {
    return fragment->to_ns - fragment->from_ns;
}

static void average_kinds(struct work *work) {
    work->kinds = memory_alloc(work->n_kinds, sizeof *work->kinds);
    for (size_t f = 0; f < work->fragments.count; f++) {
        const struct fragment *fragment = &work->fragments.items[f];
        struct kind *kind = &work->kinds[fragment->kind];
        kind->mean_ns += (length(fragment) - kind->mean_ns) / (double)++kind->count;
    }
}

/* What follows is as many fragments as usually take the horizon, from the middle of this one: how
 * long they take this time must not decide how many are looked at. */
static void look_ahead(struct work *work, size_t first, size_t end) {
    double ahead_ns = 0;
    size_t next = first;
    for (size_t f = first; f < end; f++) {
        if (next <= f)
            next = f + 1;
        else
            ahead_ns -= work->kinds[work->fragments.items[f].kind].mean_ns;
        double needed_ns = HORIZON_NS - work->kinds[work->fragments.items[f].kind].mean_ns / 2;
        for (; next < end && ahead_ns < needed_ns; next++)
            ahead_ns += work->kinds[work->fragments.items[next].kind].mean_ns;
        work->fragments.items[f].until_ns =
            ahead_ns < needed_ns ? NAN : work->fragments.items[next - 1].to_ns;
    }
}

static int compare_done(const void *a, const void *b) {
    const struct done *x = a, *y = b;
    return (x->calm_ns > y->calm_ns) - (x->calm_ns < y->calm_ns);
}

static void sort_kind(const struct work *work, struct kind *kind) {
    struct done *done = &work->done[kind->first];
    qsort(done, kind->count, sizeof *done, compare_done);
    const double *all_ns = &done[0].all_ns;
    size_t stride = sizeof *done / sizeof *all_ns;
    kind->variance = kind->count > 1 ? gsl_stats_variance(all_ns, stride, kind->count) : 0;
    kind->sums = memory_alloc(kind->count + 1, sizeof *kind->sums);
    for (size_t i = kind->count; i-- > 0;)
        kind->sums[i] = kind->sums[i + 1] + done[i].all_ns;
}

static void sort_kinds(struct work *work) {
    work->done = memory_alloc(work->fragments.count + 1, sizeof *work->done);
    size_t first = 0;
    for (size_t k = 0; k < work->n_kinds; k++) {
        work->kinds[k].first = first;
        first += work->kinds[k].count;
        work->kinds[k].count = 0;
    }
    for (size_t f = 0; f < work->fragments.count; f++) {
        const struct fragment *fragment = &work->fragments.items[f];
        struct kind *kind = &work->kinds[fragment->kind];
        if (!isnan(fragment->until_ns))
            work->done[kind->first + kind->count++] =
                (struct done){fragment->calm_ns, fragment->until_ns - fragment->from_ns};
    }
    for (size_t k = 0; k < work->n_kinds; k++)
        sort_kind(work, &work->kinds[k]);
}

static struct work divide_work(const struct trace *trace) {
    struct work work = {.trace = trace};
    work.thread_end = memory_alloc(trace->n_threads, sizeof *work.thread_end);
    work.first_event = memory_alloc(trace->n_threads + 1, sizeof *work.first_event);
    find_plans(&work);
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct timeline timeline = timeline_make(&trace->threads[t]);
        find_fragments(&work, t, eviction_role(trace, t), &timeline);
        work.first_event[t] = work.events.count;
        find_events(&work, t, &timeline);
        timeline_free(&timeline);
    }
    work.first_event[trace->n_threads] = work.events.count;
    average_kinds(&work);
    for (size_t t = 0; t < trace->n_threads; t++)
        look_ahead(&work, t ? work.thread_end[t - 1] : 0, work.thread_end[t]);
    sort_kinds(&work);
    return work;
}

static void free_work(struct work *work) {
    for (size_t k = 0; k < work->n_kinds; k++)
        free(work->kinds[k].sums);
    free(work->kinds);
    free(work->done);
    free(work->fragments.items);
    free(work->events.items);
    free(work->thread_end);
    free(work->first_event);
    map_free(&work->kind_ids);
}

/* ---- what evictions cost ---- */

/* After one eviction: CPU more than expected, and evictions more than expected. */
struct excess {
    size_t fragment;
    double cpu_ns, variance, away_ns;
    double evictions[N_COSTS];
    size_t plan;
};

struct excesses {
    struct excess *items;
    size_t count, capacity;
};

/* What the rest of a fragment that has taken `age_ns` so far without an eviction, and what follows,
 * take on the average. NaN: too few of its kind got so far. */
static double expected_rest(const struct work *work, const struct kind *kind, double age_ns) {
    const struct done *done = &work->done[kind->first];
    size_t low = 0, high = kind->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (done[middle].calm_ns <= age_ns)
            low = middle + 1;
        else
            high = middle;
    }
    size_t longer = kind->count - low;
    return longer < FEW ? NAN : kind->sums[low] / (double)longer - age_ns;
}

/* After event number `e`. `rates`: evictions per CPU ns. False: nothing is to be expected. */
static bool measure_excess(const struct work *work, size_t e, size_t end_event, const double *rates,
                           struct excess *excess) {
    const struct eviction_event *event = &work->events.items[e];
    const struct fragment *fragment = &work->fragments.items[event->fragment];
    const struct kind *kind = &work->kinds[fragment->kind];
    double expected_ns = expected_rest(work, kind, event->at_ns - fragment->from_ns);
    if (isnan(expected_ns) || isnan(fragment->until_ns))
        return false;
    double limit_ns = OUTLIER * sqrt(kind->variance);
    double excess_ns = fragment->until_ns - event->at_ns - expected_ns;
    *excess = (struct excess){.fragment = event->fragment,
                              .cpu_ns = fmin(fmax(excess_ns, -limit_ns), limit_ns),
                              .variance = kind->variance,
                              .away_ns = event->away_ns,
                              .plan = event->plan};
    for (size_t p = 0; p < N_COSTS; p++)
        excess->evictions[p] = -rates[p] * expected_ns;
    for (; e < end_event && work->events.items[e].at_ns < fragment->until_ns; e++)
        excess->evictions[work->events.items[e].plan]++;
    return true;
}

/* Of the role's threads, in one run. */
static void measure_excesses(const struct work *work, const size_t *role_of, size_t role,
                             struct excesses *excesses) {
    const struct trace *trace = work->trace;
    double rates[N_COSTS] = {0}, cpu_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (role_of[t] != role)
            continue;
        for (size_t f = t ? work->thread_end[t - 1] : 0; f < work->thread_end[t]; f++)
            cpu_ns += length(&work->fragments.items[f]);
        for (size_t e = work->first_event[t]; e < work->first_event[t + 1]; e++)
            rates[work->events.items[e].plan]++;
    }
    for (size_t p = 0; p < N_COSTS && cpu_ns > 0; p++)
        rates[p] /= cpu_ns;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t e = work->first_event[t]; role_of[t] == role && e < work->first_event[t + 1];
             e++) {
            struct excess excess;
            if (measure_excess(work, e, work->first_event[t + 1], rates, &excess))
                *VECTOR_ADD(excesses) = excess;
        }
}

struct costs {
    bool known;
    double mean_ns[N_COSTS], variance[N_COSTS];
};

/* What a row counts: those of kinds that are all alike tell most. */
static double weight_of(const struct excess *excess) {
    const double least = 1e5; /* ns: nothing is alike beyond this */
    return 1 / (excess->variance + least * least);
}

/* Rows of one fragment tell of the same work: their errors add up. */
static void add_variances(const struct excesses *excesses, const gsl_matrix *inverse,
                          struct costs *costs) {
    double part[N_COSTS] = {0};
    for (size_t i = 0; i < excesses->count; i++) {
        const struct excess *row = &excesses->items[i];
        double residual = row->cpu_ns;
        for (size_t p = 0; p < N_COSTS; p++)
            residual -= row->evictions[p] * costs->mean_ns[p];
        bool is_last = i + 1 == excesses->count || row[1].fragment != row->fragment;
        for (size_t p = 0; p < N_COSTS; p++) {
            part[p] += weight_of(row) * gsl_matrix_get(inverse, p, row->plan) * residual;
            costs->variance[p] += is_last ? part[p] * part[p] : 0;
            part[p] = is_last ? 0 : part[p];
        }
    }
}

/* Costs such that the excesses after evictions of each plan are those of the evictions in them, on
 * the average: sum over rows of a plan w * (cpu - evictions . costs) = 0. */
static struct costs solve(const struct excesses *excesses, const bool *used) {
    struct costs costs = {.known = true};
    gsl_matrix *sums = gsl_matrix_calloc(N_COSTS, N_COSTS);
    gsl_vector *excess = gsl_vector_calloc(N_COSTS), *solution = gsl_vector_alloc(N_COSTS);
    for (size_t i = 0; i < excesses->count; i++) {
        const struct excess *row = &excesses->items[i];
        double weight = weight_of(row);
        *gsl_vector_ptr(excess, row->plan) += weight * row->cpu_ns;
        for (size_t p = 0; p < N_COSTS; p++)
            *gsl_matrix_ptr(sums, row->plan, p) += used[p] ? weight * row->evictions[p] : 0;
    }
    for (size_t p = 0; p < N_COSTS; p++)
        if (!used[p]) { /* costs nothing, by definition */
            for (size_t other = 0; other < N_COSTS; other++)
                gsl_matrix_set(sums, p, other, p == other);
            gsl_vector_set(excess, p, 0);
        }
    gsl_permutation *order = gsl_permutation_alloc(N_COSTS);
    gsl_matrix *inverse = gsl_matrix_alloc(N_COSTS, N_COSTS);
    int sign;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    costs.known = gsl_linalg_LU_decomp(sums, order, &sign) == GSL_SUCCESS &&
                  gsl_linalg_LU_solve(sums, order, excess, solution) == GSL_SUCCESS &&
                  gsl_linalg_LU_invert(sums, order, inverse) == GSL_SUCCESS;
    gsl_set_error_handler(handler);
    for (size_t p = 0; costs.known && p < N_COSTS; p++)
        costs.mean_ns[p] = gsl_vector_get(solution, p);
    if (costs.known)
        add_variances(excesses, inverse, &costs);
    gsl_matrix_free(inverse);
    gsl_permutation_free(order);
    gsl_vector_free(solution);
    gsl_vector_free(excess);
    gsl_matrix_free(sums);
    return costs;
}

/* Neighbours that would cost less the longer the thread is away are taken together. */
static void make_monotonous(struct refill *refill, double *weights) {
    double mean[EVICTION_PLANS], weight[EVICTION_PLANS];
    size_t members[EVICTION_PLANS], blocks = 0;
    for (size_t i = 0; i < refill->n_points; i++) {
        mean[blocks] = refill->points[i].cpu_ns;
        weight[blocks] = weights[i];
        members[blocks++] = 1;
        while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
            double sum = weight[blocks - 2] + weight[blocks - 1];
            mean[blocks - 2] =
                (mean[blocks - 2] * weight[blocks - 2] + mean[blocks - 1] * weight[blocks - 1]) /
                sum;
            weight[blocks - 2] = sum;
            members[blocks - 2] += members[blocks - 1];
            blocks--;
        }
    }
    for (size_t block = 0, i = 0; block < blocks; block++)
        for (size_t m = 0; m < members[block]; m++)
            refill->points[i++].cpu_ns = fmax(mean[block], 0);
}

static double median_away(const struct excesses *excesses, size_t plan, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < excesses->count; i++)
        if (excesses->items[i].plan == plan)
            scratch[n++] = excesses->items[i].away_ns;
    gsl_sort(scratch, 1, n);
    return n < FEW ? NAN : gsl_stats_median_from_sorted_data(scratch, 1, n);
}

/* Who is moved to another core finds what is its own nowhere near, and what it shares with the
 * thread that runs there in that core's cache: evictions take both, threads that do the same take
 * the first. */
static void leave_out_shared(struct refill *refill, const struct costs *costs, double away_ns) {
    double whole_ns = model_refill_ns(refill->points, refill->n_points, away_ns);
    double own = costs->mean_ns[MOVED] / whole_ns;
    if (sqrt(costs->variance[MOVED]) > SURE * whole_ns)
        return;
    for (size_t i = 0; i < refill->n_points; i++)
        refill->points[i].cpu_ns *= fmin(fmax(own, 0), 1);
    if (own <= 0)
        refill->n_points = 0;
}

/* Leaves the refill without points where nothing can be told. */
static void estimate(const struct excesses *excesses, struct refill *refill) {
    bool used[N_COSTS] = {false};
    double away_ns[N_COSTS] = {0}, weights[EVICTION_PLANS], sum = 0, weighted = 0;
    double *scratch = memory_alloc(excesses->count, sizeof *scratch);
    for (size_t p = 0; p < N_COSTS; p++) {
        away_ns[p] = median_away(excesses, p, scratch);
        used[p] = !isnan(away_ns[p]);
    }
    free(scratch);
    struct costs costs = solve(excesses, used);
    for (size_t p = 0; p < EVICTION_PLANS && costs.known; p++) {
        bool longer =
            refill->n_points == 0 || away_ns[p] > refill->points[refill->n_points - 1].away_ns;
        if (!used[p] || !longer || costs.variance[p] <= 0)
            continue;
        weights[refill->n_points] = 1 / costs.variance[p];
        sum += 1 / costs.variance[p];
        weighted += costs.mean_ns[p] / costs.variance[p];
        refill->points[refill->n_points++] = (struct refill_point){away_ns[p], costs.mean_ns[p]};
    }
    if (refill->n_points == 0 || weighted / sum < CLEARLY / sqrt(sum)) {
        refill->n_points = 0;
        return;
    }
    make_monotonous(refill, weights);
    if (used[MOVED])
        leave_out_shared(refill, &costs, away_ns[MOVED]);
}

/* ---- all of it ---- */

/* Of a run's threads, allocated; new ones are added. */
static size_t *number_roles(const struct trace *trace, struct map *numbers,
                            struct refills *refills) {
    size_t *role_of = memory_alloc(trace->n_threads, sizeof *role_of);
    for (size_t t = 0; t < trace->n_threads; t++) {
        uint64_t role = eviction_role(trace, t);
        int number = map_get(numbers, role, -1);
        if (number < 0) {
            number = (int)refills->count;
            map_put(numbers, role, number);
            *VECTOR_ADD(refills) = (struct refill){.role = role};
        }
        role_of[t] = (size_t)number;
    }
    return role_of;
}

/* A team's threads spin for each other: what they take between two calls is not all their work. */
static bool has_team(const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (api_is_openmp((enum api)trace->threads[t].records[r].api))
                return true;
    return false;
}

static void measure_run(const struct trace *trace, const size_t *role_of, size_t n_roles,
                        struct windows *windows, struct excesses *excesses) {
    if (trace->n_evictions == 0 || !trace->meta.has_slices || has_team(trace))
        return;
    find_windows(trace, role_of, n_roles, windows);
    struct work work = divide_work(trace);
    for (size_t r = 0; r < n_roles; r++)
        measure_excesses(&work, role_of, r, &excesses[r]);
    free_work(&work);
}

struct refills evictions_measure(struct trace *const *runs, size_t n_runs) {
    struct refills refills = {0};
    struct map numbers = MAP_EMPTY;
    size_t **role_of = memory_alloc(n_runs, sizeof(size_t *));
    for (size_t i = 0; i < n_runs; i++)
        role_of[i] = number_roles(runs[i], &numbers, &refills);
    struct windows windows = {0};
    struct excesses *excesses = memory_alloc(refills.count, sizeof *excesses);
    for (size_t i = 0; i < n_runs; i++)
        measure_run(runs[i], role_of[i], refills.count, &windows, excesses);
    fit_displacement(&windows, &refills);
    for (size_t r = 0; r < refills.count; r++) {
        estimate(&excesses[r], &refills.items[r]);
        free(excesses[r].items);
    }
    for (size_t w = 0; w < windows.count; w++)
        free(windows.items[w].ran_ns);
    for (size_t i = 0; i < n_runs; i++)
        free(role_of[i]);
    free(role_of);
    free(windows.items);
    free(excesses);
    map_free(&numbers);
    return refills;
}
