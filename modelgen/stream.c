#include "modelgen/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/farewells.h"
#include "modelgen/items.h"
#include "modelgen/names.h"
#include "modelgen/patterns.h"
#include "modelgen/shares.h"
#include "modelgen/source.h"

/* A lock is kept when waiting for it costs this share of all threads' time... */
#define WAIT_SHARE 0.001
/* ... or when threads that --threads multiplies hold it for this share of the run: 16 times as many
 * would make it matter ... */
#define HOLD_SHARE 0.002
/* ... or others do for this share: their number stays, so contention hardly grows. */
#define FIXED_HOLD_SHARE 0.1
/* Waits whose predicate is unknown are kept from this share of all threads' time on. */
#define FLAG_SHARE 0.005
/* Waiting on objects that cannot be told apart is worth a note from this share of all time on. */
#define NOTE_SHARE 0.01

#define UNDECIDED  (-2)
#define EVERYBODY  1e9 /* how many waiters a broadcast wakes */
#define OPEN_LIMIT 16

struct step_list {
    struct step *items;
    size_t count, capacity;
};

/* A section that the thread is in. */
struct open_section {
    int section;
    enum outcome answer; /* of the guard evaluated in it */
};

struct writer {
    const struct stream_input *in;
    struct model *model;
    double life_ns;            /* of all threads */
    int *object_of;            /* per sync object: model object, MODEL_NONE, UNDECIDED */
    bool *is_shared;           /* per sync object: used by several threads */
    bool *is_multiplied;       /* per sync object: used by threads that --threads multiplies */
    bool *is_flag;             /* per sync object: a condition modelled as a flag */
    int **section_of_unlock;   /* per thread and record */
    int *work_of_loop;         /* per facts loop: tokens, MODEL_NONE, UNDECIDED */
    uint32_t *header_of_loop;  /* per facts loop: context of the deciding lock */
    bool *works_at_last;       /* per facts loop: its last round is work like the others */
    struct map kept_sites;     /* (context, api) of timed calls worth keeping */
    struct map device_of_site; /* of those that reached a block device */
    struct map disk_of;        /* device -> model object */
    struct map share_of;       /* supply of a team -> model object */
    bool *feeds_tasks;         /* per guard: the task pool takes from it */
    struct items items;        /* queues that functions of the program's own work on */
    struct farewells farewells;
    int *created, *joined; /* per pool, to find the first of each generation */
    int task_pool;
    /* the thread being written */
    size_t thread;
    struct step_list list;
    size_t last_step_record; /* records before this one belong to earlier steps */
    struct open_section open[OPEN_LIMIT];
    int n_open;
    bool in_task;
    bool retrying;    /* see struct step */
    bool succeeded;   /* in an attempt that can fail, with nothing put since */
    int pending_work; /* loop whose decision follows the unlock being written; -1 */
};

static double ns(uint64_t value) {
    return (double)value;
}

static uint32_t place_of(const struct writer *writer, const struct trace_record *record) {
    return record->context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT
                                               : writer->in->places[record->context];
}

/* Key of a call site. */
static uint64_t site_of(const struct trace_record *record) {
    return map_mix(map_mix(7, record->context), record->api);
}

/* ---- names ---- */

static char *object_name(const struct writer *writer, int index, const char *what) {
    return name_of_object(writer->in, index, what, NULL);
}

/* ---- which objects become model objects ---- */

static bool worth_keeping(const struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    double run_ns = ns(writer->in->trace->meta.run_ns);
    bool waited = object->wait_ns > WAIT_SHARE * writer->life_ns;
    if (!object->alone) {
        if (object->wait_ns > NOTE_SHARE * writer->life_ns)
            draft_note(writer->model,
                       "several locks are used at the same place and cannot be told apart; waiting "
                       "for them is left out");
        return false;
    }
    double limit = writer->is_multiplied[index] ? HOLD_SHARE : FIXED_HOLD_SHARE;
    return writer->is_shared[index] && (waited || object->hold_ns > limit * run_ns);
}

static int lock_object(struct writer *writer, int index) {
    if (index < 0)
        return MODEL_NONE;
    if (writer->object_of[index] != UNDECIDED)
        return writer->object_of[index];
    const struct sync_object *object = &writer->in->sections->objects[index];
    int result = MODEL_NONE;
    if (worth_keeping(writer, index)) {
        enum object_kind kind = object->kind == ON_MUTEX  ? OBJECT_MUTEX
                                : object->kind == ON_SPIN ? OBJECT_SPIN
                                                          : OBJECT_RWLOCK;
        const char *what = kind == OBJECT_MUTEX  ? "mutex"
                           : kind == OBJECT_SPIN ? "spin lock"
                                                 : "rwlock";
        result = draft_object(writer->model, kind, object_name(writer, index, what));
        writer->model->objects[result].evidence =
            memory_format("%.0f operations, %.0f waited, held %.3g s", object->operations,
                          object->waits, object->hold_ns / 1e9);
    }
    writer->object_of[index] = result;
    return result;
}

/* `met`: threads of each pool that ever came to the barrier. All threads of the pools that scale
 * are parties; the rest of the parties is constant. */
static struct linear parties_of_pools(const struct writer *writer, const int *met, int parties) {
    const struct thread_pools *pools = writer->in->pools;
    for (size_t p = 0; p < pools->n_pools; p++)
        if (pools->pools[p].team && met[p]) /* a team meets alone */
            return pools->pools[p].scales ? draft_per_thread(0, (int)p, 1)
                                          : draft_constant(pools->pools[p].size);
    struct linear amount = draft_constant(parties);
    for (size_t p = 0; p < pools->n_pools; p++) {
        if (!pools->pools[p].scales || met[p] != pools->pools[p].size || met[p] > amount.base)
            continue;
        amount.base -= met[p];
        draft_add_per_thread(&amount, (int)p, 1);
    }
    return amount;
}

static struct linear barrier_parties(const struct writer *writer, int index, int parties) {
    const struct trace *trace = writer->in->trace;
    const struct thread_pools *pools = writer->in->pools;
    int *met = memory_alloc(pools->n_pools, sizeof(int));
    int total = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (api_catalog[record->api].op == OP_BARRIER &&
                sections_object(writer->in->sections, record) == index) {
                met[pools->pool_of[t]]++;
                total++;
                break;
            }
        }
    struct linear result = parties_of_pools(writer, met, parties > 0 ? parties : total);
    free(met);
    return result;
}

static int barrier_object(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        const struct sync_object *object = &writer->in->sections->objects[index];
        int result =
            draft_object(writer->model, OBJECT_BARRIER, object_name(writer, index, "barrier"));
        writer->model->objects[result].amount = barrier_parties(writer, index, object->parties);
        writer->model->objects[result].evidence =
            memory_format("%d parties, %.0f waits", object->parties, object->waits);
        writer->model->objects[result].spins = object->spins;
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

static int semaphore_object(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        const struct sync_object *object = &writer->in->sections->objects[index];
        int result =
            draft_object(writer->model, OBJECT_TOKENS, object_name(writer, index, "semaphore"));
        writer->model->objects[result].amount =
            draft_constant(object->parties > 0 ? object->parties : 0);
        if (object->parties < 0)
            draft_note(writer->model, "%s: its initial value was not seen, taken as 0",
                       writer->model->objects[result].name);
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

/* One flag per class of conditions whose predicate no guard explains. */
static int flag_object(struct writer *writer, int condition) {
    const struct sync_object *object = &writer->in->sections->objects[condition];
    int root = object->class_id;
    if (writer->object_of[root] == UNDECIDED) {
        int result =
            draft_object(writer->model, OBJECT_FLAG, object_name(writer, root, "condition"));
        writer->model->objects[result].evidence =
            memory_strdup("its predicate is not known: a signal is kept until one wait uses it");
        draft_note(writer->model,
                   "%s: predicate not recognised, modelled as a flag that "
                   "each signal sets and each wait clears",
                   writer->model->objects[result].name);
        writer->object_of[root] = result;
    }
    return writer->object_of[root];
}

/* Which classes of conditions are left to flags: somebody waits, no guard explains it, and the
 * waiting takes a noticeable part of the threads' time. */
static void find_flags(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    double *wait_ns = memory_alloc(sections->n_objects, sizeof(double));
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            if (!writer->in->monitors->condition_explained[wait->condition] &&
                !monitors_explain(writer->in->monitors, s))
                wait_ns[sections->objects[wait->condition].class_id] +=
                    ns(wait->end_ns - wait->start_ns);
        }
    }
    for (size_t o = 0; o < sections->n_objects; o++)
        writer->is_flag[o] = wait_ns[sections->objects[o].class_id] > FLAG_SHARE * writer->life_ns;
    free(wait_ns);
}

/* The pool whose size equals the guard's number, when its own threads give the tokens back. */
static int pool_of_amount(const struct writer *writer, const struct guard *guard, double amount) {
    const struct thread_pools *pools = writer->in->pools;
    const struct sections *sections = writer->in->sections;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class_index = writer->in->monitors->class_of[s];
        int pool = pools->pool_of[sections->sections[s].thread];
        if (sections->sections[s].mutex == guard->mutex && guard->weight[class_index] > 0 &&
            pools->pools[pool].scales && pools->pools[pool].size == (int)amount)
            return pool;
    }
    return MODEL_NONE;
}

static char *guard_name(const struct writer *writer, const struct guard *guard) {
    const char *what = guard->take > 1               ? "completion of a batch"
                       : guard->kind == GUARD_QUEUE  ? "queue"
                       : guard->kind == GUARD_TOKENS ? "free slots"
                       : guard->kind == GUARD_FIRST  ? "first to come"
                                                     : "level";
    if (guard->proposal && guard->proposal->name) {
        char *name = object_name(writer, guard->mutex, what);
        char *with_type = memory_format("%s [%s]", name, guard->proposal->name);
        free(name);
        return with_type;
    }
    return object_name(writer, guard->mutex, what);
}

/* What the source says the amount is made of, when that is what the trace shows. */
static bool amount_of_source(const struct writer *writer, const struct guard *guard,
                             double observed, struct linear *result) {
    const struct thread_pools *pools = writer->in->pools;
    const struct facts_amount *amount = guard->proposal ? &guard->proposal->amount : NULL;
    for (size_t p = 0; amount && amount->follows_threads && p < pools->n_pools; p++) {
        const struct thread_pool *pool = &pools->pools[p];
        double said = amount->factor * pool->size + amount->offset;
        bool fits = fabs(said - observed) < 0.5 || (guard->waited == 0 && said > observed);
        if (!pool->scales || !fits)
            continue;
        *result = draft_per_thread(amount->offset, (int)p, amount->factor);
        return true;
    }
    if (amount && amount->constant && fabs(amount->offset - observed) < 0.5) {
        *result = draft_constant(observed);
        return true;
    }
    return false;
}

static int guard_object(struct writer *writer, struct guard *guard) {
    if (guard->object != -1)
        return guard->object;
    enum object_kind kind = guard->kind == GUARD_QUEUE ? OBJECT_QUEUE : OBJECT_TOKENS;
    int result = draft_object(writer->model, kind, guard_name(writer, guard));
    struct object *object = &writer->model->objects[result];
    object->evidence = memory_format(
        "replayed: %.0f evaluations, %.0f waited or failed, %.0f violations%s", guard->evaluations,
        guard->waited, guard->violations, guard->proposal ? "; proposed by the source" : "");
    if (guard->kind == GUARD_TOKENS && guard->take == 1 &&
        amount_of_source(writer, guard, guard->initial, &object->amount)) {
        /* told */
    } else if (guard->kind == GUARD_TOKENS) {
        int pool = guard->initial > 0 ? pool_of_amount(writer, guard, guard->initial) : MODEL_NONE;
        object->amount =
            pool == MODEL_NONE ? draft_constant(guard->initial) : draft_per_thread(0, pool, 1);
    } else if (guard->kind == GUARD_LEVEL) {
        /* initial = 1 - level: one round per thread of a pool, when it is as many; or as many
         * are there at the start, as idle threads */
        int rounds = pool_of_amount(writer, guard, 1 - guard->initial);
        int idle = guard->initial > 0 ? pool_of_amount(writer, guard, guard->initial) : MODEL_NONE;
        object->amount = rounds != MODEL_NONE ? draft_per_thread(1, rounds, -1)
                         : idle != MODEL_NONE ? draft_per_thread(0, idle, 1)
                                              : draft_constant(guard->initial);
    } else if (guard->kind == GUARD_FIRST) {
        object->amount = draft_constant(1);
    }
    guard->object = result;
    return result;
}

/* ---- writing steps ---- */

static struct step *add_step(struct writer *writer, enum node_kind kind, size_t record,
                             uint64_t start_ns, uint64_t end_ns) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    bool has_record = record < thread->n_records;
    struct step *step = VECTOR_ADD(&writer->list);
    *step = (struct step){.start_ns = start_ns,
                          .end_ns = end_ns,
                          .kind = kind,
                          .object = MODEL_NONE,
                          .mutex = MODEL_NONE,
                          .target_pool = MODEL_NONE,
                          .timeout_ns = -1,
                          .context = has_record ? place_of(writer, &thread->records[record])
                                                : TRACE_NO_CONTEXT};
    step->retrying = writer->retrying;
    if (writer->n_open > 0)
        step->within = writer->open[writer->n_open - 1].answer;
    if (has_record && record + 1 > writer->last_step_record) {
        step->records = record + 1 - writer->last_step_record;
        writer->last_step_record = record + 1;
    }
    return step;
}

static double cpu_inside(const struct writer *writer, uint64_t start_ns, uint64_t end_ns) {
    const struct timeline *timeline = &writer->in->timelines[writer->thread];
    return timeline_cpu(timeline, end_ns) - timeline_cpu(timeline, start_ns);
}

static double blocked_inside(const struct writer *writer, const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    double blocked = ns(record->duration_ns) - cpu_inside(writer, record->start_ns, end) -
                     timeline_ready(&writer->in->timelines[writer->thread], record->start_ns, end);
    return blocked > 0 ? blocked : 0;
}

/* Marks the end of the task before, and the beginning of the next one. */
static void mark_task(struct writer *writer, size_t record, uint64_t time_ns,
                      const struct step *take) {
    if (writer->in->pools->pool_of[writer->thread] != writer->task_pool)
        return;
    bool tokens = take->kind == NODE_ACQUIRE;
    enum outcome outcome = take->outcome;
    if (writer->in_task) {
        /* goes before the taking step, which was just written */
        struct step taken = writer->list.items[writer->list.count - 1];
        struct step *end = &writer->list.items[writer->list.count - 1];
        *end = taken;
        end->kind = NODE_TASK_END;
        end->object = end->mutex = MODEL_NONE;
        end->end_ns = end->start_ns;
        end->outcome = end->within = OUTCOME_ANY;
        end->count = 0;
        end->timeout_ns = -1;
        taken.records = 0;
        *VECTOR_ADD(&writer->list) = taken;
    }
    writer->in_task = outcome == OUTCOME_YES;
    if (writer->in_task && tokens)
        add_step(writer, NODE_TASK_BEGIN, record, time_ns, time_ns);
}

static struct linear pattern_amount(const struct writer *writer, const struct pattern *pattern) {
    const struct thread_pools *pools = writer->in->pools;
    const struct sections *sections = writer->in->sections;
    int *seen = memory_alloc(pools->n_pools, sizeof(int)); /* threads that came, by pool */
    for (size_t t = 0; t < writer->in->trace->n_threads; t++)
        for (size_t s = writer->in->monitors->first_of_thread[t];
             s < writer->in->monitors->first_of_thread[t + 1]; s++)
            if (pattern->acts[s] & ACT_ARRIVE) {
                seen[pools->pool_of[sections->sections[s].thread]]++;
                break;
            }
    struct linear result = parties_of_pools(writer, seen, pattern->parties);
    free(seen);
    return result;
}

static int pattern_object(struct writer *writer, struct pattern *pattern) {
    if (pattern->object != MODEL_NONE)
        return pattern->object;
    enum object_kind kind = pattern->kind == HAND_MADE_BARRIER  ? OBJECT_BARRIER
                            : pattern->kind == HAND_MADE_RWLOCK ? OBJECT_RWLOCK
                                                                : OBJECT_ORDER;
    pattern->object =
        draft_object(writer->model, kind,
                     object_name(writer, pattern->mutex, hand_made_kind_name(pattern->kind)));
    struct object *object = &writer->model->objects[pattern->object];
    if (kind == OBJECT_BARRIER)
        object->amount = pattern_amount(writer, pattern);
    object->writers_first = pattern->writers_first;
    object->evidence =
        memory_format("replayed: %.0f sections, %.0f waited, %.0f violations",
                      pattern->tally.replayed, pattern->tally.waited, pattern->tally.violations);
    return pattern->object;
}

static bool passes_in(const struct writer *writer, const struct pattern *pattern, size_t thread) {
    for (size_t s = writer->in->monitors->first_of_thread[thread];
         s < writer->in->monitors->first_of_thread[thread + 1]; s++)
        if (pattern->acts[s] & ACT_PASS)
            return true;
    return false;
}

/* What a section does with its pattern's object when it begins, its waits included; and when it
 * ends. */
static void write_pattern(struct writer *writer, size_t record, int section_index, int mutex,
                          bool at_end) {
    static const struct {
        enum pattern_act act;
        enum node_kind kind;
        bool at_end;
    } nodes[] = {{ACT_ARRIVE, NODE_BARRIER, false},  {ACT_READ, NODE_RDLOCK, false},
                 {ACT_WRITE, NODE_WRLOCK, false},    {ACT_TURN, NODE_TURN, false},
                 {ACT_COLLECT, NODE_COLLECT, false}, {ACT_UNLOCK, NODE_RWUNLOCK, true},
                 {ACT_PASS, NODE_PASS, true},        {ACT_DRAW, NODE_DRAW, true}};
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    uint64_t start = at_end ? section->release_ns : section->acquire_ns, end = start;
    if (!at_end && section->n_waits)
        end = sections->waits[section->first_wait + section->n_waits - 1].end_ns;
    for (size_t p = 0; p < writer->in->monitors->n_patterns; p++) {
        struct pattern *pattern = &writer->in->monitors->patterns[p];
        for (size_t n = 0; n < sizeof nodes / sizeof *nodes; n++) {
            bool does = pattern->acts[section_index] & nodes[n].act;
            if (nodes[n].act == ACT_DRAW && pattern->draws_when_passing)
                does = pattern->acts[section_index] & ACT_PASS;
            if (!does || nodes[n].at_end != at_end)
                continue;
            int object = pattern_object(writer, pattern);
            struct step *step = add_step(writer, nodes[n].kind, record, start, end);
            step->object = object;
            if (!at_end)
                step->mutex = mutex;
        }
    }
}

/* Threads that take part in turns from their start. */
static void write_first_draws(struct writer *writer, uint64_t time_ns) {
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    for (size_t p = 0; p < writer->in->monitors->n_patterns; p++) {
        struct pattern *pattern = &writer->in->monitors->patterns[p];
        if (!pattern->draws_when_passing || !passes_in(writer, pattern, writer->thread))
            continue;
        int object = pattern_object(writer, pattern);
        add_step(writer, NODE_DRAW, none, time_ns, time_ns)->object = object;
    }
}

static void write_takes(struct writer *writer, size_t record, int section_index, int mutex) {
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    uint64_t end = section->acquire_ns;
    if (section->n_waits)
        end = sections->waits[section->first_wait + section->n_waits - 1].end_ns;
    if (farewells_puts(&writer->farewells, (size_t)section_index))
        return; /* it takes no slot */
    const struct trace_record *lock = &writer->in->trace->threads[writer->thread].records[record];
    uint64_t start = mutex == MODEL_NONE ? lock->start_ns : section->acquire_ns;
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct guard *guard = &monitors->guards[g];
        enum outcome outcome = guard->outcome[section_index];
        if (!guard->waits[class_index] || outcome == OUTCOME_ANY)
            continue;
        if (farewells_of(&writer->farewells, g, (size_t)section_index) == FAREWELL_TAKEN)
            outcome = OUTCOME_NO;
        enum node_kind kind = guard->kind == GUARD_QUEUE ? NODE_GET : NODE_ACQUIRE;
        int object = guard_object(writer, guard);
        struct step *step = add_step(writer, kind, record, start, end);
        step->object = object;
        step->mutex = mutex;
        step->outcome = outcome;
        step->timeout_ns = guard->tries ? 0 : -1;
        step->count = guard->take > 1 ? guard->take : 0;
        step->count_per_thread =
            guard->take > 1 && pool_of_amount(writer, guard, guard->take) != MODEL_NONE;
        if (guard->tries && guard->kind != GUARD_FIRST) {
            writer->retrying = outcome == OUTCOME_NO;
            writer->succeeded = outcome == OUTCOME_YES;
        }
        if (writer->n_open > 0)
            writer->open[writer->n_open - 1].answer = outcome;
        if (guard->kind == GUARD_QUEUE)
            mark_task(writer, record, end, step);
        if (guard->kind == GUARD_LEVEL && outcome == OUTCOME_YES) {
            struct step *back = add_step(writer, NODE_RELEASE, record, end, end);
            back->object = object;
        }
    }
}

static void write_effects(struct writer *writer, size_t record, int section_index,
                          enum outcome answer) {
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    uint64_t time = writer->in->sections->sections[section_index].release_ns;
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct guard *guard = &monitors->guards[g];
        int weight = guard->weight[class_index];
        enum farewell farewell = farewells_of(&writer->farewells, g, (size_t)section_index);
        bool closes = guard->close_class == class_index || farewell == FAREWELL_FIRST;
        if (farewell == FAREWELL_OTHER)
            continue;
        if (!closes && (weight == 0 || guard->waits[class_index] || answer == OUTCOME_NO))
            continue;
        enum node_kind kind = closes                       ? NODE_CLOSE
                              : guard->kind != GUARD_QUEUE ? NODE_RELEASE
                              : weight > 0                 ? NODE_PUT
                                           : NODE_GET; /* what is known to be there */
        int object = guard_object(writer, guard);
        /* A task is born when it is put where the busiest pool takes it. */
        bool born = kind == NODE_PUT && writer->feeds_tasks[g] &&
                    writer->in->pools->pool_of[writer->thread] != writer->task_pool;
        if (born)
            add_step(writer, NODE_TASK_BEGIN, record, time, time);
        struct step *step = add_step(writer, kind, record, time, time);
        step->object = object;
        step->count = kind == NODE_RELEASE ? weight : 0;
        if (kind == NODE_PUT) {
            step->settles = writer->succeeded;
            writer->succeeded = false;
        }
        if (kind == NODE_GET)
            step->outcome = OUTCOME_YES;
    }
}

/* ---- loops whose rounds all threads share ---- */

static bool pool_is_parallel(const struct thread_pool *pool) {
    return pool->scales || pool->size > 1;
}

/* The deciding lock of the loop: the first one that a thread meets in it. */
static uint32_t find_header(const struct writer *writer, size_t thread_index, const bool *in_loop) {
    const struct trace_thread *thread = &writer->in->trace->threads[thread_index];
    for (size_t r = 0; r < thread->n_records; r++)
        if (thread->records[r].context != TRACE_NO_CONTEXT && in_loop[thread->records[r].context])
            return api_catalog[thread->records[r].api].op == OP_LOCK
                       ? place_of(writer, &thread->records[r])
                       : TRACE_NO_CONTEXT;
    return TRACE_NO_CONTEXT;
}

/* Does the thread come back to the header before it leaves the loop? */
static bool goes_round_again(const struct writer *writer, size_t thread_index, size_t record,
                             const struct facts_loop *loop, uint32_t header) {
    const struct trace *trace = writer->in->trace;
    const struct trace_thread *thread = &trace->threads[thread_index];
    for (size_t r = record + 1; r < thread->n_records; r++) {
        if (place_of(writer, &thread->records[r]) == header &&
            api_catalog[thread->records[r].api].op == OP_LOCK)
            return true;
        if (!source_context_in_loop(trace, thread->records[r].context, loop))
            return false;
    }
    return false;
}

static bool is_answered_no(const struct writer *writer, int section) {
    const struct monitors *monitors = writer->in->monitors;
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (monitors->guards[g].outcome[section] == OUTCOME_NO ||
            farewells_of(&writer->farewells, g, (size_t)section) == FAREWELL_TAKEN)
            return true;
    return false;
}

/* Does a guard tell when to leave the loop, by a "no" to this lock's section? */
static bool header_has_answer(const struct writer *writer, const struct thread_pool *pool,
                              const struct facts_loop *loop, uint32_t header) {
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &writer->in->trace->threads[pool->threads[i]];
        for (size_t r = 0; r < thread->n_records; r++) {
            int section = writer->in->sections->section_of_lock[pool->threads[i]][r];
            if (section >= 0 && place_of(writer, &thread->records[r]) == header &&
                is_answered_no(writer, section) &&
                !goes_round_again(writer, pool->threads[i], r, loop, header))
                return true;
        }
    }
    return false;
}

/* How threads go round a loop, from header to header. */
struct rounds_seen {
    double rounds, visits; /* rounds that another one follows; ways into the loop */
    double round_cpu_ns;   /* of these rounds */
    double rest_cpu_ns;    /* before the first and after the last header of each visit */
};

static void count_rounds(const struct writer *writer, size_t thread_index, const bool *in_loop,
                         uint32_t header, struct rounds_seen *seen) {
    const struct trace_thread *thread = &writer->in->trace->threads[thread_index];
    const struct timeline *timeline = &writer->in->timelines[thread_index];
    double outside_cpu = 0, last_cpu = 0; /* at the last call outside, at the last header */
    bool inside = false;
    for (size_t r = 0; r <= thread->n_records; r++) {
        bool ends = r == thread->n_records;
        uint32_t context = ends ? TRACE_NO_CONTEXT : thread->records[r].context;
        bool here = context != TRACE_NO_CONTEXT && in_loop[context];
        double cpu = timeline_cpu(timeline, ends ? thread->end_ns : thread->records[r].start_ns);
        if (here && place_of(writer, &thread->records[r]) == header &&
            api_catalog[thread->records[r].api].op == OP_LOCK) {
            seen->rounds += inside;
            seen->round_cpu_ns += inside ? cpu - last_cpu : 0;
            seen->visits += !inside;
            seen->rest_cpu_ns += inside ? 0 : cpu - outside_cpu;
            inside = true;
            last_cpu = cpu;
        } else if (!here) {
            seen->rest_cpu_ns += inside ? cpu - last_cpu : 0;
            inside = false;
            outside_cpu = cpu;
        }
    }
}

/* Whether the last round works like the others, or only finds that there is no more work. What lies
 * before the first header and after the last one is then a whole round, wherever the header is. */
static bool last_round_works(const struct rounds_seen *seen) {
    return seen->rest_cpu_ns / seen->visits > seen->round_cpu_ns / seen->rounds / 2;
}

/* Rounds of a loop that all threads of a pool draw from one common supply become tokens: the
 * supply stays the same whatever the number of threads. */
static void find_shared_work(struct writer *writer, bool *loop_is_tokens) {
    const struct facts *facts = writer->in->facts;
    const struct trace *trace = writer->in->trace;
    const struct thread_pools *pools = writer->in->pools;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        writer->work_of_loop[l] = MODEL_NONE;
        writer->header_of_loop[l] = TRACE_NO_CONTEXT;
        if (loop->bound != BOUND_SHARED || !loop->has_fragments)
            continue;
        bool *in_loop = memory_alloc(trace->n_contexts, sizeof(bool));
        for (size_t c = 0; c < trace->n_contexts; c++)
            in_loop[c] = source_context_in_loop(trace, (uint32_t)c, loop);
        for (size_t p = 0; p < pools->n_pools; p++) {
            const struct thread_pool *pool = &pools->pools[p];
            uint32_t header = TRACE_NO_CONTEXT;
            struct rounds_seen seen = {0};
            for (size_t i = 0; i < pool->n_threads && header == TRACE_NO_CONTEXT; i++)
                header = find_header(writer, pool->threads[i], in_loop);
            if (!pool_is_parallel(pool) || header == TRACE_NO_CONTEXT ||
                header_has_answer(writer, pool, loop, header))
                continue;
            for (size_t i = 0; i < pool->n_threads; i++)
                count_rounds(writer, pool->threads[i], in_loop, header, &seen);
            if (seen.visits > (double)pool->n_threads || seen.rounds == 0)
                continue; /* refilled in between: its rounds are scaled instead (peg.c) */
            int object = draft_object(writer->model, OBJECT_TOKENS,
                                      memory_format("work of the loop in %s (line %d)",
                                                    loop->function, loop->first_line));
            /* where each round is one of the total, every thread's first takes no token */
            bool works = last_round_works(&seen);
            writer->model->objects[object].amount =
                works && pool->scales ? draft_per_thread(seen.rounds + seen.visits, (int)p, -1)
                                      : draft_constant(seen.rounds);
            writer->model->objects[object].evidence = memory_format(
                "%.0f rounds by %zu threads; source: %s", seen.rounds + (works ? seen.visits : 0),
                pool->n_threads, loop->why ? loop->why : "shared");
            writer->work_of_loop[l] = object;
            writer->header_of_loop[l] = header;
            writer->works_at_last[l] = works;
            loop_is_tokens[l] = true;
            break;
        }
        free(in_loop);
    }
}

/* Which loop's decision this lock is; -1 none. */
static int loop_decided_by(const struct writer *writer, uint32_t context) {
    const struct facts *facts = writer->in->facts;
    for (size_t l = 0; facts && context != TRACE_NO_CONTEXT && l < facts->n_loops; l++)
        if (writer->header_of_loop[l] == context && writer->work_of_loop[l] >= 0)
            return (int)l;
    return -1;
}

/* Is the record the thread's last one in a round of the loop? */
static bool ends_round(const struct writer *writer, size_t record, int loop) {
    const struct trace *trace = writer->in->trace;
    const struct trace_thread *thread = &trace->threads[writer->thread];
    if (record + 1 == thread->n_records)
        return true;
    const struct trace_record *next = &thread->records[record + 1];
    return !source_context_in_loop(trace, next->context, &writer->in->facts->loops[loop]) ||
           (place_of(writer, next) == writer->header_of_loop[loop] &&
            api_catalog[next->api].op == OP_LOCK);
}

static void write_work_decision(struct writer *writer, size_t record, uint64_t time_ns) {
    int loop = writer->pending_work;
    writer->pending_work = -1;
    struct step *step = add_step(writer, NODE_ACQUIRE, record, time_ns, time_ns);
    step->object = writer->work_of_loop[loop];
    step->timeout_ns = 0;
    bool again = goes_round_again(writer, writer->thread, record, &writer->in->facts->loops[loop],
                                  writer->header_of_loop[loop]);
    step->outcome = again ? OUTCOME_YES : OUTCOME_NO;
    mark_task(writer, record, time_ns, step);
}

/* Where every round is work, the decision on the next one follows it. */
static void write_decision_after_work(struct writer *writer, size_t record) {
    int loop = writer->pending_work;
    const struct trace_record *last = &writer->in->trace->threads[writer->thread].records[record];
    if (loop >= 0 && writer->works_at_last[loop] && writer->n_open == 0 &&
        ends_round(writer, record, loop))
        write_work_decision(writer, record, last->start_ns + last->duration_ns);
}

/* ---- one record ---- */

static void begin_round(struct writer *writer, const struct trace_record *record) {
    int loop = loop_decided_by(writer, place_of(writer, record));
    writer->pending_work = loop;
    bool does_tasks = writer->in->pools->pool_of[writer->thread] == writer->task_pool;
    if (loop < 0 || !writer->works_at_last[loop] || writer->in_task || !does_tasks)
        return;
    writer->in_task = true; /* the first one, which no decision begins: it has a node of its own */
    uint64_t begin = writer->list.items[writer->list.count - 1].end_ns;
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    add_step(writer, NODE_TASK_BEGIN, none, begin, begin);
}

static void write_lock(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    int mutex = lock_object(writer, sync_object);
    uint64_t end = record->start_ns + record->duration_ns;
    bool failed = record->flags & TRACE_FAILED;
    int section = writer->in->sections->section_of_lock[writer->thread][index];
    if (section >= 0 && writer->pending_work < 0)
        begin_round(writer, record);
    if (mutex != MODEL_NONE) {
        struct step *step = add_step(writer, NODE_LOCK, index, record->start_ns, end);
        step->object = mutex;
        step->timeout_ns = info->op == OP_TRYLOCK ? 0 : -1;
        step->outcome = failed ? OUTCOME_NO : info->op == OP_TRYLOCK ? OUTCOME_YES : OUTCOME_ANY;
    }
    if (section < 0)
        return;
    if (writer->n_open < OPEN_LIMIT)
        writer->open[writer->n_open++] = (struct open_section){section, OUTCOME_ANY};
    write_pattern(writer, index, section, mutex, false);
    write_takes(writer, index, section, mutex);
}

static void write_unlock(struct writer *writer, size_t index, const struct trace_record *record,
                         int sync_object) {
    int section = writer->section_of_unlock[writer->thread][index];
    if (section >= 0) {
        int at = writer->n_open - 1;
        while (at >= 0 && writer->open[at].section != section)
            at--;
        enum outcome answer = at >= 0 ? writer->open[at].answer : OUTCOME_ANY;
        write_effects(writer, index, section, answer);
        write_pattern(writer, index, section, MODEL_NONE, true);
    }
    int mutex = lock_object(writer, sync_object);
    if (mutex != MODEL_NONE) {
        struct step *step =
            add_step(writer, NODE_UNLOCK, index, record->start_ns, record->start_ns);
        step->object = mutex;
    }
    for (int at = writer->n_open - 1; section >= 0 && at >= 0; at--)
        if (writer->open[at].section == section) {
            memmove(&writer->open[at], &writer->open[at + 1],
                    (size_t)(writer->n_open - at - 1) * sizeof *writer->open);
            writer->n_open--;
            break;
        }
    if (writer->pending_work >= 0 && writer->n_open == 0 &&
        !writer->works_at_last[writer->pending_work])
        write_work_decision(writer, index, record->start_ns);
}

static void write_condition_wait(struct writer *writer, size_t index,
                                 const struct trace_record *record, int condition) {
    uint64_t end = record->start_ns + record->duration_ns;
    if (!writer->is_flag[condition])
        return;
    int section = writer->n_open ? writer->open[writer->n_open - 1].section : -1;
    if (section >= 0 && monitors_explain(writer->in->monitors, (size_t)section))
        return; /* its guard or pattern stands for all its waits */
    if (record->flags & TRACE_TIMEDOUT) {
        struct step *step = add_step(writer, NODE_SLEEP, index, record->start_ns, end);
        step->wait_ns = ns(record->duration_ns);
        return;
    }
    int mutex = section < 0 ? MODEL_NONE
                            : lock_object(writer, writer->in->sections->sections[section].mutex);
    int flag = flag_object(writer, condition);
    struct step *step = add_step(writer, NODE_WAIT, index, record->start_ns, end);
    step->object = flag;
    step->mutex = mutex;
}

static size_t thread_by_index(const struct trace *trace, int pid, int index) {
    size_t usual = (size_t)index; /* where a trace of one process has it */
    if (index >= 0 && usual < trace->n_threads && trace->threads[usual].index == index &&
        trace->threads[usual].pid == pid)
        return usual;
    for (size_t t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].index == index && trace->threads[t].pid == pid)
            return t;
    return trace->n_threads;
}

/* The first creation (join) of a generation stands for all of it. */
static void write_thread_call(struct writer *writer, size_t index,
                              const struct trace_record *record, enum node_kind kind, int *count) {
    const struct trace *trace = writer->in->trace;
    size_t other = thread_by_index(trace, trace->threads[writer->thread].pid, record->value);
    uint64_t end = record->start_ns + record->duration_ns;
    if (other == trace->n_threads || record->flags & TRACE_FAILED)
        return;
    int pool = writer->in->pools->pool_of[other];
    bool first = count[pool]++ % writer->in->pools->pools[pool].size == 0;
    struct step *last = writer->list.count ? &writer->list.items[writer->list.count - 1] : NULL;
    if (first) {
        struct step *step = add_step(writer, kind, index, record->start_ns, end);
        step->target_pool = pool;
    } else if (kind == NODE_JOIN && last && last->kind == kind && last->target_pool == pool) {
        last->end_ns = end;
    }
}

static bool site_is_kept(const struct writer *writer, const struct trace_record *record) {
    uint64_t site = site_of(record);
    return map_get(&writer->kept_sites, site, 0) != 0;
}

/* The model's object for a block device. */
static int disk_object(struct writer *writer, uint32_t device) {
    int object = map_get(&writer->disk_of, device, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    object = draft_object(writer->model, OBJECT_DISK,
                          memory_format("disk %u:%u", device >> 20, device & 0xfffff));
    struct disk_speed speed = disks_speed(writer->in->disks, device);
    writer->model->objects[object].service_ns = speed.service_ns;
    writer->model->objects[object].servers = speed.servers;
    writer->model->objects[object].evidence = speed.evidence;
    map_put(&writer->disk_of, device, object);
    return object;
}

/* Is this call one whose site ever reached a block device? Then every call there is disk I/O, those
 * without requests being cache hits; else it is a wait on something outside. */
static void write_io(struct writer *writer, size_t index, const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    uint32_t device = 0;
    size_t operations =
        disks_requests(writer->in->disks, writer->thread, record->start_ns, end, &device);
    uint64_t site = site_of(record);
    int known = map_get(&writer->device_of_site, site, -1);
    struct step *step = add_step(writer, NODE_IO, index, record->start_ns, end);
    step->cpu_ns = cpu_inside(writer, record->start_ns, end);
    if (known < 0) {
        step->wait_ns = blocked_inside(writer, record);
        return;
    }
    step->object = disk_object(writer, operations ? device : (uint32_t)known);
    step->operations = (double)operations;
}

static void write_timed_call(struct writer *writer, size_t index, const struct trace_record *record,
                             enum node_kind kind) {
    if (!site_is_kept(writer, record))
        return;
    if (kind == NODE_IO) {
        write_io(writer, index, record);
        return;
    }
    uint64_t end = record->start_ns + record->duration_ns;
    struct step *step = add_step(writer, kind, index, record->start_ns, end);
    step->wait_ns = blocked_inside(writer, record);
    step->cpu_ns = cpu_inside(writer, record->start_ns, end);
}

/* A call on an object of the model; `try` never waits and tells by its result whether it got it. */
static void write_object_call(struct writer *writer, size_t index,
                              const struct trace_record *record, int object, enum node_kind kind,
                              bool try) {
    if (object == MODEL_NONE)
        return;
    uint64_t end = record->start_ns + record->duration_ns;
    struct step *step = add_step(writer, kind, index, record->start_ns, end);
    step->object = object;
    step->timeout_ns = try ? 0 : -1;
    if (try)
        step->outcome = record->flags & TRACE_FAILED ? OUTCOME_NO : OUTCOME_YES;
}

/* ---- calls that the user or the source named ---- */

static int items_object(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        const struct items_queue *queue = &writer->items.queues[index];
        int result = draft_object(writer->model, OBJECT_QUEUE, object_name(writer, index, "queue"));
        struct object *object = &writer->model->objects[result];
        object->bounded = queue->capacity > 0;
        if (object->bounded)
            object->amount = draft_constant(queue->capacity);
        object->initial_items = queue->initial;
        object->spins = queue->spins;
        object->evidence = memory_format("as its calls say: %.0f put, %.0f taken, at most %.0f at "
                                         "once, %.0f attempts in vain%s",
                                         queue->puts, queue->gets, queue->most, queue->failures,
                                         queue->spins ? "; waiting burns CPU" : "");
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

static void write_items(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    const struct poll *poll = items_poll(&writer->items, writer->thread, index);
    enum api_op op = api_catalog[record->api].op;
    bool takes = op == OP_GET || op == OP_TRYGET;
    /* One that never came back: nothing more came, or will come. */
    bool failed = (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0;
    uint64_t end = record->start_ns + record->duration_ns;
    if (poll && poll->goes_on)
        return; /* part of the wait that the last attempt ends */
    int object = items_object(writer, sync_object);
    bool born = !takes && !failed && writer->items.queues[sync_object].feeds_tasks &&
                writer->in->pools->pool_of[writer->thread] != writer->task_pool;
    if (born)
        add_step(writer, NODE_TASK_BEGIN, index, record->start_ns, record->start_ns);
    bool waits = op == OP_PUT || op == OP_GET || poll != NULL;
    struct step *step = add_step(writer, takes ? NODE_GET : NODE_PUT, index,
                                 poll ? poll->start_ns : record->start_ns, end);
    step->object = object;
    step->timeout_ns = waits ? -1 : 0;
    if (op == OP_GET && api_catalog[record->api].timeout_argument >= 0)
        step->timeout_ns = record->value * 1e3;
    step->outcome = failed ? OUTCOME_NO : OUTCOME_YES;
    if (takes)
        mark_task(writer, index, end, step);
}

static int event_object(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        int result =
            draft_object(writer->model, OBJECT_TOKENS, object_name(writer, index, "event"));
        writer->model->objects[result].spins = writer->in->sections->objects[index].spins;
        writer->model->objects[result].evidence =
            memory_strdup("happens once and stays, by the user's or the source's word");
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

/* Who waited for the event leaves it as it was. */
static void write_event(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    int event = event_object(writer, sync_object);
    uint64_t end = record->start_ns + record->duration_ns;
    if (api_catalog[record->api].op == OP_WAIT)
        add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->object = event;
    else
        end = record->start_ns;
    add_step(writer, NODE_RELEASE, index, end, end)->object = event;
}

/* True: the record was of a kind that only functions of the program's own have. */
static bool write_named_call(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object == ON_EVENT)
        write_event(writer, index, record, sync_object);
    else if (info->object == ON_ITEMS && info->op == OP_CLOSE)
        write_object_call(writer, index, record, items_object(writer, sync_object), NODE_CLOSE,
                          false);
    else if (info->object == ON_ITEMS && info->op != OP_INIT && info->op != OP_DESTROY)
        write_items(writer, index, record, sync_object);
    return info->object == ON_EVENT || info->object == ON_ITEMS;
}

/* Queues whose consumers give up when the producers are done are closed by whoever knows that. */
static void write_known_close(struct writer *writer, size_t index,
                              const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    for (size_t q = 0; q < writer->in->sections->n_objects; q++) {
        const struct items_queue *queue = &writer->items.queues[q];
        if (queue->closer_thread == (int)writer->thread && queue->closer_record == index)
            add_step(writer, NODE_CLOSE, index, end, end)->object = items_object(writer, (int)q);
    }
}

/* Work that the members of a team take from until it is used up: tokens. */
static int share_object(struct writer *writer, const struct trace_record *record) {
    int object = map_get(&writer->share_of, record->object, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    char *place = source_place(writer->in->trace, record->context);
    object = draft_object(writer->model, OBJECT_TOKENS,
                          memory_format("work shared by the team, %s", place));
    free(place);
    writer->model->objects[object].evidence =
        memory_strdup("handed out by libgomp: each region gets as much as on average");
    map_put(&writer->share_of, record->object, object);
    return object;
}

static void write_record(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    int object = sections_object(writer->in->sections, record);
    uint64_t end = record->start_ns + record->duration_ns;
    if (write_named_call(writer, index, record, object))
        return;
    switch (info->op) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        write_lock(writer, index, record, object);
        break;
    case OP_UNLOCK:
        write_unlock(writer, index, record, object);
        break;
    case OP_WAIT:
    case OP_TIMEDWAIT:
        write_condition_wait(writer, index, record, object);
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        if (object >= 0 && writer->is_flag[object]) {
            int flag = flag_object(writer, object);
            struct step *step =
                add_step(writer, NODE_SIGNAL, index, record->start_ns, record->start_ns);
            step->object = flag;
            step->count = info->op == OP_BROADCAST ? EVERYBODY : 1;
        }
        break;
    case OP_BARRIER: {
        int barrier = barrier_object(writer, object);
        add_step(writer, NODE_BARRIER, index, record->start_ns, end)->object = barrier;
        break;
    }
    case OP_ACQUIRE:
    case OP_TRYACQUIRE:
    case OP_TIMEDACQUIRE:
        write_object_call(writer, index, record, semaphore_object(writer, object), NODE_ACQUIRE,
                          info->op == OP_TRYACQUIRE);
        break;
    case OP_RELEASE:
        write_object_call(writer, index, record, semaphore_object(writer, object), NODE_RELEASE,
                          false);
        break;
    case OP_FORK:
        if (record->value > 0) {
            int share = share_object(writer, record);
            struct step *step = add_step(writer, NODE_RELEASE, index, record->start_ns, end);
            step->object = share;
            step->count = record->value;
        }
        break;
    case OP_FIRST_TAKE:
    case OP_TAKE:
        write_object_call(writer, index, record, share_object(writer, record), NODE_ACQUIRE, true);
        break;
    case OP_RDLOCK:
    case OP_TRYRDLOCK:
    case OP_TIMEDRDLOCK:
        write_object_call(writer, index, record, lock_object(writer, object), NODE_RDLOCK,
                          info->op == OP_TRYRDLOCK);
        break;
    case OP_WRLOCK:
    case OP_TRYWRLOCK:
    case OP_TIMEDWRLOCK:
        write_object_call(writer, index, record, lock_object(writer, object), NODE_WRLOCK,
                          info->op == OP_TRYWRLOCK);
        break;
    case OP_RWUNLOCK:
        write_object_call(writer, index, record, lock_object(writer, object), NODE_RWUNLOCK, false);
        break;
    case OP_CREATE:
        write_thread_call(writer, index, record, NODE_CREATE, writer->created);
        break;
    case OP_JOIN:
        write_thread_call(writer, index, record, NODE_JOIN, writer->joined);
        break;
    case OP_SLEEP:
        write_timed_call(writer, index, record, NODE_SLEEP);
        break;
    default:
        if (info->api_class == CLASS_IO || info->api_class == CLASS_IN ||
            info->api_class == CLASS_OUT)
            write_timed_call(writer, index, record, NODE_IO);
        break;
    }
}

/* ---- preparation ---- */

/* Calls that block the thread for a noticeable share of the run, summed per call site. */
static void choose_sites(struct writer *writer) {
    const struct trace *trace = writer->in->trace;
    struct map number = MAP_EMPTY;
    struct {
        double *items;
        size_t count, capacity;
    } blocked = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < trace->n_threads; t++) {
            writer->thread = t;
            for (size_t r = 0; r < trace->threads[t].n_records; r++) {
                const struct trace_record *record = &trace->threads[t].records[r];
                const struct api_info *info = &api_catalog[record->api];
                if (info->api_class != CLASS_IO && info->api_class != CLASS_IN &&
                    info->api_class != CLASS_OUT && info->api_class != CLASS_TIME)
                    continue;
                uint64_t site = site_of(record);
                int at = map_get(&number, site, -1);
                if (pass == 0) {
                    if (at < 0) {
                        at = (int)blocked.count;
                        map_put(&number, site, at);
                        *VECTOR_ADD(&blocked) = 0;
                    }
                    blocked.items[at] += blocked_inside(writer, record);
                    uint32_t device;
                    if (disks_requests(writer->in->disks, t, record->start_ns,
                                       record->start_ns + record->duration_ns, &device))
                        map_put(&writer->device_of_site, site, (int)device);
                } else if (blocked.items[at] >
                           writer->in->insignificant_share * ns(trace->meta.run_ns)) {
                    map_put(&writer->kept_sites, site, 1);
                }
            }
        }
    map_free(&number);
    free(blocked.items);
}

/* Which queues bring the busiest pool its tasks. */
static void find_task_queues(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    const struct monitors *monitors = writer->in->monitors;
    writer->feeds_tasks = memory_alloc(monitors->n_guards, sizeof(bool));
    for (size_t s = 0; s < sections->n_sections; s++) {
        int pool = writer->in->pools->pool_of[sections->sections[s].thread];
        for (size_t g = 0; pool == writer->task_pool && g < monitors->n_guards; g++)
            writer->feeds_tasks[g] |= monitors->guards[g].waits[monitors->class_of[s]];
    }
}

static void prepare(struct writer *writer) {
    const struct stream_input *in = writer->in;
    const struct trace *trace = in->trace;
    const struct sections *sections = in->sections;
    size_t n_loops = in->facts ? in->facts->n_loops : 0;
    writer->object_of = memory_alloc(sections->n_objects, sizeof(int));
    writer->is_shared = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_multiplied = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_flag = memory_alloc(sections->n_objects, sizeof(bool));
    writer->work_of_loop = memory_alloc(n_loops, sizeof(int));
    writer->header_of_loop = memory_alloc(n_loops, sizeof(uint32_t));
    writer->works_at_last = memory_alloc(n_loops, sizeof(bool));
    writer->created = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->joined = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->section_of_unlock = memory_alloc(trace->n_threads, sizeof(int *));
    int *user = memory_alloc(sections->n_objects, sizeof(int));
    for (size_t o = 0; o < sections->n_objects; o++) {
        writer->object_of[o] = UNDECIDED;
        user[o] = -1;
    }
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        writer->life_ns += ns(thread->end_ns - thread->start_ns);
        writer->section_of_unlock[t] = memory_alloc(thread->n_records, sizeof(int));
        for (size_t r = 0; r < thread->n_records; r++) {
            writer->section_of_unlock[t][r] = -1;
            int object = sections_object(sections, &thread->records[r]);
            enum api_op op = api_catalog[thread->records[r].api].op;
            if (object < 0 || op == OP_INIT || op == OP_DESTROY)
                continue;
            writer->is_shared[object] |= user[object] >= 0 && user[object] != (int)t;
            writer->is_multiplied[object] |= in->pools->pools[in->pools->pool_of[t]].scales;
            user[object] = (int)t;
        }
    }
    free(user);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (!section->cut)
            writer->section_of_unlock[section->thread][section->unlock_record] = (int)s;
    }
    for (size_t p = 0; p < in->pools->n_pools; p++)
        if (in->pools->pools[p].cpu_ns > in->pools->pools[writer->task_pool].cpu_ns)
            writer->task_pool = (int)p;
    writer->items = items_find(trace, sections, in->pools->pool_of, writer->task_pool);
    writer->farewells = farewells_find(in);
    choose_sites(writer);
    find_flags(writer);
    find_task_queues(writer);
}

static void write_thread(struct writer *writer, size_t t) {
    const struct trace_thread *thread = &writer->in->trace->threads[t];
    writer->thread = t;
    writer->list = (struct step_list){0};
    writer->last_step_record = 0;
    writer->n_open = 0;
    writer->in_task = false;
    writer->retrying = writer->succeeded = false;
    writer->pending_work = -1;
    add_step(writer, NODE_START, thread->n_records, thread->start_ns, thread->start_ns);
    write_first_draws(writer, thread->start_ns);
    for (size_t r = 0; r < thread->n_records; r++) {
        write_record(writer, r, &thread->records[r]);
        write_known_close(writer, r, &thread->records[r]);
        write_decision_after_work(writer, r);
    }
    writer->n_open = 0; /* the program ended in them */
    if (writer->in_task)
        add_step(writer, NODE_TASK_END, thread->n_records, thread->end_ns, thread->end_ns);
    struct step *end =
        add_step(writer, NODE_END, thread->n_records, thread->end_ns, thread->end_ns);
    end->records = thread->n_records - writer->last_step_record;
}

/* Does the thread come to the step's place again before it leaves the loop? */
static bool comes_again(const struct trace *trace, const struct stream *stream, size_t step,
                        const struct facts_loop *loop) {
    uint32_t context = stream->steps[step].context;
    for (size_t s = step + 1; s < stream->n_steps; s++) {
        if (!source_context_in_loop(trace, stream->steps[s].context, loop))
            return false;
        if (stream->steps[s].context == context && stream->steps[s - 1].context != context)
            return true;
    }
    return false;
}

/* Which loops are left upon a "no": the last one that a place gives tells. */
static void note_answers(const struct stream_input *input, const struct stream *stream,
                         bool *loop_has_answer) {
    const struct trace *trace = input->trace;
    size_t *last = memory_alloc(trace->n_contexts, sizeof *last); /* step + 1 */
    for (size_t s = 0; s < stream->n_steps; s++)
        if (stream->steps[s].outcome == OUTCOME_NO && stream->steps[s].context != TRACE_NO_CONTEXT)
            last[stream->steps[s].context] = s + 1;
    for (size_t c = 0; input->facts && c < trace->n_contexts; c++)
        for (size_t l = 0; last[c] && l < input->facts->n_loops; l++)
            if (!loop_has_answer[l])
                loop_has_answer[l] =
                    source_context_in_loop(trace, (uint32_t)c, &input->facts->loops[l]) &&
                    !comes_again(trace, stream, last[c] - 1, &input->facts->loops[l]);
    free(last);
}

struct stream_result streams_make(const struct stream_input *input, struct model *model) {
    size_t n_loops = input->facts ? input->facts->n_loops : 0;
    struct stream_result result = {
        .streams = memory_alloc(input->trace->n_threads, sizeof *result.streams),
        .loop_is_tokens = memory_alloc(n_loops, sizeof(bool)),
        .loop_has_answer = memory_alloc(n_loops, sizeof(bool))};
    struct writer writer = {.in = input, .model = model};
    prepare(&writer);
    find_shared_work(&writer, result.loop_is_tokens);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        write_thread(&writer, t);
        result.streams[t] = (struct stream){writer.list.count, writer.list.items};
        note_answers(input, &result.streams[t], result.loop_has_answer);
        free(writer.section_of_unlock[t]);
    }
    shares_write(input, writer.object_of, writer.is_flag, model);
    free(writer.section_of_unlock);
    free(writer.object_of);
    free(writer.is_shared);
    free(writer.is_multiplied);
    free(writer.is_flag);
    free(writer.work_of_loop);
    free(writer.header_of_loop);
    free(writer.works_at_last);
    free(writer.created);
    free(writer.joined);
    free(writer.feeds_tasks);
    items_free(&writer.items);
    farewells_free(&writer.farewells);
    map_free(&writer.kept_sites);
    map_free(&writer.share_of);
    map_free(&writer.device_of_site);
    map_free(&writer.disk_of);
    return result;
}

void streams_free(struct stream_result *result, size_t n_threads) {
    for (size_t t = 0; t < n_threads; t++)
        free(result->streams[t].steps);
    free(result->streams);
    free(result->loop_is_tokens);
    free(result->loop_has_answer);
}
