/* Blocked threads, seen through /proc without stopping them. */
#ifndef PERSIK_SAMPLER_PROCFS_H
#define PERSIK_SAMPLER_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFS_STACK_BYTES 32768

/* Where a thread sleeps in the kernel: its user registers, as far as /proc shows them. */
struct procfs_position {
    uint64_t stack_pointer, program_counter;
    uint64_t timeslices; /* how often it has been given a CPU; equal = it has not moved since */
};

struct procfs_thread {
    pid_t tid;
    bool blocked; /* otherwise running or waiting for a CPU, and `position` is not set */
    struct procfs_position position;
};

struct procfs;

struct procfs *procfs_open(pid_t pid);

/* All threads that exist now. `*threads` is procfs's own and holds until the next call. */
size_t procfs_scan(struct procfs *procfs, const struct procfs_thread **threads);

/* Whether a thread found blocked by the last scan has stayed where it was. */
bool procfs_is_still(const struct procfs *procfs, const struct procfs_thread *thread);

/* Reads up to `bytes` of the program's memory at `address`; returns how many there were. A thread
 * is named because the main thread may have ended before the others. */
size_t procfs_read(pid_t tid, uint64_t address, void *into, size_t bytes);

void procfs_close(struct procfs *procfs);

#endif
