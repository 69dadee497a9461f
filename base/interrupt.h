/* SIGINT, SIGTERM and SIGHUP while programs under test are run. The first one is passed on to the
 * program that runs, which may end in an orderly way; what it did is kept, and no further run is
 * begun. The second one ends everything at once: the program is killed, and persik ends, too. */
#ifndef PERSIK_BASE_INTERRUPT_H
#define PERSIK_BASE_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* From here to the matching interrupt_end() the signals are taken, but for those that are ignored
 * (`nohup`, a shell's background jobs). May be nested: the outermost counts. */
void interrupt_begin(void);
void interrupt_end(void);

/* What is to be removed (NULL: nothing) should the second signal find this process busy: then
 * another thread calls it and ends the process. */
void interrupt_on_second(void (*clean)(void *context), void *context);

/* The program that the signals go to; a signal that came since interrupt_begin() goes there at
 * once. 0, before it is waited for: none. What the terminal sends has reached it already. */
void interrupt_program(pid_t pid);

/* Before the first child is made. A process that is started with SIGCHLD ignored cannot learn how
 * its children ended; those who call interrupt_forget() ignore it as before. */
void interrupt_hear_children(void);

/* In a child of fork(), first of all: the signals have their usual meaning again. */
void interrupt_forget(void);

/* The first signal since the outermost interrupt_begin(), 0 none; and whether there was a second.
 * They are kept after interrupt_end(). */
int interrupt_signal(void);
bool interrupt_is_final(void);

/* Was the first one the terminal's, which the program has got, too? */
bool interrupt_is_from_terminal(void);

/* The first signal did what it was meant for, such as the end of one run: as if none had come. Not
 * if there was a second. */
void interrupt_accept(void);

/* 0, or -1 and `error` when a signal came: no run is to be begun any more. */
int interrupt_check(struct error *error);

/* Waits for the end of the program and stops passing signals on, without taking the program's
 * status: its number is still its own. */
void interrupt_wait(pid_t pid);

#endif
