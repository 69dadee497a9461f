#include "tracer/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for some 100,000 switches, a second of a program that does nothing else. */
#define SWITCH_RING_BYTES (4u << 20)

static void add(struct sched *sched, enum sched_kind kind, uint64_t mono_ns, uint32_t tid,
                uint32_t cpu) {
    *VECTOR_ADD(&sched->events) = (struct sched_event){
        .mono_ns = mono_ns, .tid = tid, .cpu = (uint16_t)cpu, .kind = (uint16_t)kind};
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT name the thread in their body; who wrote the record, named
 * in the stamp, is the parent in the first. */
static void add_task(struct sched *sched, const struct perf_event_header *record) {
    struct {
        struct perf_event_header header;
        uint32_t pid, ppid, tid, ptid;
        uint64_t mono_ns;
    } body;
    memcpy(&body, record, sizeof body);
    enum sched_kind kind = record->type == PERF_RECORD_FORK ? SCHED_BORN : SCHED_EXIT;
    if (kind == SCHED_BORN) {
        map_put(&sched->threads, body.tid, 1);
        map_put(&sched->processes, body.tid, (int)body.pid);
    }
    add(sched, kind, body.mono_ns, body.tid, recorder_stamp(record).cpu);
}

static void handle_switch(const struct perf_event_header *record, void *context) {
    struct sched *sched = context;
    if (record->type == PERF_RECORD_SWITCH) {
        struct recorder_stamp stamp = recorder_stamp(record);
        enum sched_kind kind = SCHED_IN;
        if (record->misc & PERF_RECORD_MISC_SWITCH_OUT)
            kind = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SCHED_PREEMPTED : SCHED_OUT;
        add(sched, kind, stamp.mono_ns, stamp.tid, stamp.cpu);
    } else if (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT) {
        add_task(sched, record);
    } else {
        sched->lost += recorder_lost(record);
    }
}

static void handle_waking(const struct ftrace_event *event, void *context) {
    struct sched *sched = context;
    uint32_t tid = (uint32_t)tracepoint_value(event->data, event->bytes, sched->woken);
    if (map_get(&sched->threads, tid, 0)) /* the rings, which told its birth, are emptied first */
        add(sched, SCHED_WAKING, event->mono_ns, tid, event->cpu);
}

static void attach_switches(struct sched *sched, struct recorder *recorder, pid_t pid,
                            struct lacks *lacks) {
    struct perf_event_attr attributes;
    recorder_attributes(&attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.context_switch = 1;
    attributes.task = 1;
    attributes.inherit = 1;
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
    attributes.exclude_kernel = 1; /* all that perf_event_paranoid 2 leaves to a plain user */
    attributes.exclude_hv = 1;
    int cause = recorder_add(recorder, attributes, pid, SWITCH_RING_BYTES, handle_switch, sched);
    sched->has_switches = cause == 0;
    if (cause == EACCES || cause == EPERM)
        lacks_add(lacks, "scheduling: not permitted: set /proc/sys/kernel/perf_event_paranoid to 2 "
                         "or run as root");
    else if (cause)
        lacks_add(lacks, "scheduling: %s", strerror(cause));
}

/* A wake-up happens in the context of the waker, often an interrupt, so all of the machine's have
 * to be looked at. */
static int add_waking(struct sched *sched, struct ftrace *ftrace) {
    struct tracepoint waking;
    int cause = tracepoint_open(&waking, "sched", "sched_waking");
    if (cause)
        return cause;
    sched->woken = tracepoint_field(&waking, "pid");
    cause = sched->woken.size ? ftrace_add(ftrace, &waking, handle_waking, sched) : ENOTSUP;
    tracepoint_close(&waking);
    return cause;
}

void sched_attach(struct sched *sched, struct recorder *recorder, struct ftrace *ftrace, pid_t pid,
                  struct lacks *lacks) {
    map_put(&sched->threads, (uint64_t)pid, 1);
    attach_switches(sched, recorder, pid, lacks);
    if (!sched->has_switches)
        return;
    int cause = add_waking(sched, ftrace);
    sched->has_wakes = cause == 0;
    if (cause == EACCES || cause == EPERM)
        lacks_add(lacks, "wake-up times: only root may see them");
    else if (cause)
        lacks_add(lacks, "wake-up times: %s", tracepoint_explain(cause));
}

void sched_free(struct sched *sched) {
    free(sched->events.items);
    map_free(&sched->threads);
    map_free(&sched->processes);
    *sched = (struct sched){0};
}
