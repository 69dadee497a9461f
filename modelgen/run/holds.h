/* A thread may hold a mutex through waits for one thing after another: until all are there, then,
 * having told them to start, until all are done. A wait gives the mutex back and takes it again. So
 * what lies between such waits are critical sections of their own, each with one thing it waits
 * for. */
#ifndef PERSIK_MODELGEN_RUN_HOLDS_H
#define PERSIK_MODELGEN_RUN_HOLDS_H

#include "modelgen/run/view.h"

/* Shows such a mutex as given back and taken again behind the last signal in front of the other
 * wait; there also where nobody had to wait. */
void holds_part(struct view *view);

#endif
