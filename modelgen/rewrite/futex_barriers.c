#include "modelgen/rewrite/futex_barriers.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/map.h"
#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* A thread that is woken sees that it may go on before whoever wakes it has recorded so: by less
 * than this. */
#define PROMPT_NS 50000

/* A call at a word: a wait, a wake, or a yield for it. */
struct call {
    size_t thread, record;
};

/* What a thread does at the word between two wakes: yields, waits, and maybe the wake that ends the
 * round. */
struct visit {
    size_t n;           /* calls; 0: it came past the word without one */
    size_t first, last; /* their numbers */
    uint64_t start_ns, end_ns;
    uint32_t context; /* of the wait, if it has one, else of the last call */
    bool waits, wakes;
};

/* All that was done at a word. */
struct word {
    struct {
        struct call *items; /* by thread, then in their order */
        size_t count, capacity;
    } calls;
    struct {
        uint64_t *items;
        size_t count, capacity;
    } wakes; /* when, in order: of those that may wake several threads */
    struct {
        size_t *items;
        size_t count, capacity;
    } parties;            /* threads that come to it, in order */
    struct visit *visits; /* per wake and party; one more round, which nobody ended */
    uint32_t *places; /* of a barrier: per context, from where who made a call there came to it */
    uint64_t object;  /* the barrier; 0: it is none */
};

struct words {
    struct word *items;
    size_t count, capacity;
    struct map number_of;    /* address -> number of the word */
    struct map of_yields_at; /* context -> number of the word, SEVERAL_WORDS */
};

#define NO_WORD       (-1)
#define SEVERAL_WORDS (-2)

static bool is_futex(const struct trace_record *record) {
    return api_catalog[record->api].object == ON_FUTEX;
}

static bool is_wait(const struct trace_record *record) {
    return is_futex(record) && trace_op(record) == OP_WAIT;
}

static bool wakes_all(const struct trace_record *record) {
    return is_futex(record) && trace_op(record) == OP_SIGNAL && !(record->flags & TRACE_FAILED) &&
           record->value > 1;
}

static const struct trace_record *record_of(const struct trace *trace, const struct call *call) {
    return &trace->threads[call->thread].records[call->record];
}

/* ---- what was done at each word ---- */

/* Where a thread yields right before it waits at a word, it does so for the word. */
static void note_yields(struct words *words, const struct trace_record *before, int word) {
    if (!trace_is_nap(before) || before->context == TRACE_NO_CONTEXT)
        return;
    int known = map_get(&words->of_yields_at, before->context, word);
    map_put(&words->of_yields_at, before->context, known == word ? word : SEVERAL_WORDS);
}

/* The words that threads wait at. */
static struct words find_words(const struct trace *trace) {
    struct words words = {.number_of = MAP_EMPTY, .of_yields_at = MAP_EMPTY};
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (!is_wait(at.event))
            continue;
        int word = map_get(&words.number_of, at.event->object, NO_WORD);
        if (word == NO_WORD) {
            word = (int)words.count;
            map_put(&words.number_of, at.event->object, word);
            *VECTOR_ADD(&words) = (struct word){0};
        }
        if (at.number > 0)
            note_yields(&words, at.event - 1, word);
    }
    return words;
}

/* The word that a call is at: NO_WORD, SEVERAL_WORDS for none. `next`: the first call from this one
 * on that is no yield. A yield is for the word that the thread waits at next, else for the one at
 * which others wait who yielded there. */
static int word_of(const struct words *words, const struct trace_record *call,
                   const struct trace_record *next) {
    if (next && (next == call ? is_futex(next) : is_wait(next)))
        return map_get(&words->number_of, next->object, NO_WORD);
    bool may_be = next != call && call->context != TRACE_NO_CONTEXT;
    return may_be ? map_get(&words->of_yields_at, call->context, NO_WORD) : NO_WORD;
}

static void add_party(struct word *word, size_t thread) {
    size_t n = word->parties.count;
    if (n == 0 || word->parties.items[n - 1] != thread)
        *VECTOR_ADD(&word->parties) = thread;
}

static void find_calls_of(struct words *words, const struct trace_thread *thread, size_t t) {
    size_t next = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *call = &thread->records[r];
        while (next < thread->n_records && (next < r || trace_is_nap(&thread->records[next])))
            next++;
        int number = word_of(words, call, next < thread->n_records ? &thread->records[next] : NULL);
        if (number < 0)
            continue;
        struct word *word = &words->items[number];
        *VECTOR_ADD(&word->calls) = (struct call){t, r};
        add_party(word, t);
        if (wakes_all(call))
            *VECTOR_ADD(&word->wakes) = call->start_ns;
    }
}

static void find_calls(struct words *words, const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        find_calls_of(words, &trace->threads[t], t);
}

static void free_words(struct words *words) {
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

/* How many wakes were before. */
static size_t round_of(const struct word *word, uint64_t time_ns) {
    struct bisection at = bisection_of(0, word->wakes.count);
    while (bisection_next(&at))
        bisection_tell(&at, word->wakes.items[at.middle] < time_ns);
    return at.low;
}

static void add_call(struct visit *visit, const struct trace_record *record, size_t number) {
    if (visit->n++ == 0) {
        visit->first = number;
        visit->start_ns = record->start_ns;
    }
    if (is_wait(record) || !visit->waits)
        visit->context = record->context;
    visit->waits |= is_wait(record);
    visit->wakes |= wakes_all(record);
    visit->last = number;
    visit->end_ns = trace_end_ns(record);
}

static struct visit *visit_of(const struct word *word, size_t round, size_t party) {
    return &word->visits[round * word->parties.count + party];
}

static void find_visits(struct word *word, const struct trace *trace) {
    word->visits =
        memory_alloc((word->wakes.count + 1) * word->parties.count, sizeof *word->visits);
    VECTOR_SORT(&word->wakes, compare_times);
    size_t party = 0;
    for (size_t c = 0; c < word->calls.count; c++) {
        const struct call *call = &word->calls.items[c];
        const struct trace_record *record = record_of(trace, call);
        party += word->parties.items[party] != call->thread;
        add_call(visit_of(word, round_of(word, record->start_ns), party), record, call->record);
    }
}

/* ---- is it a barrier's ---- */

/* Did the thread do its part in the round: wake the others without a wait of its own, or wait until
 * it was woken? */
static bool takes_part(const struct word *word, size_t round, size_t party) {
    const struct visit *visit = visit_of(word, round, party);
    if (visit->n == 0 || visit->last - visit->first + 1 != visit->n)
        return false; /* it does something else besides */
    return visit->wakes ? !visit->waits : visit->end_ns + PROMPT_NS >= word->wakes.items[round];
}

/* Of all that threads should have done in rounds, the share that they did not, or did besides. */
static double missing_share(const struct word *word) {
    size_t missing = 0;
    for (size_t p = 0; p < word->parties.count; p++) {
        for (size_t round = 0; round < word->wakes.count; round++)
            missing += !takes_part(word, round, p);
        missing += visit_of(word, word->wakes.count, p)->n > 0;
    }
    return (double)missing / (double)(word->wakes.count * word->parties.count);
}

/* Do both threads run the same routine? */
static bool are_alike(const struct trace *trace, const struct word *word, size_t a, size_t b) {
    return strcmp(trace->threads[word->parties.items[a]].start_routine,
                  trace->threads[word->parties.items[b]].start_routine) == 0;
}

/* Is whoever wakes the others now this one, now that one, or at least one of their kind? One of
 * another kind, which always does, may never wait for them. */
static bool is_mutual(const struct trace *trace, const struct word *word) {
    size_t n = word->parties.count, waker = n;
    for (size_t round = 0; round < word->wakes.count; round++)
        for (size_t p = 0; p < n; p++) {
            if (!visit_of(word, round, p)->wakes)
                continue;
            if (waker < n && waker != p)
                return true;
            waker = p;
        }
    for (size_t p = 0; p < n && waker < n; p++)
        if (p != waker && are_alike(trace, word, p, waker))
            return true;
    return false;
}

/* As many calls as a barrier must have: this also bounds the number of visits. */
static bool may_be_barrier(const struct word *word) {
    double least =
        (1 - evidence.violation_share) * (double)word->parties.count * (double)word->wakes.count;
    return word->parties.count > 1 && (double)word->wakes.count >= evidence.times_alike &&
           (double)word->calls.count >= least;
}

static bool is_barrier(const struct trace *trace, const struct word *word) {
    double missing = missing_share(word);
    bool holds = missing <= evidence.violation_share && is_mutual(trace, word);
    decision("futex_barriers", "futex", holds ? "barrier" : "no barrier",
             "woken all at once %zu times, %zu threads; of what each does at a barrier between two "
             "wakes %.1f %% is missing",
             word->wakes.count, word->parties.count, 100 * missing);
    return holds;
}

/* ---- from where threads come to it ---- */

/* Whoever only woke at the barrier did so elsewhere in its function than where it waits: the place
 * from which it came is where threads of its kind wait in the same rounds. */
static uint32_t place_of(const struct trace *trace, const struct word *word, uint32_t context) {
    size_t *votes = memory_alloc(trace->n_contexts, sizeof *votes);
    uint32_t best = context;
    size_t most = 0;
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        size_t round = v / word->parties.count, party = v % word->parties.count;
        const struct visit *visit = &word->visits[v];
        if (visit->n == 0 || visit->waits || visit->context != context)
            continue;
        for (size_t p = 0; p < word->parties.count; p++) {
            const struct visit *other = visit_of(word, round, p);
            if (!other->waits || other->context == TRACE_NO_CONTEXT ||
                !are_alike(trace, word, p, party) || ++votes[other->context] <= most)
                continue;
            most = votes[other->context];
            best = other->context;
        }
    }
    free(votes);
    return best;
}

/* Per context. Whoever only yielded came from where it waits at other times. */
static uint32_t *find_places(const struct trace *trace, const struct word *word) {
    uint32_t *places = memory_alloc(trace->n_contexts + 1, sizeof *places);
    for (uint32_t c = 0; c < trace->n_contexts; c++)
        places[c] = TRACE_NO_CONTEXT;
    for (size_t c = 1; c < word->calls.count; c++) {
        const struct trace_record *call = record_of(trace, &word->calls.items[c]);
        const struct trace_record *before = record_of(trace, &word->calls.items[c - 1]);
        if (is_wait(call) && trace_is_nap(before) && before->context != TRACE_NO_CONTEXT)
            places[before->context] = call->context;
    }
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        const struct visit *visit = &word->visits[v];
        uint32_t context = visit->context;
        if (visit->n == 0 || context == TRACE_NO_CONTEXT || places[context] != TRACE_NO_CONTEXT)
            continue;
        places[context] = visit->waits ? context : place_of(trace, word, context);
    }
    return places;
}

static uint32_t place_at(const struct word *word, uint32_t context) {
    return context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : word->places[context];
}

/* The place of a thread that made no call in the round: that of one of its kind. */
static uint32_t place_in_round(const struct trace *trace, const struct word *word, size_t round,
                               size_t party) {
    for (size_t p = 0; p < word->parties.count; p++) {
        const struct visit *visit = visit_of(word, round, p);
        if (visit->n > 0 && are_alike(trace, word, p, party))
            return place_at(word, visit->context);
    }
    return TRACE_NO_CONTEXT;
}

/* ---- showing it ---- */

static struct trace_record arrival_of(const struct word *word, uint32_t place, uint64_t start_ns,
                                      uint64_t end_ns) {
    return (struct trace_record){.start_ns = start_ns,
                                 .duration_ns = end_ns - start_ns,
                                 .object = word->object,
                                 .context = place,
                                 .api = ROLE_barrier,
                                 .value = (int32_t)word->parties.count,
                                 .flags = TRACE_WAITED};
}

/* In the place of a visit's first call; its others are to be dropped. */
static void show_visits(struct event_log *log, const struct word *word, bool **dropped) {
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        const struct visit *visit = &word->visits[v];
        size_t thread = word->parties.items[v % word->parties.count];
        if (visit->n == 0)
            continue;
        *event_log_change(log, thread, visit->first) =
            arrival_of(word, place_at(word, visit->context), visit->start_ns, visit->end_ns);
        for (size_t r = visit->first + 1; r <= visit->last; r++)
            dropped[thread][r] = true;
    }
}

/* Who came without a call had come by the wake. */
static void show_uncalled(struct event_log *log, const struct word *word) {
    struct event_insertion *added = memory_alloc(word->wakes.count, sizeof *added);
    for (size_t p = 0; p < word->parties.count; p++) {
        const struct trace_thread *thread = &log->trace.threads[word->parties.items[p]];
        size_t n = 0, next = 0; /* the first event behind the wake */
        for (size_t round = 0; round < word->wakes.count; round++) {
            uint64_t wake_ns = word->wakes.items[round];
            if (visit_of(word, round, p)->n > 0)
                continue;
            while (next < thread->n_records && thread->records[next].start_ns <= wake_ns)
                next++;
            uint32_t place = place_in_round(&log->trace, word, round, p);
            added[n++] = (struct event_insertion){next > 0 ? next - 1 : EVENT_LOG_BEGIN,
                                                  arrival_of(word, place, wake_ns, wake_ns)};
        }
        event_log_insert(log, word->parties.items[p], added, n);
    }
    free(added);
}

void futex_barriers_as_barriers(struct event_log *log) {
    struct words words = find_words(&log->trace);
    find_calls(&words, &log->trace);
    bool **dropped = event_log_flags(log);
    for (size_t w = 0; w < words.count; w++) {
        struct word *word = &words.items[w];
        if (!may_be_barrier(word))
            continue;
        find_visits(word, &log->trace);
        if (is_barrier(&log->trace, word)) {
            word->object = event_log_new_object(log, ORIGIN_FUTEX_BARRIER);
            word->places = find_places(&log->trace, word);
            show_visits(log, word, dropped);
        }
    }
    event_log_drop_all(log, dropped);
    for (size_t w = 0; w < words.count; w++)
        if (words.items[w].object)
            show_uncalled(log, &words.items[w]);
    free_words(&words);
}
