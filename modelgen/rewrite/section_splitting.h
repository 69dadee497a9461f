/* Critical sections with several waits in them. A thread may hold a mutex through waits for one
 * thing after another: until all are there, then, having told them to start, until all are done. A
 * wait unlocks the mutex and locks it again. So what lies between such waits are critical sections
 * of their own, each with one thing it waits for. So does who makes a thread while it holds the
 * mutex, and then waits until that is up: the thread is there before the wait begins. */
#ifndef PERSIK_MODELGEN_REWRITE_SECTION_SPLITTING_H
#define PERSIK_MODELGEN_REWRITE_SECTION_SPLITTING_H

#include "modelgen/events/event_log.h"

/* Shows such a mutex as given back and taken again behind the last signal in front of the other
 * wait, or behind the creation; there also where nobody had to wait. */
void section_splitting_apply(struct event_log *log);

#endif
