#include "tracer/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for some 100,000 switches, a second of a program that does nothing else. */
#define SWITCH_RING_BYTES (4u << 20)

/* NULL: nobody's. */
static struct unsettled_event *add(struct sched *sched, enum sched_kind kind, uint64_t mono_ns,
                                   uint32_t tid, uint32_t cpu) {
    if (tid == 0) /* a core that idles */
        return NULL;
    struct unsettled_event *added = VECTOR_ADD(&sched->unsettled);
    *added = (struct unsettled_event){
        .event = {.mono_ns = mono_ns, .tid = tid, .cpu = (uint16_t)cpu, .kind = (uint16_t)kind}};
    return added;
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT name the thread in their body. */
static void add_task(struct sched *sched, const struct perf_event_header *record) {
    struct {
        struct perf_event_header header;
        uint32_t pid, ppid, tid, ptid;
        uint64_t mono_ns;
    } body;
    memcpy(&body, record, sizeof body);
    enum sched_kind kind = record->type == PERF_RECORD_FORK ? SCHED_BORN : SCHED_EXIT;
    struct unsettled_event *added =
        add(sched, kind, body.mono_ns, body.tid, recorder_stamp(record).cpu);
    if (kind == SCHED_BORN && added) {
        added->pid = body.pid;
        added->creator = body.ptid;
    }
}

static void handle_record(const struct perf_event_header *record, void *context) {
    struct sched *sched = context;
    if (record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE) {
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
    struct unsettled_event *added = add(sched, SCHED_WAKING, event->mono_ns, tid, event->cpu);
    if (added) {
        added->event.waker = (uint32_t)event->tid;
        added->event.in_interrupt = event->in_interrupt;
    }
}

/* ---- whose events they are ---- */

/* The kernel numbers threads anew after a while, so a thread of the program's may have the number
 * of another one that ended, and the other way round. */
static void settle_birth(struct sched *sched, const struct unsettled_event *born) {
    bool is_ours = map_get(&sched->threads, born->creator, 0);
    if (is_ours)
        map_put(&sched->processes, born->event.tid, (int)born->pid);
    if (is_ours || map_get(&sched->threads, born->event.tid, 0))
        map_put(&sched->threads, born->event.tid, is_ours);
}

static void settle_event(struct sched *sched, struct sched_event event) {
    *VECTOR_ADD(&sched->events) = event;
    if (event.kind == SCHED_EXIT) /* it leaves its core a last time, which says nothing */
        map_put(&sched->threads, event.tid, 0);
}

static int compare_times(const void *left, const void *right) {
    const struct unsettled_event *a = left, *b = right;
    if (a->event.mono_ns != b->event.mono_ns)
        return a->event.mono_ns < b->event.mono_ns ? -1 : 1;
    return (a->event.kind != SCHED_BORN) - (b->event.kind != SCHED_BORN);
}

void sched_settle(struct sched *sched, uint64_t complete_ns) {
    struct unsettled_event *items = sched->unsettled.items;
    size_t n = sched->unsettled.count, kept = 0;
    if (n > 0)
        qsort(items, n, sizeof *items, compare_times);
    for (size_t i = 0; i < n; i++) {
        if (items[i].event.kind == SCHED_BORN)
            settle_birth(sched, &items[i]);
        if (items[i].event.mono_ns >= complete_ns)
            items[kept++] = items[i];
        else if (map_get(&sched->threads, items[i].event.tid, 0))
            settle_event(sched, items[i].event);
    }
    sched->unsettled.count = kept;
}

/* ---- the sources ---- */

/* Everybody's events, of which sched_settle() keeps the program's: an event that every new thread
 * inherits costs 10 us for each (Linux 6.18), as much as making the thread. Without the rights for
 * it, the inherited one. */
static int add_switches(struct sched *sched, struct recorder *recorder, pid_t pid) {
    struct perf_event_attr attributes;
    recorder_attributes(&attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.context_switch = 1;
    attributes.task = 1;
    attributes.exclude_kernel = 1; /* all that perf_event_paranoid 2 leaves to a plain user */
    attributes.exclude_hv = 1;
    if (recorder_add(recorder, attributes, -1, SWITCH_RING_BYTES, handle_record, sched) == 0)
        return 0;
    attributes.inherit = 1;
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
    return recorder_add(recorder, attributes, pid, SWITCH_RING_BYTES, handle_record, sched);
}

static void attach_switches(struct sched *sched, struct recorder *recorder, pid_t pid,
                            struct lacks *lacks) {
    int cause = add_switches(sched, recorder, pid);
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
    free(sched->unsettled.items);
    map_free(&sched->threads);
    map_free(&sched->processes);
    *sched = (struct sched){0};
}
