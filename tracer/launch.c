#include "tracer/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "host/core_hold.h"
#include "host/rerun.h"
#include "host/runs.h"
#include "host/served_run.h"

_Noreturn static void become_program(const struct launch *launch, int go, int failed) {
    char byte;
    interrupt_forget();
    if (read(go, &byte, 1) != 1)
        _exit(127); /* the collector is gone */
    if (launch->quiet)
        rerun_aside();
    if (launch->one_core_ns > 0)
        core_hold_self();
    execve(launch->path, launch->args, launch->environment ? launch->environment : environ);
    int cause = errno;
    ssize_t told = write(failed, &cause, sizeof cause);
    _exit(told == sizeof cause ? 127 : 126);
}

int launch_prepare(struct launch *launch, struct error *error) {
    int go[2];
    int failed[2];
    if (interrupt_check(error) != 0 || rerun_prepare(error) != 0)
        return -1;
    if (pipe2(go, O_CLOEXEC) != 0)
        return error_set(error, "pipe: %s: close other programs", strerror(errno));
    if (pipe2(failed, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return error_set(error, "pipe: %s: close other programs", strerror(errno));
    }
    launch->pid = fork();
    if (launch->pid == 0) {
        close(go[1]);
        close(failed[0]);
        become_program(launch, go[0], failed[1]);
    }
    int cause = errno;
    close(go[0]);
    close(failed[1]);
    launch->go = go[1];
    launch->failed = failed[0];
    if (launch->pid < 0) {
        close(launch->go);
        close(launch->failed);
        return error_set(error, "fork: %s: close other programs", strerror(cause));
    }
    return 0;
}

static uint64_t ns_of(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* What the children used that a process has waited for; it has ended itself, and is still there to
 * be asked. 0: not known. */
static uint64_t children_cpu_ns(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    const char *rest = strrchr(text, ')'); /* names may hold anything */
    unsigned long user, system;
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu",
                        &user, &system) != 2)
        return 0;
    return (uint64_t)(user + system) * 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

int launch_finish(struct launch *launch, struct error *error) {
    interrupt_program(launch->pid);
    struct served_run *served = served_run_begin(launch->pid, launch->args[0], launch->may_leave);
    runs_begin(!launch->quiet);
    launch->start_mono_ns = clock_now_ns(CLOCK_MONOTONIC);
    ssize_t started = write(launch->go, "g", 1);
    int cause = 0;
    ssize_t told = read(launch->failed, &cause, sizeof cause); /* 0 bytes: the exec closed it */
    struct rusage usage = {0};
    struct core_hold *hold =
        launch->one_core_ns > 0 ? core_hold_begin(launch->pid, launch->one_core_ns) : NULL;
    interrupt_wait(launch->pid);
    launch->released = hold && core_hold_end(hold);
    launch->end_mono_ns = clock_now_ns(CLOCK_MONOTONIC);
    runs_end();
    launch->children_cpu_ns = children_cpu_ns(launch->pid);
    while (wait4(launch->pid, &launch->status, 0, &usage) < 0 && errno == EINTR)
        ;
    launch->cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
    struct error unserved;
    launch->unserved = served_run_end(served, &launch->status, &unserved) != 0;
    launch->signal = interrupt_signal();
    close(launch->go);
    close(launch->failed);
    if (started != 1 || told == sizeof cause)
        return error_set(error, "%s: %s: it cannot be run", launch->path, strerror(cause));
    if (launch->unserved)
        *error = unserved;
    return launch->unserved ? -1 : 0;
}
