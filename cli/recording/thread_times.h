/* How long each thread of a running program was on a core, and how long it was ready without having
 * one: the scheduler's own counts, /proc/PID/task/TID/schedstat, looked at again and again because
 * they end with the thread. */
#ifndef PERSIK_CLI_RECORDING_THREAD_TIMES_H
#define PERSIK_CLI_RECORDING_THREAD_TIMES_H

#include <stdint.h>
#include <sys/types.h>

struct thread_times {
    uint64_t cpu_ns;         /* of all threads, as far as was seen */
    uint64_t longest_cpu_ns; /* of the one that had most */
    uint64_t delay_ns;       /* ready without having a core, all threads together */
};

struct thread_watch;

/* Looks at the process, at most a hundredth of the time, until thread_watch_stop(). NULL: there is
 * no room for the thread that looks. */
struct thread_watch *thread_watch_start(pid_t process);

/* What was seen, with a last look: best while the process can be waited for still. Of NULL nothing.
 * Frees it. */
struct thread_times thread_watch_stop(struct thread_watch *watch);

/* delay_ns, whole, of a program that used `cpu_ns`: what was not seen of its threads' lives counts
 * as the rest. Negative: too little of it was seen. */
double thread_times_delay_ns(const struct thread_times *times, uint64_t cpu_ns);

#endif
