#include "modelgen/lower/lower.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/lower/job_classes.h"
#include "modelgen/lower/lock_preference.h"
#include "modelgen/lower/lower_calls.h"
#include "modelgen/lower/lower_later.h"
#include "modelgen/lower/lower_locks.h"
#include "modelgen/lower/lower_sections.h"
#include "modelgen/lower/object_selection.h"
#include "modelgen/lower/self_scheduled_loops.h"
#include "modelgen/lower/wake_policy.h"
#include "modelgen/threads/alive_limit.h"

/* ---- what is known before the first step is written ---- */

/* Which queues bring the busiest pool its tasks. */
static void find_task_queues(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    const struct monitors *monitors = writer->in->monitors;
    writer->feeds_tasks = memory_alloc(monitors->explanations.count, sizeof(bool));
    for (size_t s = 0; s < sections->n_sections; s++) {
        int pool = writer->in->pools->pool_of[sections->sections[s].thread];
        for (struct explanation *e = NULL;
             pool == writer->task_pool && (e = explanation_next(monitors, BY_COUNTER, e));)
            writer->feeds_tasks[explanation_index(monitors, e)] |=
                e->counter.waits[monitors->class_of[s]];
    }
}

/* Who uses each object: is_shared, is_multiplied. */
static void find_users(struct writer *writer) {
    const struct lower_input *in = writer->in;
    int *user = memory_alloc(in->sections->n_objects, sizeof *user); /* + 1 */
    for (size_t t = 0; t < in->trace->n_threads; t++) {
        const struct trace_thread *thread = &in->trace->threads[t];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            int object = sections_object(in->sections, at.event);
            enum api_op op = trace_op(at.event);
            if (object < 0 || op == OP_INIT || op == OP_DESTROY)
                continue;
            writer->is_shared[object] |= user[object] > 0 && user[object] != (int)t + 1;
            writer->is_multiplied[object] |= in->pools->pools[in->pools->pool_of[t]].scales;
            user[object] = (int)t + 1;
        }
    }
    free(user);
}

/* Per thread and record, the section that it ends; -1: none. */
static int **find_unlocks(const struct trace *trace, const struct sections *sections) {
    int **section_of = memory_alloc(trace->n_threads, sizeof *section_of);
    for (size_t t = 0; t < trace->n_threads; t++) {
        section_of[t] = memory_alloc(trace->threads[t].n_records, sizeof **section_of);
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            section_of[t][r] = -1;
    }
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (!section->cut)
            section_of[section->thread][section->unlock_record] = (int)s;
    }
    return section_of;
}

/* What is special about each guard's items, and how they are told of. */
static void look_at_guards(struct writer *writer) {
    const struct lower_input *in = writer->in;
    size_t n = in->monitors->explanations.count;
    writer->self_feeding = memory_alloc(n + 1, sizeof *writer->self_feeding);
    writer->scatter = memory_alloc(n + 1, sizeof *writer->scatter);
    writer->when_empty = memory_alloc(n + 1, sizeof *writer->when_empty);
    for (size_t g = 0; g < n; g++) {
        writer->self_feeding[g] = self_feeding_queue_total(in, &writer->poison_pills, g);
        writer->scatter[g] = scatter_of(in, &writer->poison_pills, g);
        writer->when_empty[g] =
            wake_policy_when_empty(writer, &in->monitors->explanations.items[g]);
    }
}

static bool are_tasks_marked(const struct trace *trace) {
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (at.event->api == ROLE_task_begin)
            return true;
    return false;
}

/* Looks over the whole trace. Which loops' rounds are work is left to self_scheduled_loops_find().
 */
static struct writer begin_writer(const struct lower_input *in, struct model *model) {
    size_t n_objects = in->sections->n_objects, n_pools = in->pools->n_pools;
    struct writer writer = {.in = in, .model = model};
    writer.object_of = memory_alloc(n_objects, sizeof *writer.object_of);
    for (size_t o = 0; o < n_objects; o++)
        writer.object_of[o] = UNDECIDED;
    writer.is_shared = memory_alloc(n_objects, sizeof(bool));
    writer.is_multiplied = memory_alloc(n_objects, sizeof(bool));
    writer.is_flag = memory_alloc(n_objects, sizeof(bool));
    writer.is_met_at = memory_alloc(n_objects, sizeof(bool));
    writer.writers_first = lock_preference_writers_first(in->trace, in->sections);
    writer.created = memory_alloc(n_pools, sizeof(int));
    writer.joined = memory_alloc(n_pools, sizeof(int));
    writer.join_standing = memory_alloc(n_pools, sizeof(int));
    writer.creation = memory_alloc(n_pools, sizeof(size_t));
    for (size_t t = 0; t < in->trace->n_threads; t++)
        writer.life_ns += (double)(in->trace->threads[t].end_ns - in->trace->threads[t].start_ns);
    for (size_t p = 0; p < n_pools; p++)
        if (in->pools->pools[p].cpu_ns > in->pools->pools[writer.task_pool].cpu_ns)
            writer.task_pool = (int)p;
    if (in->outside && in->outside->n > 0)
        writer.task_pool = MODEL_NONE; /* what comes from outside is the work */
    if (are_tasks_marked(in->trace))
        writer.task_pool = MODEL_NONE; /* the user says what the work is */
    find_users(&writer);
    writer.section_of_unlock = find_unlocks(in->trace, in->sections);
    writer.is_instance = lock_instances_find(in->sections, writer.life_ns, model);
    writer.polling =
        polling_queues_find(in->trace, in->sections, in->pools->pool_of, writer.task_pool);
    writer.poison_pills = poison_pills_find(in);
    look_at_guards(&writer);
    writer.streams = request_streams_find(in->disks, in->commits, in->places);
    writer.later.object = MODEL_NONE;
    lower_later_find(&writer);
    lower_calls_choose_sites(&writer);
    objects_find_flags(&writer);
    objects_find_meetings(&writer);
    find_task_queues(&writer);
    return writer;
}

/* Frees what the writer owns, but the steps and what became of the objects, which others get. */
static void end_writer(struct writer *writer) {
    for (size_t t = 0; t < writer->in->trace->n_threads; t++)
        free(writer->section_of_unlock[t]);
    free(writer->section_of_unlock);
    free(writer->is_shared);
    free(writer->is_multiplied);
    free(writer->is_instance);
    free(writer->is_met_at);
    free(writer->writers_first);
    free(writer->works.items);
    free(writer->created);
    free(writer->joined);
    free(writer->join_standing);
    free(writer->creation);
    free(writer->feeds_tasks);
    polling_queues_free(&writer->polling);
    poison_pills_free(&writer->poison_pills);
    free(writer->self_feeding);
    free(writer->scatter);
    free(writer->when_empty);
    map_free(&writer->kept_sites);
    map_free(&writer->share_of);
    map_free(&writer->device_of_site);
    map_free(&writer->disk_of);
    map_free(&writer->journal_of);
    request_streams_free(&writer->streams);
}

/* ---- the steps ---- */

/* A call that puts or takes what ends a thread: true. The first such put closes, and who takes one
 * finds that there is no more. */
static bool write_poison_pill(struct writer *writer, size_t index,
                              const struct trace_record *record, int sync_object) {
    enum poison_pill poison_pill =
        poison_pills_of_call(&writer->poison_pills, writer->thread, index);
    if (poison_pill == POISON_PILL_NONE || poison_pill == POISON_PILL_OTHER)
        return poison_pill == POISON_PILL_OTHER;
    bool tokens = api_catalog[record->api].object == ON_SEMAPHORE;
    enum node_kind taking = tokens ? NODE_ACQUIRE : NODE_GET;
    uint64_t end = trace_end_ns(record);
    struct step *step =
        writer_add_step(writer, poison_pill == POISON_PILL_TAKEN ? taking : NODE_CLOSE, index,
                        record->start_ns, end);
    step->use.object =
        tokens ? objects_semaphore(writer, sync_object) : objects_items(writer, sync_object);
    if (poison_pill == POISON_PILL_TAKEN) {
        step->outcome = OUTCOME_NO;
        writer_mark_task(writer, index, end, step);
    }
    return true;
}

/* Calls that become one step on one object, whatever the thread is in. */
struct plain_call {
    int (*object_of)(struct writer *writer, int sync_object);
    enum node_kind kind;
    bool tries;
};

static const struct plain_call plain_calls[] = {
    [OP_BARRIER] = {objects_barrier, NODE_BARRIER, false},
    [OP_ACQUIRE] = {objects_semaphore, NODE_ACQUIRE, false},
    [OP_TIMEDACQUIRE] = {objects_semaphore, NODE_ACQUIRE, false},
    [OP_TRYACQUIRE] = {objects_semaphore, NODE_ACQUIRE, true},
    [OP_RELEASE] = {objects_semaphore, NODE_RELEASE, false},
    [OP_RDLOCK] = {objects_lock, NODE_RDLOCK, false},
    [OP_TIMEDRDLOCK] = {objects_lock, NODE_RDLOCK, false},
    [OP_TRYRDLOCK] = {objects_lock, NODE_RDLOCK, true},
    [OP_WRLOCK] = {objects_lock, NODE_WRLOCK, false},
    [OP_TIMEDWRLOCK] = {objects_lock, NODE_WRLOCK, false},
    [OP_TRYWRLOCK] = {objects_lock, NODE_WRLOCK, true},
    [OP_RWUNLOCK] = {objects_lock, NODE_RWUNLOCK, false},
};

/* True: the record was such a call. */
static bool write_plain_call(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    enum api_op op = trace_op(record);
    if (op >= sizeof plain_calls / sizeof *plain_calls || !plain_calls[op].object_of)
        return false;
    const struct plain_call *call = &plain_calls[op];
    writer_add_call(writer, index, record, call->object_of(writer, sync_object), call->kind,
                    call->tries);
    return true;
}

/* A team is given what its threads share out among them. */
static void write_fork(struct writer *writer, size_t index, const struct trace_record *record) {
    if (record->value <= 0)
        return;
    int share = objects_share(writer, record);
    struct step *step =
        writer_add_step(writer, NODE_RELEASE, index, record->start_ns, trace_end_ns(record));
    step->use.object = share;
    step->use.amount.count = record->value;
}

static void write_task_mark(struct writer *writer, size_t index, const struct trace_record *record,
                            enum node_kind kind) {
    writer_add_step(writer, kind, index, record->start_ns, record->start_ns);
}

static void write_record(struct writer *writer, size_t index, const struct trace_record *record) {
    if (record->api == ROLE_task_end) {
        write_task_mark(writer, index, record, NODE_TASK_END);
        return;
    }
    if (record->api == ROLE_task_begin) {
        write_task_mark(writer, index, record, NODE_TASK_BEGIN);
        return;
    }
    if (record->api == ROLE_idle) {
        lower_calls_idle(writer, index, record);
        return;
    }
    int object = sections_object(writer->in->sections, record);
    if (write_poison_pill(writer, index, record, object) ||
        lower_calls_named(writer, index, record, object) ||
        write_plain_call(writer, index, record, object))
        return;
    switch (trace_op(record)) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        lower_locks_lock(writer, index, record, object);
        break;
    case OP_UNLOCK:
        lower_locks_unlock(writer, index, record, object);
        break;
    case OP_WAIT:
    case OP_TIMEDWAIT:
        lower_locks_wait(writer, index, record, object);
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        lower_locks_signal(writer, index, record, object);
        break;
    case OP_FORK:
        write_fork(writer, index, record);
        break;
    case OP_FIRST_TAKE:
    case OP_TAKE:
        writer_add_call(writer, index, record, objects_share(writer, record), NODE_ACQUIRE, true);
        break;
    case OP_CREATE:
        lower_calls_of_threads(writer, index, record, NODE_CREATE);
        break;
    case OP_JOIN:
        lower_calls_of_threads(writer, index, record, NODE_JOIN);
        break;
    default:
        lower_calls_timed(writer, index, record);
        break;
    }
}

/* A thread that the program's end stopped in the middle of a round, between what it had taken from
 * a queue and the next: it has not left the loop, there was nothing more to be done. The round is
 * taken for the one that finds nothing. */
static void cut_last_round(struct writer *writer) {
    struct step_list *list = &writer->list;
    size_t last = 0, round = 0; /* the last one's first step; steps of the one before */
    for (size_t s = 0; s < list->count; s++)
        if ((list->items[s].kind == NODE_GET || list->items[s].kind == NODE_STATEMENTS) &&
            list->items[s].outcome == OUTCOME_YES) {
            bool again = s > 0 && list->items[last].context == list->items[s].context;
            round = again ? s - last : 0;
            last = s;
        }
    if (list->count - last > round)
        return; /* it had been elsewhere since */
    list->items[last].outcome = OUTCOME_NO;
    for (size_t s = last + 1; s < list->count; s++)
        writer->last_step_record -= list->items[s].records; /* they count for the end */
    list->count = last + 1;
    writer->in_task = false;
}

/* The program's end may stop a thread before it gives the permit back by which it lives. One that
 * keeps its permit would leave one less to all that follow in the simulated run. */
static void give_permit_back(struct writer *writer, const struct trace_thread *thread) {
    int p = writer->in->pools->pool_of[writer->thread];
    uint64_t limit = writer->in->pools->pools[p].limit;
    if (!limit || alive_limit_is_given_back(thread, limit))
        return;
    for (size_t o = 0; o < writer->model->n_objects; o++) {
        const struct linear *amount = &writer->model->objects[o].amount;
        if (amount->n_terms != 1 || amount->terms[0].pool != p)
            continue;
        writer_add_step(writer, NODE_RELEASE, thread->n_records, thread->end_ns, thread->end_ns)
            ->use.object = (int)o;
        return;
    }
}

/* Another process begins when the one that starts it says so, which no recorded call shows: it
 * waits for as long as it did. Not where it serves: a server's start is no part of its work. */
static void wait_for_process(struct writer *writer, const struct trace_thread *thread) {
    const struct outside_queues *outside = writer->in->outside;
    uint64_t begin_ns = writer->in->trace->threads[0].start_ns;
    if (thread->creator >= 0 || thread->start_ns <= begin_ns || (outside && outside->n > 0))
        return;
    writer_add_step(writer, NODE_SLEEP, thread->n_records, thread->start_ns, thread->start_ns)
        ->time.wait_ns = (double)(thread->start_ns - begin_ns);
}

static void write_thread(struct writer *writer, size_t t) {
    const struct trace_thread *thread = &writer->in->trace->threads[t];
    writer->thread = t;
    writer->held = writer->phase = 0;
    writer->list = (struct step_list){0};
    writer->last_step_record = 0;
    writer->n_open = 0;
    writer->in_task = false;
    writer->retrying = writer->succeeded = false;
    writer->pending_work = -1;
    writer->last_round_end = 0;
    writer_add_step(writer, NODE_START, thread->n_records, thread->start_ns, thread->start_ns);
    wait_for_process(writer, thread);
    lower_sections_first_draws(writer, thread->start_ns);
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        write_record(writer, at.number, at.event);
        lower_sections_draws_after(writer, at.number, at.event);
        lower_calls_known_close(writer, at.number, at.event);
        self_scheduled_loops_decide_after(writer, at.number);
        self_scheduled_loops_enter(writer, at.number, at.event);
    }
    writer->n_open = 0; /* the program ended in them */
    if (!thread->end_seen && thread->creator >= 0)
        cut_last_round(writer);
    give_permit_back(writer, thread);
    if (writer->in_task)
        writer_add_step(writer, NODE_TASK_END, thread->n_records, thread->end_ns, thread->end_ns);
    struct step *end =
        writer_add_step(writer, NODE_END, thread->n_records, thread->end_ns, thread->end_ns);
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
static void note_answers(const struct lower_input *input, const struct stream *stream,
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

struct stream_result lower_make(const struct lower_input *input, struct model *model,
                                struct lowered_objects *objects) {
    size_t n_loops = input->facts ? input->facts->n_loops : 0;
    size_t n_pools = input->pools->n_pools;
    struct stream_result result = {
        .streams = memory_alloc(input->trace->n_threads, sizeof *result.streams),
        .n_pools = n_pools,
        .loop_is_tokens = memory_alloc(n_pools, sizeof *result.loop_is_tokens),
        .loop_has_answer = memory_alloc(n_loops, sizeof(bool))};
    for (size_t p = 0; p < n_pools; p++)
        result.loop_is_tokens[p] = memory_alloc(n_loops, sizeof(bool));
    struct writer writer = begin_writer(input, model);
    self_scheduled_loops_find(&writer, result.loop_is_tokens);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        write_thread(&writer, t);
        result.streams[t] = (struct stream){writer.list.count, writer.list.items};
        note_answers(input, &result.streams[t], result.loop_has_answer);
    }
    job_classes_find(input, model, result.streams);
    *objects = (struct lowered_objects){writer.object_of, writer.is_flag};
    end_writer(&writer);
    return result;
}

void lowered_objects_free(struct lowered_objects *objects) {
    free(objects->object_of);
    free(objects->is_flag);
}
