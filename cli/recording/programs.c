#include "cli/recording/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/run_end.h"
#include "cli/recording/thread_times.h"
#include "host/busy.h"
#include "host/cores.h"
#include "host/rerun.h"
#include "host/served_run.h"

extern char **environ;

/* ---- finding ---- */

char *programs_find_part(const char *name, struct error *error) {
    static const char *const folders[] = {"", "../lib/persik/"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        error_set(error, "cannot read /proc/self/exe: %s: is /proc mounted?", strerror(errno));
        return NULL;
    }
    self[length] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = memory_format("%s%s%s", self, folders[i], name);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    error_set(error, "%s is missing beside %spersik: build or install persik again", name, self);
    return NULL;
}

static bool is_runnable(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* NULL when nothing in PATH fits. */
static char *search_path(const char *name) {
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        int length = (int)strcspn(path, ":");
        char *candidate =
            length ? memory_format("%.*s/%s", length, path, name) : memory_strdup(name);
        if (is_runnable(candidate))
            return candidate;
        free(candidate);
        if (!path[length])
            return NULL;
        path += length + 1;
    }
}

char *programs_resolve(const char *name, struct error *error) {
    if (!strchr(name, '/')) {
        char *found = search_path(name);
        if (!found)
            error_set(error, "no program '%s' in PATH: write ./%s if it is in this folder", name,
                      name);
        return found;
    }
    struct stat status;
    if (stat(name, &status) < 0)
        error_set(error, "no such program: %s: build it or correct the path", name);
    else if (!is_runnable(name))
        error_set(error, "%s is not an executable file: chmod +x it or correct the path", name);
    else
        return memory_strdup(name);
    return NULL;
}

bool programs_exist(const char *name) {
    char *path = search_path(name);
    free(path);
    return path != NULL;
}

/* ---- running ---- */

static int check_status(const char *name, int status, struct error *error) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    char text[128];
    run_end_describe(status, text, sizeof text);
    return error_set(error, "%s failed: %s", name, text);
}

/* What a program said about its failure: the first line in `errors`, without its own name. */
static int explain_failure(const char *path, int errors, struct error *error) {
    const char *name = path_name(path);
    char line[512];
    ssize_t bytes = pread(errors, line, sizeof line - 1, 0);
    line[bytes > 0 ? bytes : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    size_t prefix = strlen(name);
    bool own = strncmp(line, name, prefix) == 0 && strncmp(line + prefix, ": ", 2) == 0;
    if (line[0])
        error_set(error, "%s: %s", name, own ? line + prefix + 2 : line);
    return -1;
}

static int spawn_and_wait(char *const *argv, int input, int output, int errors,
                          struct error *error) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (errors >= 0)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    pid_t child;
    int code = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0)
        return error_set(error, "cannot run %s: %s: is it installed?", argv[0], strerror(code));
    int status;
    interrupt_program(child);
    interrupt_wait(child);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(error, "cannot wait for %s: %s", argv[0], strerror(errno));
    if (check_status(argv[0], status, error) == 0)
        return 0;
    return explain_failure(argv[0], errors, error);
}

int programs_run(char *const *argv, int input, int output, struct error *error) {
    int errors = memfd_create("stderr", MFD_CLOEXEC); /* -1: then it goes to ours */
    int status = spawn_and_wait(argv, input, output, errors, error);
    if (errors >= 0)
        close(errors);
    return status;
}

FILE *programs_input(void) {
    int descriptor = memfd_create("input", MFD_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (descriptor >= 0 && !file)
        close(descriptor);
    return file;
}

int programs_allowed_cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return 1;
    return CPU_COUNT(&allowed);
}

/* The first `cores` of the allowed CPUs. */
static cpu_set_t choose_cores(int cores) {
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    size_t n_allowed;
    int *numbers = cores_allowed(&n_allowed);
    for (size_t i = 0; i < n_allowed && i < (size_t)cores; i++)
        CPU_SET(numbers[i], &chosen);
    free(numbers);
    return chosen;
}

enum { CHILD_CANNOT_START = 127 };

static _Noreturn void become_program(char *const *argv, const cpu_set_t *cpus) {
    interrupt_forget();
    rerun_to_null();
    if (sched_setaffinity(0, sizeof *cpus, cpus) == 0)
        execvp(argv[0], argv);
    _exit(CHILD_CANNOT_START);
}

static uint64_t timeval_ns(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

/* Its end is waited for twice: its threads are looked at once more before it is gone. */
static int wait_for(const char *name, pid_t child, uint64_t start_ns, struct program_run *run,
                    int *status, struct error *error) {
    struct served_run *served = served_run_begin(child, name, false);
    struct thread_watch *watch = thread_watch_start(child);
    interrupt_wait(child);
    uint64_t run_ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
    struct thread_times times = thread_watch_stop(watch);
    struct rusage usage;
    while (wait4(child, status, 0, &usage) < 0)
        if (errno != EINTR)
            return error_set(error, "cannot wait for %s: %s", name, strerror(errno));
    uint64_t cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
    *run = (struct program_run){
        .run_ns = run_ns,
        .cpu_ns = cpu_ns,
        .delay_ns = thread_times_delay_ns(&times, cpu_ns),
        .longest_cpu_ns = times.longest_cpu_ns < cpu_ns ? times.longest_cpu_ns : cpu_ns,
    };
    return served_run_end(served, status, error);
}

int programs_measure(char *const *argv, int cores, struct program_run *run, int *status,
                     struct error *error) {
    if (interrupt_check(error) < 0 || rerun_prepare(error) < 0)
        return -1;
    cpu_set_t cpus = choose_cores(cores);
    uint64_t own_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t busy_before_ns = busy_ns(&cpus), stolen_before_ns = busy_stolen_ns(&cpus);
    uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child < 0)
        return error_set(error, "cannot start %s: %s", argv[0], strerror(errno));
    if (child == 0)
        become_program(argv, &cpus);
    interrupt_program(child);
    if (wait_for(argv[0], child, start_ns, run, status, error) < 0)
        return -1;
    uint64_t all_ns = busy_ns(&cpus) - busy_before_ns;
    /* What persik itself uses, to see how fast the cores are, is nobody else's. */
    uint64_t known_ns = run->cpu_ns + clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
    run->foreign_ns = all_ns > known_ns ? all_ns - known_ns : 0;
    run->stolen_ns = busy_stolen_ns(&cpus) - stolen_before_ns;
    return interrupt_check(error);
}
