#include "modelgen/rewrite/private_mutex_waits.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

/* What is known of a mutex that may be a private_mutex. */
struct private_mutex {
    uint64_t shared; /* the mutex that is given up; 0: none seen yet */
    bool waits;      /* somebody has waited so */
    bool is_wrong;   /* it is used for something else */
};

struct private_mutexes {
    struct private_mutex *items;
    size_t count, capacity;
    struct map of_mutex; /* address -> index */
};

/* A section of a private_mutex: from its lock to its unlock. */
struct passage {
    size_t lock, unlock; /* records; the number of records: the program ended before */
    size_t give_up;      /* where the shared mutex is given up inside; NO_RECORD: nowhere */
    size_t wait;         /* the first wait; NO_RECORD: none */
    bool is_alike;       /* nothing else happens in it */
};

#define NO_RECORD SIZE_MAX

static bool is_wait(const struct trace_record *record) {
    return trace_is_call(record, ON_CONDITION, OP_WAIT);
}

static struct passage passage_at(const struct trace_thread *thread, size_t lock) {
    const struct trace_record *records = thread->records;
    struct passage passage = {.lock = lock, .give_up = NO_RECORD, .wait = NO_RECORD};
    size_t r = lock + 1;
    for (; r < thread->n_records; r++) {
        const struct trace_record *record = &records[r];
        if (trace_is_call(record, ON_MUTEX, OP_UNLOCK) && record->object == records[lock].object)
            break;
        if (trace_is_call(record, ON_MUTEX, OP_UNLOCK) && passage.give_up == NO_RECORD)
            passage.give_up = r;
        else if (is_wait(record) && passage.give_up != NO_RECORD)
            passage.wait = passage.wait == NO_RECORD ? r : passage.wait;
        else if (!trace_is_condition_signal(record) || passage.wait != NO_RECORD)
            return passage;
    }
    passage.unlock = r;
    passage.is_alike = r < thread->n_records ||
                       (passage.wait != NO_RECORD && records[r - 1].flags & TRACE_UNFINISHED);
    return passage;
}

/* Does the thread take the mutex again that it has given up to wait? */
static bool takes_again(const struct trace_thread *thread, const struct passage *passage) {
    if (passage->unlock == thread->n_records)
        return true;
    return passage->unlock + 1 < thread->n_records &&
           trace_is_lock(&thread->records[passage->unlock + 1]) &&
           thread->records[passage->unlock + 1].object == thread->records[passage->give_up].object;
}

static struct private_mutex *private_mutex_of(struct private_mutexes *private_mutexes,
                                              uint64_t mutex) {
    int index = map_get(&private_mutexes->of_mutex, mutex, -1);
    if (index >= 0)
        return &private_mutexes->items[index];
    map_put(&private_mutexes->of_mutex, mutex, (int)private_mutexes->count);
    struct private_mutex *added = VECTOR_ADD(private_mutexes);
    return added;
}

static void note_passage(struct private_mutexes *private_mutexes, const struct trace_thread *thread,
                         size_t lock) {
    struct private_mutex *private_mutex =
        private_mutex_of(private_mutexes, thread->records[lock].object);
    if (private_mutex->is_wrong)
        return;
    struct passage passage = passage_at(thread, lock);
    private_mutex->is_wrong = !passage.is_alike;
    if (!passage.is_alike || passage.give_up == NO_RECORD)
        return;
    uint64_t shared = thread->records[passage.give_up].object;
    private_mutex->is_wrong = private_mutex->shared && private_mutex->shared != shared;
    private_mutex->shared = shared;
    if (passage.wait == NO_RECORD)
        return;
    private_mutex->waits = true;
    private_mutex->is_wrong |= !takes_again(thread, &passage);
}

static bool is_private_mutex(const struct private_mutexes *private_mutexes, uint64_t mutex) {
    int index = map_get(&private_mutexes->of_mutex, mutex, -1);
    return index >= 0 && private_mutexes->items[index].waits &&
           !private_mutexes->items[index].is_wrong;
}

/* The wait begins when the shared mutex is given up, and ends when it is taken again. */
static void show_wait(struct event_log *log, size_t t, const struct passage *passage,
                      bool *dropped) {
    const struct trace_thread *thread = &log->trace.threads[t];
    size_t last = passage->unlock < thread->n_records ? passage->unlock + 1 : passage->unlock - 1;
    const struct trace_record *give_up = &thread->records[passage->give_up];
    uint64_t shared = give_up->object, start_ns = give_up->start_ns;
    uint64_t end_ns = trace_end_ns(&thread->records[last]);
    for (size_t r = passage->lock; r <= last; r++)
        dropped[r] = r != passage->wait && !trace_is_condition_signal(&thread->records[r]);
    struct trace_record *wait = event_log_change(log, t, passage->wait);
    wait->start_ns = start_ns;
    wait->duration_ns = end_ns - start_ns;
    wait->flags |= TRACE_WAITED;
    wait->value = trace_mutex_value(shared);
}

static void show_thread(struct event_log *log, size_t t,
                        const struct private_mutexes *private_mutexes) {
    size_t n_records = log->trace.threads[t].n_records;
    bool *dropped = memory_alloc(n_records + 1, sizeof *dropped);
    for (size_t r = 0; r < n_records; r++) {
        const struct trace_thread *thread = &log->trace.threads[t];
        if (dropped[r] || !trace_is_lock(&thread->records[r]) ||
            !is_private_mutex(private_mutexes, thread->records[r].object))
            continue;
        struct passage passage = passage_at(thread, r);
        if (passage.wait != NO_RECORD)
            show_wait(log, t, &passage, dropped);
        else
            dropped[r] = dropped[passage.unlock] = true;
    }
    event_log_drop(log, t, dropped);
    free(dropped);
}

void private_mutex_waits_as_condition_waits(struct event_log *log) {
    const struct trace *trace = &log->trace;
    struct private_mutexes private_mutexes = {.of_mutex = MAP_EMPTY};
    bool any = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (trace_is_lock(&trace->threads[t].records[r]))
                note_passage(&private_mutexes, &trace->threads[t], r);
    for (size_t i = 0; i < private_mutexes.count; i++)
        any |= private_mutexes.items[i].waits && !private_mutexes.items[i].is_wrong;
    for (size_t t = 0; any && t < trace->n_threads; t++)
        show_thread(log, t, &private_mutexes);
    map_free(&private_mutexes.of_mutex);
    free(private_mutexes.items);
}
