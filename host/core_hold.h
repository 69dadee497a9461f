/* A program that is held on one core for some time. One that spins may never end there, so that it
 * gets all cores back when the time is up: it is never stopped. */
#ifndef PERSIK_HOST_CORE_HOLD_H
#define PERSIK_HOST_CORE_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct core_hold;

/* In the child that becomes the program: from now on it has the first of our cores only, and so
 * have all threads and processes that it starts. */
void core_hold_self(void);

/* Watches the child: after `limit_ns` it and all below it get our cores back. core_hold_end() ends
 * that. Where it cannot be watched it gets them back at once. */
struct core_hold *core_hold_begin(pid_t pid, uint64_t limit_ns);

/* Did it get all cores back before it ended? Frees the hold. */
bool core_hold_end(struct core_hold *hold);

#endif
