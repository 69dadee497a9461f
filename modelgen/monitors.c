#include "modelgen/monitors.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/patterns.h"

#define CLASS_LIMIT     9     /* classes per mutex that take part in a hypothesis */
#define LEFT_OVER       0.1   /* of what was added may never be taken */
#define CLOSE_LIMIT     4     /* candidates for what closes an object */
#define EVENT_LIMIT     40000 /* events of one mutex that are replayed in the search */
#define VIOLATION_SHARE 0.05  /* of the evaluations may contradict an accepted hypothesis */
#define RECALL          0.8   /* of the waits, and of the passes, must be explained */
#define DEBT            1.5 /* how complex it is that something is owed at the start, in classes */

/* ---- classes ---- */

struct class_list {
    struct section_class *items;
    size_t count, capacity;
};

static const struct trace_frame *frame_at(const struct trace *trace, uint32_t context, size_t i) {
    static const struct trace_frame unknown = {.function = "?"};
    if (context == TRACE_NO_CONTEXT || trace->contexts[context].n_frames <= i)
        return &unknown;
    return &trace->contexts[context].frames[i];
}

/* Objects that cannot be told apart by who uses them: the first one stands for all. */
static int first_like(const struct sections *sections, int object) {
    return sections->objects[object].class_id;
}

static uint64_t entry_key(const struct trace *trace, const struct sections *sections,
                          const struct section *section) {
    uint32_t context = trace->threads[section->thread].records[section->lock_record].context;
    uint64_t key = map_mix(3, (uint64_t)first_like(sections, section->mutex));
    for (size_t i = 0; i < 2; i++) {
        const struct trace_frame *frame = frame_at(trace, context, i);
        key = map_mix(map_mix_text(key, frame->function), (uint64_t)frame->line);
    }
    return key;
}

static void collect_signals(const struct sections *sections, const struct section *section,
                            struct section_class *class) {
    for (size_t i = 0; i < section->n_signals; i++) {
        const struct section_signal *signal = &sections->signals[section->first_signal + i];
        int condition = first_like(sections, signal->condition);
        class->broadcasts |= signal->broadcast;
        size_t at = 0;
        while (at < class->n_signals && class->signals[at] < condition)
            at++;
        if (at < class->n_signals && class->signals[at] == condition)
            continue;
        if (class->n_signals == sizeof class->signals / sizeof *class->signals)
            continue;
        memmove(&class->signals[at + 1], &class->signals[at],
                (class->n_signals - at) * sizeof *class->signals);
        class->signals[at] = condition;
        class->n_signals++;
    }
}

static bool class_signals(const struct section_class *class, int condition) {
    for (size_t i = 0; i < class->n_signals; i++)
        if (class->signals[i] == condition)
            return true;
    return false;
}

static void note_waits(const struct sections *sections, const struct section *section,
                       struct section_class *class) {
    if (section->n_waits == 0)
        return;
    class->waits++;
    for (size_t i = 0; i < section->n_waits; i++) {
        int condition = first_like(sections, sections->waits[section->first_wait + i].condition);
        if (class->waits_on >= 0 && class->waits_on != condition)
            class->mixed_waits = true;
        class->waits_on = condition;
    }
}

/* What a section did may show in what its thread does next: having found nothing in a list it goes
 * elsewhere. 0 at the thread's end. */
static uint64_t key_of_next(const struct trace *trace, const struct sections *sections, size_t s) {
    bool has_next = s + 1 < sections->n_sections &&
                    sections->sections[s + 1].thread == sections->sections[s].thread;
    return has_next ? entry_key(trace, sections, &sections->sections[s + 1]) : 0;
}

/* `split`, per sync object, NULL: none: a mutex whose sections are told apart by what comes next
 * where neither a wait nor a signal tells. */
static void find_section_classes(const struct trace *trace, const struct sections *sections,
                                 const bool *split, struct monitors *monitors) {
    struct class_list list = {0};
    struct map class_of_key = MAP_EMPTY, entry_of_key = MAP_EMPTY;
    monitors->class_of = memory_alloc(sections->n_sections, sizeof(int));
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        uint32_t context = trace->threads[section->thread].records[section->lock_record].context;
        struct section_class class = {
            .mutex = first_like(sections, section->mutex), .context = context, .waits_on = -1};
        collect_signals(sections, section, &class);
        uint64_t entry = entry_key(trace, sections, section), key = entry;
        if (split && split[section->mutex] && section->n_waits == 0 && class.n_signals == 0)
            key = map_mix(key, key_of_next(trace, sections, s));
        for (size_t i = 0; i < class.n_signals; i++)
            key = map_mix(key, (uint64_t) class.signals[i]);
        int index = map_get(&class_of_key, key, -1);
        if (index < 0) {
            index = (int)list.count;
            map_put(&class_of_key, key, index);
            class.entry = map_get(&entry_of_key, entry, (int)entry_of_key.count);
            map_put(&entry_of_key, entry, class.entry);
            const struct trace_frame *frame = frame_at(trace, context, 0);
            class.function = frame->function;
            class.line = frame->line;
            class.first_ns = section->acquire_ns;
            *VECTOR_ADD(&list) = class;
        }
        assert(list.items); /* the map knows only what is in the list */
        struct section_class *known = &list.items[index];
        known->count++;
        known->broadcasts |= class.broadcasts;
        if (section->acquire_ns < known->first_ns)
            known->first_ns = section->acquire_ns;
        note_waits(sections, section, known);
        monitors->class_of[s] = index;
    }
    map_free(&class_of_key);
    map_free(&entry_of_key);
    monitors->classes = list.items;
    monitors->n_classes = list.count;
}

/* ---- the history of one mutex ---- */

enum event_kind { EVENT_WAITS, EVENT_PASSES, EVENT_EFFECT };

struct event {
    uint64_t time_ns;
    enum event_kind kind;
    int class_index;
    size_t section;
    size_t instance; /* of the mutexes that are alike: each has a counter of its own */
};

struct history {
    struct event *items;
    size_t count, capacity;
    size_t n_instances;
};

/* Within one moment a thread first evaluates, then changes the state. */
static int compare_events(const void *a, const void *b) {
    const struct event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Of `mutex` and of those that it stands for. */
static struct history history_of(const struct sections *sections, const struct monitors *monitors,
                                 int mutex) {
    struct history history = {0};
    struct map instance_of = MAP_EMPTY;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (first_like(sections, section->mutex) != mutex)
            continue;
        int instance = map_get(&instance_of, (uint64_t)section->mutex, -1);
        if (instance < 0) {
            instance = (int)history.n_instances++;
            map_put(&instance_of, (uint64_t)section->mutex, instance);
        }
        int class_index = monitors->class_of[s];
        struct event event = {section->acquire_ns, EVENT_WAITS, class_index, s, (size_t)instance};
        for (size_t w = 0; w < section->n_waits; w++) {
            *VECTOR_ADD(&history) = event;
            event.time_ns = sections->waits[section->first_wait + w].end_ns;
        }
        if (section->cut)
            continue;
        event.kind = EVENT_PASSES;
        *VECTOR_ADD(&history) = event;
        event.kind = EVENT_EFFECT;
        *VECTOR_ADD(&history) = event;
    }
    map_free(&instance_of);
    if (history.count)
        qsort(history.items, history.count, sizeof *history.items, compare_events);
    return history;
}

/* ---- hypotheses ---- */

struct hypothesis {
    const int *classes; /* that take part */
    int n_classes;
    int weight[CLASS_LIMIT];
    int waiter_entry;   /* whose evaluations count */
    bool tries;         /* waiters fail instead of waiting: a class of weight 0 has failed */
    long take;          /* what a waiter takes at once */
    uint64_t closed_ns; /* evaluations from here on are not judged; UINT64_MAX = never */
};

struct verdict {
    double waits, passes;
    double wrong_waits, wrong_passes;
    long threshold; /* waits while the counter is at or below it */
};

/* Where each class stands in the hypothesis, for fast look-up while replaying. */
struct replay_table {
    int *slot;               /* class index -> slot in hypothesis or -1 */
    long *counters;          /* per instance */
    double *waited, *passed; /* histogram of counter values, offset by `offset` */
    size_t offset, size;
};

static bool judges(const struct monitors *monitors, const struct hypothesis *hypothesis,
                   const struct event *event) {
    return event->kind != EVENT_EFFECT && event->time_ns < hypothesis->closed_ns &&
           monitors->classes[event->class_index].entry == hypothesis->waiter_entry;
}

/* Fills the histograms; gives the range of counter values judged, as low..high. */
static void replay(const struct monitors *monitors, const struct hypothesis *hypothesis,
                   const struct history *history, size_t limit, struct replay_table *table,
                   long *low, long *high) {
    memset(table->counters, 0, history->n_instances * sizeof *table->counters);
    *low = (long)table->size;
    *high = -(long)table->size;
    for (size_t i = 0; i < history->count && i < limit; i++) {
        const struct event *event = &history->items[i];
        int slot = table->slot[event->class_index];
        int weight = slot < 0 ? 0 : hypothesis->weight[slot];
        long counter = table->counters[event->instance];
        if (event->kind == EVENT_EFFECT) {
            table->counters[event->instance] += weight;
        } else if (judges(monitors, hypothesis, event)) {
            bool waits = event->kind == EVENT_WAITS || (hypothesis->tries && weight == 0);
            (waits ? table->waited : table->passed)[(size_t)(counter + (long)table->offset)]++;
            *low = counter < *low ? counter : *low;
            *high = counter > *high ? counter : *high;
        }
    }
}

static bool takes(const struct monitors *monitors, const struct hypothesis *hypothesis) {
    for (int i = 0; i < hypothesis->n_classes; i++)
        if (monitors->classes[hypothesis->classes[i]].entry == hypothesis->waiter_entry &&
            hypothesis->weight[i] < 0)
            return true;
    return false;
}

/* The best threshold for the histograms, which are cleared on the way. Where several are
 * equally good: a guard that takes was one short when somebody waited (the lowest one, but
 * `natural` if that is possible: nothing there at the start); a level was just reached when
 * somebody passed (the highest one). */
static struct verdict best_threshold(struct replay_table *table, long low, long high, bool taking,
                                     long natural) {
    struct verdict best = {.wrong_waits = 1e300};
    double waits = 0, passes = 0;
    for (long c = low; c <= high; c++) {
        waits += table->waited[(size_t)(c + (long)table->offset)];
        passes += table->passed[(size_t)(c + (long)table->offset)];
    }
    double waits_below = 0, passes_below = 0;
    for (long c = low; c <= high; c++) {
        size_t at = (size_t)(c + (long)table->offset);
        waits_below += table->waited[at];
        passes_below += table->passed[at];
        double wrong = waits - waits_below + passes_below;
        double known = best.wrong_waits + best.wrong_passes;
        if (wrong < known || (wrong == known && (taking ? c == natural : true)))
            best = (struct verdict){waits, passes, waits - waits_below, passes_below, c};
        table->waited[at] = table->passed[at] = 0;
    }
    return best;
}

static bool acceptable(const struct verdict *verdict) {
    double wrong = verdict->wrong_waits + verdict->wrong_passes;
    return verdict->waits > 0 && verdict->passes > 0 &&
           wrong <= VIOLATION_SHARE * (verdict->waits + verdict->passes) + 0.5 &&
           verdict->wrong_waits <= (1 - RECALL) * verdict->waits &&
           verdict->wrong_passes <= (1 - RECALL) * verdict->passes;
}

/* ---- search ---- */

struct search {
    const struct monitors *monitors;
    const struct history *history;
    struct replay_table table;
    int classes[CLASS_LIMIT];
    int n_classes;
    int condition; /* whose signals announce a change; -1 any */
    int success;   /* class of the attempts that succeed; -1: those that signal */
    struct hypothesis current, best;
    struct verdict best_verdict;
    double best_complexity;
    bool uniform; /* all sections of one call site weigh the same, whatever they signal */
    bool found;
};

/* Does any class of this entry signal the condition? */
static bool entry_signals(const struct search *search, int entry) {
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *class = &search->monitors->classes[search->classes[i]];
        if (class->entry == entry &&
            (search->condition < 0 ? class->n_signals > 0
                                   : class_signals(class, search->condition)))
            return true;
    }
    return false;
}

static void judge_current(struct search *search, double complexity) {
    struct hypothesis *current = &search->current;
    bool taking = takes(search->monitors, current);
    long low, high;
    replay(search->monitors, current, search->history, EVENT_LIMIT, &search->table, &low, &high);
    struct verdict verdict =
        best_threshold(&search->table, low, high, taking, taking ? current->take - 1 : 0);
    if (taking && verdict.threshold > current->take - 1)
        complexity += DEBT; /* more classes may well explain it without */
    double wrong = verdict.wrong_waits + verdict.wrong_passes;
    double best = search->best_verdict.wrong_waits + search->best_verdict.wrong_passes;
    bool better =
        !search->found || wrong < best || (wrong == best && complexity < search->best_complexity);
    if (verdict.waits + verdict.passes > 0 && better) {
        search->found = true;
        search->best = *current;
        search->best_verdict = verdict;
        search->best_complexity = complexity;
    }
}

/* How many the waiter takes at once if nothing is ever left over: what was added per pass. */
static long whole_batch(const struct search *search) {
    double added = 0, passes = 0;
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *class = &search->monitors->classes[search->classes[i]];
        if (search->current.weight[i] > 0)
            added += class->count;
        else if (class->entry == search->current.waiter_entry)
            passes += class->count;
    }
    return passes > 0 ? lround(added / passes) : 0;
}

/* Whether about as much is taken as is added: what the waiters take is then no coincidence. */
static bool is_balanced(const struct search *search) {
    double added = 0, taken = 0;
    for (int i = 0; i < search->n_classes; i++) {
        double amount =
            search->current.weight[i] * search->monitors->classes[search->classes[i]].count;
        *(amount > 0 ? &added : &taken) += fabs(amount);
    }
    return fabs(added - taken) <= LEFT_OVER * added;
}

/* Judges the chosen weights, then the same with the waiter taking a whole batch. */
static void judge_weights(struct search *search) {
    struct hypothesis *current = &search->current;
    int complexity = 0, producers = 0;
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *classes = search->monitors->classes;
        bool counted = false; /* the call site, by another class of it */
        for (int j = 0; j < i; j++)
            counted |= current->weight[j] != 0 &&
                       classes[search->classes[j]].entry == classes[search->classes[i]].entry;
        complexity += current->weight[i] != 0 && !counted;
        producers += current->weight[i] > 0;
    }
    if (producers == 0)
        return;
    current->take = 1;
    /* Of two equally good ones: whoever waits for something usually takes it. That it does is one
     * more thing to believe only when nothing else speaks for it. */
    if (!takes(search->monitors, current))
        judge_current(search, complexity + 0.25);
    else
        judge_current(search, complexity - (is_balanced(search) ? 1 : 0));
    long batch = whole_batch(search);
    if (current->tries || batch < 2 || !takes(search->monitors, current))
        return;
    struct hypothesis single = *current;
    current->take = batch;
    for (int i = 0; i < search->n_classes; i++)
        if (search->monitors->classes[search->classes[i]].entry == current->waiter_entry)
            current->weight[i] *= (int)batch;
    judge_current(search, complexity + 0.5);
    *current = single;
}

/* Tries every allowed weight of class number `at` and of all after it. */
static void enumerate(struct search *search, int at) {
    if (at == search->n_classes) {
        judge_weights(search);
        return;
    }
    const struct section_class *class = &search->monitors->classes[search->classes[at]];
    int *weight = &search->current.weight[at];
    bool waiter = class->entry == search->current.waiter_entry;
    if (waiter && search->current.tries) {
        bool succeeds =
            search->success >= 0 ? search->classes[at] == search->success : class->n_signals > 0;
        *weight = succeeds ? -1 : 0;
        enumerate(search, at + 1);
        return;
    }
    for (int i = 0; search->uniform && i < at; i++)
        if (search->monitors->classes[search->classes[i]].entry == class->entry) {
            *weight = search->current.weight[i];
            enumerate(search, at + 1);
            return;
        }
    *weight = 0;
    enumerate(search, at + 1);
    if (waiter || !entry_signals(search, class->entry)) {
        *weight = -1;
        enumerate(search, at + 1);
    } else {
        *weight = 1;
        enumerate(search, at + 1);
    }
    *weight = 0;
}

/* What a hypothesis cannot do without comes first: who waits and who wakes; then the most frequent.
 */
struct class_order {
    const struct section_class *classes;
    int waiter_entry, condition;
};

static int compare_classes(const void *a, const void *b, void *context) {
    const struct class_order *order = context;
    const struct section_class *x = &order->classes[*(const int *)a];
    const struct section_class *y = &order->classes[*(const int *)b];
    bool needs_x = x->entry == order->waiter_entry || class_signals(x, order->condition);
    bool needs_y = y->entry == order->waiter_entry || class_signals(y, order->condition);
    if (needs_x != needs_y)
        return needs_x ? -1 : 1;
    return (x->count < y->count) - (x->count > y->count);
}

/* The classes of the mutex that may take part, the closing class left out. */
static int choose_classes(const struct monitors *monitors, int mutex, int waiter_entry,
                          int condition, int close_class, int chosen[CLASS_LIMIT]) {
    struct {
        int *items;
        size_t count, capacity;
    } all = {0};
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && (int)c != close_class)
            *VECTOR_ADD(&all) = (int)c;
    struct class_order order = {monitors->classes, waiter_entry, condition};
    if (all.count)
        qsort_r(all.items, all.count, sizeof *all.items, compare_classes, &order);
    int n = 0;
    for (; n < CLASS_LIMIT && (size_t)n < all.count; n++)
        chosen[n] = all.items[n];
    free(all.items);
    return n;
}

/* Classes that may end the condition's life: they broadcast to its waiters, and run once. The last
 * ones, the very last first. */
static int find_close_classes(const struct monitors *monitors, int mutex, int condition,
                              int found[CLOSE_LIMIT]) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->count != 1 || !class->broadcasts ||
            !class_signals(class, condition))
            continue;
        int at = n < CLOSE_LIMIT ? n++ : CLOSE_LIMIT;
        for (; at > 0 && monitors->classes[found[at - 1]].first_ns < class->first_ns; at--)
            if (at < CLOSE_LIMIT)
                found[at] = found[at - 1];
        if (at < CLOSE_LIMIT)
            found[at] = (int)c;
    }
    return n;
}

/* Whether a section signals may be the consequence of the very state we look for ("the last one
 * signals"), so hypotheses that do not need to know it come first. */
static bool search_weights(struct search *search) {
    search->uniform = !search->current.tries;
    enumerate(search, 0);
    if (search->uniform && !(search->found && acceptable(&search->best_verdict))) {
        search->uniform = false;
        enumerate(search, 0);
    }
    return search->found && acceptable(&search->best_verdict);
}

static bool search_run(struct search *search, const struct history *history, int mutex,
                       int waiter_entry, int condition, int close_class, bool tries) {
    const struct monitors *monitors = search->monitors;
    search->history = history;
    search->condition = condition;
    search->found = false;
    search->n_classes =
        choose_classes(monitors, mutex, waiter_entry, condition, close_class, search->classes);
    search->current = (struct hypothesis){
        .classes = search->classes,
        .n_classes = search->n_classes,
        .waiter_entry = waiter_entry,
        .tries = tries,
        .closed_ns = close_class >= 0 ? monitors->classes[close_class].first_ns : UINT64_MAX};
    search->table.size = 2 * history->count + 1;
    search->table.offset = history->count;
    search->table.waited = memory_alloc(search->table.size, sizeof(double));
    search->table.passed = memory_alloc(search->table.size, sizeof(double));
    search->table.counters = memory_alloc(history->n_instances, sizeof(long));
    search->table.slot = memory_alloc(monitors->n_classes, sizeof(int));
    for (size_t c = 0; c < monitors->n_classes; c++)
        search->table.slot[c] = -1;
    for (int i = 0; i < search->n_classes; i++)
        search->table.slot[search->classes[i]] = i;
    bool good = search_weights(search);
    free(search->table.waited);
    free(search->table.passed);
    free(search->table.counters);
    free(search->table.slot);
    return good;
}

/* ---- guards ---- */

struct guard_list {
    struct guard *items;
    size_t count, capacity;
};

static struct guard guard_empty(const struct monitors *monitors, const struct sections *sections,
                                int mutex) {
    return (struct guard){.mutex = mutex,
                          .condition = -1,
                          .close_class = -1,
                          .object = -1,
                          .take = 1,
                          .weight = memory_alloc(monitors->n_classes, sizeof(int)),
                          .waits = memory_alloc(monitors->n_classes, sizeof(bool)),
                          .outcome = memory_alloc(sections->n_sections, sizeof(enum outcome))};
}

static void note_contradiction(struct guard *guard, const struct event *event, double counter) {
    if (guard->n_contradictions < CONTRADICTIONS_SHOWN)
        guard->contradictions[guard->n_contradictions++] = (struct contradiction){
            event->time_ns, event->section, event->kind == EVENT_WAITS, counter};
}

/* One for each instance. The caller frees. */
static double *initial_counters(const struct guard *guard, const struct history *history) {
    double *counters = memory_alloc(history->n_instances, sizeof *counters);
    for (size_t i = 0; i < history->n_instances; i++)
        counters[i] = guard->initial;
    return counters;
}

/* Replays the whole history with the final weights and writes down how every evaluation ended. A
 * pass at an empty counter is a "no": the queue was closed, or the caller does not wait. */
static void fill_outcomes(const struct monitors *monitors, struct guard *guard,
                          const struct history *history) {
    double *counters = initial_counters(guard, history);
    guard->n_contradictions = 0;
    guard->most = guard->initial;
    uint64_t closed_ns =
        guard->close_class >= 0 ? monitors->classes[guard->close_class].first_ns : UINT64_MAX;
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        int weight = guard->weight[event->class_index];
        bool waiter = guard->waits[event->class_index];
        enum outcome *outcome = &guard->outcome[event->section];
        double counter = counters[event->instance];
        if (event->kind == EVENT_EFFECT) {
            if (!waiter || *outcome == OUTCOME_YES)
                counters[event->instance] += weight;
            guard->most = fmax(guard->most, counters[event->instance]);
        } else if (waiter && event->kind == EVENT_PASSES) {
            bool failed_try = guard->tries && weight == 0;
            bool closed = counter < guard->take - 0.5 &&
                          (event->time_ns >= closed_ns || guard->condition < 0);
            *outcome = failed_try || closed ? OUTCOME_NO : OUTCOME_YES;
            if (*outcome == OUTCOME_YES && counter < guard->take - 0.5)
                note_contradiction(guard, event, counter);
        } else if (waiter) {
            *outcome = OUTCOME_NO; /* unless it goes on */
            if (counter >= guard->take - 0.5 && event->time_ns < closed_ns)
                note_contradiction(guard, event, counter);
        }
    }
    free(counters);
}

static bool same_weights(const struct monitors *monitors, const struct guard *a,
                         const struct guard *b) {
    return a->mutex == b->mutex && a->tries == b->tries && a->initial == b->initial &&
           memcmp(a->weight, b->weight, monitors->n_classes * sizeof *a->weight) == 0;
}

static void guard_free(struct guard *guard) {
    free(guard->weight);
    free(guard->waits);
    free(guard->outcome);
}

/* Counts what contradicts the guard if those who wait by `other` wait by it too. */
static double contradictions_with(const struct monitors *monitors, const struct guard *guard,
                                  const struct guard *other, const struct history *history) {
    double *counters = initial_counters(guard, history), wrong = 0;
    uint64_t closed_ns =
        guard->close_class >= 0 ? monitors->classes[guard->close_class].first_ns : UINT64_MAX;
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        int c = event->class_index;
        bool there = counters[event->instance] > guard->take - 0.5;
        if (event->kind == EVENT_EFFECT)
            counters[event->instance] += guard->weight[c];
        else if ((guard->waits[c] || other->waits[c]) && event->time_ns < closed_ns)
            wrong += there == (event->kind == EVENT_WAITS);
    }
    free(counters);
    return wrong;
}

/* Two call sites that wait for the same thing: equal guards, or the one that says more explains the
 * other's waits at the same condition as well, as what they take. */
static bool is_same_guard(const struct monitors *monitors, const struct guard *known,
                          const struct guard *guard, const struct history *history) {
    if (same_weights(monitors, known, guard))
        return true;
    if (known->mutex != guard->mutex || known->condition < 0 ||
        known->condition != guard->condition || known->kind == GUARD_LEVEL ||
        guard->kind == GUARD_LEVEL || known->tries || guard->tries)
        return false;
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (guard->waits[c] && known->weight[c] >= 0)
            return false;
    double limit = VIOLATION_SHARE * (known->evaluations + guard->evaluations) + 0.5;
    return contradictions_with(monitors, known, guard, history) <= limit;
}

/* Adds a guard, or joins it with one that stands for the same thing. */
static void add_guard(struct monitors *monitors, struct guard_list *list, struct guard guard,
                      const struct history *history) {
    for (size_t g = 0; g < list->count; g++) {
        struct guard *known = &list->items[g];
        if (!is_same_guard(monitors, known, &guard, history))
            continue;
        for (size_t c = 0; c < monitors->n_classes; c++)
            known->waits[c] |= guard.waits[c];
        known->evaluations += guard.evaluations;
        known->waited += guard.waited;
        known->violations += guard.violations;
        guard_free(&guard);
        fill_outcomes(monitors, known, history);
        return;
    }
    fill_outcomes(monitors, &guard, history);
    *VECTOR_ADD(list) = guard;
}

static void add_found(struct monitors *monitors, const struct sections *sections,
                      struct guard_list *list, const struct search *search, int mutex,
                      int condition, int close_class) {
    struct guard guard = guard_empty(monitors, sections, mutex);
    const struct hypothesis *best = &search->best;
    guard.condition = condition;
    guard.close_class = close_class;
    guard.tries = best->tries;
    guard.take = takes(monitors, best) ? (double)best->take : 1;
    guard.initial = guard.take - 1 - (double)search->best_verdict.threshold;
    for (int i = 0; i < search->n_classes; i++) {
        guard.weight[search->classes[i]] = best->weight[i];
        guard.waits[search->classes[i]] =
            monitors->classes[search->classes[i]].entry == best->waiter_entry;
    }
    if (!takes(monitors, best))
        guard.kind = GUARD_LEVEL;
    else
        guard.kind = guard.initial > 0 || guard.take > 1 ? GUARD_TOKENS : GUARD_QUEUE;
    guard.evaluations = search->best_verdict.waits + search->best_verdict.passes;
    guard.waited = search->best_verdict.waits;
    guard.violations = search->best_verdict.wrong_waits + search->best_verdict.wrong_passes;
    add_guard(monitors, list, guard, search->history);
}

/* A program may wake its waiters for the last time at several places, and only one of them made
 * them go: the one that contradicts least. Of equals, whoever waits takes something. */
static bool better_found(const struct search *a, const struct search *b) {
    double wrong_a = a->best_verdict.wrong_waits + a->best_verdict.wrong_passes;
    double wrong_b = b->best_verdict.wrong_waits + b->best_verdict.wrong_passes;
    if (wrong_a != wrong_b)
        return wrong_a < wrong_b;
    return takes(a->monitors, &a->best) && !takes(b->monitors, &b->best);
}

/* What the sections of `class` wait for; gives the class that closes it, or -1. */
static bool search_guard(struct search *search, const struct history *history,
                         const struct section_class *class, int *close_class) {
    int candidates[CLOSE_LIMIT];
    int n = find_close_classes(search->monitors, class->mutex, class->waits_on, candidates);
    struct search best = *search;
    bool good = false;
    for (int i = 0; i < n; i++)
        if (search_run(search, history, class->mutex, class->entry, class->waits_on, candidates[i],
                       false) &&
            (!good || better_found(search, &best))) {
            best = *search;
            *close_class = candidates[i];
            good = true;
        }
    if (!good) { /* nothing closes, or what looked like closing is the event itself */
        *close_class = -1;
        good = search_run(search, history, class->mutex, class->entry, class->waits_on, -1, false);
        best = *search;
    }
    *search = best;
    return good;
}

static void set_explained(struct monitors *monitors, const struct sections *sections, int condition,
                          bool explained) {
    for (size_t o = 0; o < sections->n_objects; o++)
        if (first_like(sections, (int)o) == condition)
            monitors->condition_explained[o] = explained;
}

/* Of mutexes that are alike the model makes one object. That is true to queues from which each
 * thread takes by a mutex of its own, as the owner of a mailbox: the queue goes to whoever is idle.
 */
static bool are_mailboxes(const struct sections *sections, const struct search *search) {
    const struct history *history = search->history;
    int *owner = memory_alloc(history->n_instances, sizeof *owner); /* thread + 1 */
    bool good = takes(search->monitors, &search->best) && search->best.take == 1 &&
                search->best_verdict.threshold == 0;
    for (size_t i = 0; i < history->count && good; i++) {
        const struct event *event = &history->items[i];
        int thread = sections->sections[event->section].thread + 1;
        if (search->monitors->classes[event->class_index].entry != search->best.waiter_entry)
            continue;
        good = owner[event->instance] == 0 || owner[event->instance] == thread;
        owner[event->instance] = thread;
    }
    for (size_t a = 0; a < history->n_instances; a++)
        for (size_t b = 0; b < a; b++)
            good &= owner[a] == 0 || owner[a] != owner[b];
    free(owner);
    return good;
}

/* Every (entry, condition) of this mutex, or of those like it, that waited. Sets
 * condition_explained. */
static void find_waiting_guards(struct monitors *monitors, const struct sections *sections,
                                int mutex, const struct history *history, struct guard_list *list) {
    struct search search = {.monitors = monitors, .success = -1};
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->waits == 0 ||
            monitors->condition_in_pattern[class->waits_on])
            continue;
        bool done = false; /* another class of the same entry came first */
        for (size_t d = 0; d < c; d++)
            done |= monitors->classes[d].entry == class->entry && monitors->classes[d].waits > 0;
        if (done)
            continue;
        int close_class = -1;
        if (!class->mixed_waits && search_guard(&search, history, class, &close_class) &&
            (sections->objects[mutex].alone || are_mailboxes(sections, &search)))
            add_found(monitors, sections, list, &search, mutex, class->waits_on, close_class);
        else
            set_explained(monitors, sections, class->waits_on, false);
    }
}

/* Of an entry, one of whose classes may be the successful attempts. */
struct attempt {
    bool waits, signals; /* any of its sections */
    bool fails;          /* it has another class, which does not signal */
};

static struct attempt attempt_of(const struct monitors *monitors, size_t success) {
    struct attempt attempt = {0};
    for (size_t d = 0; d < monitors->n_classes; d++) {
        const struct section_class *class = &monitors->classes[d];
        if (class->entry != monitors->classes[success].entry)
            continue;
        attempt.waits |= class->waits > 0;
        attempt.signals |= class->n_signals > 0;
        attempt.fails |= d != success && class->n_signals == 0 && class->count >= 2;
    }
    return attempt;
}

/* Does the class, and no other of its entry, take from the guard without waiting for it? */
static bool takes_alone(const struct monitors *monitors, const struct guard *guard, size_t class) {
    for (size_t d = 0; d < monitors->n_classes; d++)
        if (monitors->classes[d].entry == monitors->classes[class].entry &&
            (guard->waits[d] || (guard->weight[d] < 0) != (d == class)))
            return false;
    return true;
}

/* Entries that never wait but sometimes signal and sometimes do not, or go different ways
 * afterwards: an attempt that can fail. Only believed where the success adds to a guard already
 * found; or, without a signal, takes from one. */
static void find_trying_guards(struct monitors *monitors, const struct sections *sections,
                               int mutex, const struct history *history, struct guard_list *list) {
    struct search search = {.monitors = monitors};
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (monitors->classes[c].mutex != mutex)
            continue;
        struct attempt attempt = attempt_of(monitors, c);
        bool told_by_signal = monitors->classes[c].n_signals > 0;
        if (attempt.waits || !attempt.fails || attempt.signals != told_by_signal)
            continue;
        bool is_known = false;
        for (size_t g = 0; g < list->count && !is_known; g++) {
            const struct guard *guard = &list->items[g];
            is_known = told_by_signal ? guard->weight[c] > 0
                                      : guard->mutex == mutex && takes_alone(monitors, guard, c);
        }
        search.success = told_by_signal ? -1 : (int)c;
        if (is_known &&
            search_run(&search, history, mutex, monitors->classes[c].entry, -1, -1, true))
            add_found(monitors, sections, list, &search, mutex, -1, -1);
    }
}

/* ---- who comes first ---- */

/* Does the section's thread go on to one that adds to the guard, under the same mutex? */
static bool goes_on_to_add(const struct monitors *monitors, const struct sections *sections,
                           const struct guard *guard, size_t s) {
    if (s + 1 >= sections->n_sections)
        return false;
    const struct section *next = &sections->sections[s + 1];
    return next->thread == sections->sections[s].thread &&
           next->mutex == sections->sections[s].mutex &&
           guard->weight[monitors->class_of[s + 1]] > 0;
}

/* The first section that looks at the guard; n_sections: none. */
static size_t first_look(const struct sections *sections, const struct guard *guard,
                         const struct history *history) {
    for (size_t i = 0; i < history->count; i++)
        if (history->items[i].kind != EVENT_EFFECT && guard->waits[history->items[i].class_index])
            return history->items[i].section;
    return sections->n_sections;
}

/* Lazy initialisation: the first thread to look does not wait for the level, though it is not
 * there, but goes and brings it about. Who that is shows at run time only, so an attempt at a
 * permit stands before the look. */
static void find_first_comer(struct monitors *monitors, const struct sections *sections, size_t g,
                             const struct history *history, struct guard_list *list) {
    struct guard *level = &list->items[g];
    size_t maker = first_look(sections, level, history);
    if (level->kind != GUARD_LEVEL || level->initial > level->take - 0.5 ||
        history->n_instances != 1 || maker == sections->n_sections ||
        sections->sections[maker].n_waits > 0 || !goes_on_to_add(monitors, sections, level, maker))
        return;
    struct guard first = guard_empty(monitors, sections, level->mutex);
    first.kind = GUARD_FIRST;
    first.tries = true;
    first.initial = 1;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class = monitors->class_of[s];
        if (!level->waits[class])
            continue;
        first.waits[class] = true;
        first.outcome[s] = s == maker ? OUTCOME_YES : OUTCOME_NO;
        first.evaluations++;
    }
    first.waited = first.evaluations - 1; /* that failed */
    level->outcome[maker] = OUTCOME_ANY;
    struct guard second = *level;
    *level = first; /* is tried before the level is looked at */
    *VECTOR_ADD(list) = second;
}

/* ---- proposals of the source, for guards that never made anybody wait ---- */

static bool acts_as_put(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_PUT, function) ||
           facts_monitor_acts(proposal, FACTS_SUBMIT, function);
}

static bool acts_as_get(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_GET, function) ||
           facts_monitor_acts(proposal, FACTS_RUN, function);
}

/* Does the proposal say that this class' section acts so? One function may have several sections.
 */
static bool acts_at(const struct facts_monitor *proposal, enum facts_role role,
                    const struct section_class *class) {
    bool found = false;
    for (size_t i = 0; i < proposal->n_operations; i++) {
        const struct facts_operation *operation = &proposal->operations[i];
        if (operation->role != role || strcmp(operation->place.function, class->function) != 0)
            continue;
        if (operation->place.line == class->line)
            return true;
        found = true;
    }
    for (size_t i = 0; i < proposal->n_operations && found; i++)
        if (proposal->operations[i].place.line == class->line)
            return false; /* another one is meant */
    return found;
}

static void try_proposal(struct monitors *monitors, const struct sections *sections, int mutex,
                         const struct facts_monitor *proposal, const struct history *history,
                         struct guard_list *list) {
    struct guard guard = guard_empty(monitors, sections, mutex);
    bool puts = false, gets = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        if (acts_as_put(proposal, class->function)) {
            guard.weight[c] = 1;
            puts = true;
        } else if (acts_as_get(proposal, class->function)) {
            guard.weight[c] = -1;
            guard.waits[c] = gets = true;
        } else if (facts_monitor_acts(proposal, FACTS_CLOSE, class->function)) {
            guard.close_class = (int)c;
        }
    }
    guard.kind = GUARD_QUEUE;
    guard.proposal = proposal;
    fill_outcomes(monitors, &guard, history);
    double yes = 0, no = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        yes += guard.outcome[s] == OUTCOME_YES;
        no += guard.outcome[s] == OUTCOME_NO;
    }
    /* An attempt at an empty queue that did not wait must be the exception (the end). */
    bool holds = puts && gets && yes > 0 && no <= yes;
    if (!holds) {
        guard_free(&guard);
        return;
    }
    guard.evaluations = yes + no;
    /* Without a close, "empty" itself is the answer: the caller does not wait. Where it never was
     * the answer, nothing shows what the caller would do then, so it waits. */
    guard.tries = guard.close_class < 0 && no > 0;
    *VECTOR_ADD(list) = guard;
}

/* Tokens for which nobody ever had to wait: as many as the source says, and never fewer than were
 * out at one time. */
static void try_proposed_tokens(struct monitors *monitors, const struct sections *sections,
                                int mutex, const struct facts_monitor *proposal,
                                const struct history *history, struct guard_list *list) {
    struct guard guard = guard_empty(monitors, sections, mutex);
    bool takes_some = false, gives = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        if (acts_at(proposal, FACTS_ACQUIRE, class) || acts_at(proposal, FACTS_GET, class)) {
            guard.weight[c] = -1;
            guard.waits[c] = takes_some = true;
        } else if (acts_at(proposal, FACTS_RELEASE, class) || acts_at(proposal, FACTS_PUT, class)) {
            guard.weight[c] = 1;
            gives = true;
        }
    }
    double out = 0, most = 1;
    for (size_t i = 0; i < history->count; i++) {
        out -= history->items[i].kind == EVENT_EFFECT ? guard.weight[history->items[i].class_index]
                                                      : 0;
        most = fmax(most, out);
    }
    const struct facts_amount *amount = &proposal->amount;
    guard.kind = GUARD_TOKENS;
    guard.proposal = proposal;
    guard.initial = amount->constant ? amount->offset : most;
    bool is_known = amount->constant || amount->follows_threads;
    if (!takes_some || !gives || !is_known || most > guard.initial) {
        guard_free(&guard);
        return;
    }
    fill_outcomes(monitors, &guard, history);
    for (size_t i = 0; i < history->count; i++)
        guard.evaluations +=
            history->items[i].kind == EVENT_PASSES && guard.waits[history->items[i].class_index];
    *VECTOR_ADD(list) = guard;
}

static void find_proposed_guards(struct monitors *monitors, const struct sections *sections,
                                 int mutex, const struct history *history,
                                 struct guard_list *list) {
    const struct facts_monitor *proposal = monitors->proposal_of[mutex];
    if (!proposal)
        return;
    bool has_items = false, has_tokens = false; /* the trace already told what it is */
    for (size_t g = 0; g < list->count; g++) {
        has_items |= list->items[g].mutex == mutex && list->items[g].kind == GUARD_QUEUE;
        has_tokens |= list->items[g].mutex == mutex;
    }
    for (size_t p = 0; p < monitors->n_patterns; p++)
        has_tokens |= monitors->patterns[p].mutex == mutex;
    switch (proposal->kind) {
    case MONITOR_BOUNDED_QUEUE:
    case MONITOR_UNBOUNDED_QUEUE:
    case MONITOR_THREAD_POOL:
        if (!has_items)
            try_proposal(monitors, sections, mutex, proposal, history, list);
        break;
    case MONITOR_SEMAPHORE:
    case MONITOR_TOKEN_POOL:
        if (!has_tokens)
            try_proposed_tokens(monitors, sections, mutex, proposal, history, list);
        break;
    default:
        break;
    }
}

/* The same structure may be of several mutexes; the functions that lock this one tell. */
static double count_operations(const struct monitors *monitors, int mutex,
                               const struct facts_monitor *proposal) {
    double matches = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        double best = 0;
        for (size_t i = 0; i < proposal->n_operations; i++)
            if (strcmp(proposal->operations[i].place.function, class->function) == 0)
                best = fmax(best, proposal->operations[i].place.line == class->line ? 1 : 0.5);
        matches += best;
    }
    return matches;
}

static void find_proposals(struct monitors *monitors, const struct sections *sections,
                           const struct facts *facts) {
    monitors->proposal_of = memory_alloc(sections->n_objects, sizeof *monitors->proposal_of);
    for (size_t o = 0; facts && o < sections->n_objects; o++) {
        double best = 0;
        for (size_t m = 0; sections->objects[o].kind == ON_MUTEX && m < facts->n_monitors; m++) {
            double matches = count_operations(monitors, (int)o, &facts->monitors[m]);
            if (matches > best)
                monitors->proposal_of[o] = &facts->monitors[m];
            best = fmax(best, matches);
        }
    }
}

static void find_threads(const struct trace *trace, const struct sections *sections,
                         struct monitors *monitors) {
    monitors->first_of_thread = memory_alloc(trace->n_threads + 1, sizeof(size_t));
    size_t s = 0;
    for (size_t t = 0; t <= trace->n_threads; t++) {
        while (s < sections->n_sections && (size_t)sections->sections[s].thread < t)
            s++;
        monitors->first_of_thread[t] = s;
    }
}

/* Are there waits of the mutexes like this one that nothing explains yet? */
static bool has_unexplained(const struct monitors *monitors, int mutex) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0 &&
            !monitors->condition_explained[monitors->classes[c].waits_on])
            return true;
    return false;
}

static void find_in_mutex(struct monitors *monitors, const struct sections *sections, int mutex,
                          struct guard_list *list) {
    struct history history = history_of(sections, monitors, mutex);
    size_t first = list->count;
    if (history.count) {
        find_waiting_guards(monitors, sections, mutex, &history, list);
        find_proposed_guards(monitors, sections, mutex, &history, list);
        find_trying_guards(monitors, sections, mutex, &history, list);
        for (size_t g = list->count; g-- > first;)
            find_first_comer(monitors, sections, g, &history, list);
    }
    free(history.items);
}

/* Mutexes that are alike, each with an object of its own. */
static void find_in_likes(struct monitors *monitors, const struct sections *sections, int mutex,
                          struct guard_list *list) {
    if (!has_unexplained(monitors, mutex))
        return;
    struct history history = history_of(sections, monitors, mutex);
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0)
            set_explained(monitors, sections, monitors->classes[c].waits_on, true);
    find_waiting_guards(monitors, sections, mutex, &history, list);
    free(history.items);
}

/* By the user's word it is to be taken for nothing. */
static bool is_ignored(const struct monitors *monitors, int mutex) {
    return monitors->proposal_of[mutex] && monitors->proposal_of[mutex]->ignored;
}

static struct monitors find_all(const struct trace *trace, const struct sections *sections,
                                const struct facts *facts, const bool *split) {
    struct monitors monitors = {0};
    find_section_classes(trace, sections, split, &monitors);
    monitors.condition_explained = memory_alloc(sections->n_objects, sizeof(bool));
    for (size_t o = 0; o < sections->n_objects; o++)
        monitors.condition_explained[o] = sections->objects[o].kind == ON_CONDITION;
    find_threads(trace, sections, &monitors);
    monitors.condition_in_pattern = memory_alloc(sections->n_objects, sizeof(bool));
    find_proposals(&monitors, sections, facts);
    patterns_find(trace, sections, &monitors, true);
    struct guard_list list = {0};
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone &&
            !is_ignored(&monitors, (int)o))
            find_in_mutex(&monitors, sections, (int)o, &list);
    for (size_t c = 0; c < monitors.n_classes; c++)
        if (monitors.classes[c].waits > 0 && (!sections->objects[monitors.classes[c].mutex].alone ||
                                              is_ignored(&monitors, monitors.classes[c].mutex)))
            set_explained(&monitors, sections, monitors.classes[c].waits_on, false);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    patterns_find(trace, sections, &monitors, false);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && !sections->objects[o].alone &&
            first_like(sections, (int)o) == (int)o)
            find_in_likes(&monitors, sections, (int)o, &list);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    for (size_t g = 0; g < monitors.n_guards; g++)
        monitors.guards[g].proposal = monitors.proposal_of[monitors.guards[g].mutex];
    return monitors;
}

bool monitors_explain(const struct monitors *monitors, size_t section) {
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (monitors->guards[g].waits[monitors->class_of[section]])
            return true;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].acts[section])
            return true;
    return false;
}

static double unexplained_waits(const struct monitors *monitors, const struct sections *sections) {
    double wait_ns = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits && !monitors_explain(monitors, s); w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            wait_ns += (double)(wait->end_ns - wait->start_ns);
        }
    }
    return wait_ns;
}

struct monitors monitors_find(const struct trace *trace, const struct sections *sections,
                              const struct facts *facts) {
    struct monitors monitors = find_all(trace, sections, facts, NULL);
    bool *split = memory_alloc(sections->n_objects, sizeof *split);
    bool any = false;
    for (size_t o = 0; o < sections->n_objects; o++) {
        split[o] = sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone &&
                   has_unexplained(&monitors, (int)o);
        any |= split[o];
    }
    if (any) {
        struct monitors finer = find_all(trace, sections, facts, split);
        bool better = unexplained_waits(&finer, sections) < unexplained_waits(&monitors, sections);
        monitors_free(better ? &monitors : &finer);
        if (better)
            monitors = finer;
    }
    free(split);
    return monitors;
}

void monitors_free(struct monitors *monitors) {
    for (size_t g = 0; g < monitors->n_guards; g++)
        guard_free(&monitors->guards[g]);
    free(monitors->guards);
    patterns_free(monitors);
    free(monitors->first_of_thread);
    free(monitors->condition_in_pattern);
    free(monitors->proposal_of);
    free(monitors->classes);
    free(monitors->class_of);
    free(monitors->condition_explained);
}
