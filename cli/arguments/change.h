/* --scale 'parse=0.5', --set 'jobs.capacity=64': what a user would change of a program. Only the
 * words: which of a model's or a trace's parts a name means is for those who carry it out.
 *
 *   --scale [KIND:]NAME=FACTOR   no KIND: computing in a function, or of a pool's threads;
 *                                lock: while the lock is held; io, sleep: waiting at a call place;
 *                                disk: its service times. FACTOR: 0.5, 50%, 0, 2
 *   --set NAME.PARAMETER=VALUE   capacity (64, unlimited), permits (8, unlimited), parties (4),
 *                                servers (2, unlimited), service (5ms), delay (1ms) */
#ifndef PERSIK_CLI_ARGUMENTS_CHANGE_H
#define PERSIK_CLI_ARGUMENTS_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum change_kind {
    /* times `value`: */
    CHANGE_CPU,     /* what a pool or a function computes */
    CHANGE_HOLD,    /* all that goes on while a lock is held */
    CHANGE_IO,      /* waits for devices at a call place */
    CHANGE_SLEEP,   /* sleeps at a call place */
    CHANGE_SERVICE, /* a disk's service times */
    /* becomes `value`: */
    CHANGE_CAPACITY,     /* of a bounded queue */
    CHANGE_PERMITS,      /* of a semaphore */
    CHANGE_PARTIES,      /* of a barrier */
    CHANGE_SERVERS,      /* of a disk: requests at once */
    CHANGE_SERVICE_TIME, /* of a disk, ns */
    CHANGE_DELAY,        /* waiting at a call place, ns */
};

struct change {
    enum change_kind kind;
    char *text;   /* "--scale 'parse=0.5'", for messages */
    char *name;   /* of what is changed, as given */
    double value; /* a factor, a number or ns; INFINITY: unlimited */
};

struct changes {
    struct change *items;
    size_t count, capacity;
};

/* Append what the text says. -1 and `error`, which names the option: it is not understood, the
 * factor is negative or no number. changes_free() ends the list. */
int changes_add_scale(struct changes *list, const char *text, struct error *error);
int changes_add_set(struct changes *list, const char *text, struct error *error);
void changes_free(struct changes *list);

#endif
