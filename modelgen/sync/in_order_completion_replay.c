#include "modelgen/sync/in_order_completion_replay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/ticket_replay.h"

#define DRAWING_LIMIT 8 /* places that may decide the order */

static uint64_t site_key(const struct section_class *class) {
    return map_mix(map_mix_text(4, class->function), (uint64_t) class->line);
}

/* Does the section wait for the condition (-1: any)? */
static bool waits_for(const struct finder *finder, const struct section *section, int condition) {
    for (size_t w = 0; w < section->n_waits; w++)
        if (condition < 0 ||
            finder->sections->waits[section->first_wait + w].condition == condition)
            return true;
    return false;
}

/* Call sites at which somebody waits for the condition (-1: any), at one mutex or another. */
static struct map waiting_sites(const struct finder *finder, int condition) {
    struct map sites = MAP_EMPTY;
    for (size_t i = 0; i < finder->history.count; i++)
        if (waits_for(finder, section_at(finder, finder->history.items[i]), condition))
            map_put(&sites, site_key(class_at(finder, finder->history.items[i])), 1);
    return sites;
}

/* Whoever comes to where somebody waits for a condition, if that is one thread. */
struct waiter {
    int thread; /* -1: nobody, or several */
    struct {
        size_t *items; /* places in the history */
        size_t count, capacity;
    } visits;
};

/* Of the condition (-1: any); the caller frees the visits. */
static struct waiter only_waiter(const struct finder *finder, int condition) {
    struct waiter waiter = {.thread = -1};
    bool alone = true;
    struct map waiting = waiting_sites(finder, condition);
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        if (!map_get(&waiting, site_key(class_at(finder, index)), 0))
            continue;
        alone &= waiter.thread < 0 || waiter.thread == section_at(finder, index)->thread;
        waiter.thread = section_at(finder, index)->thread;
        *VECTOR_ADD(&waiter.visits) = i;
    }
    map_free(&waiting);
    waiter.thread = alone ? waiter.thread : -1;
    return waiter;
}

/* ---- all under one mutex ---- */

/* What a producer's thread does between two results. */
struct result {
    size_t section;
    size_t after, before; /* records of its thread: (after, before) */
    uint64_t drawn_ns;
    size_t drawn_record;
};

struct result_list {
    struct result *items;
    size_t count, capacity;
};

static bool announces(const struct finder *finder, size_t index, int condition) {
    const struct section_class *class = class_at(finder, index);
    for (size_t c = 0; c < finder->monitors->n_classes; c++)
        if (finder->monitors->classes[c].entry == class->entry &&
            class_signals(&finder->monitors->classes[c], condition))
            return true;
    return false;
}

/* The other threads' sections that tell the waiter's condition; whether they did or not: only the
 * one that is waited for may. */
static struct result_list results_for(const struct finder *finder, int waiter, int condition) {
    struct result_list results = {0};
    size_t *last = memory_alloc(finder->trace->n_threads, sizeof *last);
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        if (section->thread == waiter || !announces(finder, index, condition))
            continue;
        *VECTOR_ADD(&results) = (struct result){
            .section = index, .after = last[section->thread], .before = section->lock_record};
        last[section->thread] = section->unlock_record + 1;
    }
    free(last);
    return results;
}

static const struct trace_record *record_of(const struct finder *finder,
                                            const struct result *result, size_t record) {
    return &finder->trace->threads[section_at(finder, result->section)->thread].records[record];
}

static bool takes_work(const struct trace_record *record) {
    enum api_op op = trace_op(record);
    return op == OP_LOCK || op == OP_ACQUIRE || op == OP_GET;
}

enum likeness { LIKE_NOTHING, LIKE_OBJECT, LIKE_PLACE };

/* Are the calls at one place, or in one function on one object? A loop may take its first work
 * before it begins. */
static enum likeness likeness_of(const struct finder *finder, const struct trace_record *a,
                                 const struct trace_record *b) {
    if (a->api != b->api || a->context == TRACE_NO_CONTEXT || b->context == TRACE_NO_CONTEXT)
        return LIKE_NOTHING;
    const struct trace_frame *x = finder->trace->contexts[a->context].frames;
    const struct trace_frame *y = finder->trace->contexts[b->context].frames;
    if (strcmp(x->function, y->function) != 0)
        return LIKE_NOTHING;
    return x->line == y->line ? LIKE_PLACE : a->object == b->object ? LIKE_OBJECT : LIKE_NOTHING;
}

/* Numbers the results by the last call at this place before each, or one like it. False: too many
 * have none. */
static bool draw_at(const struct finder *finder, struct result_list *results,
                    const struct trace_record *place) {
    double undrawn = 0;
    for (size_t i = 0; i < results->count; i++) {
        struct result *result = &results->items[i];
        enum likeness best = LIKE_NOTHING;
        result->drawn_ns = UINT64_MAX;
        for (size_t r = result->before; r-- > result->after && best != LIKE_PLACE;) {
            const struct trace_record *record = record_of(finder, result, r);
            enum likeness likeness = likeness_of(finder, record, place);
            if (likeness <= best)
                continue;
            best = likeness;
            int thread = section_at(finder, result->section)->thread;
            int section = finder->sections->section_of_lock[thread][r];
            result->drawn_record = r;
            result->drawn_ns = section >= 0 ? section_passed_ns(finder->sections,
                                                                section_at(finder, (size_t)section))
                                            : trace_end_ns(record);
        }
        undrawn += result->drawn_ns == UINT64_MAX;
    }
    return undrawn <= evidence.violation_share * (double)results->count;
}

static int compare_results(const void *a, const void *b) {
    const struct result *x = a, *y = b;
    return (x->drawn_ns > y->drawn_ns) - (x->drawn_ns < y->drawn_ns);
}

/* The waiter's n-th visit is for the n-th number. */
static struct passages passages_by_number(const struct finder *finder, const struct waiter *waiter,
                                          struct result_list *results) {
    struct passages passages = {0};
    VECTOR_SORT(results, compare_results);
    for (size_t i = 0; i < waiter->visits.count && i < results->count; i++) {
        size_t index = finder->history.items[waiter->visits.items[i]];
        size_t result = results->items[i].section;
        const struct section *by = section_at(finder, result);
        *VECTOR_ADD(&passages) = (struct passage){index, result, by->thread, by->release_ns, 0};
    }
    return passages;
}

static void write_acts(const struct finder *finder, const struct passages *passages,
                       const struct result_list *results, const struct trace_record *place,
                       struct explanation *pattern) {
    for (size_t i = 0; i < passages->count; i++)
        pattern->pattern.acts[passages->items[i].wait_section] |= ACT_COLLECT;
    for (size_t i = 0; i < results->count; i++) {
        const struct result *result = &results->items[i];
        int thread = section_at(finder, result->section)->thread;
        pattern->pattern.acts[result->section] |= ACT_PASS;
        if (result->drawn_ns == UINT64_MAX)
            continue;
        int section = finder->sections->section_of_lock[thread][result->drawn_record];
        if (section >= 0)
            pattern->pattern.acts[section] |= ACT_DRAW;
        else
            pattern->pattern.drawn_after = place;
    }
}

/* Tries the place where this result's thread may have drawn its number. */
static bool try_place(const struct finder *finder, const struct waiter *waiter,
                      struct result_list *results, const struct trace_record *place) {
    if (!draw_at(finder, results, place))
        return false;
    struct passages passages = passages_by_number(finder, waiter, results);
    struct explanation pattern = pattern_empty(finder, HAND_MADE_EVENT);
    pattern.tally = passages_replay(finder, &passages, true);
    bool found = passages.count >= 3 && pattern_holds(&pattern);
    if (found)
        write_acts(finder, &passages, results, place, &pattern);
    else
        explanation_free(&pattern);
    free(passages.items);
    return found && pattern_add(finder, pattern);
}

/* Tries the places where the number of this result may have been drawn. */
static bool try_result(const struct finder *finder, const struct waiter *waiter,
                       struct result_list *results, struct result result) {
    size_t tried = 0;
    for (size_t r = result.before; r-- > result.after && tried < DRAWING_LIMIT;) {
        const struct trace_record *place = record_of(finder, &result, r);
        if (!takes_work(place))
            continue;
        tried++;
        if (try_place(finder, waiter, results, place))
            return true;
    }
    return false;
}

/* Results that are waited for by the condition. A thread's first one may have been drawn at a place
 * of its own, so another one tells, too. */
static bool find_by_number(const struct finder *finder, const struct waiter *waiter,
                           int condition) {
    struct result_list results = results_for(finder, waiter->thread, condition);
    bool found = false;
    if (results.count > 0) {
        const struct result first = results.items[0]; /* trying sorts them */
        const struct result middle = results.items[results.count / 2];
        found = try_result(finder, waiter, &results, first) ||
                try_result(finder, waiter, &results, middle);
    }
    free(results.items);
    return found;
}

static bool find_by_condition(const struct finder *finder, int condition) {
    struct waiter waiter = only_waiter(finder, condition);
    bool found = waiter.thread >= 0 && find_by_number(finder, &waiter, condition);
    free(waiter.visits.items);
    return found;
}

/* Conditions that nothing explains yet; several threads may wait under one mutex, each for what
 * another condition tells. */
bool in_order_completion_replay_find(const struct finder *finder) {
    bool *tried = memory_alloc(finder->sections->n_objects, sizeof *tried), found = false;
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section *section = section_at(finder, finder->history.items[i]);
        for (size_t w = 0; w < section->n_waits; w++) {
            int condition = finder->sections->waits[section->first_wait + w].condition;
            if (finder_knows(finder, condition) || tried[condition])
                continue;
            tried[condition] = true;
            found |= find_by_condition(finder, condition);
        }
    }
    free(tried);
    return found;
}

/* ---- each with a mutex of its own ---- */

/* The last signalling section of another thread on the same mutex in (after, before]. */
static size_t result_before(const struct finder *finder, int mutex, int waiter, size_t before,
                            uint64_t after_ns) {
    for (size_t i = before; i-- > 0;) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        if (section->mutex != mutex || section->thread == waiter)
            continue;
        if (section->release_ns <= after_ns)
            break;
        if (class_at(finder, index)->n_signals > 0)
            return index;
    }
    return finder->sections->n_sections;
}

/* The waiter's visits: sections in a row on one mutex. Each ends with that mutex' result. */
static struct passages visits_of(const struct finder *finder, const struct waiter *waiter) {
    struct passages passages = {0};
    struct map last_visit = MAP_EMPTY; /* of a mutex: passage number */
    for (size_t v = 0; v < waiter->visits.count; v++) {
        size_t index = finder->history.items[waiter->visits.items[v]];
        const struct section *section = section_at(finder, index);
        int mutex = section->mutex, known = map_get(&last_visit, (uint64_t)mutex, -1);
        bool same = known >= 0 && (size_t)known + 1 == passages.count;
        /* the result may come while the section waits: look from the end of its waits on */
        size_t from = waiter->visits.items[v];
        while (from < finder->history.count &&
               section_at(finder, finder->history.items[from])->acquire_ns <=
                   section_passed_ns(finder->sections, section))
            from++;
        assert(known < 0 || passages.items); /* the map knows only what is in the list */
        uint64_t after = known < 0 ? 0
                         : same    ? passages.items[known].after_ns
                                   : passages.items[known].passed_ns;
        size_t result = result_before(finder, mutex, waiter->thread, from, after);
        if (result == finder->sections->n_sections)
            continue;
        const struct section *by = section_at(finder, result);
        struct passage visit = {index, result, by->thread, by->release_ns, after};
        if (!same) {
            *VECTOR_ADD(&passages) = visit;
            map_put(&last_visit, (uint64_t)mutex, (int)passages.count - 1);
            continue;
        }
        struct passage *open = &passages.items[known];
        open->pass_section = result;
        open->thread = by->thread;
        open->passed_ns = by->release_ns;
        if (section_at(finder, open->wait_section)->n_waits == 0)
            open->wait_section = index;
    }
    map_free(&last_visit);
    return passages;
}

bool in_order_completion_replay_find_in_array(const struct finder *finder) {
    size_t n_objects = 0;
    for (size_t o = 0; o < finder->sections->n_objects; o++)
        n_objects += sections_first_like(finder->sections, (int)o) == finder->mutex;
    struct waiter waiter = only_waiter(finder, -1);
    bool found = false;
    if (waiter.thread >= 0) {
        struct passages visits = visits_of(finder, &waiter);
        struct explanation pattern = pattern_empty(finder, HAND_MADE_EVENT);
        pattern.pattern.n_objects = n_objects;
        found = passages_add(finder, &visits, true, &pattern);
        free(visits.items);
    }
    free(waiter.visits.items);
    return found;
}
