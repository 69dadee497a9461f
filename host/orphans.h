/* What a program leaves running when it ends: by default init adopts it, here we do, so that it can
 * be found and, where it is ours to end, ended. */
#ifndef PERSIK_HOST_ORPHANS_H
#define PERSIK_HOST_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orphans {
    bool was_reaper; /* before */
    pid_t *before;   /* the children that we had already, */
    size_t n_before;
    pid_t program; /* the program that we watch, */
    pid_t helper;  /* and one more that is no orphan; 0: none */
};

/* From now on what the program leaves is left to us. */
void orphans_adopt(struct orphans *orphans, pid_t program);

/* One of them, to be called when the program has ended; 0: there is none. With `listening_only`
 * one that listens, for which they get some time. Returns early on a signal to persik. */
pid_t orphans_find(const struct orphans *orphans, bool listening_only);

/* Tells all of them to end, and kills who does not. */
void orphans_end(const struct orphans *orphans, int stop_signal);

/* As it was before. What is still left is ours until we end. */
void orphans_release(struct orphans *orphans);

#endif
