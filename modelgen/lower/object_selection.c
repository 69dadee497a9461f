#include "modelgen/lower/object_selection.h"

#include <stdlib.h>

#include "base/memory.h"
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
