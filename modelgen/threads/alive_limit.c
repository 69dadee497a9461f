#include "modelgen/threads/alive_limit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* ---- what a thread gives back at its end ---- */

struct gift {
    uint64_t object; /* 0: none */
    uint64_t time_ns;
};

static bool is_semaphore(const struct trace_record *record, enum api_op op) {
    return trace_is_call(record, ON_SEMAPHORE, op) && !(record->flags & TRACE_FAILED);
}

/* When the critical section began that the unlock with this number ends: its last wait ended, or
 * the mutex was taken. */
static struct gift section_before(const struct trace_thread *thread, size_t unlock) {
    const struct trace_record *records = thread->records;
    uint64_t mutex = records[unlock].object;
    for (size_t r = unlock; r-- > 0;)
        if (records[r].object == mutex && trace_is_lock(&records[r]))
            return (struct gift){mutex, trace_end_ns(&records[r])};
    return (struct gift){0};
}

/* Signals may come before or behind the unlock; nothing else may. */
static struct gift last_gift(const struct trace_thread *thread) {
    for (size_t r = thread->n_records; r-- > 0;) {
        const struct trace_record *record = &thread->records[r];
        if (is_semaphore(record, OP_RELEASE))
            return (struct gift){record->object, record->start_ns};
        if (trace_is_call(record, ON_MUTEX, OP_UNLOCK))
            return section_before(thread, r);
        if (!trace_is_condition_signal(record))
            break;
    }
    return (struct gift){0};
}

bool alive_limit_is_given_back(const struct trace_thread *thread, uint64_t object) {
    return last_gift(thread).object == object;
}

/* ---- permits that are out ---- */

enum change { GIVEN_BACK, WAITED_FOR, TAKEN }; /* at one time, in this order */

struct moment {
    uint64_t time_ns;
    enum change change;
};

struct moments {
    struct moment *items;
    size_t count, capacity;
};

static int compare_moments(const void *left, const void *right) {
    const struct moment *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->change > b->change) - (a->change < b->change);
}

/* Adds when each thread gave back what is counted at the object. False: one gives something else.
 * The end of the program may come before that of the last ones. */
static bool add_gifts(const struct trace *trace, const size_t *threads, size_t n, uint64_t object,
                      struct moments *moments) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct gift gift = last_gift(&trace->threads[threads[i]]);
        if (gift.object == object)
            *VECTOR_ADD(moments) = (struct moment){gift.time_ns, GIVEN_BACK};
        else if (gift.object == 0)
            kept++;
        else
            return false;
    }
    return (double)kept <= evidence.violation_share * (double)n;
}

/* What the creator did since it last made a thread. */
struct taking {
    uint64_t taken_ns; /* 0: it has taken no permit */
    size_t n_before;   /* moments that are known to come before a creation */
    bool holds;        /* the mutex */
};

static void note_call(const struct trace_record *record, uint64_t object, struct taking *taking,
                      struct moments *moments) {
    bool is_object = record->object == object;
    bool waits = is_object && is_semaphore(record, OP_ACQUIRE) && record->flags & TRACE_WAITED;
    if (is_object && (is_semaphore(record, OP_ACQUIRE) || trace_is_lock(record)))
        taking->taken_ns = trace_end_ns(record);
    if (is_object && trace_is_lock(record))
        taking->holds = true;
    else if (is_object && trace_is_call(record, ON_MUTEX, OP_UNLOCK))
        taking->holds = false;
    if (taking->holds && trace_is_condition_wait(record)) {
        waits = true;
        taking->taken_ns = trace_end_ns(record);
    }
    if (waits)
        *VECTOR_ADD(moments) = (struct moment){record->start_ns, WAITED_FOR};
}

/* Adds when the creator took a permit for each of the `n` threads, and when it had to wait for it.
 * False: it made one without. */
static bool add_takings(const struct trace *trace, const size_t *threads, size_t n, uint64_t object,
                        struct moments *moments) {
    const struct trace_thread *creator = &trace->threads[trace->threads[threads[0]].creator];
    bool *is_one = memory_alloc(trace->n_threads, sizeof *is_one);
    for (size_t i = 0; i < n; i++)
        is_one[threads[i]] = true;
    struct taking taking = {.n_before = moments->count};
    size_t made = 0;
    bool each = true;
    for (struct event_cursor at = event_cursor_of_thread(creator);
         each && event_cursor_next(&at);) {
        const struct trace_record *record = at.event;
        bool makes = trace_op(record) == OP_CREATE && record->value >= 0 &&
                     (size_t)record->value < trace->n_threads && is_one[record->value];
        if (!makes) {
            note_call(record, object, &taking, moments);
            continue;
        }
        each = taking.taken_ns > 0;
        *VECTOR_ADD(moments) = (struct moment){taking.taken_ns, TAKEN};
        taking = (struct taking){.n_before = moments->count, .holds = taking.holds};
        made++;
    }
    moments->count = taking.n_before; /* waits behind the last one are for their end */
    free(is_one);
    return each && made == n;
}

/* How many permits are out each time the creator waits for one; 0: now so many, now others. */
static int out_at_waits(struct moments *moments) {
    qsort(moments->items, moments->count, sizeof *moments->items, compare_moments);
    int out = 0, most = 0;
    size_t waits = 0, at_most = 0;
    for (size_t i = 0; i < moments->count; i++) {
        enum change change = moments->items[i].change;
        out += change == TAKEN ? 1 : change == GIVEN_BACK ? -1 : 0;
        if (change != WAITED_FOR)
            continue;
        waits++;
        at_most = out > most ? 1 : at_most + (out == most);
        most = out > most ? out : most;
    }
    bool steady = (double)(waits - at_most) <= evidence.violation_share * (double)waits;
    return steady && (double)waits >= evidence.times_seen ? most : 0;
}

/* ---- the whole ---- */

/* Does one thread make them all, and nobody wait for the end of one? */
static bool are_left_alone(const struct trace *trace, const size_t *threads, size_t n) {
    int creator = trace->threads[threads[0]].creator;
    bool alone = creator >= 0 && (size_t)creator < trace->n_threads;
    bool *is_joined = memory_alloc(trace->n_threads, sizeof *is_joined);
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_JOIN && at.event->value >= 0 &&
            (size_t)at.event->value < trace->n_threads)
            is_joined[at.event->value] = true;
    for (size_t i = 0; i < n && alone; i++)
        alone = trace->threads[threads[i]].creator == creator && !is_joined[threads[i]];
    free(is_joined);
    return alone;
}

struct alive_limit alive_limit_of(const struct trace *trace, const size_t *threads, size_t n) {
    struct alive_limit limit = {0};
    if ((double)n < evidence.times_alike || !are_left_alone(trace, threads, n))
        return limit;
    uint64_t object = last_gift(&trace->threads[threads[0]]).object;
    struct moments moments = {0};
    int most = 0;
    if (object && add_gifts(trace, threads, n, object, &moments) &&
        add_takings(trace, threads, n, object, &moments))
        most = out_at_waits(&moments);
    if (most > 1) /* one alone at a time is no parameter */
        limit = (struct alive_limit){most, object};
    free(moments.items);
    return limit;
}
