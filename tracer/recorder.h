/* Kernel events by perf_event_open: one event per CPU, each with a ring that one thread empties.
 *
 * The thread sleeps until a ring is a quarter full, or for a fifth of a second. It also samples the
 * timebase. Handlers run in that thread, one record at a time, in order per CPU only. */
#ifndef PERSIK_TRACER_RECORDER_H
#define PERSIK_TRACER_RECORDER_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/timebase.h"

struct recorder;

/* `record` is whole and aligned, valid during the call. */
typedef void recorder_handler(const struct perf_event_header *record, void *context);

/* Takes what another source of events has. The rings have handed over all that happened before
 * `complete_ns`, on all cores. */
typedef void recorder_drain(void *context, uint64_t complete_ns);

/* What is common to our events: CLOCK_MONOTONIC stamps, thread and CPU in every record (see
 * recorder_stamp), records and not counts. */
void recorder_attributes(struct perf_event_attr *attributes);

/* Thread, time and CPU at the end of every record. */
struct recorder_stamp {
    uint32_t pid, tid;
    uint64_t mono_ns;
    uint32_t cpu, reserved;
};

struct recorder_stamp recorder_stamp(const struct perf_event_header *record);

/* Events that a PERF_RECORD_LOST tells of; 0 for any other record. */
uint64_t recorder_lost(const struct perf_event_header *record);

struct recorder *recorder_new(struct timebase *timebase);

/* Opens the event on every online CPU for `pid` (-1: everyone). Rings of `ring_bytes` each (a power
 * of two, at least a page), less where the kernel's limit on locked memory demands it. Returns 0,
 * or the errno of the failure; then nothing is left open. Before recorder_start() only. */
int recorder_add(struct recorder *recorder, struct perf_event_attr attributes, pid_t pid,
                 size_t ring_bytes, recorder_handler *handler, void *context);

/* Has `drain` called as often as the rings are emptied, and after them. One at most. */
void recorder_add_source(struct recorder *recorder, recorder_drain *drain, void *context);

/* Starts and ends the thread. The end empties the rings once more; no handler runs after it. */
void recorder_start(struct recorder *recorder);
void recorder_stop(struct recorder *recorder);

/* Stops if needed, closes everything. */
void recorder_free(struct recorder *recorder);

#endif
