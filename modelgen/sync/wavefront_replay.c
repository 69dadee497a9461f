#include "modelgen/sync/wavefront_replay.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/operation_classes.h"

#define LEAD_LIMIT     16 /* steps */
#define SITE_LIMIT     8  /* call sites that make steps */
#define DISTANCE_LIMIT 8
#define PERIOD_LIMIT   8 /* steps of one piece of work */

/* One thread's work on one frame, row ... */
struct run {
    int thread, mutex;
    size_t first;               /* its first section */
    size_t first_step, n_steps; /* in a list of sections, in their order */
    uint64_t began_ns;          /* its first step */
};

/* A section that looks at the progress of another run. */
struct visit {
    size_t section;
    size_t run;  /* for which it is made */
    size_t made; /* steps of that run by then */
};

struct family {
    const struct finder *finder;
    const struct section_class *waits_at;
    const struct section_class *steps_at[SITE_LIMIT];
    size_t n_sites;
    size_t period; /* all under one mutex: a thread's runs of so many steps; 0: a mutex for each */
    struct {
        struct run *items;
        size_t count, capacity;
    } runs;
    struct {
        struct visit *items;
        size_t count, capacity;
    } visits;
    struct order_list steps;
};

/* In runs of equal length only what happens under the finder's mutex counts. */
static bool is_seen(const struct family *family, size_t section) {
    return family->period == 0 ||
           section_at(family->finder, section)->mutex == family->finder->mutex;
}

static bool is_visit(const struct family *family, size_t section) {
    return is_seen(family, section) &&
           class_is_same_operation(class_at(family->finder, section), family->waits_at);
}

static bool is_step(const struct family *family, size_t section) {
    for (size_t i = 0; i < family->n_sites && is_seen(family, section); i++)
        if (class_is_same_operation(class_at(family->finder, section), family->steps_at[i]))
            return true;
    return false;
}

/* Whoever signals under the mutexes that are looked at makes steps. */
static void find_sites(struct family *family) {
    const struct finder *finder = family->finder;
    struct map visited = MAP_EMPTY;
    for (size_t s = 0; s < finder->sections->n_sections; s++)
        if (is_visit(family, s))
            map_put(&visited, (uint64_t)section_at(finder, s)->mutex, 1);
    for (size_t s = 0; s < finder->sections->n_sections; s++)
        if (class_at(finder, s)->n_signals > 0 && !is_step(family, s) &&
            map_get(&visited, (uint64_t)section_at(finder, s)->mutex, 0) &&
            family->n_sites < SITE_LIMIT)
            family->steps_at[family->n_sites++] = class_at(finder, s);
    map_free(&visited);
}

/* ---- what each thread does, one run after the other ---- */

/* Visits from `pending` on belong to the next step's run. */
static void add_step(struct family *family, size_t section, size_t pending, bool begins) {
    const struct section *at = section_at(family->finder, section);
    if (begins) {
        bool looked = pending < family->visits.count;
        *VECTOR_ADD(&family->runs) =
            (struct run){.thread = at->thread,
                         .mutex = at->mutex,
                         .first = looked ? family->visits.items[pending].section : section,
                         .first_step = family->steps.count,
                         .began_ns = at->acquire_ns};
    }
    size_t number = family->runs.count - 1;
    for (size_t v = pending; v < family->visits.count; v++) {
        family->visits.items[v].run = number;
        family->visits.items[v].made = family->runs.items[number].n_steps;
    }
    *VECTOR_ADD(&family->steps) = section;
    family->runs.items[number].n_steps++;
}

static bool ends_run(const struct family *family, const struct run *run, size_t section) {
    return family->period > 0 ? run->n_steps == family->period
                              : run->mutex != section_at(family->finder, section)->mutex;
}

/* A run ends where its thread makes steps elsewhere or has made all, or may wait for something
 * else. */
static void follow_thread(struct family *family, size_t thread) {
    const struct monitors *monitors = family->finder->monitors;
    bool is_open = false;
    size_t pending = family->visits.count;
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++) {
        if (is_visit(family, s)) {
            *VECTOR_ADD(&family->visits) = (struct visit){.section = s, .run = SIZE_MAX};
        } else if (is_step(family, s)) {
            bool goes_on =
                is_open && !ends_run(family, &family->runs.items[family->runs.count - 1], s);
            add_step(family, s, pending, !goes_on);
            is_open = true;
            pending = family->visits.count;
        } else if (class_at(family->finder, s)->waits > 0) {
            is_open = false;
            pending = family->visits.count;
        }
    }
}

/* ---- in the order of the runs ---- */

static int compare_runs(const void *a, const void *b, void *context) {
    const struct run *runs = context;
    const struct run *x = &runs[*(const size_t *)a], *y = &runs[*(const size_t *)b];
    return (x->began_ns > y->began_ns) - (x->began_ns < y->began_ns);
}

/* Of each run the one so many before it; SIZE_MAX: none. The caller frees. */
static size_t *find_before(const struct family *family, size_t distance) {
    size_t n = family->runs.count;
    size_t *order = memory_alloc(n, sizeof *order), *before = memory_alloc(n, sizeof *before);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if (n > 0)
        qsort_r(order, n, sizeof *order, compare_runs, family->runs.items);
    for (size_t i = 0; i < n; i++)
        before[order[i]] = i >= distance ? order[i - distance] : SIZE_MAX;
    free(order);
    return before;
}

/* How far the run is ahead of `made` steps at a time; one that has made all of its own is ahead of
 * any. */
static long ahead_at(const struct family *family, const struct run *run, size_t made,
                     uint64_t time_ns) {
    size_t done = 0;
    while (done < run->n_steps &&
           section_at(family->finder, family->steps.items[run->first_step + done])->acquire_ns <=
               time_ns)
        done++;
    return done == run->n_steps ? LEAD_LIMIT + 1 : (long)done - (long)made;
}

/* What a visit found. */
struct look {
    size_t section;
    bool known; /* it was for the run before */
    bool first; /* nobody is before it */
    bool waited;
    long asked, passed; /* how far that was ahead then */
};

static struct look look_of(const struct family *family, const struct visit *visit,
                           const size_t *before) {
    const struct section *section = section_at(family->finder, visit->section);
    struct look look = {
        .section = visit->section,
        .first = visit->run != SIZE_MAX && before[visit->run] == SIZE_MAX,
        .waited = section->n_waits > 0,
    };
    uint64_t passed_ns = section_passed_ns(family->finder->sections, section);
    const struct run *led_by = visit->run != SIZE_MAX && before[visit->run] != SIZE_MAX
                                   ? &family->runs.items[before[visit->run]]
                                   : NULL;
    if (!led_by || led_by->mutex != section->mutex || led_by->began_ns > passed_ns ||
        (family->period == 0 && family->runs.items[visit->run].mutex == section->mutex))
        return look;
    look.known = true;
    look.asked = ahead_at(family, led_by, visit->made, section->acquire_ns);
    look.passed = ahead_at(family, led_by, visit->made, passed_ns);
    return look;
}

static bool is_right(const struct look *look, int lead) {
    return look->waited ? look->known && look->asked < lead && look->passed >= lead
                        : look->asked >= lead;
}

/* The one that contradicts the fewest looks. Of equals the largest: whoever waited was woken as
 * soon as he might go on. */
static int find_lead(const struct look *looks, size_t n) {
    int best = 0;
    size_t fewest = SIZE_MAX;
    for (int lead = -LEAD_LIMIT; lead <= LEAD_LIMIT; lead++) {
        size_t wrong = 0;
        for (size_t i = 0; i < n; i++)
            wrong += looks[i].known && !is_right(&looks[i], lead);
        if (wrong <= fewest) {
            fewest = wrong;
            best = lead;
        }
    }
    return best;
}

/* ---- the pattern ---- */

/* Whose piece is the first one looks, too: which thread that is, another run decides anew. */
static void write_acts(const struct family *family, const struct look *looks,
                       struct explanation *pattern) {
    for (size_t i = 0; i < family->visits.count; i++)
        if (looks[i].known || (looks[i].first && family->period > 0))
            pattern->pattern.acts[looks[i].section] |= ACT_TURN;
    for (size_t r = 0; r < family->runs.count; r++) {
        const struct run *run = &family->runs.items[r];
        pattern->pattern.acts[run->first] |= ACT_DRAW;
        for (size_t i = 0; i < run->n_steps; i++)
            pattern->pattern.acts[family->steps.items[run->first_step + i]] |=
                i + 1 < run->n_steps ? ACT_ADVANCE : ACT_PASS;
    }
}

/* Those whose counters are stepped. */
static size_t count_mutexes(const struct family *family) {
    struct map seen = MAP_EMPTY;
    size_t count = 0;
    for (size_t r = 0; r < family->runs.count; r++) {
        uint64_t mutex = (uint64_t)family->runs.items[r].mutex;
        count += !map_get(&seen, mutex, 0);
        map_put(&seen, mutex, 1);
    }
    map_free(&seen);
    return count;
}

static bool add_found(const struct family *family, struct explanation pattern) {
    struct finder finder = *family->finder;
    finder.history = (struct order_list){0};
    for (size_t i = 0; i < family->visits.count; i++)
        *VECTOR_ADD(&finder.history) = family->visits.items[i].section;
    bool added = pattern_add(&finder, pattern);
    free(finder.history.items);
    return added;
}

/* Do several threads look at the progress of others? One alone would only collect results. */
static bool are_several(const struct family *family, const struct look *looks) {
    int thread = -1;
    for (size_t i = 0; i < family->visits.count; i++) {
        int other = section_at(family->finder, looks[i].section)->thread;
        if (!looks[i].known)
            continue;
        if (thread >= 0 && thread != other)
            return true;
        thread = other;
    }
    return false;
}

#define NO_STEPS (-LEAD_LIMIT) /* nobody waits for so few */

/* Looks that did not wait and were for another run than the one that leads are left out: that had
 * been ready for long. One that waited for another contradicts. */
static struct tally replay_looks(const struct family *family, const struct look *looks,
                                 const size_t *before, int lead) {
    struct object_history history = {.n_instances = family->runs.count};
    for (size_t i = 0; i < family->visits.count; i++) {
        const struct visit *visit = &family->visits.items[i];
        if (looks[i].known)
            progress_add_wait(&history, family->finder, visit->section, before[visit->run],
                              (long)visit->made + lead);
        else if (looks[i].waited)
            progress_add_wait(&history, family->finder, visit->section, 0, NO_STEPS);
    }
    for (size_t r = 0; r < family->runs.count; r++) {
        const struct run *run = &family->runs.items[r];
        for (size_t i = 0; i < run->n_steps; i++) {
            size_t section = family->steps.items[run->first_step + i];
            progress_add_step(&history, section, r, section_at(family->finder, section)->acquire_ns,
                              i + 1 == run->n_steps);
        }
    }
    return progress_replay(family->finder, history);
}

static struct explanation judge(const struct family *family, size_t distance) {
    size_t n = family->visits.count, *before = find_before(family, distance);
    struct look *looks = memory_alloc(n, sizeof *looks);
    for (size_t i = 0; i < n; i++)
        looks[i] = look_of(family, &family->visits.items[i], before);
    struct explanation pattern = pattern_empty(family->finder, HAND_MADE_HAND_OVER);
    pattern.pattern.in_steps = true;
    pattern.pattern.distance = (int)distance;
    pattern.pattern.lead = find_lead(looks, n);
    pattern.pattern.n_objects = count_mutexes(family);
    if (are_several(family, looks)) {
        pattern.tally = replay_looks(family, looks, before, pattern.pattern.lead);
        write_acts(family, looks, &pattern);
    }
    free(looks);
    free(before);
    return pattern;
}

static bool is_better(const struct explanation *pattern, const struct explanation *than) {
    if (pattern->tally.waited == 0 || than->tally.waited == 0)
        return pattern->tally.waited > than->tally.waited;
    return pattern->tally.violations < than->tally.violations;
}

/* The better one of two; ends the other. */
static struct explanation better_of(struct explanation best, struct explanation other) {
    bool better = is_better(&other, &best);
    explanation_free(better ? &best : &other);
    return better ? other : best;
}

static void find_runs(struct family *family, size_t period) {
    family->period = period;
    family->runs.count = family->visits.count = family->steps.count = 0;
    for (size_t t = 0; t < family->finder->trace->n_threads; t++)
        follow_thread(family, t);
}

/* Each run has a mutex of its own. */
static struct explanation find_apart(struct family *family) {
    find_runs(family, 0);
    struct explanation best = judge(family, 1);
    for (size_t distance = 2; distance <= DISTANCE_LIMIT; distance++)
        best = better_of(best, judge(family, distance));
    return best;
}

/* The only loop of the source around these looks and steps; NULL: there are several, or none. */
static const struct facts_loop *only_loop_around(const struct family *family) {
    const struct finder *finder = family->finder;
    const struct facts *facts = finder->monitors->facts;
    const struct facts_loop *found = NULL;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        bool around =
            !loop->waits && source_context_in_loop(finder->trace, family->waits_at->context, loop);
        for (size_t i = 0; i < family->n_sites && around; i++)
            around = source_context_in_loop(finder->trace, family->steps_at[i]->context, loop);
        if (around && found)
            return NULL;
        found = around ? loop : found;
    }
    return found;
}

/* Does the source show that a thread goes round so often, and makes a step of each place in each
 * round? Then none of its steps is a later one of a piece of work that another thread may have: who
 * waits there waits for the others' rounds. */
static bool steps_are_rounds(const struct family *family, size_t period) {
    const struct facts_loop *loop = only_loop_around(family);
    size_t threads = 0; /* with several such pieces each */
    for (size_t r = 0; r < family->runs.count; r++)
        threads += r == 0 || family->runs.items[r].thread != family->runs.items[r - 1].thread;
    return loop && loop->bound == BOUND_FIXED && period > family->n_sites &&
           family->steps.count > period * threads;
}

/* Pieces of work that go through the same steps, each step in the order of the pieces: a thread
 * takes one through all of them, and looks before each at how far the others' pieces are, which one
 * mutex guards. How many steps there are is tried out. If it is one, threads only take turns; if
 * they seldom look, it is something else. */
static struct explanation find_together(struct family *family) {
    find_runs(family, 1);
    struct explanation best = judge(family, 1);
    size_t best_period = 1;
    for (size_t period = 2; period <= PERIOD_LIMIT; period++) {
        find_runs(family, period);
        struct explanation other = judge(family, 1);
        best_period = is_better(&other, &best) ? period : best_period;
        best = better_of(best, other);
    }
    double least = fmax(evidence.several, evidence.looked_share * (double)family->steps.count);
    if (best_period == 1 || best.tally.decisions < least || steps_are_rounds(family, best_period))
        best.tally = (struct tally){0};
    return best;
}

static bool find_in(struct family *family) {
    struct explanation best = find_apart(family);
    if (best.pattern.n_objects == 1 || !pattern_holds(&best)) {
        explanation_free(&best);
        best = find_together(family);
    }
    if (pattern_holds(&best))
        return add_found(family, best);
    explanation_free(&best);
    return false;
}

static bool find_at(const struct finder *finder, const struct section_class *site) {
    struct family family = {.finder = finder, .waits_at = site};
    find_sites(&family);
    bool is_apart = family.n_sites > 0;
    for (size_t i = 0; i < family.n_sites; i++)
        is_apart &= !class_is_same_operation(family.steps_at[i], site);
    bool found = is_apart && find_in(&family);
    free(family.runs.items);
    free(family.visits.items);
    free(family.steps.items);
    return found;
}

bool wavefront_replay_find(const struct finder *finder) {
    bool *tried = memory_alloc(finder->monitors->n_classes, sizeof *tried), found = false;
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section_class *class = class_at(finder, finder->history.items[i]);
        if (class->waits == 0 || finder_knows(finder, class->waits_on))
            continue;
        int class_index = finder->monitors->class_of[finder->history.items[i]];
        if (tried[class_index])
            continue;
        for (size_t c = 0; c < finder->monitors->n_classes; c++)
            tried[c] |= class_is_same_operation(&finder->monitors->classes[c], class);
        found |= find_at(finder, class);
    }
    free(tried);
    return found;
}
