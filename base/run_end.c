#include "base/run_end.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

bool run_end_failed(const struct run_end *end) {
    return end->known && end->signal == 0 && end->status != 0;
}

void run_end_describe(int status, char *text, int bytes) {
    if (WIFSIGNALED(status))
        snprintf(text, (size_t)bytes, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, (size_t)bytes, "exit status %d", WEXITSTATUS(status));
}

int run_end_exit_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_end_refuse(const char *program, int status, struct error *error) {
    char text[128];
    run_end_describe(status, text, sizeof text);
    return error_set_exit(error, run_end_exit_status(status),
                          "%s failed in its first run: %s: correct its arguments and input, or use "
                          "--ignore-failure",
                          program, text);
}
