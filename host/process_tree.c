#include "host/process_tree.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

struct pids {
    pid_t *items;
    size_t count, capacity;
};

/* ---- one process ---- */

int process_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool process_has_ended(int handle) {
    struct pollfd watched = {.fd = handle, .events = POLLIN};
    return poll(&watched, 1, 0) == 1;
}

void process_signal(int handle, int number) {
    syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
}

char *process_name(pid_t pid, char text[32]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, 32, file))
        strcpy(text, "?");
    text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* -1: it is gone. */
static pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *rest = strrchr(text, ')'); /* names may hold anything */
    int parent = -1;
    if (rest)
        sscanf(rest + 1, " %*c %d", &parent);
    return parent;
}

/* ---- those below it ---- */

/* Each of its threads may have started some. */
static void add_children_of_thread(const char *task, const char *thread, struct pids *pids) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/children", task, thread);
    FILE *file = fopen(path, "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1)
        *VECTOR_ADD(pids) = pid;
    if (file)
        fclose(file);
}

pid_t *process_children(pid_t pid, size_t *n) {
    struct pids pids = {0};
    char task[64];
    snprintf(task, sizeof task, "/proc/%d/task", (int)pid);
    DIR *list = opendir(task);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.')
            add_children_of_thread(task, entry->d_name, &pids);
    if (list)
        closedir(list);
    *n = pids.count;
    return pids.items;
}

/* False: it is gone, or was not the child of `parent`, < 0: of anybody. */
static bool add_process(struct process_tree *tree, pid_t pid, pid_t parent) {
    int handle = process_open(pid);
    if (handle < 0)
        return false;
    if (parent >= 0 && parent_of(pid) != parent) { /* asked when nobody else can have its number */
        close(handle);
        return false;
    }
    *VECTOR_ADD(tree) = (struct process){pid, handle};
    return true;
}

void process_tree_add(struct process_tree *tree, pid_t root, int handle) {
    size_t next = tree->count;
    if (!add_process(tree, root, -1))
        return;
    if (handle >= 0 && process_has_ended(handle)) { /* it may be somebody else's number by now */
        close(tree->items[--tree->count].handle);
        return;
    }
    for (; next < tree->count; next++) {
        size_t n;
        pid_t parent = tree->items[next].pid;
        pid_t *children = process_children(parent, &n);
        for (size_t i = 0; i < n; i++)
            add_process(tree, children[i], parent);
        free(children);
    }
}

void process_tree_close(struct process_tree *tree) {
    for (size_t i = 0; i < tree->count; i++)
        close(tree->items[i].handle);
    free(tree->items);
    *tree = (struct process_tree){0};
}

void process_tree_signal(const struct process_tree *tree, int number) {
    for (size_t i = 0; i < tree->count; i++)
        process_signal(tree->items[i].handle, number);
}

bool process_tree_wait(const struct process_tree *tree, int limit_ms) {
    uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)limit_ms * 1000000;
    for (size_t i = 0; i < tree->count; i++) {
        uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
        int left_ms = now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000) : 0;
        struct pollfd watched = {.fd = tree->items[i].handle, .events = POLLIN};
        poll(&watched, 1, left_ms);
        if (!(watched.revents & POLLIN))
            return false;
    }
    return true;
}
