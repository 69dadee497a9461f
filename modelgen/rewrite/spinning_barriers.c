#include "modelgen/rewrite/spinning_barriers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"

/* From where a thread arrives to its last call on the mutex before it does something else. */
struct visit {
    size_t thread, first, last; /* records */
    uint64_t start_ns, end_ns;
    size_t n_sections;
};

/* What is known of a mutex that may be a barrier's. */
struct spinning_barrier {
    uint64_t mutex;
    uint32_t arrival; /* place of the lock that begins a visit */
    bool is_wrong;    /* it is used in some other way */
    struct visit *visits;
    size_t n_visits, capacity;
    size_t parties; /* 0: it is no barrier */
};

struct barriers {
    struct spinning_barrier *items;
    size_t count, capacity;
    struct map of_mutex; /* address -> index */
};

static bool is_about(const struct trace_record *record, uint64_t mutex) {
    return api_catalog[record->api].object == ON_MUTEX && record->object == mutex;
}

static bool takes(const struct trace_record *record) {
    return trace_op(record) == OP_LOCK || trace_op(record) == OP_TRYLOCK ||
           trace_op(record) == OP_TIMEDLOCK;
}

/* May it happen in the midst of a visit? */
static bool is_of_visit(const struct trace_record *record) {
    return trace_is_nap(record) || trace_is_condition_wait(record) ||
           trace_is_condition_signal(record);
}

static struct spinning_barrier *
spinning_barrier_of(struct barriers *all, const struct trace_record *lock, uint32_t place) {
    int index = map_get(&all->of_mutex, lock->object, -1);
    if (index >= 0)
        return &all->items[index];
    map_put(&all->of_mutex, lock->object, (int)all->count);
    struct spinning_barrier *added = VECTOR_ADD(all);
    *added = (struct spinning_barrier){.mutex = lock->object, .arrival = place};
    return added;
}

static void begin_visit(struct spinning_barrier *spinning_barrier, size_t thread, size_t record,
                        uint64_t start_ns) {
    spinning_barrier->visits =
        memory_grow(spinning_barrier->visits, spinning_barrier->n_visits,
                    &spinning_barrier->capacity, sizeof *spinning_barrier->visits);
    spinning_barrier->visits[spinning_barrier->n_visits++] =
        (struct visit){.thread = thread, .first = record, .start_ns = start_ns};
}

/* Adds the thread's visits. */
static void read_thread(const struct trace *trace, size_t t, const uint32_t *places,
                        struct barriers *all) {
    const struct trace_thread *thread = &trace->threads[t];
    int in = -1; /* the spinning_barrier that the thread visits */
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        bool on_mutex = api_catalog[record->api].object == ON_MUTEX;
        if (on_mutex && takes(record) && record->context != TRACE_NO_CONTEXT) {
            uint32_t place = places[record->context];
            struct spinning_barrier *here = spinning_barrier_of(all, record, place);
            int index = (int)(here - all->items);
            if (place == here->arrival) {
                begin_visit(here, t, r, record->start_ns);
                in = index;
            }
            here->is_wrong |= in != index;
        }
        if (in < 0 || (!is_about(record, all->items[in].mutex) && is_of_visit(record)))
            continue;
        struct spinning_barrier *visited = &all->items[in];
        if (!is_about(record, visited->mutex)) {
            in = -1;
            continue;
        }
        struct visit *visit = &visited->visits[visited->n_visits - 1];
        visit->last = r;
        visit->end_ns = trace_end_ns(record);
        visit->n_sections += takes(record) && !(record->flags & TRACE_FAILED);
        visited->is_wrong |= (record->flags & TRACE_UNFINISHED) != 0;
    }
}

static int compare_visits(const void *a, const void *b) {
    const struct visit *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The most visits at one time. They are in the order of their beginnings. */
static size_t most_at_once(const struct spinning_barrier *spinning_barrier) {
    uint64_t *ends = memory_alloc(spinning_barrier->n_visits, sizeof *ends);
    for (size_t v = 0; v < spinning_barrier->n_visits; v++)
        ends[v] = spinning_barrier->visits[v].end_ns;
    qsort(ends, spinning_barrier->n_visits, sizeof *ends, compare_times);
    size_t most = 0, ended = 0;
    for (size_t v = 0; v < spinning_barrier->n_visits; v++) {
        while (ended < v && ends[ended] < spinning_barrier->visits[v].start_ns)
            ended++;
        most = v + 1 - ended > most ? v + 1 - ended : most;
    }
    free(ends);
    return most;
}

/* Are all of these, of as many threads, there at one time? */
static bool meet(const struct visit *visits, size_t n) {
    uint64_t last_ns = visits[n - 1].start_ns;
    for (size_t i = 0; i < n; i++) {
        if (visits[i].end_ns < last_ns)
            return false;
        for (size_t j = 0; j < i; j++)
            if (visits[i].thread == visits[j].thread)
                return false;
    }
    return true;
}

/* Did the first one wait for the last one, who found all others there? */
static bool is_awaited(const struct visit *visits, size_t n) {
    const struct visit *last = &visits[n - 1];
    double stay_ns = (double)(last->end_ns - last->start_ns);
    return (double)(last->start_ns - visits[0].start_ns) > evidence.much_longer * stay_ns;
}

/* How many threads meet there; 0: it is something else. */
static size_t find_parties(const struct spinning_barrier *spinning_barrier) {
    if (spinning_barrier->is_wrong || spinning_barrier->n_visits == 0)
        return 0;
    double divided = 0;
    for (size_t v = 0; v < spinning_barrier->n_visits; v++)
        divided += spinning_barrier->visits[v].n_sections > 1;
    /* Else the monitor is one that we know otherwise. */
    if (divided <= evidence.unlike_rounds * (double)spinning_barrier->n_visits)
        return 0;
    size_t parties = most_at_once(spinning_barrier),
           meetings = spinning_barrier->n_visits / parties;
    if (parties < 2 || meetings * parties != spinning_barrier->n_visits)
        return 0;
    double against = 0, awaited = 0;
    for (size_t m = 0; m < meetings; m++) {
        const struct visit *visits = &spinning_barrier->visits[m * parties];
        bool met = meet(visits, parties);
        against += !met;
        awaited += met && is_awaited(visits, parties);
    }
    return awaited >= evidence.times_alike && against <= evidence.violation_share * (double)meetings
               ? parties
               : 0;
}

static void show(struct event_log *log, const struct spinning_barrier *spinning_barrier,
                 bool **dropped) {
    uint64_t object = event_log_new_object(log, ORIGIN_SPINNING_BARRIER);
    for (size_t v = 0; v < spinning_barrier->n_visits; v++) {
        const struct visit *visit = &spinning_barrier->visits[v];
        struct trace_record *record = event_log_change(log, visit->thread, visit->first);
        record->api = ROLE_barrier;
        record->object = object;
        record->duration_ns = visit->end_ns - visit->start_ns;
        record->value = (int32_t)spinning_barrier->parties;
        record->flags = TRACE_WAITED;
        for (size_t r = visit->first + 1; r <= visit->last; r++)
            dropped[visit->thread][r] = true;
    }
}

static void show_all(struct event_log *log, const struct barriers *all) {
    bool **dropped = event_log_flags(log);
    for (size_t g = 0; g < all->count; g++)
        if (all->items[g].parties > 0)
            show(log, &all->items[g], dropped);
    event_log_drop_all(log, dropped);
}

void spinning_barriers_as_barriers(struct event_log *log) {
    const struct trace *trace = &log->trace;
    struct barriers all = {.of_mutex = MAP_EMPTY};
    uint32_t *places = source_places_within(trace, 1);
    for (size_t t = 0; t < trace->n_threads; t++)
        read_thread(trace, t, places, &all);
    free(places);
    bool any = false;
    for (size_t g = 0; g < all.count; g++) {
        struct spinning_barrier *spinning_barrier = &all.items[g];
        if (spinning_barrier->n_visits)
            qsort(spinning_barrier->visits, spinning_barrier->n_visits,
                  sizeof *spinning_barrier->visits, compare_visits);
        spinning_barrier->parties = find_parties(spinning_barrier);
        any |= spinning_barrier->parties > 0;
    }
    if (any)
        show_all(log, &all);
    for (size_t g = 0; g < all.count; g++)
        free(all.items[g].visits);
    free(all.items);
    map_free(&all.of_mutex);
}
