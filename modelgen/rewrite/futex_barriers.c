#include "modelgen/rewrite/futex_barriers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/futex_words.h"

/* ---- is it a barrier's ---- */

/* Of all that threads should have done in rounds, the share that they did not, or did besides. */
static double missing_share(const struct futex_word *word) {
    size_t missing = 0;
    for (size_t p = 0; p < word->parties.count; p++) {
        for (size_t round = 0; round < word->wakes.count; round++)
            missing += !futex_takes_part(word, round, p);
        missing += futex_visit_of(word, word->wakes.count, p)->n > 0;
    }
    return (double)missing / (double)(word->wakes.count * word->parties.count);
}

/* Is whoever wakes the others now this one, now that one, or at least one of their kind? One of
 * another kind, which always does, may never wait for them. */
static bool is_mutual(const struct trace *trace, const struct futex_word *word) {
    size_t n = word->parties.count, waker = futex_only_waker(word);
    if (waker == n)
        return true;
    for (size_t p = 0; p < n; p++)
        if (p != waker && futex_are_alike(trace, word, p, waker))
            return true;
    return false;
}

static bool is_barrier(const struct trace *trace, const struct futex_word *word) {
    double missing = missing_share(word);
    bool holds = missing <= evidence.violation_share && is_mutual(trace, word);
    decision("futex_barriers", "futex", holds ? "barrier" : "no barrier",
             "woken all at once %zu times, %zu threads; of what each does at a barrier between two "
             "wakes %.1f %% is missing",
             word->wakes.count, word->parties.count, 100 * missing);
    return holds;
}

/* ---- showing it ---- */

/* In the place of a visit's first call; all others at the word are to be dropped. */
static void show_visits(struct event_log *log, const struct futex_word *word, uint64_t barrier,
                        bool **dropped) {
    futex_word_drop(word, dropped);
    for (size_t v = 0; v < word->wakes.count * word->parties.count; v++) {
        const struct futex_visit *visit = &word->visits[v];
        size_t thread = word->parties.items[v % word->parties.count];
        if (visit->n == 0)
            continue;
        *event_log_change(log, thread, visit->first) = futex_arrival(
            word, barrier, futex_place_at(word, visit->context), visit->start_ns, visit->end_ns);
        dropped[thread][visit->first] = false;
    }
}

/* Who came without a call had come by the wake. */
static void show_uncalled(struct event_log *log, const struct futex_word *word, uint64_t barrier) {
    for (size_t p = 0; p < word->parties.count; p++) {
        const struct trace_thread *thread = &log->trace.threads[word->parties.items[p]];
        struct futex_arrivals arrivals = {0};
        for (size_t round = 0; round < word->wakes.count; round++) {
            if (futex_visit_of(word, round, p)->n > 0)
                continue;
            uint64_t passes_ns = futex_passes_ns(thread, word->wakes.items[round]);
            uint32_t place = futex_place_in_round(&log->trace, word, round, p);
            futex_arrivals_add(&arrivals, thread,
                               futex_arrival(word, barrier, place, passes_ns, passes_ns));
        }
        event_log_insert(log, word->parties.items[p], arrivals.items, arrivals.count);
        free(arrivals.items);
    }
}

bool futex_barriers_as_barriers(struct event_log *log) {
    bool any = false;
    struct futex_words words = futex_words_of(&log->trace);
    uint64_t *barriers = memory_alloc(words.count + 1, sizeof *barriers); /* 0: it is none */
    bool **dropped = event_log_flags(log);
    for (size_t w = 0; w < words.count; w++) {
        struct futex_word *word = &words.items[w];
        if (!futex_word_may_have_rounds(word))
            continue;
        futex_word_find_visits(word, &log->trace);
        if (!is_barrier(&log->trace, word))
            continue;
        barriers[w] = event_log_new_object(log, ORIGIN_FUTEX_BARRIER);
        show_visits(log, word, barriers[w], dropped);
        any = true;
    }
    event_log_drop_all(log, dropped);
    for (size_t w = 0; w < words.count; w++)
        if (barriers[w])
            show_uncalled(log, &words.items[w], barriers[w]);
    free(barriers);
    futex_words_free(&words);
    return any;
}
