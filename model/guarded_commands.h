/* Guarded commands: what a critical section does with the variables of its monitor, in the order of
 * the text. The source analysis reads them from the program, modelgen holds them, and those of its
 * templates, against the trace, and the simulator carries them out: all by this interpreter.
 *
 * Source: E. W. Dijkstra, "Guarded commands, nondeterminacy and formal derivation of programs",
 * CACM 18(8), 1975; C. A. R. Hoare, "Monitors", CACM 17(10), 1974. */
#ifndef PERSIK_MODEL_GUARDED_COMMANDS_H
#define PERSIK_MODEL_GUARDED_COMMANDS_H

#include <stdint.h>

#include "model/postfix.h"

enum command_kind { COMMAND_UPDATE, COMMAND_WAIT, COMMAND_SIGNAL, COMMAND_BROADCAST };

#define COMMAND_ALWAYS (-1)

/* Of the commands whose guards held this many are remembered. */
#define COMMANDS_REMEMBERED 64

struct command {
    enum command_kind kind;
    int branch; /* the same for commands in a row under one guard, which is decided once: the first
                 * of them may change what the guard reads; COMMAND_ALWAYS: without a guard */
    struct postfix guard; /* owned */
    struct postfix value; /* owned; an update's, or the predicate that a wait waits WHILE */
    int variable;         /* of an update */
    bool is_own;          /* each thread has the variable */
    int condition;        /* of a wait, signal or broadcast */
    bool timed;           /* a wait that may give up */
    bool answers;         /* whether the guard held tells which way the thread goes on */
};

/* Where a thread is in its commands. */
struct command_progress {
    int at;            /* the command that comes next */
    int branch;        /* the last one's */
    struct value held; /* how the guard of that came out */
    struct value answer;
    uint64_t held_commands; /* bit number = command, of those whose guards held */
    bool is_lost;           /* something had no value */
};

struct command_progress commands_begin(void);

/* The branch of command `number` of a section: that of the one before it, whose guard is written
 * `last_guard`, where its own is the same. NULL: without a guard. */
int command_branch(int number, const char *guard, const char *last_guard, int last_branch);

/* A command that needs the caller: a wait, signal or broadcast whose guard does not fail. */
struct command_stop {
    const struct command *command; /* NULL: the section ends */
    struct value guard;
    struct value waits; /* of a wait: the predicate */
};

/* Carries out updates up to the next stop, at which progress->at stands: the caller that is done
 * with it adds 1, or asks again when the thread woke up. Where a guard is unknown, an update's
 * variable has an unknown value from then on. */
struct command_stop commands_next(const struct command *commands, int n_commands,
                                  struct command_progress *progress, struct value *shared,
                                  struct value *own);

/* Frees what the commands own, not themselves. */
void commands_free(struct command *commands, size_t n_commands);

#endif
