#include "base/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/run_end.h"

static struct { const char *prepare, *cleanup; } hooks;

void hooks_set(const char *prepare, const char *cleanup) {
    hooks.prepare = prepare;
    hooks.cleanup = cleanup;
}

/* Standard output is for persik's data and the program's. */
static int run(const char *option, const char *command, struct error *error) {
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child;
    int code = posix_spawn(&child, "/bin/sh", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0)
        return error_set(error, "%s: cannot run /bin/sh: %s", option, strerror(code));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(error, "%s: cannot wait for '%s': %s", option, command,
                             strerror(errno));
    if (status == 0)
        return 0;
    char text[128];
    run_end_describe(status, text, sizeof text);
    return error_set(error, "%s '%s' failed: %s: correct the command", option, command, text);
}

int hooks_prepare(struct error *error) {
    return hooks.prepare ? run("--prepare", hooks.prepare, error) : 0;
}

void hooks_cleanup(void) {
    struct error error;
    if (hooks.cleanup && run("--cleanup", hooks.cleanup, &error) != 0)
        log_warning("%s", error.text);
}
