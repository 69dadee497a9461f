#include "modelgen/rewrite/futex_forks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/futex_words.h"

/* The waits of the thread that forks, between two wakes: it joins the others there. */
struct join {
    size_t n;           /* calls; 0: it found all others back */
    size_t first, last; /* their numbers */
    uint64_t start_ns, end_ns;
    uint32_t context; /* of a wait or, without one, a yield */
};

struct fork {
    const struct futex_word *word;
    size_t creator;        /* the party that always wakes the others */
    struct join *joins;    /* per wake: before it */
    uint32_t place;        /* where it joins them */
    uint64_t begins, ends; /* the barriers */
};

/* Do the others end something before this wake? Before the first one they do where the creator
 * waits for them then: they are ready, or had begun when it was told without a call. */
static bool ends_work(const struct fork *fork, size_t round) {
    return round > 0 || fork->joins[0].n > 0;
}

/* ---- is it one ---- */

/* Are the others all alike, and the creator not? */
static bool are_workers(const struct trace *trace, const struct futex_word *word, size_t creator) {
    size_t worker = creator == 0 ? 1 : 0;
    for (size_t p = 0; p < word->parties.count; p++)
        if (futex_are_alike(trace, word, p, worker) == (p == creator))
            return false;
    return true;
}

/* The share of rounds that the parties missed. */
static double missing_share(const struct futex_word *word) {
    size_t missing = 0;
    for (size_t round = 0; round < word->wakes.count; round++)
        for (size_t p = 0; p < word->parties.count; p++)
            missing += !futex_takes_part(word, round, p);
    return (double)missing / (double)(word->wakes.count * word->parties.count);
}

static void add_call(struct join *join, const struct trace_record *record, size_t number) {
    if (join->n++ == 0) {
        join->first = number;
        join->start_ns = record->start_ns;
    }
    if (join->n == 1 || futex_waits(record))
        join->context = record->context;
    join->last = number;
    join->end_ns = trace_end_ns(record);
}

/* Finds the creator's waits at other words. Those with other calls in between are none. */
static void find_joins(struct fork *fork, const struct trace *trace,
                       const struct futex_words *words) {
    const struct futex_word *word = fork->word;
    size_t creator = word->parties.items[fork->creator];
    fork->joins = memory_alloc(word->wakes.count + 1, sizeof *fork->joins);
    for (size_t w = 0; w < words->count; w++) {
        const struct futex_word *other = &words->items[w];
        for (size_t c = 0; other != word && c < other->calls.count; c++) {
            const struct futex_call *call = &other->calls.items[c];
            const struct trace_record *record = &trace->threads[call->thread].records[call->record];
            if (call->thread == creator && (futex_waits(record) || trace_is_nap(record)))
                add_call(&fork->joins[futex_round_of(word, record->start_ns)], record,
                         call->record);
        }
    }
    for (size_t round = 0; round <= word->wakes.count; round++)
        if (fork->joins[round].last - fork->joins[round].first + 1 != fork->joins[round].n)
            fork->joins[round] = (struct join){0};
}

/* Had all others come back for the next round when the creator woke them? Then it need not have
 * waited for them to have joined them. */
static bool are_back(const struct fork *fork, size_t round) {
    for (size_t p = 0; p < fork->word->parties.count; p++)
        if (p != fork->creator && futex_visit_of(fork->word, round, p)->n == 0)
            return false;
    return true;
}

/* The share of the rounds behind the first one in which the creator waits for nothing, though not
 * all others were back, or in most of which it waits for nothing at all. */
static double unjoined_share(const struct fork *fork) {
    size_t n = fork->word->wakes.count, unjoined = 0, without_wait = 0;
    for (size_t round = 1; round < n; round++) {
        without_wait += fork->joins[round].n == 0;
        unjoined += fork->joins[round].n == 0 && !are_back(fork, round);
    }
    bool mostly = (double)without_wait <= (1 - evidence.majority) * (double)(n - 1);
    return (double)(mostly ? unjoined : without_wait) / (double)(n - 1);
}

static bool is_fork(struct fork *fork, const struct trace *trace, const struct futex_words *words) {
    const struct futex_word *word = fork->word;
    fork->creator = futex_only_waker(word);
    if (fork->creator == word->parties.count || !are_workers(trace, word, fork->creator))
        return false;
    find_joins(fork, trace, words);
    double missing = missing_share(word), unjoined = unjoined_share(fork);
    for (size_t round = 0; round < word->wakes.count; round++)
        if (fork->joins[round].n > 0)
            fork->place = fork->joins[round].context;
    bool holds = missing <= evidence.violation_share && unjoined <= evidence.unlike_rounds;
    decision("futex_forks", "futex", holds ? "fork and join" : "no fork",
             "thread %zu woke %zu others %zu times; of what they do between two wakes %.1f %% is "
             "missing, of its own waits for them %.1f %%",
             word->parties.items[fork->creator], word->parties.count - 1, word->wakes.count,
             100 * missing, 100 * unjoined);
    return holds;
}

/* ---- showing it ---- */

/* A worker comes to the end of its work and to the begin of the next one by one visit: the work of
 * all has ended when the creator goes on. */
static void show_worker(struct event_log *log, const struct fork *fork, size_t party) {
    const struct futex_word *word = fork->word;
    const struct trace_thread *thread = &log->trace.threads[word->parties.items[party]];
    struct futex_arrivals arrivals = {0};
    for (size_t round = 0; round < word->wakes.count; round++) {
        const struct futex_visit *visit = futex_visit_of(word, round, party);
        const struct join *join = &fork->joins[round];
        uint64_t start_ns =
            visit->n > 0 ? visit->start_ns : futex_passes_ns(thread, word->wakes.items[round]);
        uint64_t end_ns = visit->n > 0 ? visit->end_ns : start_ns;
        uint64_t ended_ns = join->n > 0 && join->end_ns > start_ns ? join->end_ns : start_ns;
        ended_ns = ended_ns < end_ns ? ended_ns : end_ns;
        uint32_t place = visit->n > 0 ? futex_place_at(word, visit->context)
                                      : futex_place_in_round(&log->trace, word, round, party);
        if (ends_work(fork, round))
            futex_arrivals_add(&arrivals, thread,
                               futex_arrival(word, fork->ends, place, start_ns, ended_ns));
        futex_arrivals_add(&arrivals, thread,
                           futex_arrival(word, fork->begins, place, ended_ns, end_ns));
    }
    event_log_insert(log, word->parties.items[party], arrivals.items, arrivals.count);
    free(arrivals.items);
}

/* Does the creator rather wait first, and compute for the next round then, than do a part of the
 * work before it waits? */
static bool joins_first(const struct fork *fork) {
    uint64_t before_ns = 0, behind_ns = 0;
    for (size_t round = 1; round < fork->word->wakes.count; round++) {
        const struct join *join = &fork->joins[round];
        if (join->n == 0)
            continue;
        before_ns += join->start_ns - futex_visit_of(fork->word, round - 1, fork->creator)->end_ns;
        behind_ns += fork->word->wakes.items[round] - join->end_ns;
    }
    return before_ns < behind_ns;
}

/* The creator waits for the end, and wakes the others for the next begin. Where it found all of
 * them back, it did not have to wait. */
static void show_creator(struct event_log *log, const struct fork *fork) {
    const struct futex_word *word = fork->word;
    const struct trace_thread *thread = &log->trace.threads[word->parties.items[fork->creator]];
    struct futex_arrivals arrivals = {0};
    bool first = joins_first(fork);
    for (size_t round = 0; round < word->wakes.count; round++) {
        const struct futex_visit *wake = futex_visit_of(word, round, fork->creator);
        const struct join *join = &fork->joins[round];
        uint64_t back_ns = wake->start_ns;
        if (round > 0 && first)
            back_ns = futex_visit_of(word, round - 1, fork->creator)->end_ns;
        if (ends_work(fork, round))
            futex_arrivals_add(&arrivals, thread,
                               futex_arrival(word, fork->ends,
                                             join->n > 0 ? join->context : fork->place,
                                             join->n > 0 ? join->start_ns : back_ns,
                                             join->n > 0 ? join->end_ns : back_ns));
        futex_arrivals_add(
            &arrivals, thread,
            futex_arrival(word, fork->begins, wake->context, wake->start_ns, wake->end_ns));
    }
    event_log_insert(log, word->parties.items[fork->creator], arrivals.items, arrivals.count);
    free(arrivals.items);
}

static void show(struct event_log *log, struct fork *fork) {
    fork->begins = event_log_new_object(log, ORIGIN_FUTEX_BARRIER);
    fork->ends = event_log_new_object(log, ORIGIN_FUTEX_BARRIER);
    for (size_t p = 0; p < fork->word->parties.count; p++)
        if (p != fork->creator)
            show_worker(log, fork, p);
    show_creator(log, fork);
}

/* All calls at the word, and the creator's waits for the others. */
static void drop_calls(const struct fork *fork, bool **dropped) {
    const struct futex_word *word = fork->word;
    futex_word_drop(word, dropped);
    for (size_t round = 0; round < word->wakes.count; round++)
        for (size_t i = 0; i < fork->joins[round].n; i++)
            dropped[word->parties.items[fork->creator]][fork->joins[round].first + i] = true;
}

void futex_forks_as_barriers(struct event_log *log) {
    struct futex_words words = futex_words_of(&log->trace);
    struct fork *forks = memory_alloc(words.count + 1, sizeof *forks);
    size_t n = 0;
    bool **dropped = event_log_flags(log);
    for (size_t w = 0; w < words.count; w++) {
        struct futex_word *word = &words.items[w];
        if (!futex_word_may_have_rounds(word))
            continue;
        futex_word_find_visits(word, &log->trace);
        forks[n] = (struct fork){.word = word};
        if (is_fork(&forks[n], &log->trace, &words))
            drop_calls(&forks[n++], dropped);
        else
            free(forks[n].joins);
    }
    event_log_drop_all(log, dropped);
    for (size_t f = 0; f < n; f++) {
        show(log, &forks[f]);
        free(forks[f].joins);
    }
    free(forks);
    futex_words_free(&words);
}
