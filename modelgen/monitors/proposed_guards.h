/* Guards that the source proposes, where nobody ever had to wait for them, or too few to tell. */
#ifndef PERSIK_MODELGEN_MONITORS_PROPOSED_GUARDS_H
#define PERSIK_MODELGEN_MONITORS_PROPOSED_GUARDS_H

#include "modelgen/monitors/guards.h"

/* Adds what the source says of the mutex, where the trace allows it and tells no more itself. */
void proposed_guards_find(const struct trace *trace, const struct sections *sections, int mutex,
                          const struct history *history, struct monitors *monitors,
                          struct guard_list *list);

#endif
