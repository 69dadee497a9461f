/* Uses probe_early.c's library, forks between two calls, and waits for the child. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int early_links(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

int main(void) {
    int status = early_links();
    lock(11);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    waitpid(child, &status, 0);
    lock(13);
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
