#include "modelgen/rewrite/futex_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* A thread that is woken sees that it may go on before whoever wakes it has recorded so: by less
 * than this. */
#define PROMPT_NS 50000

#define NO_WORD       (-1)
#define SEVERAL_WORDS (-2)

static bool is_futex(const struct trace_record *record) {
    return api_catalog[record->api].object == ON_FUTEX;
}

bool futex_waits(const struct trace_record *record) {
    return is_futex(record) && trace_op(record) == OP_WAIT;
}

static bool wakes_all(const struct trace_record *record) {
    return is_futex(record) && trace_op(record) == OP_SIGNAL && !(record->flags & TRACE_FAILED) &&
           record->value > 1;
}

static const struct trace_record *record_of(const struct trace *trace,
                                            const struct futex_call *call) {
    return &trace->threads[call->thread].records[call->record];
}

/* ---- what was done at each word ---- */

/* Where a thread yields right before it waits at a word, it does so for the word. */
static void note_yields(struct futex_words *words, const struct trace_record *before, int word) {
    if (!trace_is_nap(before) || before->context == TRACE_NO_CONTEXT)
        return;
    int known = map_get(&words->of_yields_at, before->context, word);
    map_put(&words->of_yields_at, before->context, known == word ? word : SEVERAL_WORDS);
}

/* ---- words of objects that are made anew ---- */

/* How often each word is opened by a wake of all. */
static struct map count_openings(const struct trace *trace) {
    struct map openings = MAP_EMPTY;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (wakes_all(at.event))
            map_put(&openings, at.event->object, map_get(&openings, at.event->object, 0) + 1);
    return openings;
}

/* Which word a call is at, where those that open but once, as latches do that are made anew for
 * each round, are one if threads wait for them at one place. */
struct word_finder {
    struct futex_words *words;
    struct map openings; /* address -> how often it opens */
    struct map at_place; /* context of a wait, or of a wake -> number of the word, of such */
};

static bool opens_once(const struct word_finder *finder, const struct trace_record *record) {
    return record->context != TRACE_NO_CONTEXT &&
           map_get(&finder->openings, record->object, 0) == 1;
}

static int add_word(struct futex_words *words) {
    *VECTOR_ADD(words) = (struct futex_word){0};
    return (int)words->count - 1;
}

static int number_of_wait(struct word_finder *finder, const struct trace_record *wait) {
    int word = map_get(&finder->words->number_of, wait->object, NO_WORD);
    if (word != NO_WORD)
        return word;
    if (opens_once(finder, wait)) {
        word = map_get(&finder->at_place, wait->context, NO_WORD);
        word = word == NO_WORD ? add_word(finder->words) : word;
        map_put(&finder->at_place, wait->context, word);
    } else {
        word = add_word(finder->words);
    }
    map_put(&finder->words->number_of, wait->object, word);
    return word;
}

/* Where nobody had to wait, the place of the wake tells. */
static void find_unwaited(struct word_finder *finder, const struct trace *trace) {
    struct map *number_of = &finder->words->number_of;
    for (int add = 0; add < 2; add++)
        for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
            if (!wakes_all(at.event) || !opens_once(finder, at.event))
                continue;
            int word = map_get(number_of, at.event->object, NO_WORD);
            int there = map_get(&finder->at_place, at.event->context, NO_WORD);
            if (!add && word != NO_WORD)
                map_put(&finder->at_place, at.event->context,
                        there == NO_WORD || there == word ? word : SEVERAL_WORDS);
            else if (add && word == NO_WORD && there >= 0)
                map_put(number_of, at.event->object, there);
        }
}

static struct futex_words find_words(const struct trace *trace) {
    struct futex_words words = {.number_of = MAP_EMPTY, .of_yields_at = MAP_EMPTY};
    struct word_finder finder = {
        .words = &words, .openings = count_openings(trace), .at_place = MAP_EMPTY};
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (!futex_waits(at.event))
            continue;
        int word = number_of_wait(&finder, at.event);
        if (at.number > 0)
            note_yields(&words, at.event - 1, word);
    }
    find_unwaited(&finder, trace);
    map_free(&finder.openings);
    map_free(&finder.at_place);
    return words;
}

/* The word that a call is at: NO_WORD, SEVERAL_WORDS for none. `next`: the first call from this one
 * on that is no yield. A yield is for the word that the thread waits at next, else for the one at
 * which others wait who yielded there. */
static int word_of(const struct futex_words *words, const struct trace_record *call,
                   const struct trace_record *next) {
    if (next && (next == call ? is_futex(next) : futex_waits(next)))
        return map_get(&words->number_of, next->object, NO_WORD);
    bool may_be = next != call && call->context != TRACE_NO_CONTEXT;
    return may_be ? map_get(&words->of_yields_at, call->context, NO_WORD) : NO_WORD;
}

static void add_party(struct futex_word *word, size_t thread) {
    size_t n = word->parties.count;
    if (n == 0 || word->parties.items[n - 1] != thread)
        *VECTOR_ADD(&word->parties) = thread;
}

static void find_calls_of(struct futex_words *words, const struct trace_thread *thread, size_t t) {
    size_t next = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *call = &thread->records[r];
        while (next < thread->n_records && (next < r || trace_is_nap(&thread->records[next])))
            next++;
        int number = word_of(words, call, next < thread->n_records ? &thread->records[next] : NULL);
        if (number < 0)
            continue;
        struct futex_word *word = &words->items[number];
        *VECTOR_ADD(&word->calls) = (struct futex_call){t, r};
        add_party(word, t);
        if (wakes_all(call))
            *VECTOR_ADD(&word->wakes) = call->start_ns;
    }
}

struct futex_words futex_words_of(const struct trace *trace) {
    struct futex_words words = find_words(trace);
    for (size_t t = 0; t < trace->n_threads; t++)
        find_calls_of(&words, &trace->threads[t], t);
    return words;
}

void futex_words_free(struct futex_words *words) {
    for (size_t w = 0; w < words->count; w++) {
        free(words->items[w].calls.items);
        free(words->items[w].wakes.items);
        free(words->items[w].parties.items);
        free(words->items[w].visits);
        free(words->items[w].places);
    }
    free(words->items);
    map_free(&words->number_of);
    map_free(&words->of_yields_at);
}

/* ---- visits ---- */

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t futex_round_of(const struct futex_word *word, uint64_t time_ns) {
    struct bisection at = bisection_of(0, word->wakes.count);
    while (bisection_next(&at))
        bisection_tell(&at, word->wakes.items[at.middle] < time_ns);
    return at.low;
}

static void add_call(struct futex_visit *visit, const struct trace_record *record, size_t number) {
    if (visit->n++ == 0) {
        visit->first = number;
        visit->start_ns = record->start_ns;
    }
    if (!visit->waits)
        visit->context = record->context;
    visit->waits |= futex_waits(record);
    visit->wakes |= wakes_all(record);
    visit->last = number;
    visit->end_ns = trace_end_ns(record);
}

/* ---- rounds ---- */

bool futex_takes_part(const struct futex_word *word, size_t round, size_t party) {
    const struct futex_visit *visit = futex_visit_of(word, round, party);
    if (visit->n == 0 || visit->last - visit->first + 1 != visit->n)
        return false; /* it does something else besides */
    return visit->wakes ? !visit->waits : visit->end_ns + PROMPT_NS >= word->wakes.items[round];
}

size_t futex_only_waker(const struct futex_word *word) {
    size_t n = word->parties.count, waker = n;
    for (size_t round = 0; round < word->wakes.count; round++)
        for (size_t p = 0; p < n; p++) {
            if (!futex_visit_of(word, round, p)->wakes)
                continue;
            if (waker < n && waker != p)
                return n;
            waker = p;
        }
    return waker;
}

bool futex_are_alike(const struct trace *trace, const struct futex_word *word, size_t a, size_t b) {
    return strcmp(trace->threads[word->parties.items[a]].start_routine,
                  trace->threads[word->parties.items[b]].start_routine) == 0;
}

bool futex_word_may_have_rounds(const struct futex_word *word) {
    double least =
        (1 - evidence.violation_share) * (double)word->parties.count * (double)word->wakes.count;
    return word->parties.count > 1 && (double)word->wakes.count >= evidence.times_alike &&
           (double)word->calls.count >= least;
}

/* ---- from where threads come to it ---- */

/* Whoever only woke at the barrier did so elsewhere in its function than where it waits: the place
 * from which it came is where threads of its kind wait in the same rounds. */
static uint32_t place_of(const struct trace *trace, const struct futex_word *word,
                         uint32_t context) {
    size_t *votes = memory_alloc(trace->n_contexts, sizeof *votes);
    uint32_t best = context;
    size_t most = 0;
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        size_t round = v / word->parties.count, party = v % word->parties.count;
        const struct futex_visit *visit = &word->visits[v];
        if (visit->n == 0 || visit->waits || visit->context != context)
            continue;
        for (size_t p = 0; p < word->parties.count; p++) {
            const struct futex_visit *other = futex_visit_of(word, round, p);
            if (!other->waits || other->context == TRACE_NO_CONTEXT ||
                !futex_are_alike(trace, word, p, party) || ++votes[other->context] <= most)
                continue;
            most = votes[other->context];
            best = other->context;
        }
    }
    free(votes);
    return best;
}

/* Per context. Whoever only yielded came from where it waits at other times. */
static uint32_t *find_places(const struct trace *trace, const struct futex_word *word) {
    uint32_t *places = memory_alloc(trace->n_contexts + 1, sizeof *places);
    for (uint32_t c = 0; c < trace->n_contexts; c++)
        places[c] = TRACE_NO_CONTEXT;
    for (size_t c = 1; c < word->calls.count; c++) {
        const struct trace_record *call = record_of(trace, &word->calls.items[c]);
        const struct trace_record *before = record_of(trace, &word->calls.items[c - 1]);
        bool is_next = word->calls.items[c - 1].thread == word->calls.items[c].thread;
        if (is_next && futex_waits(call) && trace_is_nap(before) &&
            before->context != TRACE_NO_CONTEXT)
            places[before->context] = call->context;
    }
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        const struct futex_visit *visit = &word->visits[v];
        uint32_t context = visit->context;
        if (visit->n == 0 || context == TRACE_NO_CONTEXT || places[context] != TRACE_NO_CONTEXT)
            continue;
        places[context] = visit->waits ? context : place_of(trace, word, context);
    }
    return places;
}

/* Does the call belong to the round before the one in which it began? A wait that finds the word
 * changed does where its thread had not come yet, or had only yielded. */
static bool is_late(const struct futex_word *word, const struct trace_record *record, size_t number,
                    size_t round, size_t party) {
    bool found_changed =
        futex_waits(record) && record->flags & TRACE_FAILED && !(record->flags & TRACE_TIMEDOUT);
    if (!found_changed || round == 0)
        return false;
    const struct futex_visit *before = futex_visit_of(word, round - 1, party);
    bool goes_on = before->n > 0 && before->last + 1 == number;
    return before->n == 0 || (goes_on && !before->waits && !before->wakes);
}

void futex_word_find_visits(struct futex_word *word, const struct trace *trace) {
    word->visits =
        memory_alloc((word->wakes.count + 1) * word->parties.count, sizeof *word->visits);
    VECTOR_SORT(&word->wakes, compare_times);
    size_t party = 0;
    for (size_t c = 0; c < word->calls.count; c++) {
        const struct futex_call *call = &word->calls.items[c];
        const struct trace_record *record = record_of(trace, call);
        party += word->parties.items[party] != call->thread;
        size_t round = futex_round_of(word, record->start_ns);
        round -= is_late(word, record, call->record, round, party);
        add_call(futex_visit_of(word, round, party), record, call->record);
    }
    word->places = find_places(trace, word);
}

uint32_t futex_place_in_round(const struct trace *trace, const struct futex_word *word,
                              size_t round, size_t party) {
    for (size_t p = 0; p < word->parties.count; p++) {
        const struct futex_visit *visit = futex_visit_of(word, round, p);
        if (visit->n > 0 && futex_are_alike(trace, word, p, party))
            return futex_place_at(word, visit->context);
    }
    return TRACE_NO_CONTEXT;
}

/* ---- showing it ---- */

void futex_word_drop(const struct futex_word *word, bool **dropped) {
    for (size_t c = 0; c < word->calls.count; c++)
        dropped[word->calls.items[c].thread][word->calls.items[c].record] = true;
}

uint64_t futex_passes_ns(const struct trace_thread *thread, uint64_t wake_ns) {
    return wake_ns < thread->start_ns ? thread->start_ns
           : wake_ns > thread->end_ns ? thread->end_ns
                                      : wake_ns;
}

struct trace_record futex_arrival(const struct futex_word *word, uint64_t barrier, uint32_t place,
                                  uint64_t start_ns, uint64_t end_ns) {
    return (struct trace_record){.start_ns = start_ns,
                                 .duration_ns = end_ns - start_ns,
                                 .object = barrier,
                                 .context = place,
                                 .api = ROLE_barrier,
                                 .value = (int32_t)word->parties.count,
                                 .flags = TRACE_WAITED};
}

void futex_arrivals_add(struct futex_arrivals *arrivals, const struct trace_thread *thread,
                        struct trace_record arrival) {
    size_t next = arrivals->next;
    while (next < thread->n_records && thread->records[next].start_ns <= arrival.start_ns)
        next++;
    arrivals->next = next;
    *VECTOR_ADD(arrivals) =
        (struct event_insertion){next > 0 ? next - 1 : EVENT_LOG_BEGIN, arrival};
}
