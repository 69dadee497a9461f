#include "cli/recording/thread_times.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/judgement.h"

#define PERIOD_NS    10e6 /* what of a thread's life is missed is shorter than this ... */
#define PERIOD_LOOKS 100  /* ... or than so many looks take */

struct seen_thread {
    int tid;
    uint64_t cpu_ns, delay_ns;
};

struct thread_watch {
    pthread_t thread;
    pid_t process;
    int stop; /* eventfd */
    struct {
        struct seen_thread *items;
        size_t count, capacity;
    } threads;
    size_t next; /* where the thread is likely to be that is looked at next: the order stays */
};

static struct seen_thread *find(struct thread_watch *watch, int tid, uint64_t cpu_ns) {
    size_t n = watch->threads.count;
    for (size_t i = 0; i < n; i++) {
        size_t at = (watch->next + i) % n;
        struct seen_thread *thread = &watch->threads.items[at];
        if (thread->tid == tid && thread->cpu_ns <= cpu_ns) { /* else it is another one by now */
            watch->next = at + 1;
            return thread;
        }
    }
    watch->next = n + 1;
    struct seen_thread *added = VECTOR_ADD(&watch->threads);
    added->tid = tid;
    return added;
}

static void look_at_thread(struct thread_watch *watch, int folder, const char *name) {
    char path[64], text[128];
    snprintf(path, sizeof path, "%.20s/schedstat", name);
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    uint64_t cpu_ns, delay_ns;
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &cpu_ns, &delay_ns) != 2)
        return;
    struct seen_thread *thread = find(watch, atoi(name), cpu_ns);
    thread->cpu_ns = cpu_ns;
    thread->delay_ns = delay_ns;
}

static void look(struct thread_watch *watch) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)watch->process);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    watch->next = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (entry->d_name[0] != '.')
            look_at_thread(watch, dirfd(folder), entry->d_name);
    closedir(folder);
}

static void *watch_threads(void *context) {
    struct thread_watch *watch = context;
    struct pollfd stop = {.fd = watch->stop, .events = POLLIN};
    double wait_ns;
    do {
        uint64_t before_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
        look(watch);
        wait_ns = PERIOD_LOOKS * (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
        wait_ns = wait_ns > PERIOD_NS ? wait_ns : PERIOD_NS;
    } while (poll(&stop, 1, (int)(wait_ns / 1e6)) == 0);
    look(watch);
    return NULL;
}

/* Signals stay the main thread's. */
static bool start_thread(struct thread_watch *watch) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&watch->thread, NULL, watch_threads, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct thread_watch *thread_watch_start(pid_t process) {
    int stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0)
        return NULL;
    struct thread_watch *watch = memory_alloc(1, sizeof *watch);
    watch->process = process;
    watch->stop = stop;
    if (start_thread(watch))
        return watch;
    close(stop);
    free(watch);
    return NULL;
}

struct thread_times thread_watch_stop(struct thread_watch *watch) {
    struct thread_times times = {0};
    if (!watch)
        return times;
    eventfd_write(watch->stop, 1);
    pthread_join(watch->thread, NULL);
    for (size_t i = 0; i < watch->threads.count; i++) {
        const struct seen_thread *thread = &watch->threads.items[i];
        times.cpu_ns += thread->cpu_ns;
        times.delay_ns += thread->delay_ns;
        if (thread->cpu_ns > times.longest_cpu_ns)
            times.longest_cpu_ns = thread->cpu_ns;
    }
    close(watch->stop);
    free(watch->threads.items);
    free(watch);
    return times;
}

double thread_times_delay_ns(const struct thread_times *times, uint64_t cpu_ns) {
    double seen = cpu_ns > 0 ? (double)times->cpu_ns / (double)cpu_ns : 0;
    if (seen < judgement.fewest_seen)
        return -1;
    return round((double)times->delay_ns / (seen < 1 ? seen : 1));
}
