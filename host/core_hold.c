#include "host/core_hold.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "host/process_tree.h"

struct core_hold {
    pid_t pid;
    struct timespec until; /* of CLOCK_MONOTONIC */
    pthread_t watcher;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool watched, ended, released;
};

/* Who is started meanwhile inherits what its creator has: a second and a third look finds those. */
#define LOOKS 3

void core_hold_self(void) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int core = 0;
    while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &allowed))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void release_threads(pid_t pid, const cpu_set_t *cores) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        long tid = strtol(task->d_name, NULL, 10);
        if (tid > 0)
            sched_setaffinity((pid_t)tid, sizeof *cores, cores);
    }
    if (tasks)
        closedir(tasks);
}

static void release(struct core_hold *hold) {
    cpu_set_t cores; /* ours */
    hold->released = true;
    for (int look = 0; look < LOOKS && sched_getaffinity(0, sizeof cores, &cores) == 0; look++) {
        struct process_tree tree = {0};
        process_tree_add(&tree, hold->pid, -1);
        for (size_t i = 0; i < tree.count; i++)
            release_threads(tree.items[i].pid, &cores);
        process_tree_close(&tree);
    }
}

static void *watch(void *context) {
    struct core_hold *hold = context;
    pthread_mutex_lock(&hold->mutex);
    while (!hold->ended && !hold->released)
        if (pthread_cond_timedwait(&hold->changed, &hold->mutex, &hold->until) != 0)
            release(hold);
    pthread_mutex_unlock(&hold->mutex);
    return NULL;
}

struct core_hold *core_hold_begin(pid_t pid, uint64_t limit_ns) {
    const uint64_t second = 1000000000;
    struct core_hold *hold = memory_alloc(1, sizeof *hold);
    hold->pid = pid;
    clock_gettime(CLOCK_MONOTONIC, &hold->until);
    uint64_t nanoseconds = (uint64_t)hold->until.tv_nsec + limit_ns % second;
    hold->until.tv_sec += (time_t)(limit_ns / second + nanoseconds / second);
    hold->until.tv_nsec = (long)(nanoseconds % second);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hold->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&hold->mutex, NULL);
    hold->watched = pthread_create(&hold->watcher, NULL, watch, hold) == 0;
    if (!hold->watched)
        release(hold);
    return hold;
}

bool core_hold_end(struct core_hold *hold) {
    if (hold->watched) {
        pthread_mutex_lock(&hold->mutex);
        hold->ended = true;
        pthread_cond_signal(&hold->changed);
        pthread_mutex_unlock(&hold->mutex);
        pthread_join(hold->watcher, NULL);
    }
    bool released = hold->released;
    pthread_cond_destroy(&hold->changed);
    pthread_mutex_destroy(&hold->mutex);
    free(hold);
    return released;
}
