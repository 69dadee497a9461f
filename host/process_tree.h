/* A process and all below it, and signals that reach only them: who is listed is held by a
 * descriptor, so that a number the kernel has given to somebody else in the meantime is never met.
 */
#ifndef PERSIK_HOST_PROCESS_TREE_H
#define PERSIK_HOST_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int handle; /* of pidfd_open(2) */
};

struct process_tree {
    struct process *items; /* parents before their children; the root first */
    size_t count, capacity;
};

/* Adds `root` and all below it, as far as they are there. `handle` was opened when it was sure
 * whose number that is: nothing is added when that process has ended. -1: it is sure now, as of
 * children that nobody has waited for. The caller closes the tree. */
void process_tree_add(struct process_tree *tree, pid_t root, int handle);
void process_tree_close(struct process_tree *tree);

/* Sends the signal to all of them. */
void process_tree_signal(const struct process_tree *tree, int number);

/* Waits until all have ended, `limit_ms` at most. Did they? */
bool process_tree_wait(const struct process_tree *tree, int limit_ms);

/* Its children, without those below them; the caller frees. */
pid_t *process_children(pid_t pid, size_t *n);

/* The end of a process is seen by polling the descriptor. -1: there is none of this number, or the
 * kernel is older than Linux 5.3. */
int process_open(pid_t pid);
bool process_has_ended(int handle);
void process_signal(int handle, int number);

/* "nginx"; "?" when it is gone. Returns `text`. */
char *process_name(pid_t pid, char text[32]);

#endif
