#include "modelgen/graph/farewells.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/run/timeline.h"

/* Work takes this many times the CPU that a thread still uses after it was told to go home. */
#define WORK_RATIO 4

/* A section that puts or takes. */
struct act {
    size_t section;
    uint64_t time_ns; /* when its waits were over */
};

struct acts {
    struct act *items;
    size_t count, capacity;
};

static int compare_acts(const void *a, const void *b) {
    const struct act *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void add_act(struct acts *acts, const struct sections *sections, size_t s) {
    *VECTOR_ADD(acts) = (struct act){s, section_passed_ns(sections, &sections->sections[s])};
}

static void sort_acts(struct acts *acts) {
    if (acts->count)
        qsort(acts->items, acts->count, sizeof *acts->items, compare_acts);
}

/* Queue traffic in order of time. Returns the pool that takes it all; -1: it is no such queue. */
static int find_acts(const struct stream_input *input, const struct guard *guard, struct acts *puts,
                     struct acts *gets) {
    int taker = -1;
    if (guard->kind != GUARD_QUEUE || guard->close_class >= 0 || guard->tries)
        return -1;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section *section = &input->sections->sections[s];
        int class_index = input->monitors->class_of[s];
        if (section->mutex != guard->mutex)
            continue;
        bool waits = guard->waits[class_index]; /* others take what is there */
        if (waits || guard->weight[class_index] < 0) {
            int pool = input->pools->pool_of[section->thread];
            if ((waits && guard->outcome[s] != OUTCOME_YES) || (taker >= 0 && taker != pool))
                return -1;
            taker = pool;
            add_act(gets, input->sections, s);
        } else if (guard->weight[class_index] == 1) {
            add_act(puts, input->sections, s);
        } else if (guard->weight[class_index] > 1) {
            return -1;
        }
    }
    sort_acts(puts);
    sort_acts(gets);
    return taker;
}

static int thread_of(const struct stream_input *input, const struct act *act) {
    return input->sections->sections[act->section].thread;
}

/* Is the last thing that is taken in each thread of the pool also among the last of all? */
static bool end_all(const struct stream_input *input, const struct acts *gets, size_t n_threads) {
    if (gets->count <= n_threads)
        return false;
    for (size_t i = gets->count - n_threads; i < gets->count; i++)
        for (size_t j = i + 1; j < gets->count; j++)
            if (thread_of(input, &gets->items[i]) == thread_of(input, &gets->items[j]))
                return false;
    return true;
}

/* Do the threads hardly compute after what they take last? */
static bool work_is_over(const struct stream_input *input, const struct acts *gets,
                         size_t n_threads) {
    const struct trace *trace = input->trace;
    double work = 0, rest = 0;
    double *before = memory_alloc(trace->n_threads, sizeof *before);
    bool *takes = memory_alloc(trace->n_threads, sizeof *takes);
    for (size_t i = 0; i < gets->count; i++) {
        int thread = thread_of(input, &gets->items[i]);
        double now = timeline_cpu(&input->timelines[thread], gets->items[i].time_ns);
        if (takes[thread])
            work += now - before[thread];
        before[thread] = now;
        takes[thread] = true;
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        if (takes[t])
            rest += timeline_cpu(&input->timelines[t], trace->threads[t].end_ns) - before[t];
    free(before);
    free(takes);
    double rounds = (double)(gets->count - n_threads);
    return rest / (double)n_threads * WORK_RATIO < work / rounds;
}

static uint32_t place_of(const struct stream_input *input, const struct act *act) {
    const struct section *section = &input->sections->sections[act->section];
    const struct trace_thread *thread = &input->trace->threads[section->thread];
    uint32_t context = thread->records[section->lock_record].context;
    return context == TRACE_NO_CONTEXT ? context : input->places[context];
}

/* Does what is put from number `first` on come from places where nothing else is put? */
static bool places_differ(const struct stream_input *input, const struct acts *puts, size_t first) {
    for (size_t i = first; i < puts->count; i++)
        for (size_t j = 0; j < first; j++)
            if (place_of(input, &puts->items[i]) == place_of(input, &puts->items[j]))
                return false;
    return true;
}

/* Does the pool put what is put from number `first` on? */
static bool are_put_by(const struct stream_input *input, const struct acts *puts, size_t first,
                       int pool) {
    for (size_t i = first; i < puts->count; i++)
        if (input->pools->pool_of[thread_of(input, &puts->items[i])] == pool)
            return true;
    return false;
}

static enum farewell *find_of_guard(const struct stream_input *input, const struct guard *guard,
                                    bool *in_passing) {
    struct acts puts = {0}, gets = {0};
    enum farewell *of = NULL;
    int taker = find_acts(input, guard, &puts, &gets);
    size_t n = taker < 0 ? 0 : input->pools->pools[taker].n_threads;
    /* handed on, one is left over */
    bool complete = puts.count == gets.count || puts.count == gets.count + 1;
    bool ends = n > 0 && complete && (size_t)input->pools->pools[taker].size == n &&
                end_all(input, &gets, n);
    bool differ = ends && places_differ(input, &puts, gets.count - n);
    if (ends && (differ || work_is_over(input, &gets, n))) {
        *in_passing = !differ && !are_put_by(input, &puts, gets.count - n, taker);
        of = memory_alloc(input->sections->n_sections, sizeof *of);
        for (size_t i = gets.count - n; i < gets.count; i++)
            of[gets.items[i].section] = FAREWELL_TAKEN;
        for (size_t i = gets.count - n; i < puts.count; i++)
            of[puts.items[i].section] = i == gets.count - n ? FAREWELL_FIRST : FAREWELL_OTHER;
    }
    free(puts.items);
    free(gets.items);
    return of;
}

struct farewells farewells_find(const struct stream_input *input) {
    struct farewells result = {.n_guards = input->monitors->n_guards,
                               .of = memory_alloc(input->monitors->n_guards, sizeof(void *)),
                               .in_passing = memory_alloc(input->monitors->n_guards, sizeof(bool))};
    for (size_t g = 0; g < result.n_guards; g++)
        result.of[g] = find_of_guard(input, &input->monitors->guards[g], &result.in_passing[g]);
    return result;
}

void farewells_free(struct farewells *farewells) {
    for (size_t g = 0; g < farewells->n_guards; g++)
        free(farewells->of[g]);
    free(farewells->of);
    free(farewells->in_passing);
}

enum farewell farewells_of(const struct farewells *farewells, size_t guard, size_t section) {
    return farewells->of[guard] ? farewells->of[guard][section] : FAREWELL_NONE;
}

static bool is_put(enum farewell farewell) {
    return farewell == FAREWELL_FIRST || farewell == FAREWELL_OTHER;
}

bool farewells_puts(const struct farewells *farewells, size_t section) {
    for (size_t g = 0; g < farewells->n_guards; g++)
        if (is_put(farewells_of(farewells, g, section)))
            return true;
    return false;
}

int farewells_in_passing(const struct farewells *farewells, size_t section) {
    for (size_t g = 0; g < farewells->n_guards; g++)
        if (farewells->in_passing[g] && is_put(farewells_of(farewells, g, section)))
            return (int)g;
    return -1;
}
