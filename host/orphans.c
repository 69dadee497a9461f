#include "host/orphans.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "host/listening.h"
#include "host/process_tree.h"

enum {
    PATIENCE_MS = 1000, /* until one listens, and for each way to end them */
    LOOK_MS = 20,       /* between two looks */
};

void orphans_adopt(struct orphans *orphans, pid_t program) {
    int was = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &was);
    *orphans = (struct orphans){.was_reaper = was != 0, .program = program};
    orphans->before = process_children(getpid(), &orphans->n_before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_orphan(const struct orphans *orphans, pid_t pid) {
    if (pid == orphans->helper || pid == orphans->program)
        return false;
    for (size_t i = 0; i < orphans->n_before; i++)
        if (orphans->before[i] == pid)
            return false;
    return true;
}

/* Those left to us, and all below them. */
static void list(const struct orphans *orphans, struct process_tree *tree) {
    size_t n;
    pid_t *children = process_children(getpid(), &n);
    for (size_t i = 0; i < n; i++)
        if (is_orphan(orphans, children[i]))
            process_tree_add(tree, children[i], -1);
    free(children);
}

pid_t orphans_find(const struct orphans *orphans, bool listening_only) {
    struct process_tree tree = {0};
    pid_t found = 0;
    uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)PATIENCE_MS * 1000000;
    do {
        process_tree_close(&tree);
        list(orphans, &tree);
        for (size_t i = 0; i < tree.count && !found; i++)
            if (!listening_only || listening_find(tree.items[i].pid).pid)
                found = tree.items[i].pid;
        if (!found && tree.count > 0)
            poll(NULL, 0, LOOK_MS);
    } while (!found && tree.count > 0 && clock_now_ns(CLOCK_MONOTONIC) < until_ns &&
             !interrupt_signal());
    process_tree_close(&tree);
    return found;
}

void orphans_end(const struct orphans *orphans, int stop_signal) {
    struct process_tree tree = {0};
    list(orphans, &tree);
    process_tree_signal(&tree, stop_signal);
    if (!process_tree_wait(&tree, PATIENCE_MS))
        process_tree_signal(&tree, SIGKILL);
    process_tree_wait(&tree, PATIENCE_MS);
    for (size_t i = 0; i < tree.count; i++)
        waitpid(tree.items[i].pid, NULL, WNOHANG); /* fails for those that are not our own */
    process_tree_close(&tree);
}

void orphans_release(struct orphans *orphans) {
    prctl(PR_SET_CHILD_SUBREAPER, orphans->was_reaper);
    free(orphans->before);
    *orphans = (struct orphans){0};
}
