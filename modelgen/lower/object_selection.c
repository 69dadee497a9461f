#include "modelgen/lower/object_selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/peak_threads.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/lower/object_names.h"
#include "modelgen/lower/wake_policy.h"
#include "modelgen/notes.h"
#include "modelgen/sync/monitor.h"

static double ns(uint64_t value) {
    return (double)value;
}

char *objects_name(const struct writer *writer, int index, const char *what) {
    return name_of_object(writer->in, index, what, NULL);
}

/* Threads that --threads multiplies need not hold it for long: 16 times as many would make it
 * matter. The number of others stays, so contention hardly grows. */
static bool worth_keeping(const struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    double run_ns = ns(writer->in->trace->meta.run_ns);
    bool waited = object->wait_ns > evidence.lock_waits * writer->life_ns;
    if (!object->alone)
        return writer->is_instance[index] && writer->is_shared[index];
    bool held = writer->is_multiplied[index] && object->hold_ns > evidence.lock_holds * run_ns;
    return writer->is_shared[index] &&
           (waited || held || statements_of(writer->in->monitors, index) ||
            writer->is_met_at[index]);
}

/* Of an object among those of its class, from 1. */
static int number_of(const struct writer *writer, int index) {
    const struct sync_object *objects = writer->in->sections->objects;
    int number = 1;
    for (int o = 0; o < index; o++)
        number += objects[o].class_id == objects[index].class_id;
    return number;
}

int objects_lock(struct writer *writer, int index) {
    if (index < 0)
        return MODEL_NONE;
    if (writer->object_of[index] != UNDECIDED)
        return writer->object_of[index];
    const struct sync_object *object = &writer->in->sections->objects[index];
    if (object->whole != index)
        return objects_lock(writer, object->whole);
    int result = MODEL_NONE;
    if (worth_keeping(writer, index)) {
        enum object_kind kind = object->kind == ON_MUTEX  ? OBJECT_MUTEX
                                : object->kind == ON_SPIN ? OBJECT_SPIN
                                                          : OBJECT_RWLOCK;
        const char *what = kind == OBJECT_MUTEX  ? "mutex"
                           : kind == OBJECT_SPIN ? "spin lock"
                                                 : "rwlock";
        char *name = objects_name(writer, index, what);
        if (!object->alone) {
            char *class_name = name;
            name = memory_format("%s, number %d", class_name, number_of(writer, index));
            free(class_name);
        }
        result = model_add_object(writer->model, kind, name);
        writer->model->objects[result].writers_first = writer->writers_first[index];
        writer->model->objects[result].evidence =
            memory_format("%.0f operations, %.0f waited, held %.3g s", object->operations,
                          object->waits, object->hold_ns / 1e9);
    }
    writer->object_of[index] = result;
    return result;
}

/* The most of those that come, and of this pool, that live at one time: others may use the barrier
 * after them. `pool` MODEL_NONE: of all pools. */
static int most_at_once(const struct writer *writer, const bool *comes, int pool) {
    const struct trace *trace = writer->in->trace;
    size_t *threads = memory_alloc(trace->n_threads, sizeof *threads);
    size_t n = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        if (comes[t] && (pool == MODEL_NONE || writer->in->pools->pool_of[t] == pool))
            threads[n++] = t;
    int most = peak_threads(trace, threads, n);
    free(threads);
    return most;
}

struct linear objects_parties(const struct writer *writer, const bool *comes, int parties) {
    const struct thread_pools *pools = writer->in->pools;
    for (size_t t = 0; t < writer->in->trace->n_threads; t++) {
        int p = pools->pool_of[t];
        if (comes[t] && pools->pools[p].team) /* a team meets alone */
            return pools->pools[p].scales ? model_builder_per_thread(0, p, 1)
                                          : model_builder_constant(pools->pools[p].size);
    }
    struct linear amount =
        model_builder_constant(parties > 0 ? parties : most_at_once(writer, comes, MODEL_NONE));
    for (size_t p = 0; p < pools->n_pools; p++) {
        int met = pools->pools[p].scales ? most_at_once(writer, comes, (int)p) : 0;
        if (met == 0 || met != pools->pools[p].size || met > amount.base)
            continue;
        amount.base -= met;
        model_builder_add_per_thread(&amount, (int)p, 1);
    }
    return amount;
}

static bool comes_to_barrier(const struct writer *writer, const struct trace_thread *thread,
                             int index) {
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_BARRIER &&
            sections_object(writer->in->sections, at.event) == index)
            return true;
    return false;
}

static struct linear barrier_parties(const struct writer *writer, int index, int parties) {
    const struct trace *trace = writer->in->trace;
    bool *comes = memory_alloc(trace->n_threads, sizeof *comes);
    for (size_t t = 0; t < trace->n_threads; t++)
        comes[t] = comes_to_barrier(writer, &trace->threads[t], index);
    struct linear result = objects_parties(writer, comes, parties);
    free(comes);
    return result;
}

int objects_barrier(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        const struct sync_object *object = &writer->in->sections->objects[index];
        int result =
            model_add_object(writer->model, OBJECT_BARRIER, objects_name(writer, index, "barrier"));
        writer->model->objects[result].amount = barrier_parties(writer, index, object->parties);
        writer->model->objects[result].evidence =
            object->parties > 0
                ? memory_format("%d parties, %.0f waits", object->parties, object->waits)
                : memory_format("%.0f waits; its parties were not seen, taken for all who meet",
                                object->waits);
        writer->model->objects[result].spins = object->spins;
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

/* Whom the signal wakes. */
static const char *waiter_of(const struct writer *writer, int index) {
    const struct trace *trace = writer->in->trace;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (at.event->api == ROLE_acquire &&
            sections_object(writer->in->sections, at.event) == index)
            return trace->threads[at.thread].start_routine;
    return "?";
}

static int signal_tokens(struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    char *what = memory_format("signal to %s", waiter_of(writer, index));
    int result = model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, what));
    writer->model->objects[result].evidence =
        memory_format("%.0f waits for a signal that another thread sent", object->operations);
    free(what);
    return result;
}

/* There while nothing is outstanding: who gives a command takes one away, who has done it brings it
 * back. */
static int completion_tokens(struct writer *writer, int index) {
    int result =
        model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "completion"));
    writer->model->objects[result].amount = model_builder_constant(1);
    writer->model->objects[result].condition = true;
    return result;
}

static int mailbox_tokens(struct writer *writer, int index) {
    int result = completion_tokens(writer, index);
    notes_add(
        writer->model,
        "%s: the workers' slots are modelled as one queue of commands; which worker a command "
        "is for is left out",
        writer->model->objects[result].name);
    writer->model->objects[result].evidence = memory_strdup(
        "each worker has a slot of its own for a command and for the news that it is done");
    return result;
}

static int countdown_tokens(struct writer *writer, int index) {
    int result = completion_tokens(writer, index);
    writer->model->objects[result].evidence =
        memory_strdup("in each round as many pieces of work were handed out as were done before "
                      "the last worker released the semaphore");
    return result;
}

/* What parked threads wait for. */
static int parking_tokens(struct writer *writer, int index) {
    int result =
        model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "work"));
    writer->model->objects[result].evidence =
        memory_strdup("each thread waits on a semaphore of its own, and is woken only when it has "
                      "nothing else to do; which of them is left out");
    return result;
}

/* Results that are there. */
static int future_tokens(struct writer *writer, int index) {
    int result =
        model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "results"));
    writer->model->objects[result].evidence = memory_strdup(
        "results of other threads, fetched in the order in which they come (std::future)");
    notes_add(writer->model,
              "%s: which result is waited for is left out: so many are, in the order in which "
              "they come",
              writer->model->objects[result].name);
    return result;
}

/* The pool that follows --threads by how many of its threads the semaphore lets live; MODEL_NONE:
 * none. */
static int limited_pool(const struct thread_pools *pools, const struct sync_object *semaphore) {
    for (size_t p = 0; p < pools->n_pools; p++)
        if (pools->pools[p].scales && pools->pools[p].limit == semaphore->address &&
            pools->pools[p].size == semaphore->parties)
            return (int)p;
    return MODEL_NONE;
}

static int permits(struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    int pool = limited_pool(writer->in->pools, object);
    int result =
        model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "semaphore"));
    writer->model->objects[result].amount =
        pool == MODEL_NONE ? model_builder_constant(object->parties > 0 ? object->parties : 0)
                           : model_builder_per_thread(0, pool, 1);
    if (object->parties < 0)
        notes_add(writer->model, "%s: its initial value was not seen, taken as 0",
                  writer->model->objects[result].name);
    return result;
}

static int counted_permits(struct writer *writer, int index) {
    int result =
        model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "semaphore"));
    writer->model->objects[result].evidence =
        memory_strdup("its count is an atomic variable: only waits and wake-ups were recorded, the "
                      "rest follows from what the threads came to next");
    return result;
}

static int draft_semaphore(struct writer *writer, int index) {
    switch (writer->in->sections->objects[index].origin) {
    case ORIGIN_MAILBOX:
        return mailbox_tokens(writer, index);
    case ORIGIN_COUNTDOWN:
        return countdown_tokens(writer, index);
    case ORIGIN_SIGNAL:
        return signal_tokens(writer, index);
    case ORIGIN_PARKING:
        return parking_tokens(writer, index);
    case ORIGIN_COUNTED:
        return counted_permits(writer, index);
    case ORIGIN_FUTURE:
        return future_tokens(writer, index);
    default:
        return permits(writer, index);
    }
}

int objects_semaphore(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED)
        writer->object_of[index] = draft_semaphore(writer, index);
    return writer->object_of[index];
}

int objects_flag(struct writer *writer, int condition) {
    const struct sync_object *object = &writer->in->sections->objects[condition];
    int root = object->class_id;
    if (writer->object_of[root] == UNDECIDED) {
        int result =
            model_add_object(writer->model, OBJECT_FLAG, objects_name(writer, root, "condition"));
        writer->model->objects[result].condition = object->of_libc;
        writer->model->objects[result].evidence =
            memory_strdup("its predicate is not known: a signal is kept until one wait uses it");
        notes_add(writer->model,
                  "%s: predicate not recognised, modelled as a flag that "
                  "each signal sets and each wait clears",
                  writer->model->objects[result].name);
        writer->object_of[root] = result;
    }
    return writer->object_of[root];
}

void objects_find_flags(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    double *wait_ns = memory_alloc(sections->n_objects, sizeof(double));
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            if (!monitors_explain(writer->in->monitors, s) &&
                !section_wait_timed_out(writer->in->trace, section, wait) &&
                !monitors_explain_condition(writer->in->monitors, sections, wait->condition, false))
                wait_ns[sections->objects[wait->condition].class_id] +=
                    ns(wait->end_ns - wait->start_ns);
        }
    }
    for (size_t o = 0; o < sections->n_objects; o++)
        writer->is_flag[o] =
            wait_ns[sections->objects[o].class_id] > evidence.waiting_matters * writer->life_ns;
    free(wait_ns);
}

void objects_find_meetings(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    struct {
        double wait_ns;
        bool may_wait;
        struct wake_counts told;
    } *seen = memory_alloc(sections->n_objects, sizeof *seen);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits; w++)
            seen[section->mutex].wait_ns += ns(sections->waits[section->first_wait + w].end_ns -
                                               sections->waits[section->first_wait + w].start_ns);
        wake_policy_count(sections, section, MODEL_NONE, &seen[section->mutex].told);
        seen[section->mutex].may_wait |=
            section->n_waits > 0 ||
            monitors_guard(writer->in->monitors, (size_t)writer->in->monitors->class_of[s]);
    }
    for (size_t o = 0; o < sections->n_objects; o++) {
        bool waits = seen[o].wait_ns > evidence.waiting_matters * writer->life_ns ||
                     (writer->is_multiplied[o] && seen[o].may_wait);
        writer->is_met_at[o] = waits && seen[o].told.broadcasts >= evidence.times_seen &&
                               seen[o].told.broadcasts > seen[o].told.signals;
    }
    free(seen);
    for (size_t i = 0; i < writer->in->monitors->explanations.count; i++)
        writer->is_met_at[writer->in->monitors->explanations.items[i].mutex] |=
            writer->when_empty[i];
}

int objects_pool_of_amount(const struct writer *writer, const struct explanation *guard,
                           double amount) {
    const struct thread_pools *pools = writer->in->pools;
    const struct sections *sections = writer->in->sections;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class_index = writer->in->monitors->class_of[s];
        int pool = pools->pool_of[sections->sections[s].thread];
        if (sections->sections[s].mutex == guard->mutex && guard->counter.weight[class_index] > 0 &&
            pools->pools[pool].scales && pools->pools[pool].size == (int)amount)
            return pool;
    }
    return MODEL_NONE;
}

static char *guard_name(const struct writer *writer, const struct explanation *guard) {
    const char *what = guard->counter.take > 1               ? "completion of a batch"
                       : guard->counter.kind == GUARD_QUEUE  ? "queue"
                       : guard->counter.kind == GUARD_TOKENS ? "free slots"
                       : guard->counter.kind == GUARD_FIRST  ? "first to come"
                                                             : "level";
    if (guard->proposal && guard->proposal->name) {
        char *name = objects_name(writer, guard->mutex, what);
        char *with_type = memory_format("%s [%s]", name, guard->proposal->name);
        free(name);
        return with_type;
    }
    return objects_name(writer, guard->mutex, what);
}

/* Is `amount` what the trace shows? Up to `missing` of it may be gone before the replay counts. */
static bool amount_fits(const struct writer *writer, const struct explanation *guard,
                        const struct facts_amount *amount, double missing, struct linear *result) {
    const struct thread_pools *pools = writer->in->pools;
    double observed = guard->counter.initial;
    for (size_t p = 0; amount->follows_threads && p < pools->n_pools; p++) {
        const struct thread_pool *pool = &pools->pools[p];
        double more = amount->factor * thread_pools_asked(pool) + amount->offset - observed;
        bool unused = guard->tally.waited == 0 && !guard->counter.seen && more > 0;
        if (!thread_pools_follows(pools, p) ||
            !(fabs(more) < 0.5 || unused || (more > 0 && more <= missing)))
            continue;
        *result =
            model_builder_asked(pools, p, amount->offset - (unused ? 0 : more), amount->factor);
        return true;
    }
    if (amount->constant && fabs(amount->offset - observed) < 0.5) {
        *result = model_builder_constant(observed);
        return true;
    }
    return false;
}

/* Is the guard's object made by the call at `place`? Of several under one mutex, each with a
 * condition, each is made with its own. */
static bool is_made_at(const struct writer *writer, const struct explanation *guard,
                       const struct facts_place *place) {
    const struct sync_object *objects = writer->in->sections->objects;
    const struct trace *trace = writer->in->trace;
    return source_passes(trace, objects[guard->mutex].context, place) ||
           (guard->counter.condition >= 0 &&
            source_passes(trace, objects[guard->counter.condition].context, place));
}

/* Those choices that are said of this very object (`placed`), or of any; that follow the threads,
 * or do not. */
static bool choice_of_kind_fits(const struct writer *writer, const struct explanation *guard,
                                const struct facts_amount *amount, bool placed, bool follows,
                                double missing, struct linear *result) {
    for (size_t c = 0; c < amount->n_choices; c++) {
        const struct facts_choice *choice = &amount->choices[c];
        if ((choice->place.file != NULL) == placed && choice->amount.follows_threads == follows &&
            (!placed || is_made_at(writer, guard, &choice->place)) &&
            amount_fits(writer, guard, &choice->amount, missing, result))
            return true;
    }
    return false;
}

/* The choices that are said of this very object, then those of any; of what fits, that which
 * follows the threads: another number of them shows a limit that does not. What fits as it is
 * comes before what somebody must have taken some of. */
static bool choice_fits(const struct writer *writer, const struct explanation *guard,
                        const struct facts_amount *amount, struct linear *result) {
    const double held_for_good = 2; /* by who takes it once, before the threads are there */
    for (int placed = 1; placed >= 0; placed--)
        for (int follows = 1; follows >= 0; follows--)
            if (choice_of_kind_fits(writer, guard, amount, placed, follows, 0, result) ||
                (placed && choice_of_kind_fits(writer, guard, amount, placed, follows,
                                               held_for_good, result)))
                return true;
    return false;
}

/* What the source says the amount is made of, when that is what the trace shows; or what a
 * variable starts with which the object's operations ask. */
static bool amount_of_source(const struct writer *writer, const struct explanation *guard,
                             struct linear *result) {
    const struct facts_monitor *proposal = guard->proposal;
    if (!proposal)
        return false;
    if (choice_fits(writer, guard, &proposal->amount, result) ||
        amount_fits(writer, guard, &proposal->amount, 0, result))
        return true;
    for (size_t v = 0; v < proposal->n_variables; v++)
        if (choice_fits(writer, guard, &proposal->variables[v].initial, result))
            return true;
    for (size_t v = 0; v < proposal->n_variables; v++)
        if (proposal->variables[v].initial.follows_threads &&
            amount_fits(writer, guard, &proposal->variables[v].initial, 0, result))
            return true;
    return false;
}

/* An object that is there already and whose waiters sleep on the guard's condition too. */
static int same_condition(const struct writer *writer, const struct explanation *guard) {
    const struct monitors *monitors = writer->in->monitors;
    for (struct explanation *other = NULL;
         guard->counter.condition >= 0 &&
         (other = explanation_next(monitors, BY_COUNTER, other));) {
        if (other == guard || other->object < 0 ||
            other->counter.condition != guard->counter.condition)
            continue;
        int owner = writer->model->objects[other->object].condition_of;
        return owner == MODEL_NONE ? other->object : owner;
    }
    return MODEL_NONE;
}

static char *guard_evidence(const struct explanation *guard) {
    char *replayed =
        memory_format("replayed: %.0f evaluations, %.0f waited or failed, %.0f violations%s",
                      guard->tally.decisions, guard->tally.waited, guard->tally.violations,
                      guard->proposal ? "; proposed by the source" : "");
    if (!guard->counter.seen)
        return replayed;
    char *text = memory_format("%s; %s held %lld when first seen", replayed,
                               guard->counter.seen->name, (long long)guard->counter.seen->value);
    free(replayed);
    return text;
}

int objects_guard(struct writer *writer, struct explanation *guard) {
    if (guard->object != MODEL_NONE)
        return guard->object;
    size_t index = explanation_index(writer->in->monitors, guard);
    enum object_kind kind = guard->counter.kind == GUARD_QUEUE ? OBJECT_QUEUE : OBJECT_TOKENS;
    int result = model_add_object(writer->model, kind, guard_name(writer, guard));
    struct object *object = &writer->model->objects[result];
    object->evidence = guard_evidence(guard);
    if (guard->counter.kind == GUARD_TOKENS && guard->counter.take == 1 &&
        amount_of_source(writer, guard, &object->amount)) {
        /* told */
    } else if (guard->counter.kind == GUARD_TOKENS) {
        int pool = guard->counter.initial > 0
                       ? objects_pool_of_amount(writer, guard, guard->counter.initial)
                       : MODEL_NONE;
        object->amount = pool == MODEL_NONE ? model_builder_constant(guard->counter.initial)
                                            : model_builder_per_thread(0, pool, 1);
    } else if (guard->counter.kind == GUARD_LEVEL) {
        /* initial = 1 - level: one round per thread of a pool, when it is as many; or as many
         * are there at the start, as idle threads */
        int rounds = objects_pool_of_amount(writer, guard, 1 - guard->counter.initial);
        int idle = guard->counter.initial > 0
                       ? objects_pool_of_amount(writer, guard, guard->counter.initial)
                       : MODEL_NONE;
        object->amount = rounds != MODEL_NONE ? model_builder_per_thread(1, rounds, -1)
                         : idle != MODEL_NONE ? model_builder_per_thread(0, idle, 1)
                                              : model_builder_constant(guard->counter.initial);
    } else if (guard->counter.kind == GUARD_FIRST) {
        object->amount = model_builder_constant(1);
    }
    object->items_in_all = writer->self_feeding[index];
    if (object->items_in_all > 0)
        notes_add(
            writer->model,
            "%s: its takers fill it again; in all %.0f items are taken, which of them leads to "
            "which is not known",
            object->name, object->items_in_all);
    int waited_on = guard->counter.condition >= 0 ? guard->counter.condition : guard->mutex;
    object->condition = writer->in->sections->objects[waited_on].of_libc;
    object->wakes_all = wake_policy_is_broadcast(writer, guard);
    object->when_empty = writer->when_empty[index];
    object->wakes_all |= object->when_empty;
    object->when_enough =
        object->wakes_all && !object->when_empty && wake_policy_when_enough(writer, guard);
    object->condition_of = same_condition(writer, guard);
    guard->object = result;
    return result;
}

int objects_disk(struct writer *writer, uint32_t device) {
    int object = map_get(&writer->disk_of, device, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    object = model_add_object(writer->model, OBJECT_DISK,
                              memory_format("disk %u:%u", device >> 20, device & 0xfffff));
    struct disk_speed speed = disk_service_speed(writer->in->disks, device, writer->streams.alike);
    disk_conditions_widen(&speed, writer->in->disks, device,
                          measured_disks_find(writer->in->measured_disks, device));
    writer->model->objects[object].service_ns = speed.service_ns;
    writer->model->objects[object].servers = speed.servers;
    writer->model->objects[object].n_distances = speed.n_distances;
    writer->model->objects[object].distances = speed.distances;
    writer->model->objects[object].evidence = speed.evidence;
    writer->model->objects[object].least_depth = speed.least > 1 ? (double)speed.least : 0;
    writer->model->objects[object].most_depth = speed.servers == 0 ? (double)speed.always : 0;
    writer->model->objects[object].never_continued = speed.parted > 0;
    writer->model->objects[object].alone_ns = speed.alone_ns;
    if (speed.always > 0 && speed.alone_ns.kind == DIST_NONE)
        notes_add(
            writer->model,
            "%s: it nearly always had %zu requests at once; with fewer threads than that%s each "
            "may take another time: record once more with fewer, or give --disk what `persik "
            "calibrate` measures",
            writer->model->objects[object].name, speed.always,
            speed.servers == 0 ? ", or with more," : "");
    if (speed.parted > 0 && speed.alone_ns.kind == DIST_NONE)
        notes_add(
            writer->model,
            "%s: %zu requests go on where their thread's last one ended, but others' came "
            "between: one thread alone may be much faster than predicted: record it once more "
            "with one, or give --disk what `persik calibrate` measures",
            writer->model->objects[object].name, speed.parted);
    disk_service_times(writer->in->disks, device, speed.servers, writer->streams.service_ns);
    map_put(&writer->disk_of, device, object);
    return object;
}

int objects_write_back(struct writer *writer) {
    if (writer->later.object != MODEL_NONE)
        return writer->later.object;
    uint32_t device = writer->in->write_back->device;
    int object =
        model_add_object(writer->model, OBJECT_DISK,
                         memory_format("write-back to disk %u:%u", device >> 20, device & 0xfffff));
    struct object *disk = &writer->model->objects[object];
    double mean_bytes = writer->in->write_back->bytes / (double)writer->in->write_back->n;
    disk->servers = 1;
    disk->service_ns =
        (struct dist){.kind = DIST_CONSTANT, .mean = mean_bytes * writer->later.byte_ns};
    disk->room_ns = writer->later.room_bytes * writer->later.byte_ns;
    disk->evidence = memory_format(
        "writes were held up with %.1f MB not yet written back, at %.1f MB/s; requests of the "
        "kernel were under way for %.0f %% of that time",
        writer->later.room_bytes / 1e6, 1e3 / writer->later.byte_ns, 100 * writer->later.covered);
    notes_add(
        writer->model,
        "%s: %.1f MB may be dirty, as in the recorded run, whatever else is; it takes no time "
        "from the disk's other requests",
        disk->name, writer->later.room_bytes / 1e6);
    return writer->later.object = object;
}

int objects_journal(struct writer *writer, uint32_t device) {
    int object = map_get(&writer->journal_of, device, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    const struct commits *commits = writer->in->commits;
    size_t n_commits = 0, n_calls = 0;
    for (size_t c = 0; c < commits->n_commits; c++) {
        n_commits += commits->items[c].device == device;
        n_calls += commits->items[c].device == device ? commits->items[c].n_calls : 0;
    }
    object =
        model_add_object(writer->model, OBJECT_ORDER,
                         memory_format("journal of disk %u:%u", device >> 20, device & 0xfffff));
    writer->model->objects[object].in_groups = true;
    writer->model->objects[object].by_kernel = true;
    writer->model->objects[object].evidence =
        memory_format("%zu calls returned with the last request of %zu commits; requests of the "
                      "kernel were under "
                      "way for %.0f %% of their waiting",
                      n_calls, n_commits, 100 * commits->covered_ns / commits->waited_ns);
    map_put(&writer->journal_of, device, object);
    return object;
}

/* Kinds of items in a queue from outside to which helpers return what they have done. */
enum { FROM_OUTSIDE = 1, FROM_HELPERS };

/* NULL: the program itself fills it. */
static struct outside_queue *outside_queue(const struct writer *writer, int index) {
    struct outside_queues *outside = writer->in->outside;
    for (size_t q = 0; outside && q < outside->n; q++)
        if (outside->items[q].object == writer->in->sections->objects[index].address)
            return &outside->items[q];
    return NULL;
}

static int write_outside_queue(struct writer *writer, int index, struct outside_queue *queue) {
    const char *what = queue->accepts ? "connections from outside" : "requests from outside";
    int result = model_add_object(writer->model, OBJECT_QUEUE, objects_name(writer, index, what));
    struct object *object = &writer->model->objects[result];
    object->interarrival_ns = queue->interarrival_ns;
    object->arrivals = queue->arrivals;
    if (queue->is_own)
        object->dealt_to = writer->in->pools->pool_of[writer->thread]; /* which takes from it */
    object->item_kind = queue->is_returned_to ? FROM_OUTSIDE : 0;
    object->returned_first = queue->returned_first;
    object->connects = queue->connects;
    object->request_bytes = queue->request_bytes;
    object->reply_bytes = queue->reply_bytes;
    object->evidence = queue->evidence;
    object->gaps = queue->gaps;
    object->n_gaps = queue->n_gaps;
    queue->gaps = NULL;
    queue->n_gaps = 0;
    queue->interarrival_ns = queue->request_bytes = queue->reply_bytes = (struct dist){0};
    queue->evidence = NULL;
    return result;
}

int objects_items(struct writer *writer, int index) {
    struct outside_queue *outside = outside_queue(writer, index);
    if (writer->object_of[index] == UNDECIDED && outside)
        writer->object_of[index] = write_outside_queue(writer, index, outside);
    if (writer->object_of[index] == UNDECIDED) {
        const struct polling_queue *queue = &writer->polling.queues[index];
        int result =
            model_add_object(writer->model, OBJECT_QUEUE, objects_name(writer, index, "queue"));
        struct object *object = &writer->model->objects[result];
        object->bounded = queue->capacity > 0;
        if (object->bounded)
            object->amount = model_builder_constant(queue->capacity);
        object->initial_items = queue->initial;
        object->spins = queue->spins;
        object->handed = writer->in->sections->objects[index].origin == ORIGIN_MAILBOX;
        object->evidence = memory_format("as its calls say: %.0f put, %.0f taken, at most %.0f at "
                                         "once, %.0f attempts in vain%s",
                                         queue->puts, queue->gets, queue->most, queue->failures,
                                         queue->spins ? "; waiting burns CPU" : "");
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

int objects_item_kind(const struct writer *writer, int index, const struct trace_record *record) {
    const struct outside_queue *queue = outside_queue(writer, index);
    if (!queue || !queue->is_returned_to)
        return 0;
    return record->value == OUTSIDE_RETURNED ? FROM_HELPERS : FROM_OUTSIDE;
}

int objects_event(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED) {
        int result =
            model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, "event"));
        writer->model->objects[result].spins = writer->in->sections->objects[index].spins;
        writer->model->objects[result].evidence =
            memory_strdup("happens once and stays, by the user's or the source's word");
        writer->object_of[index] = result;
    }
    return writer->object_of[index];
}

int objects_share(struct writer *writer, const struct trace_record *record) {
    int object = map_get(&writer->share_of, record->object, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    char *place = source_place(writer->in->trace, record->context);
    object = model_add_object(writer->model, OBJECT_TOKENS,
                              memory_format("work shared by the team, %s", place));
    free(place);
    writer->model->objects[object].evidence =
        memory_strdup("handed out by libgomp: each region gets as much as on average");
    map_put(&writer->share_of, record->object, object);
    return object;
}
