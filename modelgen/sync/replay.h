/* The one replay: the guarded commands of a program are carried out in the order in which the
 * critical sections of the run really came. Threads must then have waited, gone on and signalled
 * exactly where the program does. */
#ifndef PERSIK_MODELGEN_SYNC_REPLAY_H
#define PERSIK_MODELGEN_SYNC_REPLAY_H

#include "modelgen/sync/command_program.h"
#include "modelgen/sync/object_history.h"
#include "modelgen/sync/tally.h"

/* Which of the commands' guards held in a section: bit number = command. */
typedef uint64_t replay_trail;

struct replay {
    const struct sections *sections;
    const struct object_history *history; /* whose sections have their roles */
    const struct command_program *program;
    double most_violations; /* the replay ends when there are more; INFINITY: never */
    bool only_waits;        /* sections that never wait count only where they are wrong */
    replay_trail *trails;   /* per section of the trace, zeroed; NULL: not wanted */
};

/* Mutexes that are alike have variables of their own each. `shared`, of the program's number of
 * variables, gets those of the first one as they are at the end; NULL: not wanted. */
struct tally replay_run(const struct replay *replay, struct value *shared);

/* All of a history whose events have roles among the `n` operations of a program given as text
 * (command_text.h), where only waits count. Puts the events in order, and frees them. */
struct tally replay_text(const struct sections *sections, struct object_history history,
                         const char *variables, const char *const *operations, size_t n);

#endif
