#include "modelgen/sync/group_commit_replay.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/sync/operation_classes.h"

#define FEWEST     8 /* that lead, and that are led */
#define SURE       4 /* standard errors from nothing */
#define NO_SECTION SIZE_MAX

/* A thread comes, waits for its turn or until its work is done, and goes on. */
struct visit {
    size_t section;
    size_t told; /* section in which it tells the others that all is done; NO_SECTION: it was led */
    int thread;
    bool was_first; /* nobody was there when it came */
    bool has_passed;
    size_t end; /* it leads the visits before this one */
    size_t led; /* how many others these are */
};

struct visits {
    struct visit *items; /* in the order in which they came */
    size_t count, capacity;
};

static bool is_leader(const struct visit *visit) {
    return visit->told != NO_SECTION;
}

enum scheduling_kind { MOMENT_TELLS, MOMENT_COMES, MOMENT_GOES_ON };

struct scheduling_event {
    uint64_t time_ns;
    enum scheduling_kind kind;
    size_t visit;
};

/* The thread's next section that does what those do who tell, before it comes again. */
static size_t next_told(const struct finder *finder, size_t section,
                        const struct section_class *site, const bool *telling) {
    size_t end = finder->monitors->first_of_thread[section_at(finder, section)->thread + 1];
    for (size_t s = section + 1; s < end; s++) {
        if (section_at(finder, s)->mutex != finder->mutex)
            continue;
        if (class_is_same_operation(class_at(finder, s), site))
            return NO_SECTION;
        if (telling[finder->monitors->class_of[s]])
            return s;
    }
    return NO_SECTION;
}

static struct visits find_visits(const struct finder *finder, const struct section_class *site) {
    const struct monitors *monitors = finder->monitors;
    bool *telling = memory_alloc(monitors->n_classes, sizeof *telling);
    for (size_t c = 0; c < monitors->n_classes; c++)
        for (size_t d = 0; d < monitors->n_classes; d++)
            telling[c] |= monitors->classes[d].mutex == finder->mutex &&
                          class_tells(&monitors->classes[d], site) &&
                          class_is_same_operation(&monitors->classes[c], &monitors->classes[d]);
    struct visits visits = {0};
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (class_is_same_operation(class_at(finder, section), site))
            *VECTOR_ADD(&visits) = (struct visit){.section = section,
                                                  .told = next_told(finder, section, site, telling),
                                                  .thread = section_at(finder, section)->thread};
    }
    free(telling);
    return visits;
}

/* ---- replaying ---- */

/* Under one mutex: what is at the same moment is in the order of the kinds. */
static int compare_moments(const void *a, const void *b) {
    const struct scheduling_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static uint64_t time_of(const struct finder *finder, const struct visit *visit,
                        enum scheduling_kind kind) {
    switch (kind) {
    case MOMENT_TELLS:
        return section_at(finder, visit->told)->release_ns;
    case MOMENT_COMES:
        return section_at(finder, visit->section)->acquire_ns;
    default:
        return section_passed_ns(finder->sections, section_at(finder, visit->section));
    }
}

/* The caller frees. */
static struct scheduling_event *moments_of(const struct finder *finder, const struct visits *visits,
                                           size_t *n) {
    struct scheduling_event *moments = memory_alloc(3 * visits->count, sizeof *moments);
    *n = 0;
    for (size_t v = 0; v < visits->count; v++)
        for (enum scheduling_kind kind = MOMENT_TELLS; kind <= MOMENT_GOES_ON; kind++)
            if (kind != MOMENT_TELLS || is_leader(&visits->items[v]))
                moments[(*n)++] =
                    (struct scheduling_event){time_of(finder, &visits->items[v], kind), kind, v};
    qsort(moments, *n, sizeof *moments, compare_moments);
    return moments;
}

static void go_on(const struct finder *finder, struct visit *visit, bool is_first, size_t came,
                  struct pattern *pattern) {
    const struct section *section = section_at(finder, visit->section);
    bool waited = section->n_waits > 0;
    bool is_right = is_leader(visit) ? is_first && waited == !visit->was_first
                                     : visit->has_passed && waited && !visit->was_first;
    pattern_judge(pattern, visit->section, section->acquire_ns, waited, is_right);
    visit->end = came;
}

static void replay(const struct finder *finder, struct visits *visits, struct pattern *pattern) {
    size_t n, came = 0, first = 0; /* that has not passed */
    struct scheduling_event *moments = moments_of(finder, visits, &n);
    for (size_t m = 0; m < n; m++) {
        size_t v = moments[m].visit;
        struct visit *visit = &visits->items[v];
        switch (moments[m].kind) {
        case MOMENT_COMES:
            came++;
            visit->was_first = first == v;
            break;
        case MOMENT_GOES_ON:
            go_on(finder, visit, first == v, came, pattern);
            break;
        case MOMENT_TELLS:
            visit->has_passed = true;
            for (size_t other = first; other < visit->end; other++) {
                visit->led += !visits->items[other].has_passed;
                visits->items[other].has_passed = true;
            }
            while (first < visits->count && visits->items[first].has_passed)
                first++;
            break;
        }
    }
    free(moments);
}

/* ---- what those who are led cost who leads ---- */

/* CPU time from where each leader goes on to where it tells, against how many it leads. */
static void find_cost(const struct finder *finder, const struct visits *visits,
                      struct pattern *pattern) {
    double *led = memory_alloc(visits->count, sizeof *led);
    double *cpu_ns = memory_alloc(visits->count, sizeof *cpu_ns);
    struct thread_states *timelines = memory_alloc(finder->trace->n_threads, sizeof *timelines);
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        timelines[t] = thread_states_make(&finder->trace->threads[t]);
    size_t n = 0;
    for (size_t v = 0; v < visits->count; v++) {
        const struct visit *visit = &visits->items[v];
        if (!is_leader(visit))
            continue;
        led[n] = (double)visit->led;
        cpu_ns[n++] =
            thread_states_cpu(&timelines[visit->thread],
                              section_at(finder, visit->told)->acquire_ns) -
            thread_states_cpu(&timelines[visit->thread], time_of(finder, visit, MOMENT_GOES_ON));
    }
    double alone_ns, each_ns, variances[3], squares;
    gsl_fit_linear(led, 1, cpu_ns, 1, n, &alone_ns, &each_ns, &variances[0], &variances[1],
                   &variances[2], &squares);
    if (each_ns > SURE * sqrt(variances[2]) && alone_ns > 0) /* nor where all lead as many: NaN */
        pattern->led_cpu_ns = each_ns;
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        thread_states_free(&timelines[t]);
    free(timelines);
    free(led);
    free(cpu_ns);
}

/* ---- the pattern ---- */

static void write_acts(const struct finder *finder, const struct visits *visits,
                       struct pattern *pattern) {
    pattern->led = memory_alloc(finder->sections->n_sections, sizeof *pattern->led);
    for (size_t v = 0; v < visits->count; v++) {
        const struct visit *visit = &visits->items[v];
        pattern->acts[visit->section] |= ACT_DRAW | ACT_TURN;
        if (is_leader(visit))
            pattern->acts[visit->told] |= ACT_PASS;
        else
            pattern->acts[visit->section] |= ACT_LED;
        pattern->led[visit->section] = (unsigned)visit->led;
    }
}

static bool find_at(const struct finder *finder, const struct section_class *site) {
    struct visits visits = find_visits(finder, site);
    size_t leaders = 0;
    for (size_t v = 0; v < visits.count; v++)
        leaders += is_leader(&visits.items[v]);
    bool found = false;
    if (leaders >= FEWEST && visits.count - leaders >= FEWEST) {
        struct pattern pattern = pattern_empty(finder, HAND_MADE_HAND_OVER);
        pattern.in_groups = true;
        replay(finder, &visits, &pattern);
        found = pattern_holds(&pattern);
        if (found) {
            find_cost(finder, &visits, &pattern);
            write_acts(finder, &visits, &pattern);
            found = pattern_add(finder, pattern);
        } else {
            free(pattern.acts);
        }
    }
    free(visits.items);
    return found;
}

/* ---- what the model charges by itself ---- */

/* `cpu_ns` of the thread's CPU time in [from_ns, to_ns). */
static void add_losses(const struct trace_thread *thread, const struct thread_states *timeline,
                       uint64_t from_ns, uint64_t to_ns, double cpu_ns,
                       struct excluded_time *losses) {
    double all_ns = thread_states_cpu(timeline, to_ns) - thread_states_cpu(timeline, from_ns);
    double share = all_ns > 0 ? fmin(1, cpu_ns / all_ns) : 0;
    for (size_t i = thread_states_slice_after(thread, from_ns);
         i < thread->n_slices && thread->slices[i].on_ns < to_ns; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        uint64_t on_ns = slice->on_ns > from_ns ? slice->on_ns : from_ns;
        uint64_t off_ns = slice->off_ns < to_ns ? slice->off_ns : to_ns;
        *VECTOR_ADD(losses) = (struct excluded_interval){on_ns, off_ns, share, slice->cpu};
    }
}

/* Of one thread's sections. */
static void find_losses(const struct trace *trace, const struct sections *sections,
                        const struct monitors *monitors, const struct pattern *pattern,
                        size_t thread, struct excluded_time *losses) {
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    size_t turn = NO_SECTION;
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++) {
        if ((pattern->acts[s] & ACT_PASS) && turn != NO_SECTION)
            add_losses(&trace->threads[thread], &timeline,
                       section_passed_ns(sections, &sections->sections[turn]),
                       sections->sections[s].acquire_ns, pattern->led_cpu_ns * pattern->led[turn],
                       losses);
        if (pattern->acts[s] & (ACT_TURN | ACT_PASS))
            turn = (pattern->acts[s] & ACT_TURN) && pattern->led[s] > 0 ? s : NO_SECTION;
    }
    thread_states_free(&timeline);
}

struct excluded_time group_commit_replay_excluded(const struct trace *trace,
                                                  const struct sections *sections,
                                                  const struct monitors *monitors) {
    struct excluded_time losses = {0};
    for (size_t p = 0; p < monitors->n_patterns; p++)
        for (size_t t = 0; t < trace->n_threads && monitors->patterns[p].led_cpu_ns > 0; t++)
            find_losses(trace, sections, monitors, &monitors->patterns[p], t, &losses);
    excluded_time_sort(&losses);
    return losses;
}

bool group_commit_replay_find(const struct finder *finder) {
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex == finder->mutex && class->waits > 0 && find_at(finder, class))
            return true;
    }
    return false;
}
