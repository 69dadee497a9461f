#include "tracer/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for some 100,000 switches, a second of a program that does nothing else. */
#define SWITCH_RING_BYTES (4u << 20)
#define WAKING_RING_BYTES (4u << 20)

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
    if (kind == SCHED_BORN)
        map_put(&sched->threads, body.tid, 1);
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

static void handle_waking(const struct perf_event_header *record, void *context) {
    struct sched *sched = context;
    sched->lost += recorder_lost(record);
    if (record->type != PERF_RECORD_SAMPLE)
        return;
    struct recorder_sample sample = recorder_sample(record);
    uint32_t tid = (uint32_t)tracepoint_value(sample.data, sample.bytes, sched->woken);
    if (map_get(&sched->threads, tid, 0)) /* its birth came through a ring emptied before ours */
        add(sched, SCHED_WAKING, sample.stamp.mono_ns, tid, sample.stamp.cpu);
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

/* A wake-up happens in the context of the waker, often an interrupt, so only an event of the whole
 * machine sees them all. It is also cheaper for the program than one attached to its threads, which
 * the kernel has to move along at each of their switches. */
static int add_waking(struct sched *sched, struct recorder *recorder) {
    struct tracepoint waking;
    int cause = tracepoint_open(&waking, "sched", "sched_waking");
    if (cause)
        return cause;
    sched->woken = tracepoint_field(&waking, "pid");
    struct perf_event_attr attributes;
    recorder_attributes(&attributes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = waking.id;
    attributes.sample_type |= PERF_SAMPLE_RAW;
    attributes.sample_period = 1;
    tracepoint_close(&waking);
    if (sched->woken.size == 0)
        return ENOTSUP;
    return recorder_add(recorder, attributes, -1, WAKING_RING_BYTES, handle_waking, sched);
}

void sched_attach(struct sched *sched, struct recorder *recorder, pid_t pid, struct lacks *lacks) {
    map_put(&sched->threads, (uint64_t)pid, 1);
    attach_switches(sched, recorder, pid, lacks);
    if (!sched->has_switches)
        return;
    int cause = add_waking(sched, recorder);
    sched->has_wakes = cause == 0;
    if (cause == EACCES || cause == EPERM)
        lacks_add(lacks, "wake-up times: only root may see them");
    else if (cause)
        lacks_add(lacks, "wake-up times: %s", strerror(cause));
}

void sched_free(struct sched *sched) {
    free(sched->events.items);
    map_free(&sched->threads);
    *sched = (struct sched){0};
}
