#include "modelgen/sync/group_commit_cost.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* A turn of a thread that leads. */
struct lead {
    size_t turn, telling; /* sections */
    unsigned led;         /* other threads */
};

struct leads {
    struct lead *items;
    size_t count, capacity;
};

/* The thread's first section from this one on that tells. */
static size_t telling_from(const struct explanation *pattern, size_t section) {
    while (!(pattern->pattern.acts[section] & ACT_PASS))
        section++;
    return section;
}

/* A thread leads all that came after it until it went on. */
static struct leads leads_of(const struct finder *finder, const struct explanation *pattern) {
    const struct order_list *history = &finder->history;
    struct leads leads = {0};
    for (size_t i = 0; i < history->count; i++) {
        size_t turn = history->items[i];
        if (!(pattern->pattern.acts[turn] & ACT_TURN) || (pattern->pattern.acts[turn] & ACT_LED))
            continue;
        struct lead *lead = VECTOR_ADD(&leads);
        *lead = (struct lead){.turn = turn, .telling = telling_from(pattern, turn)};
        for (size_t j = i + 1;
             j < history->count &&
             section_at(finder, history->items[j])->acquire_ns <= passed_at(finder, turn);
             j++)
            lead->led += (pattern->pattern.acts[history->items[j]] & ACT_TURN) != 0;
    }
    return leads;
}

/* CPU time from where each leader goes on to where it tells, against how many it leads; 0: the one
 * does not follow the other. */
static double cpu_of_each(const struct finder *finder, const struct leads *leads) {
    double *led = memory_alloc(leads->count, sizeof *led);
    double *cpu_ns = memory_alloc(leads->count, sizeof *cpu_ns);
    struct thread_states *timelines = memory_alloc(finder->trace->n_threads, sizeof *timelines);
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        timelines[t] = thread_states_make(&finder->trace->threads[t]);
    for (size_t i = 0; i < leads->count; i++) {
        const struct lead *lead = &leads->items[i];
        const struct thread_states *timeline = &timelines[section_at(finder, lead->turn)->thread];
        led[i] = lead->led;
        cpu_ns[i] = thread_states_cpu(timeline, section_at(finder, lead->telling)->acquire_ns) -
                    thread_states_cpu(timeline, passed_at(finder, lead->turn));
    }
    double alone_ns, each_ns, variances[3], squares;
    gsl_fit_linear(led, 1, cpu_ns, 1, leads->count, &alone_ns, &each_ns, &variances[0],
                   &variances[1], &variances[2], &squares);
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        thread_states_free(&timelines[t]);
    free(timelines);
    free(led);
    free(cpu_ns);
    /* where all lead as many it is NaN */
    return each_ns > evidence.led_cost_errors * sqrt(variances[2]) && alone_ns > 0 ? each_ns : 0;
}

void group_commit_finish(const struct finder *finder, const struct candidate *candidate,
                         struct explanation *pattern) {
    (void)candidate;
    struct leads leads = leads_of(finder, pattern);
    pattern->pattern.in_groups = true;
    pattern->pattern.led = memory_alloc(finder->sections->n_sections, sizeof *pattern->pattern.led);
    for (size_t i = 0; i < leads.count; i++)
        pattern->pattern.led[leads.items[i].turn] = leads.items[i].led;
    pattern->pattern.led_cpu_ns = cpu_of_each(finder, &leads);
    free(leads.items);
}

/* ---- what the model charges by itself ---- */

/* `cpu_ns` of the thread's CPU time in [from_ns, to_ns). */
static void add_losses(const struct trace_thread *thread, const struct thread_states *timeline,
                       uint64_t from_ns, uint64_t to_ns, double cpu_ns,
                       struct excluded_time *losses) {
    double all_ns = thread_states_cpu(timeline, to_ns) - thread_states_cpu(timeline, from_ns);
    double share = all_ns > 0 ? fmin(1, cpu_ns / all_ns) : 0;
    for (size_t i = trace_slice_after(thread, from_ns);
         i < thread->n_slices && thread->slices[i].on_ns < to_ns; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        uint64_t on_ns = slice->on_ns > from_ns ? slice->on_ns : from_ns;
        uint64_t off_ns = slice->off_ns < to_ns ? slice->off_ns : to_ns;
        *VECTOR_ADD(losses) = (struct excluded_interval){on_ns, off_ns, share, slice->cpu};
    }
}

/* Of one thread's sections. */
static void find_losses(const struct trace *trace, const struct sections *sections,
                        const struct monitors *monitors, const struct explanation *pattern,
                        size_t thread, struct excluded_time *losses) {
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    size_t turn = PATTERN_NO_SECTION;
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++) {
        if ((pattern->pattern.acts[s] & ACT_PASS) && turn != PATTERN_NO_SECTION)
            add_losses(&trace->threads[thread], &timeline,
                       section_passed_ns(sections, &sections->sections[turn]),
                       sections->sections[s].acquire_ns,
                       pattern->pattern.led_cpu_ns * pattern->pattern.led[turn], losses);
        if (pattern->pattern.acts[s] & (ACT_TURN | ACT_PASS))
            turn = (pattern->pattern.acts[s] & ACT_TURN) && pattern->pattern.led[s] > 0
                       ? s
                       : PATTERN_NO_SECTION;
    }
    thread_states_free(&timeline);
}

struct excluded_time group_commit_cost_excluded(const struct trace *trace,
                                                const struct sections *sections,
                                                const struct monitors *monitors) {
    struct excluded_time losses = {0};
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        for (size_t t = 0; t < trace->n_threads && e->pattern.led_cpu_ns > 0; t++)
            find_losses(trace, sections, monitors, e, t, &losses);
    excluded_time_sort(&losses);
    return losses;
}
