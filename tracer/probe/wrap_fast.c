/* The ordinary way through a wrapped function: the chain of calls is known, the chunk has room.
 *
 * Compiled without vector registers, and calling nothing: what is not ordinary is the slow forms'
 * business (wrap_slow.c). */
#pragma GCC target("general-regs-only")

#include "tracer/probe/wrap_record.h"

/* As probe_context(), or TRACE_NO_CONTEXT. */
static inline uint32_t known_context(struct probe_site site) {
    const struct probe_chain *chain = &probe_thread.chains[probe_home(site)];
    if (chain->caller != site.caller || chain->cfa != site.cfa)
        return TRACE_NO_CONTEXT;
    return probe_chain_stands(chain, site) ? chain->context : TRACE_NO_CONTEXT;
}

unsigned wrap_begin_fast(struct wrap_frame *frame) {
    const struct wrap *wrap = &wraps[frame->index];
    frame->real = wrap->real;
    if (probe_thread.end == 0 || !probe_is_awake())
        return wrap_frame_stands() ? WRAP_PASS : WRAP_SLOW;
    if (!wrap_on_own_stack(frame) ||
        probe_thread.cursor + sizeof(struct raw_record) > probe_thread.end)
        return WRAP_SLOW;
    uint32_t context = TRACE_NO_CONTEXT;
    if (wrap->api < API_COUNT) {
        context = known_context(wrap_site(frame));
        if (context == TRACE_NO_CONTEXT)
            return WRAP_SLOW;
    }
    /* Between the look at the cursor and its move a signal handler may have filled the chunk. */
    uint64_t slot = sizeof(struct raw_record);
    if (wrap->api < API_COUNT)
        __asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(probe_thread.cursor) : : "cc");
    bool has_room = wrap->api < API_COUNT && slot < probe_thread.end;
    wrap_start(frame, wrap, has_room ? (struct raw_record *)slot : NULL, context);
    return WRAP_RECORD;
}

unsigned wrap_end_fast(struct wrap_frame *frame) {
    if (frame->call.record == NULL) { /* and perhaps no clock */
        wrap_stop_quiet(frame);
        return WRAP_RECORD;
    }
    uint64_t ticks = clock_after();
    wrap_stop_quiet(frame);
    if (!probe_holds(&frame->call)) {
        frame->started = frame->call.start;
        frame->call.start = ticks - frame->call.start; /* the slow form wants the duration */
        return WRAP_SLOW;
    }
    wrap_complete(frame, frame->call.record, ticks - frame->call.start);
    return WRAP_RECORD;
}
