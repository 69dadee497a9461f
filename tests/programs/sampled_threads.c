/* One thread computes for half a second of CPU time, one sleeps until it is done, and main waits
 * for both. With the path of a plugin as argument, the computing is done by its plugin_compute().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t done;
static volatile unsigned long steps;
static void (*compute)(void);

static double cpu_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

__attribute__((noinline)) void compute_here(void) {
    for (int i = 0; i < 100000; i++)
        steps += (unsigned long)i;
}

__attribute__((noinline)) int sleep_here(int result) {
    /* Storage of a size unknown to the compiler: the frame is found through RBP only. */
    char room[result + 100];
    room[result] = (char)steps;
    sem_wait(&done);
    return result + (room[result] != room[result]);
}

static void *computer_run(void *unused) {
    while (cpu_seconds() < 0.5)
        compute();
    sem_post(&done);
    return unused;
}

static void *sleeper_run(void *unused) {
    return sleep_here((int)steps & 1) < 0 ? NULL : unused;
}

int main(int argc, char **argv) {
    compute = compute_here;
    if (argc > 1) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        compute = plugin ? (void (*)(void))dlsym(plugin, "plugin_compute") : NULL;
    }
    if (!compute)
        return 2;
    pthread_t computer, sleeper;
    sem_init(&done, 0, 0);
    pthread_create(&sleeper, NULL, sleeper_run, NULL);
    pthread_create(&computer, NULL, computer_run, NULL);
    pthread_join(computer, NULL);
    pthread_join(sleeper, NULL);
    return 0;
}
