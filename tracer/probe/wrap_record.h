/* What the fast and the slow way through a wrapped function share (wrap.h). */
#ifndef PERSIK_PROBE_WRAP_RECORD_H
#define PERSIK_PROBE_WRAP_RECORD_H

#include "formats/user_catalog.h"
#include "tracer/probe/wrap.h"

_Static_assert(offsetof(struct wrap_frame, rax) == WRAP_RAX &&
                   offsetof(struct wrap_frame, r10) == WRAP_R10 &&
                   offsetof(struct wrap_frame, index) == WRAP_INDEX &&
                   offsetof(struct wrap_frame, real) == WRAP_REAL &&
                   offsetof(struct wrap_frame, result) == WRAP_RESULT &&
                   offsetof(struct wrap_frame, stack_bytes) == WRAP_STACK_BYTES &&
                   sizeof(struct wrap_frame) <= WRAP_FRAME_BYTES && WRAP_FRAME_BYTES % 16 == 0,
               "as processor/x86_64/probe/wrap.S has it");

#define WRAP_MAGIC 0x7065727369b77261ull

/* The return address lies above the frame and the saved frame pointer. */
static inline uint64_t wrap_return_place(const struct wrap_frame *frame) {
    return (uint64_t)frame + WRAP_FRAME_BYTES + sizeof(uint64_t);
}

static inline struct probe_site wrap_site(const struct wrap_frame *frame) {
    uint64_t place = wrap_return_place(frame);
    return (struct probe_site){*(const uint64_t *)place, place + sizeof(uint64_t)};
}

static inline bool wrap_on_own_stack(const struct wrap_frame *frame) {
    uint64_t at = (uint64_t)frame;
    return at > probe_thread.stack_low && at + WRAP_FRAME_BYTES < probe_thread.stack_high;
}

/* Is the quiet function that the thread entered still there? longjmp, exceptions and the end of a
 * thread leave it without a word. Then either the stack is above it, or something else lies where
 * its frame was. */
static inline bool wrap_frame_stands(void) {
    uint64_t inside = probe_thread.inside;
    if (inside == 0 || (uint64_t)__builtin_frame_address(0) > inside)
        return false;
    if (inside & 1)
        return *(const uint64_t *)(inside & ~1ull) == probe_thread.inside_caller;
    const struct wrap_frame *frame = (const struct wrap_frame *)inside;
    return frame->magic == (inside ^ WRAP_MAGIC) &&
           *(const uint64_t *)wrap_return_place(frame) == probe_thread.inside_caller;
}

static inline int64_t wrap_amount(const struct wrap_frame *frame, const struct wrap *wrap) {
    if (wrap->amount_source == USER_ARGUMENT)
        return (int32_t)frame->arguments[wrap->amount_number];
    return wrap->amount_source == USER_NUMBER ? wrap->amount_number : 0;
}

static inline uint64_t wrap_object(const struct wrap_frame *frame, const struct wrap *wrap) {
    if (wrap->object_source == USER_ARGUMENT)
        return frame->arguments[wrap->object_number];
    return wrap->object_source == USER_NAME ? (uint64_t)wrap->object_number : RAW_NO_OBJECT;
}

/* Makes the frame one to return to. `record` NULL: lost, or none wanted. */
static inline void wrap_start(struct wrap_frame *frame, const struct wrap *wrap,
                              struct raw_record *record, uint32_t context) {
    uint64_t arguments_at = wrap_return_place(frame) + sizeof(uint64_t);
    uint64_t above = (probe_thread.stack_high - arguments_at) & ~15ull;
    frame->stack_bytes = above < RAW_WRAP_STACK_BYTES ? above : RAW_WRAP_STACK_BYTES;
    frame->quiet = wrap->quiet;
    frame->amount = wrap_amount(frame, wrap);
    frame->call = (struct probe_call){.record = record};
    if (wrap->quiet) {
        frame->magic = (uint64_t)frame ^ WRAP_MAGIC;
        probe_thread.inside_caller = *(const uint64_t *)wrap_return_place(frame);
        probe_thread.inside_end = probe_thread.end;
        probe_thread.inside = (uint64_t)frame;
        probe_thread.end = 0;
    }
    if (record == NULL)
        return;
    frame->call.chunk_number = probe_thread.chunk_number;
    frame->call.object = wrap_object(frame, wrap);
    frame->call.start = clock_before();
    probe_store(record, frame->call.start, (enum api)wrap->api, frame->call.object,
                wrap->flags | TRACE_UNFINISHED, context, 0);
}

static inline void wrap_stop_quiet(struct wrap_frame *frame) {
    frame->magic = 0;
    if (probe_thread.inside != (uint64_t)frame)
        return; /* none, or a child of fork goes on here */
    probe_thread.inside = 0;
    probe_thread.end = probe_thread.inside_end;
}

/* What is known only after the call. */
static inline void wrap_complete(const struct wrap_frame *frame, struct raw_record *record,
                                 uint64_t duration) {
    const struct wrap *wrap = &wraps[frame->index];
    bool failed = user_result_fails((enum user_failure)wrap->fails, frame->result[0]);
    if (wrap->object_source == USER_RESULT)
        record->object = frame->result[0] & RAW_NO_OBJECT;
    record->value = wrap->amount_source != USER_NOTHING ? (int32_t)frame->amount : failed;
    record->duration = duration;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    record->flags = (uint16_t)(wrap->flags | (failed ? TRACE_FAILED : 0));
}

#endif
