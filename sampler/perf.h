/* Samples of running threads, their births and ends, and execs, from the kernel's perf rings.
 *
 * One cpu-clock event per CPU, inherited by every thread of the program: the kernel copies a
 * thread's registers and the top of its stack at each sample, so the thread is never stopped. */
#ifndef PERSIK_SAMPLER_PERF_H
#define PERSIK_SAMPLER_PERF_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "processor/registers.h"

enum perf_kind { PERF_SAMPLE, PERF_THREAD_BORN, PERF_THREAD_ENDED, PERF_EXEC };

struct perf_record {
    enum perf_kind kind;
    pid_t pid, tid;
    uint64_t time_ns;           /* the kernel's clock, only for order */
    struct registers registers; /* of a sample; none known when the kernel had none */
    const unsigned char *stack; /* from the stack pointer upwards */
    size_t stack_bytes;
};

struct perf;

/* Watches `pid` from its next exec on, `rate_hz` samples per second of CPU time of each thread.
 * NULL and `error` when the kernel does not allow it. */
struct perf *perf_open(pid_t pid, double rate_hz, struct error *error);

/* What has come since the last call, oldest first. `*records` is perf's own and holds until the
 * next call. */
size_t perf_drain(struct perf *perf, const struct perf_record **records);

/* Records the kernel had to drop because the rings were full. */
uint64_t perf_lost(const struct perf *perf);

void perf_close(struct perf *perf);

#endif
