#include "modelgen/calibrate/cache_reload_fragments.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_statistics_double.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/events/thread_states.h"

/* Between the moment when the evictor takes a core and that of the switch to it. */
#define SWITCH_NS 60000

uint64_t fragments_role(const struct trace *trace, size_t thread) {
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

static void find_plans(struct fragments *work) {
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

/* The core's first eviction after the slice; NULL: none. */
static const struct trace_eviction *next_eviction(const struct trace *trace,
                                                  const struct trace_slice *slice) {
    struct bisection at = bisection_of(0, trace->n_evictions);
    while (bisection_next(&at)) {
        const struct trace_eviction *eviction = &trace->evictions[at.middle];
        bisection_tell(&at, eviction->cpu < slice->cpu ||
                                (eviction->cpu == slice->cpu &&
                                 eviction->from_ns + SWITCH_NS < slice->off_ns));
    }
    bool found = at.low < trace->n_evictions && trace->evictions[at.low].cpu == slice->cpu;
    return found ? &trace->evictions[at.low] : NULL;
}

/* Why it may cost the thread something to go on with `back`. The eviction is the core's first since
 * `slice`, if any. N_COSTS: it does not. */
static size_t plan_of(const struct fragments *work, const struct trace_eviction *eviction,
                      const struct trace_slice *slice, const struct trace_slice *back) {
    bool is_over = eviction && eviction->from_ns < back->on_ns && back->cpu == slice->cpu;
    bool is_victim = eviction && slice->preempted && eviction->from_ns < slice->off_ns + SWITCH_NS;
    if (!is_victim)
        return is_over                                                     ? COST_WAITED
               : !slice->preempted                                         ? N_COSTS
               : (double)(back->on_ns - slice->off_ns) < FRAGMENTS_TURN_NS ? COST_SHORT
                                                                           : COST_TURN;
    if (eviction->kind != EVICTION_HOLD)
        return COST_OTHER;
    if (back->cpu != eviction->cpu)
        return COST_MOVED;
    size_t p = 0;
    while (p < work->n_plans && work->planned_ns[p] != eviction->planned_ns)
        p++;
    return p < work->n_plans ? p : COST_OTHER;
}

/* Did threads that do the same have the core for most of the time until the thread came back? */
static bool is_turn_of_its_like(const struct fragments *work, size_t t,
                                const struct trace_slice *slice, const struct trace_slice *back) {
    double theirs_ns = 0;
    for (size_t other = 0; other < work->trace->n_threads; other++) {
        const struct trace_thread *thread = &work->trace->threads[other];
        if (other == t || work->roles[other] != work->roles[t])
            continue;
        for (size_t s = trace_slice_after(thread, slice->off_ns);
             s < thread->n_slices && thread->slices[s].on_ns < back->on_ns; s++)
            if (thread->slices[s].cpu == slice->cpu)
                theirs_ns += fmin((double)thread->slices[s].off_ns, (double)back->on_ns) -
                             fmax((double)thread->slices[s].on_ns, (double)slice->off_ns);
    }
    return theirs_ns > (double)(back->on_ns - slice->off_ns) / 2;
}

static void find_disturbances(struct fragments *work, size_t t,
                              const struct thread_states *timeline) {
    const struct trace_thread *thread = &work->trace->threads[t];
    size_t fragment = t ? work->thread_end[t - 1] : 0, end = work->thread_end[t];
    for (size_t s = 0; s + 1 < thread->n_slices; s++) {
        const struct trace_slice *slice = &thread->slices[s];
        const struct trace_eviction *eviction = next_eviction(work->trace, slice);
        size_t plan = plan_of(work, eviction, slice, slice + 1);
        if (plan == N_COSTS)
            continue;
        if (plan == COST_TURN && !is_turn_of_its_like(work, t, slice, slice + 1))
            plan = COST_OTHER;
        double at_ns = thread_states_cpu(timeline, slice->off_ns);
        while (fragment < end && work->fragments.items[fragment].to_ns <= at_ns)
            fragment++;
        if (fragment == end)
            break;
        struct fragment *in = &work->fragments.items[fragment];
        if (in->from_ns > at_ns && plan != COST_WAITED)
            continue;
        at_ns = fmax(at_ns, in->from_ns); /* who comes back in a call pays for it afterwards */
        in->calm_ns = fmin(in->calm_ns, at_ns - in->from_ns);
        *VECTOR_ADD(&work->disturbances) =
            (struct disturbance){plan, fragment, at_ns, (double)(slice[1].on_ns - slice->off_ns)};
    }
}

static void find_fragments(struct fragments *work, size_t t, const struct thread_states *timeline) {
    const struct trace_thread *thread = &work->trace->threads[t];
    for (size_t r = 0; r + 1 < thread->n_records; r++) {
        const struct trace_record *before = &thread->records[r], *after = before + 1;
        uint64_t key = map_mix(map_mix(map_mix(work->roles[t], before->context), before->api),
                               (uint64_t)after->context << 16 | after->api);
        int kind = map_get(&work->kind_ids, key, -1);
        if (kind < 0) {
            kind = (int)work->n_kinds++;
            map_put(&work->kind_ids, key, kind);
        }
        double from_ns = thread_states_cpu(timeline, trace_end_ns(before));
        double to_ns = thread_states_cpu(timeline, after->start_ns);
        *VECTOR_ADD(&work->fragments) = (struct fragment){
            .kind = (uint32_t)kind, .from_ns = from_ns, .to_ns = to_ns, .calm_ns = to_ns - from_ns};
    }
    work->thread_end[t] = work->fragments.count;
}

static void average_kinds(struct fragments *work) {
    work->kinds = memory_alloc(work->n_kinds, sizeof *work->kinds);
    for (size_t f = 0; f < work->fragments.count; f++) {
        const struct fragment *fragment = &work->fragments.items[f];
        struct fragment_kind *kind = &work->kinds[fragment->kind];
        kind->mean_ns +=
            (fragment->to_ns - fragment->from_ns - kind->mean_ns) / (double)++kind->all;
    }
    for (size_t d = 0; d < work->disturbances.count; d++) {
        size_t fragment = work->disturbances.items[d].fragment;
        work->kinds[work->fragments.items[fragment].kind].asked = true;
    }
}

/* What follows is as many fragments as usually take the horizon, from the middle of this one: how
 * long they take this time must not decide how many are looked at. */
static void look_ahead(struct fragments *work, size_t first, size_t end) {
    double ahead_ns = 0;
    size_t next = first;
    for (size_t f = first; f < end; f++) {
        if (next <= f)
            next = f + 1;
        else
            ahead_ns -= work->kinds[work->fragments.items[f].kind].mean_ns;
        double needed_ns =
            FRAGMENTS_HORIZON_NS - work->kinds[work->fragments.items[f].kind].mean_ns / 2;
        for (; next < end && ahead_ns < needed_ns; next++)
            ahead_ns += work->kinds[work->fragments.items[next].kind].mean_ns;
        work->fragments.items[f].until_ns =
            ahead_ns < needed_ns ? NAN : work->fragments.items[next - 1].to_ns;
    }
}

static int compare_done(const void *a, const void *b) {
    const struct fragment_done *x = a, *y = b;
    return (x->calm_ns > y->calm_ns) - (x->calm_ns < y->calm_ns);
}

static void sort_kind(const struct fragments *work, struct fragment_kind *kind) {
    struct fragment_done *done = &work->done[kind->first];
    qsort(done, kind->count, sizeof *done, compare_done);
    const double *all_ns = &done[0].all.ns;
    size_t stride = sizeof *done / sizeof *all_ns;
    kind->variance = kind->count > 1 ? gsl_stats_variance(all_ns, stride, kind->count) : 0;
    kind->sums = memory_alloc(kind->count + 1, sizeof *kind->sums);
    for (size_t i = kind->count; i-- > 0;) {
        kind->sums[i].ns = kind->sums[i + 1].ns + done[i].all.ns;
        for (size_t p = 0; p < N_COSTS; p++)
            kind->sums[i].disturbances[p] =
                kind->sums[i + 1].disturbances[p] + done[i].all.disturbances[p];
    }
}

/* Of the kind, every how many-th fragment is looked at. */
static size_t stride_of(const struct fragment_kind *kind) {
    return kind->all / FRAGMENTS_MANY + 1;
}

/* The thread's fragments; `seen`: how many of each kind before. */
static void add_done(struct fragments *work, size_t t, size_t *seen) {
    size_t first = work->first_disturbance[t], end = work->first_disturbance[t + 1];
    for (size_t f = t ? work->thread_end[t - 1] : 0; f < work->thread_end[t]; f++) {
        const struct fragment *fragment = &work->fragments.items[f];
        struct fragment_kind *kind = &work->kinds[fragment->kind];
        while (first < end && work->disturbances.items[first].at_ns < fragment->from_ns)
            first++;
        if (!kind->asked || seen[fragment->kind]++ % stride_of(kind) || isnan(fragment->until_ns))
            continue;
        struct fragment_done *done = &work->done[kind->first + kind->count++];
        *done = (struct fragment_done){fragment->calm_ns,
                                       {.ns = fragment->until_ns - fragment->from_ns}};
        for (size_t d = first; d < end && work->disturbances.items[d].at_ns < fragment->until_ns;
             d++)
            done->all.disturbances[work->disturbances.items[d].plan]++;
    }
}

static void sort_kinds(struct fragments *work) {
    size_t first = 0, *seen = memory_alloc(work->n_kinds, sizeof *seen);
    for (size_t k = 0; k < work->n_kinds; k++) {
        struct fragment_kind *kind = &work->kinds[k];
        kind->first = first;
        first += kind->asked ? kind->all / stride_of(kind) + 1 : 0;
    }
    work->done = memory_alloc(first + 1, sizeof *work->done);
    for (size_t t = 0; t < work->trace->n_threads; t++)
        add_done(work, t, seen);
    free(seen);
    for (size_t k = 0; k < work->n_kinds; k++)
        sort_kind(work, &work->kinds[k]);
}

struct fragments fragments_divide(const struct trace *trace) {
    struct fragments work = {.trace = trace};
    work.thread_end = memory_alloc(trace->n_threads, sizeof *work.thread_end);
    work.first_disturbance = memory_alloc(trace->n_threads + 1, sizeof *work.first_disturbance);
    work.roles = memory_alloc(trace->n_threads, sizeof *work.roles);
    for (size_t t = 0; t < trace->n_threads; t++)
        work.roles[t] = fragments_role(trace, t);
    find_plans(&work);
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states timeline = thread_states_make(&trace->threads[t]);
        find_fragments(&work, t, &timeline);
        work.first_disturbance[t] = work.disturbances.count;
        find_disturbances(&work, t, &timeline);
        thread_states_free(&timeline);
    }
    work.first_disturbance[trace->n_threads] = work.disturbances.count;
    average_kinds(&work);
    for (size_t t = 0; t < trace->n_threads; t++)
        look_ahead(&work, t ? work.thread_end[t - 1] : 0, work.thread_end[t]);
    sort_kinds(&work);
    return work;
}

void fragments_free(struct fragments *work) {
    for (size_t k = 0; k < work->n_kinds; k++)
        free(work->kinds[k].sums);
    free(work->kinds);
    free(work->done);
    free(work->fragments.items);
    free(work->disturbances.items);
    free(work->roles);
    free(work->thread_end);
    free(work->first_disturbance);
    map_free(&work->kind_ids);
}

bool fragments_expected_rest(const struct fragments *work, const struct fragment_kind *kind,
                             double age_ns, struct fragment_rest *rest) {
    const struct fragment_done *done = &work->done[kind->first];
    struct bisection at = bisection_of(0, kind->count);
    while (bisection_next(&at))
        bisection_tell(&at, done[at.middle].calm_ns <= age_ns);
    size_t longer = kind->count - at.low;
    if (longer < FRAGMENTS_FEW)
        return false;
    rest->ns = kind->sums[at.low].ns / (double)longer - age_ns;
    rest->variance = kind->variance / (double)longer;
    for (size_t p = 0; p < N_COSTS; p++)
        rest->disturbances[p] = kind->sums[at.low].disturbances[p] / (double)longer;
    return true;
}
