#include "modelgen/report/descriptor_waits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

static bool is_on_descriptor(const struct trace_record *record) {
    enum api_object object = api_catalog[record->api].object;
    switch (trace_op(record)) {
    case OP_READ:
    case OP_WRITE:
    case OP_SEND:
    case OP_RECEIVE:
    case OP_ACCEPT:
    case OP_POLL:
        return object == ON_FILE || object == ON_SOCKET || trace_op(record) == OP_POLL;
    default:
        return false;
    }
}

/* How long the thread was off its cores in the call until another one of the program woke it. */
static double woken_wait_ns(const struct trace_thread *thread, const struct trace_record *record) {
    uint64_t end_ns = trace_end_ns(record);
    double wait_ns = 0;
    for (size_t s = trace_slice_after(thread, record->start_ns);
         s + 1 < thread->n_slices && thread->slices[s].off_ns < end_ns; s++) {
        const struct trace_slice *before = &thread->slices[s], *after = before + 1;
        if (!before->preempted && after->waker > 0 && after->wake_ns > before->off_ns &&
            after->wake_ns <= end_ns)
            wait_ns += (double)(after->wake_ns - before->off_ns);
    }
    return wait_ns;
}

void descriptor_waits_tell(const struct trace *trace, struct model *model) {
    if (!trace->meta.has_wakers)
        return;
    double wait_ns = 0, life_ns = 0, longest_ns = 0;
    const struct trace_record *longest = NULL;
    for (size_t t = 0; t < trace->n_threads; t++)
        life_ns += (double)(trace->threads[t].end_ns - trace->threads[t].start_ns);
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (!is_on_descriptor(at.event))
            continue;
        double ns = woken_wait_ns(&trace->threads[at.thread], at.event);
        wait_ns += ns;
        if (ns > longest_ns) {
            longest_ns = ns;
            longest = at.event;
        }
    }
    if (!longest || wait_ns < evidence.matters * life_ns)
        return;
    char *place = source_place(trace, longest->context);
    free(model->unpredicted);
    model->unpredicted =
        memory_format("its threads wait for each other in calls such as %s at %s for %.0f %% of "
                      "their time, by descriptors that are no queue in the model: how long with "
                      "other threads or cores is not known",
                      api_catalog[longest->api].name, place, 100 * wait_ns / life_ns);
    free(place);
    notes_add(model, "%s", model->unpredicted);
}
