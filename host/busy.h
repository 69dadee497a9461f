/* How long CPUs have been busy. */
#ifndef PERSIK_HOST_BUSY_H
#define PERSIK_HOST_BUSY_H

#include <sched.h>
#include <stdint.h>

#define BUSY_TICK_NS 1e7 /* the kernel counts in these */

/* Time that the CPUs in `cpus` have been busy since the machine started, for anybody: the programs,
 * interrupts, the host's other guests. 0 when the kernel does not tell. */
uint64_t busy_ns(const cpu_set_t *cpus);

/* The part of it that the host's other guests had while somebody here wanted the CPUs. */
uint64_t busy_stolen_ns(const cpu_set_t *cpus);

/* The same from the text of /proc/stat with `ticks_hz` ticks a second; apart for tests. */
uint64_t busy_parse_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz);

#endif
