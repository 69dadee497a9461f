/* The standard input and output of the program under test, which is run many times: each run must
 * read what the first one read, and the output is the user's, wanted once. */
#ifndef PERSIK_HOST_RERUN_H
#define PERSIK_HOST_RERUN_H

#include "base/error.h"

/* Before the first of several runs. A pipe or socket as input can be read only once: where
 * something comes from it within half a second, it is read to its end, and a nameless file takes
 * its place. From where nothing comes nothing is read: it may be meant for others. -1 and `error`:
 * there is no room for it, or a signal came meanwhile. */
int rerun_keep_input(struct error *error);

/* Before each run, in the process that starts it. The first call notes where the input stands, the
 * later ones put a file back there. -1 and `error` when it is a pipe or a socket from which an
 * earlier run has read: the next one would find less. */
int rerun_prepare(struct error *error);

/* Both in the child, before its exec, for a run whose output nobody asked for. /dev/null takes the
 * place of a terminal as input, and of the output. With rerun_aside(), output into a file goes into
 * a nameless one in the same folder, which takes as long to write. */
void rerun_to_null(void);
void rerun_aside(void);

#endif
