#include "modelgen/monitors/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/monitors/classes.h"
#include "modelgen/monitors/commands.h"
#include "modelgen/monitors/finder.h"
#include "modelgen/monitors/progress.h"
#include "modelgen/monitors/results.h"
#include "modelgen/monitors/search.h"

/* Of the numbers may seem out of order where their drawing is not seen. */
#define UNSEEN_SHARE 0.15
#define SITE_LIMIT   8 /* call sites that lock a read-write lock */

/* ---- the sections of one or several mutexes, in the order of their acquire times ---- */

static int compare_sections(const void *a, const void *b, void *context) {
    const struct section *sections = context;
    const struct section *x = &sections[*(const size_t *)a], *y = &sections[*(const size_t *)b];
    return (x->acquire_ns > y->acquire_ns) - (x->acquire_ns < y->acquire_ns);
}

/* Of one mutex, or with a `class_id` of all mutexes of that class. */
static struct order_list in_order(const struct sections *sections, int mutex, int class_id) {
    struct order_list list = {0};
    for (size_t s = 0; s < sections->n_sections; s++) {
        int own = sections->sections[s].mutex;
        if (sections->sections[s].cut)
            continue;
        if (class_id < 0 ? own == mutex : sections->objects[own].class_id == class_id)
            *VECTOR_ADD(&list) = s;
    }
    if (list.count)
        qsort_r(list.items, list.count, sizeof *list.items, compare_sections, sections->sections);
    return list;
}

void pattern_judge(struct pattern *pattern, size_t section, uint64_t time_ns, bool waited,
                   bool is_right) {
    struct tally_of_replay *tally = &pattern->tally;
    tally->replayed++;
    tally->waited += waited;
    if (is_right)
        return;
    tally->violations++;
    tally->wrong_waits += waited;
    if (tally->n_contradictions < CONTRADICTIONS_SHOWN)
        tally->contradictions[tally->n_contradictions++] =
            (struct contradiction){time_ns, section, waited, 0};
}

bool pattern_holds(const struct pattern *pattern) {
    return (pattern->tally.waited > 0 || pattern->is_proposed) &&
           violations_are_few(pattern->tally.violations, pattern->tally.replayed) &&
           pattern->tally.wrong_waits <= (1 - RECALL) * pattern->tally.waited;
}

struct pattern pattern_empty(const struct finder *finder, enum hand_made_kind kind) {
    return (struct pattern){.kind = kind,
                            .mutex = finder->mutex,
                            .n_objects = 1,
                            .acts =
                                memory_alloc(finder->sections->n_sections, sizeof(unsigned short)),
                            .object = MODEL_NONE};
}

bool pattern_add(const struct finder *finder, struct pattern pattern) {
    struct monitors *monitors = finder->monitors;
    if (!monitors_prove(monitors, pattern.mutex, pattern.tally.waited)) {
        free(pattern.acts);
        return false;
    }
    monitors->patterns =
        memory_resize(monitors->patterns, monitors->n_patterns + 1, sizeof *monitors->patterns);
    monitors->patterns[monitors->n_patterns++] = pattern;
    const unsigned waiting = ACT_ARRIVE | ACT_READ | ACT_WRITE | ACT_TURN | ACT_COLLECT;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        bool explained = pattern.acts[index] & waiting;
        for (size_t w = 0; w < section->n_waits && explained; w++) {
            int condition = finder->sections->waits[section->first_wait + w].condition;
            monitors->condition_explained[condition] = true;
            monitors->condition_in_pattern[condition] = true;
        }
    }
    return true;
}

/* ---- barriers: all but the last of each round wait, and the last wakes them ---- */

static bool thread_met(const struct finder *finder, const struct order_list *round, int thread) {
    for (size_t i = 0; i < round->count; i++)
        if (section_at(finder, round->items[i])->thread == thread)
            return true;
    return false;
}

/* One round: the last in it is the one that did not wait. */
static void judge_round(const struct finder *finder, const struct order_list *round, size_t parties,
                        struct pattern *pattern) {
    size_t last = round->items[round->count - 1];
    uint64_t complete_ns = section_at(finder, last)->acquire_ns;
    bool has_size = round->count == parties && class_at(finder, last)->n_signals > 0;
    for (size_t i = 0; i < round->count; i++) {
        size_t index = round->items[i];
        const struct section *section = section_at(finder, index);
        bool waited = section->n_waits > 0;
        bool is_right =
            has_size && (!waited || (section_passed_ns(finder->sections, section) >= complete_ns &&
                                     class_at(finder, index)->n_signals == 0));
        pattern->acts[index] = ACT_ARRIVE;
        pattern_judge(pattern, index, section->acquire_ns, waited, is_right);
    }
}

/* Goes through the rounds of a call site; `pattern` NULL only counts how many have each size. */
static size_t walk_rounds(const struct finder *finder, const struct section_class *site,
                          size_t parties, struct pattern *pattern, size_t *sizes) {
    struct order_list round = {0};
    size_t rounds = 0;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        if (!class_is_same_operation(class_at(finder, index), site))
            continue;
        bool twice = thread_met(finder, &round, section->thread);
        *VECTOR_ADD(&round) = index;
        if (section->n_waits > 0 && !twice)
            continue;
        if (sizes && round.count <= finder->trace->n_threads)
            sizes[round.count]++;
        if (pattern)
            judge_round(finder, &round, parties, pattern);
        rounds++;
        round.count = 0;
    }
    free(round.items);
    return rounds;
}

static bool find_barrier_at(const struct finder *finder, const struct section_class *site) {
    size_t *sizes = memory_alloc(finder->trace->n_threads + 1, sizeof *sizes);
    size_t rounds = walk_rounds(finder, site, 0, NULL, sizes), parties = 0;
    for (size_t n = 2; n <= finder->trace->n_threads; n++)
        if (sizes[n] > (parties ? sizes[parties] : 0))
            parties = n;
    free(sizes);
    if (parties == 0 || rounds < 2)
        return false;
    struct pattern pattern = pattern_empty(finder, HAND_MADE_BARRIER);
    walk_rounds(finder, site, parties, &pattern, NULL);
    pattern.parties = (int)parties;
    if (pattern_holds(&pattern))
        return pattern_add(finder, pattern);
    free(pattern.acts);
    return false;
}

static bool find_barrier(const struct finder *finder) {
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex == finder->mutex && class->waits > 0 && find_barrier_at(finder, class))
            return true;
    }
    return false;
}

/* ---- read-write locks: each thread locks and unlocks by turns ---- */

struct lock_sites {
    const struct section_class *items[SITE_LIMIT];
    int count;
};

static int site_of(struct lock_sites *sites, const struct section_class *class, bool add) {
    for (int i = 0; i < sites->count; i++)
        if (class_is_same_operation(sites->items[i], class))
            return i;
    if (!add || sites->count == SITE_LIMIT)
        return -1;
    sites->items[sites->count] = class;
    return sites->count++;
}

enum lock_event_kind { LOCK_WAITS, LOCK_PASSES, LOCK_FREED };

struct lock_event {
    uint64_t time_ns;
    size_t section;
    int site; /* of the locking */
    enum lock_event_kind kind;
};

struct lock_events {
    struct lock_event *items;
    size_t count, capacity;
};

static int compare_lock_events(const void *a, const void *b) {
    const struct lock_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* False when the sections are no pairs of locking and unlocking call sites. */
static bool pair_sections(const struct finder *finder, struct lock_sites *locks,
                          struct lock_events *events) {
    int *held = memory_alloc(finder->trace->n_threads, sizeof *held); /* site + 1 */
    struct lock_sites unlocks = {0};
    bool good = true;
    for (size_t i = 0; i < finder->history.count && good; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        const struct section_class *class = class_at(finder, index);
        if (held[section->thread]) {
            *VECTOR_ADD(events) = (struct lock_event){section->release_ns, index,
                                                      held[section->thread] - 1, LOCK_FREED};
            held[section->thread] = 0;
            good = section->n_waits == 0 && site_of(&unlocks, class, true) >= 0;
            continue;
        }
        int site = site_of(locks, class, true);
        good = site >= 0;
        uint64_t time = section->acquire_ns;
        for (size_t w = 0; w < section->n_waits; w++) {
            *VECTOR_ADD(events) = (struct lock_event){time, index, site, LOCK_WAITS};
            time = finder->sections->waits[section->first_wait + w].end_ns;
        }
        *VECTOR_ADD(events) = (struct lock_event){time, index, site, LOCK_PASSES};
        held[section->thread] = site + 1;
    }
    for (int i = 0; i < locks->count; i++)
        good &= site_of(&unlocks, locks->items[i], false) < 0;
    free(held);
    if (events->count)
        qsort(events->items, events->count, sizeof *events->items, compare_lock_events);
    return good && events->count > 0;
}

struct lock_state {
    int readers, writers, waiting_writers;
    bool shared;             /* readers were in together */
    double kept_out, let_in; /* readers, by readers with a writer waiting */
    size_t *waiting;         /* per thread: section + 1 of a waiting writer */
};

static void replay_lock(const struct finder *finder, const struct lock_event *event, bool writes,
                        struct lock_state *state, struct pattern *pattern) {
    size_t *waiting = &state->waiting[section_at(finder, event->section)->thread];
    bool busy = state->writers > 0 || (writes && state->readers > 0);
    switch (event->kind) {
    case LOCK_WAITS: {
        bool behind_writer = !writes && state->waiting_writers > 0 && state->readers > 0;
        state->kept_out += !busy && behind_writer;
        pattern_judge(pattern, event->section, event->time_ns, true, busy || behind_writer);
        if (writes && !*waiting) {
            *waiting = 1;
            state->waiting_writers++;
        }
        break;
    }
    case LOCK_PASSES:
        state->let_in += !writes && state->waiting_writers > 0 && state->readers > 0;
        pattern_judge(pattern, event->section, event->time_ns, false, !busy);
        if (*waiting)
            state->waiting_writers--;
        *waiting = 0;
        if (writes)
            state->writers++;
        else
            state->readers++;
        state->shared |= state->readers > 1;
        pattern->acts[event->section] = writes ? ACT_WRITE : ACT_READ;
        break;
    case LOCK_FREED:
        if (writes)
            state->writers--;
        else
            state->readers--;
        pattern->acts[event->section] = ACT_UNLOCK;
        break;
    }
}

static bool find_rwlock(const struct finder *finder) {
    struct lock_sites locks = {0};
    struct lock_events events = {0};
    struct pattern best = {0};
    bool found = false;
    bool pairs = pair_sections(finder, &locks, &events);
    for (unsigned writers = 1; pairs && writers + 1 < 1U << locks.count; writers++) {
        struct pattern pattern = pattern_empty(finder, HAND_MADE_RWLOCK);
        struct lock_state state = {.waiting =
                                       memory_alloc(finder->trace->n_threads, sizeof(size_t))};
        for (size_t i = 0; i < events.count; i++)
            replay_lock(finder, &events.items[i], writers >> events.items[i].site & 1, &state,
                        &pattern);
        free(state.waiting);
        pattern.writers_first = state.kept_out > state.let_in;
        bool better = !found || pattern.tally.violations < best.tally.violations;
        if (pattern_holds(&pattern) && state.shared && better) {
            free(best.acts);
            best = pattern;
            found = true;
        } else {
            free(pattern.acts);
        }
    }
    free(events.items);
    return found && pattern_add(finder, best);
}

/* ---- turns: numbers are drawn at one place and go through in their order at another ---- */

/* The last section before `time_ns` of the thread with this entry; n_sections when none. Sections
 * of a thread stand together, in the order of their unlocks. */
static size_t last_before(const struct finder *finder, int thread, int entry, uint64_t after_ns,
                          uint64_t before_ns) {
    const struct sections *all = finder->sections;
    size_t low = finder->monitors->first_of_thread[thread];
    size_t high = finder->monitors->first_of_thread[thread + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->sections[middle].release_ns <= before_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t s = low; s-- > finder->monitors->first_of_thread[thread];) {
        if (all->sections[s].release_ns < after_ns)
            break;
        if (class_at(finder, s)->entry == entry)
            return s;
    }
    return all->n_sections;
}

/* When the number of passage `i` was drawn, if at a section of `entry`, or with `entry` -1 when
 * its thread passed the last time. UINT64_MAX: not at all. */
static uint64_t drawn_ns(const struct finder *finder, const struct passages *passages, size_t i,
                         int entry, size_t *section) {
    const struct passage *passage = &passages->items[i];
    uint64_t after = finder->trace->threads[passage->thread].start_ns;
    for (size_t j = i; j-- > 0;)
        if (passages->items[j].thread == passage->thread) {
            after = passages->items[j].passed_ns;
            break;
        }
    if (entry < 0)
        return after;
    *section = last_before(finder, passage->thread, entry, after, passage->passed_ns);
    if (*section == finder->sections->n_sections)
        return UINT64_MAX;
    const struct section *drawn = section_at(finder, *section);
    return *section == passage->wait_section ? drawn->acquire_ns
                                             : section_passed_ns(finder->sections, drawn);
}

/* Numbers that were drawn out of order, or not at all. The first of each thread may be late:
 * threads start at about the same time. */
static double count_inversions(const struct finder *finder, const struct passages *passages,
                               int entry) {
    double wrong = 0;
    uint64_t last = 0;
    bool *seen = memory_alloc(finder->trace->n_threads, sizeof *seen);
    for (size_t i = 0; i < passages->count; i++) {
        size_t section;
        uint64_t drawn = drawn_ns(finder, passages, i, entry, &section);
        bool first = !seen[passages->items[i].thread];
        seen[passages->items[i].thread] = true;
        if (first && entry < 0)
            continue;
        wrong += drawn == UINT64_MAX || drawn < last;
        if (drawn != UINT64_MAX && drawn > last)
            last = drawn;
    }
    free(seen);
    return wrong;
}

/* Where the order is decided: -1 when passing, an entry; -2 when no place explains it. */
static int find_drawing_entry(const struct finder *finder, const struct passages *passages) {
    double limit = VIOLATION_SHARE * (double)passages->count;
    if (count_inversions(finder, passages, -1) <= UNSEEN_SHARE * (double)passages->count)
        return -1;
    const struct monitors *monitors = finder->monitors;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        bool again = false;
        for (size_t d = 0; d < c && !again; d++)
            again = monitors->classes[d].entry == monitors->classes[c].entry;
        if (!again && monitors->classes[c].count + limit >= 1 &&
            count_inversions(finder, passages, monitors->classes[c].entry) <= limit)
            return monitors->classes[c].entry;
    }
    return -2;
}

void passages_judge(const struct finder *finder, const struct passages *passages, bool of_own,
                    struct pattern *pattern) {
    for (size_t i = 0; i < passages->count; i++) {
        const struct passage *passage = &passages->items[i];
        if (!of_own && i == 0)
            continue;
        uint64_t free_ns = of_own ? passage->passed_ns : passages->items[i - 1].passed_ns;
        const struct section *section = section_at(finder, passage->wait_section);
        bool waited = section->n_waits > 0;
        bool went_on = section_passed_ns(finder->sections, section) >= free_ns;
        pattern_judge(pattern, passage->wait_section, passage->asked_ns, waited,
                      went_on && waited == (passage->asked_ns < free_ns));
    }
}

bool passages_add(const struct finder *finder, const struct passages *passages, bool of_own,
                  struct pattern *pattern) {
    int entry = passages->count >= 3 ? find_drawing_entry(finder, passages) : -2;
    if (entry > -2)
        passages_judge(finder, passages, of_own, pattern);
    if (entry == -2 || !pattern_holds(pattern)) {
        free(pattern->acts);
        return false;
    }
    pattern->draws_when_passing = entry == -1;
    for (size_t i = 0; i < passages->count; i++) {
        size_t drawn = finder->sections->n_sections;
        if (entry >= 0)
            drawn_ns(finder, passages, i, entry, &drawn);
        if (drawn < finder->sections->n_sections)
            pattern->acts[drawn] |= ACT_DRAW;
        pattern->acts[passages->items[i].wait_section] |= of_own ? ACT_COLLECT : ACT_TURN;
        pattern->acts[passages->items[i].pass_section] |= ACT_PASS;
    }
    return pattern_add(finder, *pattern);
}

/* `condition` -1: any. */
static bool class_announces(const struct section_class *class, int condition) {
    if (condition < 0)
        return class->n_signals > 0;
    return class_signals(class, condition);
}

/* Sections of the call site that waits, each with the next one of the same thread that signals. */
static struct passages turns_of(const struct finder *finder, const struct section_class *site) {
    struct passages passages = {0};
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        if (!class_is_same_operation(class_at(finder, index), site))
            continue;
        const struct section *section = section_at(finder, index);
        size_t pass = finder->sections->n_sections;
        for (size_t s = index; s < finder->monitors->first_of_thread[section->thread + 1]; s++) {
            if (s > index && class_is_same_operation(class_at(finder, s), site) &&
                section_at(finder, s)->mutex == finder->mutex)
                break;
            if (section_at(finder, s)->mutex == finder->mutex &&
                class_announces(class_at(finder, s), site->waits_on)) {
                pass = s;
                break;
            }
        }
        if (pass == finder->sections->n_sections)
            continue;
        *VECTOR_ADD(&passages) = (struct passage){
            index, pass, section->thread, section->acquire_ns, section_at(finder, pass)->release_ns,
            0};
    }
    return passages;
}

int passages_compare(const void *a, const void *b) {
    const struct passage *x = a, *y = b;
    return (x->passed_ns > y->passed_ns) - (x->passed_ns < y->passed_ns);
}

/* Does the source say that the class waits for its turn? */
static bool is_proposed_turn(const struct finder *finder, const struct section_class *class) {
    const struct facts_monitor *proposal = finder->monitors->proposal_of[finder->mutex];
    if (!proposal || proposal->kind != MONITOR_HAND_OVER)
        return false;
    if (class->context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *calls = &finder->trace->contexts[class->context];
    for (size_t i = 0; i < proposal->n_operations; i++)
        for (size_t f = 0; f < calls->n_frames && f < COMMANDS_FRAMES; f++) {
            const struct facts_place *place = &proposal->operations[i].place;
            if (proposal->operations[i].role == FACTS_WAIT &&
                place->line == calls->frames[f].line &&
                strcmp(place->function, calls->frames[f].function) == 0)
                return true;
        }
    return false;
}

/* Where nobody had to wait for his turn, or two threads only, which could as well share one permit,
 * the source and the order of the passages tell. */
static bool find_turns(const struct finder *finder, bool is_proposed) {
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex != finder->mutex ||
            (is_proposed
                 ? !is_proposed_turn(finder, class)
                 : class->waits == 0 || finder->monitors->condition_explained[class->waits_on] ||
                       monitors_guard(finder->monitors, c)))
            continue;
        struct passages passages = turns_of(finder, class);
        if (passages.count)
            qsort(passages.items, passages.count, sizeof *passages.items, passages_compare);
        struct pattern pattern = pattern_empty(finder, HAND_MADE_HAND_OVER);
        pattern.is_proposed = is_proposed && class->waits == 0;
        bool found = passages_add(finder, &passages, false, &pattern);
        free(passages.items);
        if (found)
            return true;
    }
    return false;
}

/* ---- all mutexes ---- */

static bool has_unexplained_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section *section = section_at(finder, finder->history.items[i]);
        for (size_t w = 0; w < section->n_waits; w++)
            if (!finder->monitors->condition_explained
                     [finder->sections->waits[section->first_wait + w].condition])
                return true;
    }
    return false;
}

static bool has_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++)
        if (section_at(finder, finder->history.items[i])->n_waits > 0)
            return true;
    return false;
}

static void find_in_mutex(struct finder *finder, bool before_guards) {
    finder->history = in_order(finder->sections, finder->mutex, -1);
    if (before_guards && finder->history.count > 0)
        (void)(find_barrier(finder) || find_rwlock(finder) ||
               (has_wait(finder) && find_turns(finder, true)));
    else if (!before_guards && has_unexplained_wait(finder))
        (void)(find_turns(finder, false) || results_find(finder) || progress_find(finder));
    else if (!before_guards && !has_wait(finder))
        find_turns(finder, true);
    free(finder->history.items);
}

static void find_in_array(struct finder *finder) {
    int class_id = finder->sections->objects[finder->mutex].class_id;
    size_t members = 0;
    for (size_t o = 0; o < finder->sections->n_objects; o++)
        members += finder->sections->objects[o].class_id == class_id;
    finder->history = in_order(finder->sections, finder->mutex, class_id);
    if (members > 1 && has_unexplained_wait(finder))
        (void)(progress_find(finder) || results_find_in_array(finder, members));
    free(finder->history.items);
}

void patterns_find(const struct trace *trace, const struct sections *sections,
                   struct monitors *monitors, bool before_guards) {
    struct finder finder = {.trace = trace, .sections = sections, .monitors = monitors};
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        if (object->kind != ON_MUTEX || monitors_ignore(monitors, (int)o))
            continue;
        finder.mutex = (int)o;
        if (object->alone)
            find_in_mutex(&finder, before_guards);
        else if (!before_guards && object->class_id == (int)o)
            find_in_array(&finder);
    }
}

size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act) {
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++)
        if (pattern->acts[s] & act)
            return s;
    return PATTERN_NO_SECTION;
}

void patterns_drop(struct monitors *monitors, size_t index) {
    free(monitors->patterns[index].acts);
    monitors->n_patterns--;
    memmove(&monitors->patterns[index], &monitors->patterns[index + 1],
            (monitors->n_patterns - index) * sizeof *monitors->patterns);
}

void patterns_forget(struct monitors *monitors, int mutex) {
    size_t kept = 0;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].mutex == mutex)
            free(monitors->patterns[p].acts);
        else
            monitors->patterns[kept++] = monitors->patterns[p];
    monitors->n_patterns = kept;
}

void patterns_free(struct monitors *monitors) {
    for (size_t p = 0; p < monitors->n_patterns; p++)
        free(monitors->patterns[p].acts);
    free(monitors->patterns);
}
