/* Locks 7 times and starts a child as its argument says, which locks 11 times. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *run(void *unused) {
    lock(11);
    return unused;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    char *child[] = {argv[0], "child", NULL};
    if (strcmp(way, "child") == 0) {
        lock(11);
        printf("LD_PRELOAD %s\n", getenv("LD_PRELOAD") == NULL ? "unset" : "set");
        return 0;
    }
    lock(7);
    pid_t pid = -1;
    if (strcmp(way, "fork") == 0 && (pid = fork()) == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
        exit(2);
    }
    /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): programs do this */
    if (strcmp(way, "vfork") == 0 && (pid = vfork()) == 0) {
        execv("/proc/self/exe", child);
        _exit(3);
    }
    if (strcmp(way, "spawn") == 0)
        posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child, environ);
    if (strcmp(way, "exec") == 0) {
        execv("/no such program", child);
        execl("/proc/self/exe", argv[0], "child", NULL);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    lock(7);
    printf("%d\n", status);
    return 0;
}
