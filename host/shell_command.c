#include "host/shell_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/process_tree.h"

/* Ours, with `variable` in the place of the one with its name. The strings are ours. */
static char **environment_with(const char *variable) {
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **environment = memory_alloc(n + 2, sizeof *environment);
    size_t name = variable ? strcspn(variable, "=") + 1 : 0;
    for (size_t i = 0; i < n; i++)
        if (!variable || strncmp(environ[i], variable, name) != 0)
            environment[kept++] = environ[i];
    environment[kept] = (char *)variable;
    return environment;
}

/* The director of a run has all signals blocked: the command shall not. */
static void set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
}

static void set_actions(posix_spawn_file_actions_t *actions, enum shell_output output) {
    posix_spawn_file_actions_init(actions);
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output == SHELL_TO_NULL) {
        posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    } else {
        posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    }
}

int shell_command_start(struct shell_command *command, const char *text, const char *variable,
                        enum shell_output output, struct error *error) {
    char *const argv[] = {"sh", "-c", (char *)text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    set_actions(&actions, output);
    set_attributes(&attributes);
    char **environment = environment_with(variable);
    int code = posix_spawn(&command->pid, "/bin/sh", &actions, &attributes, argv, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0)
        return error_set(error, "cannot run /bin/sh: %s: raise `ulimit -u`", strerror(code));
    command->handle = process_open(command->pid);
    return 0;
}

static double ns_of(struct timeval time) {
    return 1e9 * (double)time.tv_sec + 1e3 * (double)time.tv_usec;
}

int shell_command_end(struct shell_command *command, double *cpu_ns) {
    int status = 0;
    struct rusage used = {0};
    kill(-command->pid, SIGKILL); /* before it is waited for: the group's number is its own */
    while (wait4(command->pid, &status, 0, &used) < 0 && errno == EINTR)
        continue;
    if (cpu_ns)
        *cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
    if (command->handle >= 0)
        close(command->handle);
    return status;
}
