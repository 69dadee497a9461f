/* Whether other processes disturbed a measured run. */
#ifndef PERSIK_CLI_LOAD_H
#define PERSIK_CLI_LOAD_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/programs.h"

/* Time that the CPUs in `cpus` have been busy since the machine started, for anybody: the programs,
 * interrupts, the host's other guests. 0 when the kernel does not tell. */
uint64_t load_busy_ns(const cpu_set_t *cpus);

/* The same from the text of /proc/stat with `ticks_hz` ticks a second; apart for tests. */
uint64_t load_parse_busy_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz);

/* The share of the run's cores that others had. */
double load_share(const struct program_run *run, int cores);

/* Others had more than a twentieth of the run's cores, and more than the kernel's counts may be
 * wrong by. */
bool load_disturbed(const struct program_run *run, int cores);

#endif
