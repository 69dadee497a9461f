#include "modelgen/lower/lower.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/lower/job_classes.h"
#include "modelgen/lower/lower_locks.h"
#include "modelgen/lower/lower_named_calls.h"
#include "modelgen/lower/lower_sections.h"
#include "modelgen/lower/lower_self_scheduled.h"
#include "modelgen/lower/lower_setup.h"
#include "modelgen/lower/lower_threads.h"
#include "modelgen/lower/lower_timed_calls.h"
#include "modelgen/lower/object_selection.h"
#include "modelgen/lower/self_scheduled_loops.h"
#include "modelgen/report/waiting_shares.h"

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
    step->object =
        tokens ? objects_semaphore(writer, sync_object) : objects_items(writer, sync_object);
    if (poison_pill == POISON_PILL_TAKEN) {
        step->outcome = OUTCOME_NO;
        writer_mark_task(writer, index, end, step);
    }
    return true;
}

static void write_record(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    int object = sections_object(writer->in->sections, record);
    uint64_t end = trace_end_ns(record);
    if (write_poison_pill(writer, index, record, object) ||
        lower_named_calls_write(writer, index, record, object))
        return;
    switch (info->op) {
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
    case OP_BARRIER: {
        int barrier = objects_barrier(writer, object);
        writer_add_step(writer, NODE_BARRIER, index, record->start_ns, end)->object = barrier;
        break;
    }
    case OP_ACQUIRE:
    case OP_TRYACQUIRE:
    case OP_TIMEDACQUIRE:
        writer_add_call(writer, index, record, objects_semaphore(writer, object), NODE_ACQUIRE,
                        info->op == OP_TRYACQUIRE);
        break;
    case OP_RELEASE:
        writer_add_call(writer, index, record, objects_semaphore(writer, object), NODE_RELEASE,
                        false);
        break;
    case OP_FORK:
        if (record->value > 0) {
            int share = objects_share(writer, record);
            struct step *step = writer_add_step(writer, NODE_RELEASE, index, record->start_ns, end);
            step->object = share;
            step->count = record->value;
        }
        break;
    case OP_FIRST_TAKE:
    case OP_TAKE:
        writer_add_call(writer, index, record, objects_share(writer, record), NODE_ACQUIRE, true);
        break;
    case OP_RDLOCK:
    case OP_TRYRDLOCK:
    case OP_TIMEDRDLOCK:
        writer_add_call(writer, index, record, objects_lock(writer, object), NODE_RDLOCK,
                        info->op == OP_TRYRDLOCK);
        break;
    case OP_WRLOCK:
    case OP_TRYWRLOCK:
    case OP_TIMEDWRLOCK:
        writer_add_call(writer, index, record, objects_lock(writer, object), NODE_WRLOCK,
                        info->op == OP_TRYWRLOCK);
        break;
    case OP_RWUNLOCK:
        writer_add_call(writer, index, record, objects_lock(writer, object), NODE_RWUNLOCK, false);
        break;
    case OP_CREATE:
        lower_threads_write(writer, index, record, NODE_CREATE);
        break;
    case OP_JOIN:
        lower_threads_write(writer, index, record, NODE_JOIN);
        break;
    default:
        lower_timed_calls_write(writer, index, record);
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
    writer_add_step(writer, NODE_START, thread->n_records, thread->start_ns, thread->start_ns);
    lower_sections_first_draws(writer, thread->start_ns);
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        write_record(writer, at.number, at.event);
        lower_sections_draws_after(writer, at.number, at.event);
        lower_named_calls_known_close(writer, at.number, at.event);
        lower_self_scheduled_after(writer, at.number);
        lower_self_scheduled_entrance(writer, at.number, at.event);
    }
    writer->n_open = 0; /* the program ended in them */
    if (!thread->end_seen && thread->creator >= 0)
        cut_last_round(writer);
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

struct stream_result lower_make(const struct lower_input *input, struct model *model) {
    size_t n_loops = input->facts ? input->facts->n_loops : 0;
    size_t n_pools = input->pools->n_pools;
    struct stream_result result = {
        .streams = memory_alloc(input->trace->n_threads, sizeof *result.streams),
        .n_pools = n_pools,
        .loop_is_tokens = memory_alloc(n_pools, sizeof *result.loop_is_tokens),
        .loop_has_answer = memory_alloc(n_loops, sizeof(bool))};
    for (size_t p = 0; p < n_pools; p++)
        result.loop_is_tokens[p] = memory_alloc(n_loops, sizeof(bool));
    struct writer writer = {.in = input, .model = model};
    lower_setup_begin(&writer);
    self_scheduled_loops_find(&writer, result.loop_is_tokens);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        write_thread(&writer, t);
        result.streams[t] = (struct stream){writer.list.count, writer.list.items};
        note_answers(input, &result.streams[t], result.loop_has_answer);
    }
    job_classes_find(input, model, result.streams);
    waiting_shares_write(input, writer.object_of, writer.is_flag, model);
    lower_setup_free(&writer);
    return result;
}
