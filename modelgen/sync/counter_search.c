#include "modelgen/sync/counter_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/batch_sizes.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/select.h"

#define EVENT_LIMIT 50000 /* events of one mutex that are replayed in the search */
#define GLANCE      1000  /* of these, the first that a hypothesis is tried on */
#define APART_LIMIT 12    /* call sites that may each be tried with a weight of its own */

bool counter_search_is_waiter(const struct counter_search *search, int class_index) {
    const struct section_class *class = &search->monitors->classes[class_index];
    return class->entry == search->current.waiter_entry ||
           (search->by_operation && class_is_same_operation(class, search->waiter));
}

/* The call site of a class that takes part. */
static int entry_of(const struct counter_search *search, int slot) {
    return search->monitors->classes[search->classes[slot]].entry;
}

/* Of a class of the waiters: one always takes part. */
static int waiter_slot(const struct counter_search *search) {
    int slot = 0;
    while (entry_of(search, slot) != search->current.waiter_entry && slot + 1 < search->n_classes)
        slot++;
    return slot;
}

static bool judges(const struct counter_search *search, size_t index) {
    const struct history_event *event = &search->history->items[index];
    return event_decides(event) && event->time_ns < search->current.closed_ns &&
           counter_search_is_waiter(search, event->class_index) &&
           !(search->excused && search->excused[index]);
}

/* Where the class stands in what was found; -1: it takes no part. */
static int slot_of(const struct counter_search *search, int class_index) {
    for (int slot = 0; slot < search->n_classes; slot++)
        if (search->classes[slot] == class_index)
            return slot;
    return -1;
}

/* The class, by its place in what was found, that changes the counter at this event; -1: none. */
static int slot_changing_at(const struct counter_search *search,
                            const struct history_event *event) {
    int slot = slot_of(search, event->class_index);
    return slot >= 0 && event_changes(event, search->best.early[slot]) ? slot : -1;
}

/* Do the two weigh the same, being of one call site or, if that counts, of one piece of code? */
static bool are_one(const struct counter_search *search, int a, int b) {
    const struct section_class *x = &search->monitors->classes[a];
    const struct section_class *y = &search->monitors->classes[b];
    return x->entry == y->entry || (search->by_operation && class_is_same_operation(x, y));
}

/* Does any class that is one with this one signal the condition? */
static bool signals_here(const struct counter_search *search, int class_index) {
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *class = &search->monitors->classes[search->classes[i]];
        if (are_one(search, search->classes[i], class_index) &&
            (search->condition < 0 ? class->n_signals > 0
                                   : class_signals(class, search->condition)))
            return true;
    }
    return false;
}

/* What was there at the start and runs out once fits any history: that somebody waited just then
 * proves nothing. A stock is believed in when much of it came back after somebody had waited, or
 * when threads waited for it time and again. */
static bool is_stock_proven(const struct replay_table *table, double stock) {
    return table->turns >= evidence.convincing_turns ||
           stock + (double)table->highest_later >= stock / 2;
}

/* Is there a threshold that may become acceptable, and no worse than the best one so far? What is
 * wrong by a threshold after some of the events will be so after all of them. */
static bool may_become_good(const struct counter_search *search) {
    const struct replay_table *table = &search->table;
    double wrong_waits = 0, wrong_passes = 0;
    double decisions = search->waits + search->passes;
    if (table->low > table->high)
        return true; /* nothing was judged yet */
    for (long c = table->low; c <= table->high; c++)
        wrong_waits += table->waited[(size_t)(c + (long)table->offset)];
    for (long c = table->low - 1; c <= table->high; c++) {
        if (c >= table->low) {
            wrong_waits -= table->waited[(size_t)(c + (long)table->offset)];
            wrong_passes += table->passed[(size_t)(c + (long)table->offset)];
        }
        double wrong = wrong_waits + wrong_passes;
        if (violations_are_few(wrong, decisions) &&
            (search->current.tries || (wrong_waits <= (1 - evidence.recall) * search->waits &&
                                       wrong_passes <= (1 - evidence.recall) * search->passes)) &&
            !(search->found && wrong > verdict_wrong(&search->best_verdict)))
            return true;
    }
    return false;
}

/* False: it was given up. */
static bool replay_all(struct counter_search *search) {
    replay_begin(search->history, &search->table);
    for (size_t end = search->partial ? search->n_events : GLANCE; end < search->n_events;
         end *= 2) {
        replay_until(&search->current, search->events, end, &search->table);
        if (!may_become_good(search))
            return false;
    }
    replay_until(&search->current, search->events, search->n_events, &search->table);
    return true;
}

static void judge_current(struct counter_search *search, double complexity) {
    struct hypothesis *current = &search->current;
    bool taking = hypothesis_takes(search->monitors, current);
    if (!replay_all(search))
        return;
    struct verdict verdict =
        search->partial ? verdict_strict(&search->table)
                        : verdict_best(&search->table, taking, taking ? current->take - 1 : 0);
    bool owes = taking && verdict.threshold > current->take - 1;
    bool has_stock = verdict.threshold < current->take - 1;
    double stock = (double)(current->take - 1 - verdict.threshold);
    if (has_stock && !is_stock_proven(&search->table, stock))
        return;
    /* more classes may explain it without */
    complexity += owes ? evidence.debt : !has_stock ? 0 : taking ? evidence.debt : evidence.reached;
    struct score score = {.contradictions = verdict_wrong(&verdict), .complexity = complexity};
    if (verdict.waits + verdict.passes > 0 &&
        (!search->found || score_is_better(&score, &search->best_score))) {
        search->found = true;
        search->best = *current;
        search->best_verdict = verdict;
        search->best_score = score;
    }
}

/* How often sections added under the chosen weights, and how often the waiter passed. */
struct traffic {
    double added, passes;
};

static struct traffic count_traffic(const struct counter_search *search) {
    struct traffic traffic = {0};
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *class = &search->monitors->classes[search->classes[i]];
        if (search->current.weight[i] > 0)
            traffic.added += class->count;
        else if (class->entry == search->current.waiter_entry)
            traffic.passes += class->count;
    }
    return traffic;
}

/* Whether about as much is taken as is added, and would not be without the waiters: what they take
 * is then no coincidence. */
static bool is_balanced(const struct counter_search *search) {
    double added = 0, taken = 0, by_waiters = 0;
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *class = &search->monitors->classes[search->classes[i]];
        double amount = search->current.weight[i] * class->count;
        *(amount > 0 ? &added : &taken) += fabs(amount);
        if (class->entry == search->current.waiter_entry)
            by_waiters += fabs(amount);
    }
    double left = fabs(added - taken);
    return left <= evidence.left_over * added && left < fabs(added - (taken - by_waiters));
}

/* Judges the chosen weights with those that add adding `supply` at once. */
static void judge_supply(struct counter_search *search, long supply, double complexity) {
    struct hypothesis *current = &search->current, single = *current;
    for (int i = 0; i < search->n_classes; i++)
        if (current->weight[i] > 0)
            current->weight[i] = (int)supply;
    judge_current(search, complexity);
    *current = single;
}

/* Is the replay's table large enough for all that the chosen weights may add up to? */
static bool counters_fit(const struct counter_search *search) {
    double most = 0;
    for (int i = 0; i < search->n_classes; i++)
        most +=
            fabs(search->current.weight[i] * search->monitors->classes[search->classes[i]].count);
    return most <= (double)search->table.offset;
}

/* Does class number `i` take what the waiters wait for, though it waits for something else under
 * the same condition? That is one more thing to believe. */
static bool takes_as_another(const struct counter_search *search, int i) {
    int waiter = waiter_slot(search);
    bool alike = waiter < i ? search->alike[waiter][i] : search->alike[i][waiter];
    return search->current.weight[i] < 0 && alike &&
           entry_of(search, i) != entry_of(search, waiter);
}

/* Judges the chosen weights, then the same with the waiter taking a whole batch, or with a batch
 * being added at once. */
static void judge_weights(struct counter_search *search) {
    struct hypothesis *current = &search->current;
    int complexity = 0, producers = 0;
    for (int i = 0; i < search->n_classes; i++) {
        const struct section_class *classes = search->monitors->classes;
        bool counted = false; /* the operation, by another class of it */
        for (int j = 0; j < i; j++)
            counted |=
                current->weight[j] != 0 &&
                class_is_same_operation(&classes[search->classes[j]], &classes[search->classes[i]]);
        complexity += current->weight[i] != 0 && !counted;
        complexity += !search->tied && takes_as_another(search, i);
        producers += current->weight[i] > 0;
    }
    if (producers == 0)
        return;
    current->take = 1;
    if (search->by_operation) {
        struct hypothesis single = *current;
        struct batch_events events = {search->events, search->n_events,
                                      search->history->n_instances};
        if (batch_sizes_solve(search->monitors, events, current) && counters_fit(search))
            judge_current(search, complexity);
        *current = single;
        return;
    }
    if (search->partial) { /* much would say why some waited: only what is passed on and used up */
        if (hypothesis_takes(search->monitors, current) && is_balanced(search))
            judge_current(search, complexity);
        return;
    }
    /* Of two equally good ones: whoever waits for something usually takes it. That it does is one
     * more thing to believe only when nothing else speaks for it. */
    if (!hypothesis_takes(search->monitors, current))
        judge_current(search, complexity + 0.25);
    else
        judge_current(search, complexity - (is_balanced(search) ? 1 : 0));
    if (current->tries || !hypothesis_takes(search->monitors, current))
        return;
    /* What is taken or added at once if nothing is ever left over. */
    struct traffic traffic = count_traffic(search);
    long batch = traffic.passes > 0 ? lround(traffic.added / traffic.passes) : 0;
    long supply = traffic.added >= evidence.several ? lround(traffic.passes / traffic.added) : 0;
    if (supply >= 2)
        judge_supply(search, supply, complexity + 0.5);
    if (batch < 2)
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
static void enumerate(struct counter_search *search, int at) {
    if (at == (search->uniform ? search->n_classes : search->n_free)) {
        judge_weights(search);
        return;
    }
    const struct section_class *class = &search->monitors->classes[search->classes[at]];
    int *weight = &search->current.weight[at];
    bool waiter = counter_search_is_waiter(search, search->classes[at]);
    if (waiter && search->current.tries) {
        bool succeeds =
            search->success >= 0 ? search->classes[at] == search->success : class->n_signals > 0;
        *weight = succeeds ? -1 : 0;
        enumerate(search, at + 1);
        return;
    }
    for (int i = 0; search->uniform && i < at; i++)
        if (are_one(search, search->classes[i], search->classes[at]) ||
            (search->tied && search->alike[i][at])) {
            *weight = search->current.weight[i];
            enumerate(search, at + 1);
            return;
        }
    *weight = 0;
    enumerate(search, at + 1);
    if (waiter || !signals_here(search, search->classes[at])) {
        *weight = -1;
        enumerate(search, at + 1);
    } else {
        *weight = 1;
        enumerate(search, at + 1);
    }
    *weight = 0;
}

/* Which classes do at another place what the waiters do, if what is `alike` counts as that; the
 * caller frees. */
static bool *find_elsewhere(const struct counter_search *search, bool alike) {
    const struct monitors *monitors = search->monitors;
    bool *elsewhere = memory_alloc(monitors->n_classes, sizeof *elsewhere);
    int waiter = search->classes[waiter_slot(search)];
    const struct section_class *site = &monitors->classes[waiter];
    for (size_t c = 0; c < monitors->n_classes; c++)
        elsewhere[c] = monitors->classes[c].entry != site->entry &&
                       (alike ? candidate_classes_are_alike(monitors, waiter, (int)c)
                              : class_is_same_operation(&monitors->classes[c], site));
    return elsewhere;
}

/* The same operation, called at another place, waits for the same: does what was found say when it
 * does there as well? */
static bool holds_elsewhere(const struct counter_search *search, bool alike) {
    const struct object_history *history = search->history;
    long *counters = memory_alloc(history->n_instances, sizeof *counters);
    bool *elsewhere = find_elsewhere(search, alike);
    double wrong = verdict_wrong(&search->best_verdict);
    double all = search->best_verdict.waits + search->best_verdict.passes;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        int slot = slot_changing_at(search, event);
        if (slot >= 0) {
            counters[event->instance] += search->best.weight[slot];
        } else if (event_decides(event) && event->time_ns < search->best.closed_ns &&
                   elsewhere[event->class_index]) {
            bool lacks = counters[event->instance] <= search->best_verdict.threshold;
            all++;
            wrong += lacks != (event->kind == EVENT_WAITS);
        }
    }
    free(elsewhere);
    free(counters);
    return violations_are_few(wrong, all);
}

/* Does what was found need something that is owed before anybody has taken anything? */
static bool owes_at_start(const struct counter_search *search) {
    return hypothesis_takes(search->monitors, &search->best) &&
           search->best_verdict.threshold > search->best.take - 1;
}

/* Do enough of the waits follow the counter, to think of it as more than an accident? */
static bool tells_much(const struct verdict *verdict) {
    return verdict->waits - verdict->wrong_waits >= evidence.convincing_turns &&
           verdict->passes > 0;
}

/* How many weights there are to choose if what is `alike` need not weigh the same. */
static int count_apart(const struct counter_search *search) {
    int n = 0;
    for (int i = 0; i < search->n_classes; i++) {
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = are_one(search, search->classes[j], search->classes[i]);
        n += !known;
    }
    return n;
}

/* Whether a section signals may be the consequence of the very state we look for ("the last one
 * signals"), so hypotheses that do not need to know it come first. */
static bool search_weights(struct counter_search *search) {
    search->uniform = search->tied = !search->current.tries;
    enumerate(search, 0);
    bool good = search->found && verdict_is_acceptable(&search->best_verdict);
    if (search->by_operation) /* amounts of its own for each call site make much fit by accident */
        return good && tells_much(&search->best_verdict);
    /* Two waits in one function may be for different things after all. */
    bool are_apart = search->tied && search->any_alike &&
                     !(good && !owes_at_start(search) && holds_elsewhere(search, true));
    if (are_apart && !search->partial && !search->excused && count_apart(search) <= APART_LIMIT) {
        struct counter_search together = *search;
        search->tied = search->found = false;
        memset(search->current.weight, 0, sizeof search->current.weight);
        enumerate(search, 0);
        if (good && !(search->found && verdict_is_acceptable(&search->best_verdict)))
            *search = together;
    }
    if (search->partial)
        return search->found && tells_much(&search->best_verdict);
    if (search->excused) /* one of two: that whole operations count is all that is believed */
        return good;
    memset(search->current.weight, 0, sizeof search->current.weight);
    if (search->uniform && !(search->found && verdict_is_acceptable(&search->best_verdict))) {
        search->uniform = false;
        enumerate(search, 0);
    }
    return search->found && verdict_is_acceptable(&search->best_verdict);
}

/* What hypotheses on the chosen classes can change or contradict. */
static void choose_events(struct counter_search *search) {
    const struct object_history *history = search->history;
    const struct hypothesis *current = &search->current;
    size_t n = history->count < EVENT_LIMIT ? history->count : EVENT_LIMIT;
    search->events = memory_alloc(n, sizeof *search->events);
    search->n_events = 0;
    search->waits = search->passes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct history_event *event = &history->items[i];
        int slot = search->table.slot[event->class_index];
        bool changes = slot >= 0 && event_changes(event, current->early[slot]);
        bool decides = judges(search, i);
        bool waits = event->kind == EVENT_WAITS;
        if (decides)
            *(waits ? &search->waits : &search->passes) += 1;
        if (changes || decides)
            search->events[search->n_events++] =
                (struct replay_event){slot, event->instance, decides, waits};
    }
}

static bool search_run(struct counter_search *search, const struct object_history *history,
                       int mutex, int waiter_entry, int condition, int close_class, bool tries) {
    const struct monitors *monitors = search->monitors;
    search->history = history;
    search->condition = condition;
    search->found = false;
    search->n_classes =
        candidate_classes_choose(monitors, mutex, waiter_entry, condition, close_class,
                                 search->by_operation, search->classes);
    search->n_free = search->n_classes < FREE_LIMIT ? search->n_classes : FREE_LIMIT;
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
    for (int i = 0; i < search->n_classes; i++) {
        int entry = monitors->classes[search->classes[i]].entry;
        search->table.slot[search->classes[i]] = i;
        search->current.early[i] =
            entry != waiter_entry && entry_signals_early(monitors, entry, condition);
    }
    search->any_alike = false;
    for (int i = 0; i < search->n_classes; i++)
        for (int j = 0; j < i; j++) {
            search->alike[j][i] =
                candidate_classes_are_alike(monitors, search->classes[j], search->classes[i]);
            search->any_alike |=
                search->alike[j][i] && monitors->classes[search->classes[j]].entry !=
                                           monitors->classes[search->classes[i]].entry;
        }
    choose_events(search);
    search->table.low = 0;
    search->table.high = -1;
    bool good = search_weights(search);
    free(search->events);
    free(search->table.waited);
    free(search->table.passed);
    free(search->table.counters);
    free(search->table.slot);
    return good;
}

bool counter_search_holds_as_one(const struct counter_search *search,
                                 const struct sections *sections) {
    const struct object_history *history = search->history;
    long counter = 0;
    double wrong = 0;
    int waiter = -1;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        int slot = slot_changing_at(search, event);
        counter += slot >= 0 ? search->best.weight[slot] : 0;
        if (!event_decides(event) || event->time_ns >= search->best.closed_ns ||
            search->monitors->classes[event->class_index].entry != search->best.waiter_entry)
            continue;
        int thread = sections->sections[event->section].thread;
        if (waiter >= 0 && waiter != thread)
            return false;
        waiter = thread;
        wrong += (counter <= search->best_verdict.threshold) != (event->kind == EVENT_WAITS);
    }
    return wrong <= verdict_wrong(&search->best_verdict);
}

/* A program may wake its waiters for the last time at several places, and only one of them made
 * them go: the one that contradicts least. Of equals, whoever waits takes something. */
static bool better_found(const struct counter_search *a, const struct counter_search *b) {
    double wrong_a = verdict_wrong(&a->best_verdict);
    double wrong_b = verdict_wrong(&b->best_verdict);
    if (wrong_a != wrong_b)
        return wrong_a < wrong_b;
    return hypothesis_takes(a->monitors, &a->best) && !hypothesis_takes(b->monitors, &b->best);
}

/* Was anything added in silence while somebody waited who could have gone on by then, by what was
 * found? Whoever adds the last of what is waited for tells. */
static bool goes_unheard(const struct counter_search *search) {
    const struct object_history *history = search->history;
    long *counters = memory_alloc(history->n_instances, sizeof *counters);
    long *untold = memory_alloc(history->n_instances, sizeof *untold); /* who wait */
    struct map waits = MAP_EMPTY;                                      /* section -> 1 */
    bool unheard = false;
    for (size_t i = 0; i < history->count && !unheard; i++) {
        const struct history_event *event = &history->items[i];
        const struct section_class *class = &search->monitors->classes[event->class_index];
        int slot = slot_changing_at(search, event);
        long *listeners = &untold[event->instance];
        if (event->kind == EVENT_WAITS && class->waits_on == search->condition &&
            !map_get(&waits, event->section, 0)) {
            map_put(&waits, event->section, 1);
            *listeners += 1;
        } else if (slot >= 0) {
            int weight = search->best.weight[slot];
            counters[event->instance] += weight;
            if (class_signals(class, search->condition))
                *listeners -= class->broadcasts || *listeners == 0 ? *listeners : 1;
            else
                unheard = weight > 0 && *listeners > 0 &&
                          counters[event->instance] > search->best_verdict.threshold;
        }
    }
    map_free(&waits);
    free(untold);
    free(counters);
    return unheard;
}

bool counter_search_waits(struct counter_search *search, const struct object_history *history,
                          const struct section_class *class, int *close_class) {
    int candidates[CLOSE_LIMIT];
    int n =
        candidate_classes_that_close(search->monitors, class->mutex, class->waits_on, candidates);
    struct counter_search best = *search;
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
    good = good && holds_elsewhere(search, false);
    if (good && search->uniform && !owes_at_start(search) && !goes_unheard(search))
        return true;
    /* before it is believed that a section's signals tell what it does, that something is owed, or
     * that who waits is told too late */
    best.by_operation = true;
    best.waiter = class;
    if (!search_run(&best, history, class->mutex, class->entry, class->waits_on, -1, false) ||
        !holds_elsewhere(&best, false) || (good && goes_unheard(&best)))
        return good;
    *search = best;
    *close_class = -1;
    return true;
}

/* Marks the waits that the first of two counters explains; the caller frees. */
static bool *explained_by(const struct counter_search *first) {
    const struct object_history *history = first->history;
    bool *explained = memory_alloc(history->count, sizeof *explained);
    long *counters = memory_alloc(history->n_instances, sizeof *counters);
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        int slot = slot_changing_at(first, event);
        if (slot >= 0)
            counters[event->instance] += first->best.weight[slot];
        else if (event->kind == EVENT_WAITS)
            explained[i] = counters[event->instance] <= first->best_verdict.threshold;
    }
    free(counters);
    return explained;
}

static bool both_with(struct counter_search *first, struct counter_search *second,
                      const struct object_history *history, const struct section_class *class,
                      int close_class) {
    if (!search_run(first, history, class->mutex, class->entry, class->waits_on, close_class,
                    false))
        return false;
    bool *excused = explained_by(first);
    second->excused = excused;
    bool good = search_run(second, history, class->mutex, class->entry, class->waits_on,
                           close_class, false) &&
                hypothesis_takes(second->monitors, &second->best) &&
                tells_much(&second->best_verdict);
    second->excused = NULL;
    free(excused);
    first->best_verdict.waits -= first->best_verdict.wrong_waits;
    first->best_verdict.wrong_waits = 0;
    return good;
}

bool counter_search_both(const struct monitors *monitors, const struct object_history *history,
                         const struct section_class *class, struct counter_search *first,
                         struct counter_search *second, int *close_class) {
    int candidates[CLOSE_LIMIT + 1];
    int n = candidate_classes_that_close(monitors, class->mutex, class->waits_on, candidates);
    n = n > 1 ? 1 : n; /* the very last one, or none: each costs two searches */
    candidates[n++] = -1;
    for (int i = 0; i < n; i++) {
        *first = (struct counter_search){.monitors = monitors, .success = -1, .partial = true};
        *second = (struct counter_search){.monitors = monitors, .success = -1};
        *close_class = candidates[i];
        if (both_with(first, second, history, class, candidates[i]))
            return true;
    }
    return false;
}

bool counter_search_attempts(struct counter_search *search, const struct object_history *history,
                             int mutex, int entry) {
    return search_run(search, history, mutex, entry, -1, -1, true);
}
