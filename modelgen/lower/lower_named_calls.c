#include "modelgen/lower/lower_named_calls.h"

#include "modelgen/lower/object_selection.h"

/* An object that is only made, and never used, is not among those of the sections. */
static enum object_origin origin_of(const struct writer *writer, int sync_object) {
    return sync_object < 0 ? ORIGIN_RECORDED : writer->in->sections->objects[sync_object].origin;
}

/* ---- commands that a creator gives and waits for ---- */

/* One more that is outstanding, or one less: the sum is what the creator looks at. */
static void write_command(struct writer *writer, size_t index, const struct trace_record *record,
                          int done) {
    struct trace_record completion = {.api = ROLE_release, .object = record->object};
    int object = sections_object(writer->in->sections, &completion);
    struct step *step =
        writer_add_step(writer, NODE_RELEASE, index, record->start_ns, record->start_ns);
    step->use.object = objects_semaphore(writer, object);
    step->use.amount.count = done;
}

/* Who has waited until all is done leaves it as it was. */
static void write_completion(struct writer *writer, size_t index, const struct trace_record *record,
                             int completion) {
    if (record->value == 0)
        return;
    uint64_t end = trace_end_ns(record);
    int object = objects_semaphore(writer, completion);
    writer_add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->use.object = object;
    writer_add_step(writer, NODE_RELEASE, index, end, end)->use.object = object;
}

/* True: the record was one of a creator that waits for what it gave, or of a worker that has done
 * it. */
static bool write_slot_call(struct writer *writer, size_t index, const struct trace_record *record,
                            int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object != ON_SEMAPHORE ||
        !object_origin_counts_outstanding(origin_of(writer, sync_object)))
        return false;
    if (info->op == OP_ACQUIRE)
        write_completion(writer, index, record, sync_object);
    else
        write_command(writer, index, record, record->value < 0 ? -1 : 1);
    return true;
}

/* ---- calls that the user or the source named ---- */

static void write_items(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    const struct poll *poll = polling_queues_poll(&writer->polling, writer->thread, index);
    enum api_op op = trace_op(record);
    bool takes = op == OP_GET || op == OP_TRYGET;
    /* One that never came back: nothing more came, or will come. */
    bool failed = (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0;
    uint64_t end = trace_end_ns(record);
    if (poll && poll->goes_on)
        return; /* part of the wait that the last attempt ends */
    int object = objects_items(writer, sync_object);
    bool born = !takes && !failed && writer->polling.queues[sync_object].feeds_tasks &&
                !writer_does_tasks(writer);
    if (born)
        writer_add_step(writer, NODE_TASK_BEGIN, index, record->start_ns, record->start_ns);
    if (origin_of(writer, sync_object) == ORIGIN_MAILBOX && op == OP_PUT)
        write_command(writer, index, record, -1);
    bool waits = op == OP_PUT || op == OP_GET || poll != NULL;
    struct step *step = writer_add_step(writer, takes ? NODE_GET : NODE_PUT, index,
                                        poll ? poll->start_ns : record->start_ns, end);
    step->use.object = object;
    step->use.timeout_ns = waits ? -1 : 0;
    if (op == OP_GET && api_catalog[record->api].timeout_argument >= 0)
        step->use.timeout_ns = record->value * 1e3;
    step->outcome = failed ? OUTCOME_NO : OUTCOME_YES;
    if (takes)
        writer_mark_task(writer, index, end, step);
}

/* Who waited for the event leaves it as it was. */
static void write_event(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    int event = objects_event(writer, sync_object);
    uint64_t end = trace_end_ns(record);
    if (trace_op(record) == OP_WAIT)
        writer_add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->use.object = event;
    else
        end = record->start_ns;
    writer_add_step(writer, NODE_RELEASE, index, end, end)->use.object = event;
}

/* True: the record was of a kind that only functions of the program's own have. */
static bool write_named_call(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object == ON_EVENT)
        write_event(writer, index, record, sync_object);
    else if (info->object == ON_ITEMS && info->op == OP_CLOSE)
        writer_add_call(writer, index, record, objects_items(writer, sync_object), NODE_CLOSE,
                        false);
    else if (info->object == ON_ITEMS && info->op != OP_INIT && info->op != OP_DESTROY)
        write_items(writer, index, record, sync_object);
    return info->object == ON_EVENT || info->object == ON_ITEMS;
}

bool lower_named_calls_write(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    return write_named_call(writer, index, record, sync_object) ||
           write_slot_call(writer, index, record, sync_object);
}

void lower_named_calls_known_close(struct writer *writer, size_t index,
                                   const struct trace_record *record) {
    uint64_t end = trace_end_ns(record);
    for (size_t i = 0; i < writer->polling.closed.count; i++) {
        int closed = (int)writer->polling.closed.items[i];
        const struct polling_queue *queue = &writer->polling.queues[closed];
        if (queue->closer_thread == (int)writer->thread && queue->closer_record == index)
            writer_add_step(writer, NODE_CLOSE, index, end, end)->use.object =
                objects_items(writer, closed);
    }
}
