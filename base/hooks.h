/* The user's own commands before and after every run of the program under test: they put back what
 * a run changes, so that the next one does the same work. */
#ifndef PERSIK_BASE_HOOKS_H
#define PERSIK_BASE_HOOKS_H

#include "base/error.h"

/* Shell commands; NULL none. The texts stay the caller's and must last. */
void hooks_set(const char *prepare, const char *cleanup);

/* In the process that starts the run, before each; what the command prints goes to stderr. -1 and
 * `error` when it failed: the run would do other work, and must not be. */
int hooks_prepare(struct error *error);

/* After each run that was prepared, however it ended. A failure is a warning: the run is over. */
void hooks_cleanup(void);

#endif
