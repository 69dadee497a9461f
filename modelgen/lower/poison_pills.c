#include "modelgen/lower/poison_pills.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* Something that is put or taken. */
struct act {
    int thread;
    size_t index;     /* of the section, or of the call's record in its thread */
    uint64_t time_ns; /* when its waits were over */
    uint32_t place;   /* where; TRACE_NO_CONTEXT: not known */
    int instance;     /* of queues that are alike, one for each thread: the sync object */
    bool is_last;     /* there, of such queues */
    bool in_vain;     /* a get that was told that there is nothing */
    bool waited;      /* its section did */
};

struct acts {
    struct act *items;
    size_t count, capacity;
};

static int compare_acts(const void *a, const void *b) {
    const struct act *x = a, *y = b;
    if (x->is_last != y->is_last)
        return x->is_last - y->is_last;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* What goes through a queue, or several that are alike, both in order of time; of several, what is
 * last in each comes behind all others. */
struct traffic {
    struct acts puts, gets;
    size_t initial; /* there before the first is put */
    size_t n_looks; /* gets that only look at what is there, and leave it */
    int taker;      /* the pool that takes it all; -1: none yet */
    bool is_other;  /* it is no such queue */
};

static void free_traffic(struct traffic *traffic) {
    free(traffic->puts.items);
    free(traffic->gets.items);
}

/* All must be taken by one pool. */
static void note_taker(struct traffic *traffic, int pool) {
    traffic->is_other |= traffic->taker >= 0 && traffic->taker != pool;
    traffic->taker = pool;
}

static void sort_acts(struct acts *acts) {
    if (acts->count)
        qsort(acts->items, acts->count, sizeof *acts->items, compare_acts);
}

static uint32_t place_of(const struct lower_input *input, const struct trace_record *record) {
    return record->context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : input->places[record->context];
}

static void add_section(const struct lower_input *input, struct acts *acts, size_t s) {
    const struct section *section = &input->sections->sections[s];
    const struct trace_thread *thread = &input->trace->threads[section->thread];
    *VECTOR_ADD(acts) =
        (struct act){.thread = section->thread,
                     .index = s,
                     .time_ns = section_passed_ns(input->sections, section),
                     .place = place_of(input, &thread->records[section->lock_record]),
                     .instance = section->mutex,
                     .waited = section->n_waits > 0};
}

/* Per sync object: the last of the acts there; NULL: none. The caller frees. */
static struct act **find_last_ones(const struct acts *acts, size_t n_objects) {
    struct act **last = memory_alloc(n_objects, sizeof(void *));
    for (size_t i = 0; i < acts->count; i++) {
        struct act **there = &last[acts->items[i].instance];
        if (!*there || acts->items[i].time_ns > (*there)->time_ns)
            *there = &acts->items[i];
    }
    return last;
}

/* Queues that are alike must be one thread's each: its last item may tell it to go home long before
 * others have theirs. */
static void set_last_ones(const struct lower_input *input, struct traffic *traffic) {
    size_t n = input->sections->n_objects, n_instances = 0;
    struct act **puts = find_last_ones(&traffic->puts, n);
    struct act **gets = find_last_ones(&traffic->gets, n);
    for (size_t o = 0; o < n; o++)
        n_instances += gets[o] != NULL;
    for (size_t i = 0; i < traffic->gets.count && n_instances > 1; i++) {
        const struct act *act = &traffic->gets.items[i];
        traffic->is_other |= act->thread != gets[act->instance]->thread;
    }
    for (size_t o = 0; o < n && n_instances > 1; o++) {
        if (gets[o])
            gets[o]->is_last = true;
        if (puts[o])
            puts[o]->is_last = true;
    }
    free(puts);
    free(gets);
}

static struct traffic traffic_of_guard(const struct lower_input *input,
                                       const struct explanation *guard) {
    struct traffic traffic = {.taker = -1,
                              .is_other = guard->counter.kind != GUARD_QUEUE ||
                                          guard->counter.close_class >= 0 || guard->counter.tries};
    for (size_t s = 0; s < input->sections->n_sections && !traffic.is_other; s++) {
        const struct section *section = &input->sections->sections[s];
        int class_index = input->monitors->class_of[s];
        if (sections_first_like(input->sections, section->mutex) != guard->mutex)
            continue;
        bool waits = guard->counter.waits[class_index]; /* others take what is there */
        if (waits || guard->counter.weight[class_index] < 0) {
            traffic.is_other |= section->cut; /* nobody told it before the program ended */
            note_taker(&traffic, input->pools->pool_of[section->thread]);
            add_section(input, &traffic.gets, s);
            traffic.n_looks += guard->counter.weight[class_index] == 0;
            traffic.gets.items[traffic.gets.count - 1].in_vain =
                waits && guard->counter.outcome[s] != OUTCOME_YES;
        } else if (guard->counter.weight[class_index] == 1) {
            add_section(input, &traffic.puts, s);
        } else if (guard->counter.weight[class_index] > 1) {
            traffic.is_other = true;
        }
    }
    set_last_ones(input, &traffic);
    sort_acts(&traffic.puts);
    sort_acts(&traffic.gets);
    return traffic;
}

static void note_call(const struct lower_input *input, struct traffic *traffic, size_t thread,
                      size_t index) {
    const struct trace_record *record = &input->trace->threads[thread].records[index];
    const struct api_info *info = &api_catalog[record->api];
    struct act act = {.thread = (int)thread,
                      .index = index,
                      .time_ns = record->start_ns,
                      .place = place_of(input, record)};
    switch (trace_op(record)) {
    case OP_ACQUIRE:
    case OP_GET:
        act.time_ns = trace_end_ns(record);
        traffic->is_other |=
            (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0 || info->timeout_argument >= 0;
        note_taker(traffic, input->pools->pool_of[thread]);
        *VECTOR_ADD(&traffic->gets) = act;
        break;
    case OP_RELEASE:
    case OP_PUT:
        *VECTOR_ADD(&traffic->puts) = act;
        break;
    case OP_INIT:
    case OP_DESTROY:
        break;
    default:
        traffic->is_other = true;
    }
}

/* Of the program's semaphores, and of the queues that calls work on, such as pipes: one per sync
 * object. The caller frees. */
static struct traffic *traffic_of_calls(const struct lower_input *input) {
    const struct sections *sections = input->sections;
    struct traffic *traffic = memory_alloc(sections->n_objects, sizeof *traffic);
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        bool counts = object->kind == ON_SEMAPHORE || object->kind == ON_ITEMS;
        bool sums = object_origin_counts_outstanding(object->origin);
        traffic[o] = (struct traffic){.taker = -1, .is_other = !counts || sums};
        if (object->kind == ON_SEMAPHORE && object->parties > 0)
            traffic[o].initial = (size_t)object->parties;
    }
    for (struct event_cursor at = event_cursor_of_run(input->trace); event_cursor_next(&at);) {
        enum api_object kind = api_catalog[at.event->api].object;
        if (kind != ON_SEMAPHORE && kind != ON_ITEMS)
            continue;
        int object = sections_object(sections, at.event);
        if (object >= 0 && !traffic[object].is_other)
            note_call(input, &traffic[object], at.thread, at.number);
    }
    for (size_t o = 0; o < sections->n_objects; o++) {
        sort_acts(&traffic[o].puts);
        sort_acts(&traffic[o].gets);
    }
    return traffic;
}

/* Is the last thing that is taken in each thread of the pool also among the last of all? */
static bool end_all(const struct acts *gets, size_t n_threads) {
    if (gets->count <= n_threads)
        return false;
    for (size_t i = gets->count - n_threads; i < gets->count; i++)
        for (size_t j = i + 1; j < gets->count; j++)
            if (gets->items[i].thread == gets->items[j].thread)
                return false;
    return true;
}

/* Do the threads hardly compute after what they take last? */
static bool work_is_over(const struct lower_input *input, const struct acts *gets,
                         size_t n_threads) {
    const struct trace *trace = input->trace;
    double work = 0, rest = 0;
    double *before = memory_alloc(trace->n_threads, sizeof *before);
    bool *takes = memory_alloc(trace->n_threads, sizeof *takes);
    for (size_t i = 0; i < gets->count; i++) {
        int thread = gets->items[i].thread;
        double now = thread_states_cpu(&input->timelines[thread], gets->items[i].time_ns);
        if (takes[thread])
            work += now - before[thread];
        before[thread] = now;
        takes[thread] = true;
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        if (takes[t])
            rest += thread_states_cpu(&input->timelines[t], trace->threads[t].end_ns) - before[t];
    free(before);
    free(takes);
    double rounds = (double)(gets->count - n_threads);
    return rest / (double)n_threads * evidence.much_longer < work / rounds;
}

/* Does what is put from number `first` on come from places where nothing else is put? */
static bool places_differ(const struct acts *puts, size_t first) {
    for (size_t i = first; i < puts->count; i++)
        for (size_t j = 0; j < first; j++)
            if (puts->items[i].place == puts->items[j].place)
                return false;
    return true;
}

/* Does the pool put what is put from number `first` on? */
static bool are_put_by(const struct lower_input *input, const struct acts *puts, size_t first,
                       int pool) {
    for (size_t i = first; i < puts->count; i++)
        if (input->pools->pool_of[puts->items[i].thread] == pool)
            return true;
    return false;
}

/* What ends each of the pool's threads: the last ones of all that is put and taken. */
struct ending {
    size_t first_put, first_get;
    bool found;
    bool needs_place; /* only its place in the code tells such a put from work */
};

/* Of the gets from number `first` to before `end`. */
static bool any_in_vain(const struct acts *gets, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        if (gets->items[i].in_vain)
            return true;
    return false;
}

static struct ending find_ending(const struct lower_input *input, const struct traffic *traffic) {
    if (traffic->is_other || traffic->taker < 0)
        return (struct ending){0};
    const struct acts *gets = &traffic->gets;
    const struct thread_pool *pool = &input->pools->pools[traffic->taker];
    size_t n = pool->n_threads, there = traffic->puts.count + traffic->initial;
    size_t taken = gets->count - traffic->n_looks;
    if ((size_t)pool->size != n || !end_all(gets, n))
        return (struct ending){0};
    size_t first_get = gets->count - n;
    bool any_looks = traffic->n_looks > 0;
    /* Each takes its own, and one may be handed on and be left over. */
    bool own = !any_looks && (there == taken || there == taken + 1) &&
               !any_in_vain(gets, first_get, gets->count);
    /* All find the same one: the guard may count it as taken by each, the later ones in vain, or as
     * taken by nobody. */
    bool same = any_looks ? traffic->n_looks == n && there == taken + 1 : there + n == taken + 1;
    /* Each puts its own away in one more section, which looks for no other. */
    bool put_away = !any_looks && there + n == taken;
    for (size_t i = first_get; i < gets->count; i++)
        put_away &= !gets->items[i].waited;
    size_t others = traffic->initial + (put_away ? n : 0);
    bool found =
        (own || same || put_away) && first_get >= others && !any_in_vain(gets, 0, first_get);
    return (struct ending){first_get - others, first_get, found, put_away};
}

static enum poison_pill *find_of_guard(const struct lower_input *input,
                                       const struct explanation *guard, bool *in_passing) {
    struct traffic traffic = traffic_of_guard(input, guard);
    const struct acts *puts = &traffic.puts, *gets = &traffic.gets;
    struct ending ending = find_ending(input, &traffic);
    bool differ = ending.found && places_differ(puts, ending.first_put);
    enum poison_pill *of = NULL;
    if (differ || (ending.found && !ending.needs_place &&
                   work_is_over(input, gets, gets->count - ending.first_get))) {
        *in_passing = !differ && !are_put_by(input, puts, ending.first_put, traffic.taker);
        of = memory_alloc(input->sections->n_sections, sizeof *of);
        for (size_t i = ending.first_get; i < gets->count; i++)
            of[gets->items[i].index] = POISON_PILL_TAKEN;
        for (size_t i = ending.first_put; i < puts->count; i++)
            of[puts->items[i].index] =
                i == ending.first_put ? POISON_PILL_FIRST : POISON_PILL_OTHER;
    }
    free_traffic(&traffic);
    return of;
}

static uint64_t key_of_call(size_t thread, size_t record) {
    return map_mix(map_mix(31, thread), record);
}

static void note_poison_pill(struct poison_pills *poison_pills, const struct act *act,
                             enum poison_pill poison_pill) {
    map_put(&poison_pills->of_call, key_of_call((size_t)act->thread, act->index), (int)poison_pill);
}

/* Calls whose place does not tell poison_pills from work are left as they are: the rounds of the
 * loop around them would not be what they were. */
static void find_of_calls(const struct lower_input *input, struct poison_pills *poison_pills) {
    struct traffic *traffic = traffic_of_calls(input);
    for (size_t o = 0; o < input->sections->n_objects; o++) {
        const struct acts *puts = &traffic[o].puts, *gets = &traffic[o].gets;
        struct ending ending = find_ending(input, &traffic[o]);
        if (ending.found && places_differ(puts, ending.first_put)) {
            for (size_t i = ending.first_get; i < gets->count; i++)
                note_poison_pill(poison_pills, &gets->items[i], POISON_PILL_TAKEN);
            for (size_t i = ending.first_put; i < puts->count; i++)
                note_poison_pill(poison_pills, &puts->items[i],
                                 i == ending.first_put ? POISON_PILL_FIRST : POISON_PILL_OTHER);
        }
        free_traffic(&traffic[o]);
    }
    free(traffic);
}

struct poison_pills poison_pills_find(const struct lower_input *input) {
    size_t n = input->monitors->explanations.count;
    struct poison_pills result = {.n_explanations = n,
                                  .of = memory_alloc(n, sizeof(void *)),
                                  .in_passing = memory_alloc(n, sizeof(bool))};
    for (struct explanation *e = NULL; (e = explanation_next(input->monitors, BY_COUNTER, e));) {
        size_t g = explanation_index(input->monitors, e);
        result.of[g] = find_of_guard(input, e, &result.in_passing[g]);
    }
    find_of_calls(input, &result);
    return result;
}

void poison_pills_free(struct poison_pills *poison_pills) {
    for (size_t g = 0; g < poison_pills->n_explanations; g++)
        free(poison_pills->of[g]);
    free(poison_pills->of);
    free(poison_pills->in_passing);
    map_free(&poison_pills->of_call);
}

enum poison_pill poison_pills_of_call(const struct poison_pills *poison_pills, size_t thread,
                                      size_t record) {
    return (enum poison_pill)map_get(&poison_pills->of_call, key_of_call(thread, record),
                                     POISON_PILL_NONE);
}

enum poison_pill poison_pills_of(const struct poison_pills *poison_pills, size_t guard,
                                 size_t section) {
    return poison_pills->of[guard] ? poison_pills->of[guard][section] : POISON_PILL_NONE;
}

bool poison_pills_takes_work(const struct poison_pills *poison_pills,
                             const struct monitors *monitors, size_t guard, size_t section) {
    const struct explanation *of = &monitors->explanations.items[guard];
    return of->counter.waits[monitors->class_of[section]] &&
           of->counter.outcome[section] == OUTCOME_YES &&
           poison_pills_of(poison_pills, guard, section) == POISON_PILL_NONE;
}

bool poison_pills_puts_work(const struct poison_pills *poison_pills,
                            const struct monitors *monitors, size_t guard, size_t section) {
    const struct explanation *of = &monitors->explanations.items[guard];
    int class_index = monitors->class_of[section];
    return of->counter.weight[class_index] > 0 && !of->counter.waits[class_index] &&
           class_index != of->counter.close_class &&
           poison_pills_of(poison_pills, guard, section) == POISON_PILL_NONE;
}

static bool is_put(enum poison_pill poison_pill) {
    return poison_pill == POISON_PILL_FIRST || poison_pill == POISON_PILL_OTHER;
}

bool poison_pills_puts(const struct poison_pills *poison_pills, size_t section) {
    for (size_t g = 0; g < poison_pills->n_explanations; g++)
        if (is_put(poison_pills_of(poison_pills, g, section)))
            return true;
    return false;
}

int poison_pills_in_passing(const struct poison_pills *poison_pills, size_t section) {
    for (size_t g = 0; g < poison_pills->n_explanations; g++)
        if (poison_pills->in_passing[g] && is_put(poison_pills_of(poison_pills, g, section)))
            return (int)g;
    return -1;
}
