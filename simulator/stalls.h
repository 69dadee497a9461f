/* Defects of the model that show in a run: everything waits for nothing, or an operation makes no
 * sense. They are counted, the first is remembered, and the run goes on as far as it can. */
#ifndef PERSIK_SIMULATOR_STALLS_H
#define PERSIK_SIMULATOR_STALLS_H

#include "simulator/state.h"

/* Everything waits and nothing will happen: lets the one that waits longest go on. */
void stall_break(struct engine *engine);

/* Counts a defect of the model at the thread's present node and remembers the first. */
void stall_note(struct engine *engine, const struct thread *thread, const char *what);

#endif
