/* The slow ways through wraps, and what is known of quiet functions that a thread is in. */
#include "tracer/probe/inside.h"
#include "tracer/probe/wrap_record.h"

void wrap_forget(void) {
    probe_thread.inside = 0;
    probe_thread.end = probe_thread.inside_end;
}

bool wrap_is_inside(void) {
    if (probe_thread.inside == 0)
        return false;
    if (wrap_frame_stands())
        return true;
    wrap_forget();
    return false;
}

void wrap_lift(void) {
    if (wrap_is_inside())
        probe_thread.end = probe_thread.inside_end;
}

void wrap_lower(void) {
    if (probe_thread.inside == 0)
        return;
    probe_thread.inside_end = probe_thread.end;
    probe_thread.end = 0;
}

unsigned wrap_begin_slow(struct wrap_frame *frame) {
    const struct wrap *wrap = &wraps[frame->index];
    /* On a stack whose bounds are not known its arguments cannot be copied. */
    if (!probe_recording() || !wrap_on_own_stack(frame))
        return WRAP_PASS;
    struct raw_record *record = NULL;
    uint32_t context = TRACE_NO_CONTEXT;
    if (wrap->api < API_COUNT) {
        context = probe_context(wrap_site(frame));
        record = probe_claim();
    }
    if (probe_thread.end == 0) /* there is no chunk */
        return WRAP_PASS;
    wrap_start(frame, wrap, record, context);
    return WRAP_RECORD;
}

/* The record's chunk was filled meanwhile. */
void wrap_end_slow(struct wrap_frame *frame) {
    struct raw_record completed = {.object = frame->call.object & RAW_NO_OBJECT};
    wrap_complete(frame, &completed, frame->call.start);
    frame->call.start = frame->started;
    probe_end_late(&frame->call, completed.object, completed.duration, completed.flags,
                   completed.value);
}
