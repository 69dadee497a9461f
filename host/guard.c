#include "host/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "host/process_tree.h"

#define PATIENCE_MS 5000 /* for a server that ends in an orderly way */

struct guarded {
    _Atomic pid_t load; /* a process group */
};

/* ---- the guard's own process ---- */

static void close_all_but(int one, int other) {
    unsigned low = (unsigned)(one < other ? one : other);
    unsigned high = (unsigned)(one < other ? other : one);
    if (low > 0)
        syscall(SYS_close_range, 0U, low - 1, 0U);
    if (high > low + 1)
        syscall(SYS_close_range, low + 1, high - 1, 0U);
    syscall(SYS_close_range, high + 1, ~0U, 0U);
}

/* Who has not ended by then is killed, also who was below the server and outlives it. */
static void end_server(pid_t server, int handle, int stop_signal) {
    struct process_tree tree = {0};
    process_tree_add(&tree, server, handle);
    process_signal(handle, stop_signal);
    process_tree_wait(&tree, PATIENCE_MS);
    process_tree_signal(&tree, SIGKILL);
    process_tree_close(&tree);
}

/* The folder was made for it, and stays if there is something else in it. */
static void remove_result(const char *result) {
    unlink(result);
    char *folder = memory_strdup(result);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
    free(folder);
}

static _Noreturn void watch(int lifeline, pid_t server, int handle, int stop_signal,
                            const char *result, const struct guarded *guarded) {
    interrupt_forget();
    prctl(PR_SET_NAME, "persik-guard");
    setsid(); /* neither the terminal nor who kills persik's process group ends it */
    close_all_but(lifeline, handle);
    char done;
    ssize_t got;
    while ((got = read(lifeline, &done, 1)) < 0 && errno == EINTR)
        continue;
    if (got == 1)
        _exit(0);
    pid_t load = guarded->load;
    if (load > 0)
        kill(-load, SIGKILL);
    end_server(server, handle, stop_signal);
    if (result)
        remove_result(result);
    _exit(0);
}

/* ---- persik's side ---- */

static int fork_guard(struct guard *guard, pid_t server, int stop_signal, const char *result,
                      struct error *error) {
    int ends[2], handle = process_open(server);
    if (handle < 0)
        return error_set(error, "cannot watch process %d: %s: Linux 5.3 is needed", (int)server,
                         strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        close(handle);
        return error_set(error, "cannot make a socket: %s: raise `ulimit -n`", strerror(errno));
    }
    guard->pid = fork();
    if (guard->pid == 0)
        watch(ends[0], server, handle, stop_signal, result, guard->guarded);
    int cause = errno;
    close(handle);
    close(ends[0]);
    guard->lifeline = ends[1];
    if (guard->pid > 0)
        return 0;
    guard->pid = 0;
    close(ends[1]);
    return error_set(error, "cannot start a process: %s: raise `ulimit -u`", strerror(cause));
}

int guard_start(struct guard *guard, pid_t server, int stop_signal, const char *result,
                struct error *error) {
    *guard = (struct guard){0};
    void *page = mmap(NULL, sizeof *guard->guarded, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return error_set(error, "no memory: %s", strerror(errno));
    guard->guarded = page;
    if (fork_guard(guard, server, stop_signal, result, error) == 0)
        return 0;
    munmap(page, sizeof *guard->guarded);
    return -1;
}

void guard_load(struct guard *guard, pid_t group) {
    if (guard->pid > 0)
        guard->guarded->load = group;
}

void guard_end(struct guard *guard) {
    if (guard->pid == 0)
        return;
    send(guard->lifeline, "d", 1, MSG_NOSIGNAL); /* somebody may have killed it */
    close(guard->lifeline);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    munmap(guard->guarded, sizeof *guard->guarded);
    *guard = (struct guard){0};
}
