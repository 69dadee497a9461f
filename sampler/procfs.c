/* /proc/PID/task/TID/syscall gives the stack pointer and program counter of a sleeping thread, and
 * "running" for one that runs or is ready to. The kernel reads them from the sleeping thread's
 * saved state: nothing is stopped, no signal is sent, so no system call can end with EINTR. */
#include "sampler/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"

/* The two files of a thread, kept open: opening costs more than reading. */
struct watched {
    pid_t tid;
    int syscall, schedstat; /* descriptors; -1 not to be opened */
    uint64_t seen;          /* number of the last scan that found the thread */
};

struct procfs {
    int tasks; /* descriptor of /proc/PID/task */
    DIR *list;
    uint64_t scans;
    struct {
        struct watched *items;
        size_t count, capacity;
    } watched;
    struct {
        struct procfs_thread *items;
        size_t count, capacity;
    } threads;
    struct map by_tid; /* tid -> index in `watched` */
};

struct procfs *procfs_open(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    struct procfs *procfs = memory_alloc(1, sizeof *procfs);
    procfs->list = opendir(path);
    procfs->tasks = procfs->list ? dirfd(procfs->list) : -1;
    return procfs;
}

static int open_file(const struct procfs *procfs, pid_t tid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%d/%s", (int)tid, name);
    return openat(procfs->tasks, path, O_RDONLY | O_CLOEXEC);
}

static int watch(struct procfs *procfs, pid_t tid) {
    int index = map_get(&procfs->by_tid, (uint64_t)tid, -1);
    if (index >= 0)
        return index;
    index = (int)procfs->watched.count;
    *VECTOR_ADD(&procfs->watched) = (struct watched){
        .tid = tid,
        .syscall = open_file(procfs, tid, "syscall"),
        .schedstat = open_file(procfs, tid, "schedstat"),
    };
    map_put(&procfs->by_tid, (uint64_t)tid, index);
    return index;
}

static void close_files(const struct watched *watched) {
    if (watched->syscall >= 0)
        close(watched->syscall);
    if (watched->schedstat >= 0)
        close(watched->schedstat);
}

/* Forgets the threads that the last scan did not find. */
static void forget_ended(struct procfs *procfs) {
    size_t kept = 0;
    for (size_t i = 0; i < procfs->watched.count; i++) {
        if (procfs->watched.items[i].seen == procfs->scans)
            procfs->watched.items[kept++] = procfs->watched.items[i];
        else
            close_files(&procfs->watched.items[i]);
    }
    if (kept == procfs->watched.count)
        return;
    procfs->watched.count = kept;
    map_free(&procfs->by_tid);
    procfs->by_tid = MAP_EMPTY;
    for (size_t i = 0; i < kept; i++)
        map_put(&procfs->by_tid, (uint64_t)procfs->watched.items[i].tid, (int)i);
}

static bool read_text(int descriptor, char *text, size_t size) {
    ssize_t bytes = descriptor >= 0 ? pread(descriptor, text, size - 1, 0) : -1;
    if (bytes <= 0)
        return false;
    text[bytes] = '\0';
    return true;
}

/* "time on CPU, time waiting for one, timeslices". Without the file every look is a new one. */
static uint64_t read_timeslices(const struct procfs *procfs, const struct watched *watched) {
    char text[96];
    const char *last = NULL;
    if (read_text(watched->schedstat, text, sizeof text))
        last = strrchr(text, ' ');
    return last ? strtoull(last, NULL, 10) : procfs->scans;
}

/* "running", or numbers of which the last two are stack pointer and program counter. */
static bool read_position(const struct procfs *procfs, const struct watched *watched,
                          struct procfs_position *position) {
    char text[256];
    if (!read_text(watched->syscall, text, sizeof text) || text[0] == 'r')
        return false;
    char *counter = strrchr(text, ' ');
    if (!counter)
        return false;
    *counter++ = '\0';
    const char *pointer = strrchr(text, ' ');
    if (!pointer)
        return false;
    position->stack_pointer = strtoull(pointer + 1, NULL, 16);
    position->program_counter = strtoull(counter, NULL, 16);
    position->timeslices = read_timeslices(procfs, watched);
    return position->stack_pointer != 0;
}

size_t procfs_scan(struct procfs *procfs, const struct procfs_thread **threads) {
    procfs->scans++;
    procfs->threads.count = 0;
    if (procfs->list)
        rewinddir(procfs->list);
    for (const struct dirent *entry; procfs->list && (entry = readdir(procfs->list));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        int index = watch(procfs, tid); /* first: it may move the array */
        struct watched *watched = &procfs->watched.items[index];
        watched->seen = procfs->scans;
        struct procfs_thread *thread = VECTOR_ADD(&procfs->threads);
        thread->tid = tid;
        thread->blocked = read_position(procfs, watched, &thread->position);
    }
    forget_ended(procfs);
    *threads = procfs->threads.items;
    return procfs->threads.count;
}

bool procfs_is_still(const struct procfs *procfs, const struct procfs_thread *thread) {
    int index = map_get(&procfs->by_tid, (uint64_t)thread->tid, -1);
    struct procfs_position now;
    return index >= 0 && read_position(procfs, &procfs->watched.items[index], &now) &&
           now.stack_pointer == thread->position.stack_pointer &&
           now.program_counter == thread->position.program_counter &&
           now.timeslices == thread->position.timeslices;
}

size_t procfs_read(pid_t tid, uint64_t address, void *into, size_t bytes) {
    struct iovec local = {into, bytes}, remote = {(void *)(uintptr_t)address, bytes};
    ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

void procfs_close(struct procfs *procfs) {
    for (size_t i = 0; i < procfs->watched.count; i++)
        close_files(&procfs->watched.items[i]);
    if (procfs->list)
        closedir(procfs->list);
    free(procfs->watched.items);
    free(procfs->threads.items);
    map_free(&procfs->by_tid);
    free(procfs);
}
