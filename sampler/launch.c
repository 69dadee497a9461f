#include "sampler/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "host/rerun.h"

/* ---- the child ---- */

static _Noreturn void run_child(char *const *args, bool quiet, int gate, int report) {
    char go;
    interrupt_forget();
    if (read(gate, &go, 1) != 1)
        _exit(127); /* cancelled, or persik died */
    if (quiet)
        rerun_aside();
    execvp(args[0], args);
    int cause = errno;
    ssize_t ignored = write(report, &cause, sizeof cause);
    (void)ignored; /* without a reader there is nobody to tell */
    _exit(127);
}

static void close_pair(const int pair[2]) {
    close(pair[0]);
    close(pair[1]);
}

int sampler_launch_prepare(struct launch *launch, char *const *args, bool quiet,
                           struct error *error) {
    int gate[2], report[2];
    if (pipe2(gate, O_CLOEXEC))
        return error_set(error, "cannot make a pipe: %s: raise `ulimit -n`", strerror(errno));
    if (pipe2(report, O_CLOEXEC)) {
        close_pair(gate);
        return error_set(error, "cannot make a pipe: %s: raise `ulimit -n`", strerror(errno));
    }
    launch->pid = fork();
    if (launch->pid == 0) {
        close(gate[1]); /* else the end of persik would not show */
        run_child(args, quiet, gate[0], report[1]);
    }
    close(gate[0]);
    close(report[1]);
    launch->gate = gate[1];
    launch->report = report[0];
    if (launch->pid < 0) {
        close(launch->gate);
        close(launch->report);
        return error_set(error, "cannot start a process: %s: raise `ulimit -u`", strerror(errno));
    }
    return 0;
}

static void wait_for_end(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static int explain(int cause, const char *program, struct error *error) {
    switch (cause) {
    case ENOENT:
        return error_set(error, "%s: no such program: check the path", program);
    case EACCES:
        return error_set(error, "%s: not executable: name a program, or `chmod +x` it", program);
    case ENOEXEC:
        return error_set(error, "%s: not a program this machine can run: build it for here",
                         program);
    default:
        return error_set(error, "%s: cannot be started: %s", program, strerror(cause));
    }
}

int sampler_launch_release(struct launch *launch, const char *program, struct error *error) {
    int cause = 0;
    ssize_t got = -1;
    if (write(launch->gate, "g", 1) == 1)
        while ((got = read(launch->report, &cause, sizeof cause)) < 0 && errno == EINTR)
            continue;
    close(launch->gate);
    close(launch->report);
    if (got == 0)
        return 0;
    wait_for_end(launch->pid);
    return explain(got == (ssize_t)sizeof cause ? cause : EIO, program, error);
}

void sampler_launch_cancel(struct launch *launch) {
    close(launch->gate);
    close(launch->report);
    wait_for_end(launch->pid);
}
