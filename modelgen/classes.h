/* Critical sections in classes: what starts at one call site and signals the same conditions is
 * taken to do the same to what the mutex guards. */
#ifndef PERSIK_MODELGEN_CLASSES_H
#define PERSIK_MODELGEN_CLASSES_H

#include "modelgen/monitors.h"

/* Sets classes, n_classes and class_of. `split`, per sync object, NULL: none: a mutex whose
 * sections are told apart by what comes next where neither a wait nor a signal tells. */
void classes_find(const struct trace *trace, const struct sections *sections, const bool *split,
                  struct monitors *monitors);

bool class_signals(const struct section_class *class, int condition);

/* The same code, wherever it is called. */
bool class_is_same_operation(const struct section_class *a, const struct section_class *b);

/* Do sections of this entry signal the condition (-1: any) before they wait for another one? Their
 * part in what the condition stands for is then done before the wait. */
bool entry_signals_early(const struct monitors *monitors, int entry, int condition);

#endif
