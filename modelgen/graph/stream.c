#include "modelgen/graph/stream.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/item_kinds.h"
#include "modelgen/graph/lock_steps.h"
#include "modelgen/graph/named_steps.h"
#include "modelgen/graph/objects.h"
#include "modelgen/graph/prepare.h"
#include "modelgen/graph/section_steps.h"
#include "modelgen/graph/shares.h"
#include "modelgen/graph/thread_steps.h"
#include "modelgen/graph/timed_steps.h"
#include "modelgen/graph/work.h"
#include "modelgen/graph/work_steps.h"
#include "modelgen/scaling/source.h"

/* A call that puts or takes what ends a thread: true. The first such put closes, and who takes one
 * finds that there is no more. */
static bool write_farewell(struct writer *writer, size_t index, const struct trace_record *record,
                           int sync_object) {
    enum farewell farewell = farewells_of_call(&writer->farewells, writer->thread, index);
    if (farewell == FAREWELL_NONE || farewell == FAREWELL_OTHER)
        return farewell == FAREWELL_OTHER;
    bool tokens = api_catalog[record->api].object == ON_SEMAPHORE;
    enum node_kind taking = tokens ? NODE_ACQUIRE : NODE_GET;
    uint64_t end = trace_end_ns(record);
    struct step *step = writer_add_step(writer, farewell == FAREWELL_TAKEN ? taking : NODE_CLOSE,
                                        index, record->start_ns, end);
    step->object =
        tokens ? objects_semaphore(writer, sync_object) : objects_items(writer, sync_object);
    if (farewell == FAREWELL_TAKEN) {
        step->outcome = OUTCOME_NO;
        writer_mark_task(writer, index, end, step);
    }
    return true;
}

static void write_record(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    int object = sections_object(writer->in->sections, record);
    uint64_t end = trace_end_ns(record);
    if (write_farewell(writer, index, record, object) ||
        named_steps_write(writer, index, record, object))
        return;
    switch (info->op) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        lock_steps_lock(writer, index, record, object);
        break;
    case OP_UNLOCK:
        lock_steps_unlock(writer, index, record, object);
        break;
    case OP_WAIT:
    case OP_TIMEDWAIT:
        lock_steps_wait(writer, index, record, object);
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        lock_steps_signal(writer, index, record, object);
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
        thread_steps_write(writer, index, record, NODE_CREATE);
        break;
    case OP_JOIN:
        thread_steps_write(writer, index, record, NODE_JOIN);
        break;
    default:
        timed_steps_write(writer, index, record);
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
    section_steps_first_draws(writer, thread->start_ns);
    for (size_t r = 0; r < thread->n_records; r++) {
        write_record(writer, r, &thread->records[r]);
        section_steps_draws_after(writer, r, &thread->records[r]);
        named_steps_known_close(writer, r, &thread->records[r]);
        work_steps_after(writer, r);
        work_steps_entrance(writer, r, &thread->records[r]);
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
    size_t n_pools = input->pools->n_pools;
    struct stream_result result = {
        .streams = memory_alloc(input->trace->n_threads, sizeof *result.streams),
        .n_pools = n_pools,
        .loop_is_tokens = memory_alloc(n_pools, sizeof *result.loop_is_tokens),
        .loop_has_answer = memory_alloc(n_loops, sizeof(bool))};
    for (size_t p = 0; p < n_pools; p++)
        result.loop_is_tokens[p] = memory_alloc(n_loops, sizeof(bool));
    struct writer writer = {.in = input, .model = model};
    prepare_writer(&writer);
    work_find(&writer, result.loop_is_tokens);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        write_thread(&writer, t);
        result.streams[t] = (struct stream){writer.list.count, writer.list.items};
        note_answers(input, &result.streams[t], result.loop_has_answer);
    }
    item_kinds_find(input, model, result.streams);
    shares_write(input, writer.object_of, writer.is_flag, model);
    prepare_free(&writer);
    return result;
}

void streams_free(struct stream_result *result, size_t n_threads) {
    for (size_t t = 0; t < n_threads; t++)
        free(result->streams[t].steps);
    free(result->streams);
    for (size_t p = 0; p < result->n_pools; p++)
        free(result->loop_is_tokens[p]);
    free(result->loop_is_tokens);
    free(result->loop_has_answer);
}
