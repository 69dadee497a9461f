#include "modelgen/rewrite/completion_countdowns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/futex_words.h"
#include "modelgen/rewrite/private_semaphores.h"

/* Calls that a worker makes between its last piece and the release. */
#define MOST_BETWEEN 8

/* A semaphore, or a word of memory as a latch is, and what its releases and takes part into rounds.
 */
struct countdown {
    const struct trace *trace;
    const struct futex_word *word; /* NULL: a semaphore, at `address` */
    uint64_t address, object;      /* that it has, that it is shown as */
    size_t waiter;
    struct calls releases, takes; /* of round 0, 1 ... */
    bool *is_worker;              /* per thread: it is like those that released it */
    size_t *handed, *done;        /* per round: calls of a kind */
};

/* Sets the workers, threads like this one. False: there are too few, or too few rounds. */
static bool find_workers(struct countdown *countdown, size_t worker) {
    const struct trace *trace = countdown->trace;
    if ((double)countdown->takes.count < evidence.times_seen ||
        countdown->takes.count != countdown->releases.count)
        return false;
    size_t n_workers = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        countdown->is_worker[t] = t != countdown->waiter &&
                                  trace_threads_alike(&trace->threads[worker], &trace->threads[t]);
        n_workers += countdown->is_worker[t];
    }
    return n_workers > 1;
}

/* Sets releases, takes and workers. False: it is not one thread that several like ones wake. */
static bool find_rounds(struct countdown *countdown, const struct private_semaphores *semaphores,
                        int s) {
    const struct trace *trace = countdown->trace;
    size_t worker = countdown->waiter;
    for (size_t c = 0; c < semaphores->calls.count; c++) {
        const struct call *call = &semaphores->calls.items[c];
        if (call->semaphore != s)
            continue;
        if (call->takes) {
            *VECTOR_ADD(&countdown->takes) = *call;
            continue;
        }
        *VECTOR_ADD(&countdown->releases) = *call;
        if (worker == countdown->waiter)
            worker = call->thread;
        if (call->thread == countdown->waiter ||
            !trace_threads_alike(&trace->threads[worker], &trace->threads[call->thread]))
            return false;
    }
    return find_workers(countdown, worker);
}

/* The first of the calls at the word that the thread makes one after the other up to `last`: what
 * it did there before others, it did late for the round before. `*next`: where to look for it, on
 * from round to round. */
static size_t begin_of_take(const struct futex_word *word, size_t thread, size_t last,
                            size_t *next) {
    const struct futex_call *calls = word->calls.items;
    while (*next < word->calls.count &&
           (calls[*next].thread < thread ||
            (calls[*next].thread == thread && calls[*next].record < last)))
        (*next)++;
    size_t first = last;
    for (size_t c = *next;
         c > 0 && calls[c - 1].thread == thread && calls[c - 1].record + 1 == first; c--)
        first--;
    return first;
}

/* The same of a word that one party waits at and others, which are alike, wake: a round is from one
 * wake to the next. Where the waiting thread came when it was open, two rounds are one. */
static bool find_rounds_at(struct countdown *countdown) {
    const struct futex_word *word = countdown->word;
    size_t n = word->parties.count, waiter = n, worker = n;
    for (size_t p = 0; p < n; p++)
        for (size_t round = 0; round <= word->wakes.count; round++) {
            const struct futex_visit *visit = futex_visit_of(word, round, p);
            bool other = visit->waits ? waiter < n && waiter != p : waiter == p && visit->wakes;
            if (other)
                return false;
            waiter = visit->waits ? p : waiter;
        }
    size_t next = 0;
    for (size_t round = 0; round < word->wakes.count && waiter < n; round++)
        for (size_t p = 0; p < n; p++) {
            const struct futex_visit *take = futex_visit_of(word, round, waiter);
            const struct futex_visit *wake = futex_visit_of(word, round, p);
            if (!wake->wakes || take->n == 0)
                continue;
            if (p == waiter || (worker < n && !futex_are_alike(countdown->trace, word, p, worker)))
                return false;
            worker = p;
            size_t thread = word->parties.items[waiter];
            *VECTOR_ADD(&countdown->takes) =
                (struct call){.time_ns = take->end_ns,
                              .thread = thread,
                              .record = begin_of_take(word, thread, take->last, &next),
                              .takes = true};
            *VECTOR_ADD(&countdown->releases) = (struct call){
                .time_ns = wake->start_ns, .thread = word->parties.items[p], .record = wake->last};
        }
    if (worker == n)
        return false;
    countdown->waiter = word->parties.items[waiter];
    return find_workers(countdown, word->parties.items[worker]);
}

/* In which round the thread makes the call, `round` or a later one; their number: behind the last.
 */
static size_t round_of(const struct countdown *countdown, size_t t, size_t r, size_t round) {
    uint64_t time_ns = trace_end_ns(&countdown->trace->threads[t].records[r]);
    for (; round < countdown->releases.count; round++) {
        const struct call *take = &countdown->takes.items[round];
        const struct call *release = &countdown->releases.items[round];
        if (t == countdown->waiter ? r < take->record
            : t == release->thread ? r < release->record
                                   : time_ns < release->time_ns)
            break;
    }
    return round;
}

/* Counts the thread's calls of the kind in each round. */
static void count_calls(const struct countdown *countdown, size_t t, uint64_t key,
                        const uint32_t *places, size_t *counts) {
    const struct trace_thread *thread = &countdown->trace->threads[t];
    size_t n_rounds = countdown->releases.count, round = 0;
    for (size_t r = 0; r < thread->n_records && round < n_rounds; r++)
        if (call_kind(&thread->records[r], places) == key) {
            round = round_of(countdown, t, r, round);
            if (round < n_rounds)
                counts[round]++;
        }
}

/* How many calls of the kind workers make in each round. */
static void count_done(const struct countdown *countdown, uint64_t key, const uint32_t *places) {
    memset(countdown->done, 0, countdown->releases.count * sizeof *countdown->done);
    for (size_t t = 0; t < countdown->trace->n_threads; t++)
        if (countdown->is_worker[t])
            count_calls(countdown, t, key, places, countdown->done);
}

/* Does the waiting thread make as many calls of the kind in each round? */
static bool hands_out(const struct countdown *countdown, uint64_t key, const uint32_t *places) {
    size_t bytes = countdown->releases.count * sizeof *countdown->handed;
    memset(countdown->handed, 0, bytes);
    count_calls(countdown, countdown->waiter, key, places, countdown->handed);
    return memcmp(countdown->handed, countdown->done, bytes) == 0;
}

static bool is_believed(const struct countdown *countdown) {
    size_t pieces = 0;
    for (size_t i = 0; i < countdown->releases.count; i++) {
        if (countdown->done[i] == 0)
            return false;
        pieces += countdown->done[i];
    }
    return (double)pieces >= evidence.times_alike && pieces >= 2 * countdown->releases.count;
}

/* A call of the waiting thread's first round of which it makes as many in each round as workers do
 * of theirs; NULL: there is none. */
static const struct trace_record *find_handing(const struct countdown *countdown,
                                               const uint32_t *places) {
    const struct trace_record *records = countdown->trace->threads[countdown->waiter].records;
    for (size_t r = 0; r < countdown->takes.items[0].record; r++)
        if (hands_out(countdown, call_kind(&records[r], places), places))
            return &records[r];
    return NULL;
}

/* The call of a worker's that ends a piece of work, before the first release, and the one by which
 * the waiting thread hands it out. False: there are no such. */
static bool find_pieces(const struct countdown *countdown, const uint32_t *places, uint64_t *done,
                        uint64_t *handed) {
    const struct call *first = &countdown->releases.items[0];
    const struct trace_record *records = countdown->trace->threads[first->thread].records;
    for (size_t r = first->record; r-- > 0 && r + MOST_BETWEEN >= first->record;) {
        *done = call_kind(&records[r], places);
        count_done(countdown, *done, places);
        const struct trace_record *handing =
            is_believed(countdown) ? find_handing(countdown, places) : NULL;
        if (!handing)
            continue;
        *handed = call_kind(handing, places);
        return true;
    }
    return false;
}

/* ---- what is shown ---- */

static bool is_taking(const struct trace_record *record) {
    return private_semaphores_is_take(record) || trace_op(record) == OP_GET;
}

/* A release behind the thread's call of the kind, which ends a piece of work or hands it out;
 * behind all that is done with the piece, where it takes it. */
static struct event_insertion release_behind(const struct countdown *countdown,
                                             const struct trace_thread *thread, size_t r,
                                             uint64_t key, const uint32_t *places) {
    const struct trace_record *call = &thread->records[r];
    struct trace_record release = {.start_ns = trace_end_ns(call),
                                   .object = countdown->object,
                                   .context = call->context,
                                   .api = ROLE_release};
    if (!is_taking(call))
        return (struct event_insertion){r, release};
    while (r + 1 < thread->n_records && call_kind(&thread->records[r + 1], places) != key)
        r++;
    release.start_ns = r + 1 < thread->n_records ? thread->records[r + 1].start_ns : thread->end_ns;
    return (struct event_insertion){r, release};
}

/* Shows that the thread's calls of the kind in all rounds change by one how many are outstanding:
 * `value` is that of the releases. */
static void show_pieces(struct event_log *log, const struct countdown *countdown, size_t t,
                        uint64_t key, int value, const uint32_t *places) {
    const struct trace_thread *thread = &countdown->trace->threads[t];
    struct event_insertion *added = memory_alloc(thread->n_records, sizeof *added);
    size_t n = 0, round = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        if (call_kind(&thread->records[r], places) != key)
            continue;
        round = round_of(countdown, t, r, round);
        if (round == countdown->releases.count)
            break;
        added[n] = release_behind(countdown, thread, r, key, places);
        added[n++].record.value = value;
    }
    event_log_insert(log, t, added, n);
    free(added);
}

/* The waiting thread waits for all. */
static void show_waits(struct event_log *log, const struct countdown *countdown) {
    for (size_t i = 0; i < countdown->takes.count; i++) {
        struct trace_record *take =
            event_log_change(log, countdown->waiter, countdown->takes.items[i].record);
        take->api = ROLE_acquire;
        take->object = countdown->object;
        take->value = 1;
        if (countdown->word)
            take->duration_ns = countdown->takes.items[i].time_ns - take->start_ns;
    }
}

/* Calls at the word but the first of each take, as one kind of call that is dropped later. */
static void mark_calls(struct event_log *log, const struct countdown *countdown) {
    const struct futex_word *word = countdown->word;
    for (size_t c = 0; word && c < word->calls.count; c++) {
        const struct futex_call *call = &word->calls.items[c];
        const struct trace_record *shown =
            &countdown->trace->threads[call->thread].records[call->record];
        if (shown->object == countdown->object)
            continue;
        struct trace_record *marked = event_log_change(log, call->thread, call->record);
        marked->api = API_syscall_futex_wake;
        marked->object = countdown->object;
    }
}

/* What the releases were is shown by pieces. */
static void drop_releases(struct event_log *log, const struct countdown *countdown) {
    for (size_t t = 0; t < countdown->trace->n_threads; t++) {
        const struct trace_thread *thread = &countdown->trace->threads[t];
        bool *dropped = memory_alloc(thread->n_records, sizeof *dropped);
        for (size_t r = 0; r < thread->n_records; r++)
            dropped[r] = countdown->word ? thread->records[r].api == API_syscall_futex_wake &&
                                               thread->records[r].object == countdown->object
                                         : private_semaphores_is_release(&thread->records[r]) &&
                                               thread->records[r].object == countdown->address;
        event_log_drop(log, t, dropped);
        free(dropped);
    }
}

/* True: events have other numbers now. */
static bool show_countdown(struct event_log *log, struct countdown *countdown) {
    size_t n_rounds = countdown->releases.count;
    uint32_t *places = source_places(countdown->trace);
    uint64_t done, handed;
    countdown->handed = memory_alloc(n_rounds, sizeof *countdown->handed);
    countdown->done = memory_alloc(n_rounds, sizeof *countdown->done);
    bool found = find_pieces(countdown, places, &done, &handed);
    if (found) {
        countdown->object = event_log_new_object(log, ORIGIN_COUNTDOWN);
        show_waits(log, countdown);
        mark_calls(log, countdown);
        for (size_t t = 0; t < countdown->trace->n_threads; t++)
            if (countdown->is_worker[t])
                show_pieces(log, countdown, t, done, 0, places);
        show_pieces(log, countdown, countdown->waiter, handed, -1, places);
        drop_releases(log, countdown);
    }
    free(countdown->handed);
    free(countdown->done);
    free(places);
    return found;
}

/* Shows the first that there is; false: there is none. Records' numbers are others afterwards. */
static bool show_next(struct event_log *log) {
    struct private_semaphores semaphores = private_semaphores_find(&log->trace);
    bool found = false;
    for (size_t s = 0; s < semaphores.count && !found; s++) {
        if (semaphores.items[s].is_other)
            continue;
        struct countdown countdown = {
            .trace = &log->trace,
            .address = semaphores.items[s].address,
            .waiter = semaphores.items[s].waiter,
            .is_worker = memory_alloc(log->trace.n_threads, sizeof(bool)),
        };
        found = find_rounds(&countdown, &semaphores, (int)s) && show_countdown(log, &countdown);
        free(countdown.is_worker);
        free(countdown.releases.items);
        free(countdown.takes.items);
    }
    private_semaphores_free(&semaphores);
    return found;
}

/* The same of words of memory. */
static bool show_next_word(struct event_log *log) {
    struct futex_words words = futex_words_of(&log->trace);
    bool found = false;
    for (size_t w = 0; w < words.count && !found; w++) {
        struct futex_word *word = &words.items[w];
        if ((double)word->wakes.count < evidence.times_seen || word->parties.count < 2)
            continue;
        futex_word_find_visits(word, &log->trace);
        struct countdown countdown = {
            .trace = &log->trace,
            .word = word,
            .is_worker = memory_alloc(log->trace.n_threads, sizeof(bool)),
        };
        found = find_rounds_at(&countdown) && show_countdown(log, &countdown);
        free(countdown.is_worker);
        free(countdown.releases.items);
        free(countdown.takes.items);
    }
    futex_words_free(&words);
    return found;
}

void completion_countdowns_as_semaphores(struct event_log *log) {
    while (show_next(log) || show_next_word(log))
        continue;
}
