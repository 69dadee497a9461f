/* What threads do at the words of memory that they wait at by futex(2). */
#ifndef PERSIK_MODELGEN_REWRITE_FUTEX_WORDS_H
#define PERSIK_MODELGEN_REWRITE_FUTEX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/event_log.h"

/* A call at a word: a wait, a wake, or a yield for it. */
struct futex_call {
    size_t thread, record;
};

/* What a thread does at a word between two wakes: yields, waits, and maybe the wake that ends the
 * round. */
struct futex_visit {
    size_t n;           /* calls; 0: it came past the word without one */
    size_t first, last; /* their numbers */
    uint64_t start_ns, end_ns;
    uint32_t context; /* of the first wait, else of the last call */
    bool waits, wakes;
};

/* All that was done at a word, or at several of which each was woken only once: those of objects
 * that are made anew for each round, such as latches, which threads wait for at one place. A round
 * is the time between two wakes of all who wait there. */
struct futex_word {
    struct {
        struct futex_call *items; /* by thread, then in their order */
        size_t count, capacity;
    } calls;
    struct {
        uint64_t *items;
        size_t count, capacity;
    } wakes; /* when, in order: of those that may wake several threads */
    struct {
        size_t *items;
        size_t count, capacity;
    } parties;                  /* threads that come to it, in order */
    struct futex_visit *visits; /* per wake and party; one more round, which nobody ended */
    uint32_t *places; /* per context of a visit: that of the place from which the thread came */
};

/* The words that threads wait at. */
struct futex_words {
    struct futex_word *items;
    size_t count, capacity;
    struct map number_of;    /* address -> number of the word */
    struct map of_yields_at; /* context -> number of the word, -2: of several */
};

/* O(records). Only the calls, wakes and parties are known, not the visits. */
struct futex_words futex_words_of(const struct trace *trace);
void futex_words_free(struct futex_words *words);

/* Is it a wait at a word? */
bool futex_waits(const struct trace_record *record);

/* May each party have done its part in each round, by the number of calls and rounds? Else there
 * are no rounds, and futex_word_visits() might need much memory. */
bool futex_word_may_have_rounds(const struct futex_word *word);

/* Finds the word's visits and their places. Who only wakes or yields does so elsewhere than where
 * it waits, though it came from the same place in the source. */
void futex_word_find_visits(struct futex_word *word, const struct trace *trace);

/* The round in which that is: how many wakes were before. */
size_t futex_round_of(const struct futex_word *word, uint64_t time_ns);

/* `round` may be the one behind the last wake. */
static inline struct futex_visit *futex_visit_of(const struct futex_word *word, size_t round,
                                                 size_t party) {
    return &word->visits[round * word->parties.count + party];
}

/* Did the party do its part in the round: wake the others without a wait of its own, or wait until
 * it was woken? */
bool futex_takes_part(const struct futex_word *word, size_t round, size_t party);

/* The party that made all wakes; the number of parties: there are several. */
size_t futex_only_waker(const struct futex_word *word);

/* Do both parties run the same routine? */
bool futex_are_alike(const struct trace *trace, const struct futex_word *word, size_t a, size_t b);

static inline uint32_t futex_place_at(const struct futex_word *word, uint32_t context) {
    return context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : word->places[context];
}

/* The place of a party that made no call in the round: that of one of its kind. */
uint32_t futex_place_in_round(const struct trace *trace, const struct futex_word *word,
                              size_t round, size_t party);

/* ---- showing a word as a barrier of all its parties ---- */

/* Marks all calls at the word. */
void futex_word_drop(const struct futex_word *word, bool **dropped);

/* When a thread came past the word that made no call there: when all were woken, but not before it
 * was there, nor when it had ended. */
uint64_t futex_passes_ns(const struct trace_thread *thread, uint64_t wake_ns);

/* A party's coming to the barrier. */
struct trace_record futex_arrival(const struct futex_word *word, uint64_t barrier, uint32_t place,
                                  uint64_t start_ns, uint64_t end_ns);

/* Comings that are to be inserted among a thread's events. {0}: none. free() the items. */
struct futex_arrivals {
    struct event_insertion *items;
    size_t count, capacity;
    size_t next; /* the thread's first event behind the last of them */
};

/* Appends one, behind the thread's last event that had begun by then. They are added in the order
 * of time. */
void futex_arrivals_add(struct futex_arrivals *arrivals, const struct trace_thread *thread,
                        struct trace_record arrival);

#endif
