/* Futexes (Franke, Russell and Kirkwood, "Fuss, futexes and furwocks", 2002): who finds that it
 * must wait, or that somebody waits, makes a system call; all else is done to the word alone. */
#ifndef PERSIK_MODELGEN_REWRITE_FUTEXES_H
#define PERSIK_MODELGEN_REWRITE_FUTEXES_H

#include "modelgen/events/event_log.h"

/* Leaves out the calls that no filter has shown as something else. What their threads waited there
 * is then outside of every call, which is said, and refuses figures where it is much. */
void futexes_left_out(struct event_log *log);

#endif
