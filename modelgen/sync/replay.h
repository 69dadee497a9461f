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

/* ---- the source's own words: the guarded commands of a proposal, which say what each critical
 * section reads, waits for, changes and signals ---- */

/* Of each section of the trace the section of the proposal that it is, where it is one of `mutex`
 * (index into the objects); else HISTORY_NO_ROLE. The caller frees. */
int *source_replay_roles(const struct trace *trace, const struct sections *sections,
                         const struct facts_monitor *proposal, int mutex);

/* Replays the sections of the mutex in these roles. `threads`: the thread count of the run. A
 * proposal whose variables are not those of this mutex (one of many items under a common lock)
 * gives no decisions. `trails` may be NULL. */
struct tally source_replay(const struct sections *sections, const struct facts_monitor *proposal,
                           int mutex, const int *roles, double threads, replay_trail *trails);

#endif
