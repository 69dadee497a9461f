/* All that was found of the mutexes: guards, patterns and the source's statements. */
#ifndef PERSIK_MODELGEN_SYNC_EXPLANATIONS_H
#define PERSIK_MODELGEN_SYNC_EXPLANATIONS_H

#include "modelgen/sync/monitor.h"

/* Does a guard say what the sections of a class wait for? */
bool monitors_guard(const struct monitors *monitors, size_t class_index);

/* Forgets the guards and patterns of the mutex. */
void monitors_forget(struct monitors *monitors, int mutex);

/* Does a guard, a pattern or the source's statements say why this section waited or did not? */
bool monitors_explain(const struct monitors *monitors, size_t section);

#endif
