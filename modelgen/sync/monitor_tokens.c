#include "modelgen/sync/monitor_tokens.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/source_correlation.h"

/* Amounts of a step have 24 bits. */
#define MOST_AMOUNT 0xffffff

struct search {
    const struct event_log *log;
    const struct facts *facts;
    const struct sections *sections;
    const struct monitors *monitors;
    bool *is_known;   /* per sync object: a mutex all waits under which follow from counters */
    bool *is_room;    /* per explanation: counts the room of a queue */
    double *n_paused; /* per sync object: recorded waits for the condition in sections */
    struct map pools; /* of an explanation and a mutex -> 1 + its pool */
    struct token_uses uses;
};

static const struct section *section_of(const struct search *search, size_t index) {
    return &search->sections->sections[index];
}

/* The mutex that the section's is a part of, or that itself. */
static int whole_mutex(const struct search *search, const struct section *section) {
    return search->sections->objects[section->mutex].whole;
}

/* ---- calls as they were recorded ---- */

struct recorded_call {
    size_t thread, number;
    const struct trace_record *record; /* NULL: the call was not recorded */
};

static struct recorded_call recorded(const struct search *search, int thread, size_t number) {
    struct recorded_call call = {0};
    event_id id = event_log_id(search->log, (size_t)thread, number);
    call.record = event_log_recorded(search->log, id, &call.thread);
    if (call.record)
        call.number = (size_t)(call.record - search->log->recorded->threads[call.thread].records);
    return call;
}

/* First and last call of the section. False: it was not recorded so. */
static bool find_ends(const struct search *search, const struct section *section,
                      struct recorded_call *lock, struct recorded_call *unlock) {
    *lock = recorded(search, section->thread, section->lock_record);
    if (!lock->record || !trace_is_lock(lock->record))
        return false;
    if (section->cut) {
        *unlock = *lock;
        unlock->number = search->log->recorded->threads[lock->thread].n_records;
        return true;
    }
    *unlock = recorded(search, section->thread, section->unlock_record);
    return unlock->record && unlock->thread == lock->thread && unlock->number > lock->number;
}

/* Does the call, between the two ends of a section, give its mutex back to wait? */
static bool is_pause(const struct trace_record *call, const struct recorded_call *lock) {
    return trace_is_condition_wait(call) &&
           (call->value == 0 || call->value == trace_mutex_value(lock->record->object));
}

/* ---- which mutexes are known ---- */

static bool is_whole_number(double number) {
    return number == floor(number) && fabs(number) < MOST_AMOUNT;
}

static double unit_of(const struct counter *counter, size_t section) {
    return counter->units ? counter->units[section] : 1;
}

/* Does a counter say why the section waited or not? */
static bool is_counted(const struct search *search, size_t section) {
    const struct monitors *monitors = search->monitors;
    int class_index = monitors->class_of[section];
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.waits[class_index] && e->counter.kind != GUARD_FIRST &&
            e->counter.outcome[section] != OUTCOME_ANY)
            return true;
    return false;
}

static bool is_otherwise_explained(const struct search *search, size_t section) {
    const struct monitors *monitors = search->monitors;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (e->pattern.acts[section] != 0)
            return true;
    return statements_of(monitors, section_of(search, section)->mutex) != NULL;
}

/* All numbers of the section's counters are such as steps can hold, and the run agrees with them.
 */
static bool has_sound_counters(const struct search *search, size_t section) {
    const struct monitors *monitors = search->monitors;
    int class_index = monitors->class_of[section];
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));) {
        const struct counter *counter = &e->counter;
        bool takes_part = counter->waits[class_index] || counter->weight[class_index] != 0;
        if (!takes_part || counter->kind == GUARD_FIRST)
            continue;
        double unit = unit_of(counter, section);
        if (explanation_is_doubtful(e) || counter->unknown_units ||
            !is_whole_number(counter->initial) || !is_whole_number(unit * counter->take) ||
            !is_whole_number(unit * counter->weight[class_index]))
            return false;
    }
    return true;
}

static void count_pauses(struct search *search, const struct recorded_call *lock,
                         const struct recorded_call *unlock, bool *has_any) {
    const struct trace_record *records = search->log->recorded->threads[lock->thread].records;
    for (size_t r = lock->number + 1; r < unlock->number; r++) {
        if (!is_pause(&records[r], lock))
            continue;
        int condition = sections_object(search->sections, &records[r]);
        *has_any = true;
        if (condition >= 0)
            search->n_paused[condition]++;
    }
}

static bool is_sound(struct search *search, size_t index) {
    const struct section *section = section_of(search, index);
    struct recorded_call lock, unlock;
    bool has_waited = false;
    if (!find_ends(search, section, &lock, &unlock))
        return false;
    count_pauses(search, &lock, &unlock, &has_waited);
    if (has_waited && !section->cut && !is_counted(search, index))
        return false;
    return !is_otherwise_explained(search, index) && has_sound_counters(search, index);
}

/* Waits for the condition that no section of the mutex holds would keep its order anyway. */
static double *count_waits(const struct search *search) {
    const struct trace *trace = search->log->recorded;
    double *waits = memory_alloc(search->sections->n_objects, sizeof *waits);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            int condition =
                trace_is_condition_wait(record) ? sections_object(search->sections, record) : -1;
            if (condition >= 0)
                waits[condition]++;
        }
    return waits;
}

static void find_known(struct search *search) {
    size_t n_objects = search->sections->n_objects;
    bool *is_unsound = memory_alloc(n_objects, sizeof *is_unsound);
    for (size_t s = 0; s < search->sections->n_sections; s++) {
        int mutex = whole_mutex(search, section_of(search, s));
        search->is_known[mutex] = true;
        if (!is_sound(search, s))
            is_unsound[mutex] = true;
    }
    double *waits = count_waits(search);
    for (size_t s = 0; s < search->sections->n_sections; s++) {
        const struct section *section = section_of(search, s);
        for (size_t w = 0; w < section->n_waits; w++) {
            int condition = search->sections->waits[section->first_wait + w].condition;
            if (condition >= 0 && search->n_paused[condition] != waits[condition])
                is_unsound[whole_mutex(search, section)] = true;
        }
    }
    for (size_t o = 0; o < n_objects; o++)
        search->is_known[o] &= !is_unsound[o];
    free(waits);
    free(is_unsound);
}

/* ---- pools ---- */

/* Who waits for it puts into a queue under the same mutex. */
static void find_rooms(struct search *search) {
    const struct monitors *monitors = search->monitors;
    for (struct explanation *room = NULL; (room = explanation_next(monitors, BY_COUNTER, room));)
        for (struct explanation *items = NULL;
             (items = explanation_next(monitors, BY_COUNTER, items));)
            for (size_t c = 0; c < monitors->n_classes; c++)
                search->is_room[explanation_index(monitors, room)] |=
                    room->counter.kind == GUARD_TOKENS && items->counter.kind == GUARD_QUEUE &&
                    room->counter.waits[c] && items->counter.weight[c] > 0;
}

static const char *kind_of(const struct search *search, const struct explanation *e) {
    switch (e->counter.kind) {
    case GUARD_QUEUE:
        return "items";
    case GUARD_TOKENS:
        return search->is_room[explanation_index(search->monitors, e)] ? "room" : "permits";
    default:
        return "level";
    }
}

static char *name_of(const struct search *search, int mutex) {
    const struct trace *trace = search->log->recorded;
    uint32_t context = search->sections->objects[mutex].context;
    const char *path = source_path(trace, search->facts, context, ON_MUTEX);
    char *place = source_place(trace, context);
    if (!path)
        return place;
    char *name = memory_format("%s, %s", path, place);
    free(place);
    return name;
}

static uint32_t pool_of(struct search *search, const struct explanation *e,
                        const struct section *section) {
    uint64_t instance = e->counter.as_one ? 0 : 1 + (uint64_t)section->mutex;
    uint64_t key = (uint64_t)explanation_index(search->monitors, e) << 32 | instance;
    int known = map_get(&search->pools, key, 0);
    if (known > 0)
        return (uint32_t)known - 1;
    *VECTOR_ADD(&search->uses.pools) = (struct token_pool){
        kind_of(search, e), name_of(search, whole_mutex(search, section)), (int)e->counter.initial};
    map_put(&search->pools, key, (int)search->uses.pools.count);
    return (uint32_t)search->uses.pools.count - 1;
}

/* ---- uses ---- */

static void add(struct search *search, const struct recorded_call *call, bool at_return,
                enum step_operation does, uint32_t pool, double amount) {
    *VECTOR_ADD(&search->uses.threads[call->thread]) = (struct token_use){
        (uint32_t)call->number, at_return, does, pool, (uint32_t)fmax(amount, 1)};
}

/* Marks the waits, and gives the call after which the thread goes on. */
static struct recorded_call add_pauses(struct search *search, const struct recorded_call *lock,
                                       const struct recorded_call *unlock) {
    const struct trace_record *records = search->log->recorded->threads[lock->thread].records;
    struct recorded_call last = *lock;
    for (size_t r = lock->number + 1; r < unlock->number; r++) {
        if (!is_pause(&records[r], lock))
            continue;
        last.number = r;
        add(search, &last, false, OPERATION_PAUSE, 0, 1);
    }
    return last;
}

/* True: it goes on without what it asked for, and changes nothing then. */
static bool add_take(struct search *search, const struct explanation *e, size_t section,
                     const struct recorded_call *from) {
    const struct counter *counter = &e->counter;
    enum outcome outcome = counter->outcome[section];
    bool waits = counter->waits[search->monitors->class_of[section]];
    if (!waits || outcome == OUTCOME_ANY || counter->kind == GUARD_FIRST)
        return false;
    uint32_t pool = pool_of(search, e, section_of(search, section));
    enum step_operation does = outcome == OUTCOME_NO          ? OPERATION_LEFT
                               : counter->kind == GUARD_LEVEL ? OPERATION_PASS
                                                              : OPERATION_TAKE;
    if (does != OPERATION_LEFT || !counter->tries)
        add(search, from, true, does, pool, unit_of(counter, section) * counter->take);
    return outcome == OUTCOME_NO;
}

static void add_effect(struct search *search, const struct explanation *e, size_t section,
                       const struct recorded_call *lock, const struct recorded_call *unlock,
                       bool has_failed) {
    const struct counter *counter = &e->counter;
    int class_index = search->monitors->class_of[section];
    int weight = counter->weight[class_index];
    bool is_early = counter->early[class_index];
    bool closes = counter->close_class == class_index;
    bool changes = weight != 0 && !counter->waits[class_index] && !has_failed;
    if (counter->kind == GUARD_FIRST || (!closes && !changes))
        return;
    uint32_t pool = pool_of(search, e, section_of(search, section));
    enum step_operation does = closes       ? OPERATION_CLOSE
                               : weight > 0 ? OPERATION_GIVE
                                            : OPERATION_OWE;
    double amount = closes ? 1 : abs(weight) * unit_of(counter, section);
    add(search, is_early ? lock : unlock, is_early, does, pool, amount);
}

static void add_uses(struct search *search, size_t index) {
    const struct section *section = section_of(search, index);
    const struct monitors *monitors = search->monitors;
    struct recorded_call lock, unlock;
    if (!find_ends(search, section, &lock, &unlock))
        return;
    bool has_failed = false;
    struct recorded_call from = add_pauses(search, &lock, &unlock);
    for (struct explanation *e = NULL;
         !section->cut && (e = explanation_next(monitors, BY_COUNTER, e));)
        has_failed |= add_take(search, e, index, &from);
    for (struct explanation *e = NULL;
         !section->cut && (e = explanation_next(monitors, BY_COUNTER, e));)
        add_effect(search, e, index, &lock, &unlock, has_failed);
}

static int compare_uses(const void *left, const void *right) {
    const struct token_use *a = left, *b = right;
    if (a->record != b->record)
        return a->record < b->record ? -1 : 1;
    if (a->at_return != b->at_return)
        return a->at_return ? 1 : -1;
    return (a->pool > b->pool) - (a->pool < b->pool);
}

struct token_uses monitor_tokens_find(const struct event_log *log, const struct facts *facts,
                                      const struct sections *sections,
                                      const struct monitors *monitors) {
    struct search search = {.log = log, .facts = facts, .sections = sections, .monitors = monitors};
    search.is_known = memory_alloc(sections->n_objects, sizeof *search.is_known);
    search.n_paused = memory_alloc(sections->n_objects, sizeof *search.n_paused);
    search.is_room = memory_alloc(monitors->explanations.count, sizeof *search.is_room);
    search.uses.n_threads = log->recorded->n_threads;
    search.uses.threads = memory_alloc(search.uses.n_threads, sizeof *search.uses.threads);
    find_known(&search);
    find_rooms(&search);
    for (size_t s = 0; s < sections->n_sections; s++)
        if (search.is_known[whole_mutex(&search, section_of(&search, s))])
            add_uses(&search, s);
    for (size_t t = 0; t < search.uses.n_threads; t++)
        VECTOR_SORT(&search.uses.threads[t], compare_uses);
    map_free(&search.pools);
    free(search.is_known);
    free(search.n_paused);
    free(search.is_room);
    return search.uses;
}
