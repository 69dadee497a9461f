/* Critical sections in classes: what starts at one call site and signals the same conditions is
 * taken to do the same to what the mutex guards. */
#ifndef PERSIK_MODELGEN_SYNC_OPERATION_CLASSES_H
#define PERSIK_MODELGEN_SYNC_OPERATION_CLASSES_H

#include "modelgen/sync/monitor.h"

/* Sets classes, n_classes, n_entries and class_of. `split`, per entry, NULL: none: its sections are
 * told apart by what comes next where neither a wait nor a signal tells. Entries are numbered alike
 * whatever is split. */
void operation_classes_find(const struct trace *trace, const struct sections *sections,
                            const bool *split, struct monitors *monitors);

/* Marks the entries whose sections never wait nor signal, and whose threads go different ways
 * afterwards: what they found may decide that. `monitors` is not split; `marked`: per entry. */
void operation_classes_mark_attempts(const struct trace *trace, const struct sections *sections,
                                     const struct monitors *monitors, bool *marked);

/* Where the trace does not show whether a section signals before it waits or after, because it
 * never did both, the order of the source's statements tells. `monitors` has its proposals. */
void operation_classes_read_order(const struct trace *trace, const struct facts *facts,
                                  struct monitors *monitors);

bool class_signals(const struct section_class *class, int condition);

/* The same code, wherever it is called. */
bool class_is_same_operation(const struct section_class *a, const struct section_class *b);

/* Do sections of the class tell those who wait at the site, which is another one? */
bool class_tells(const struct section_class *class, const struct section_class *site);

/* Do sections of this entry signal the condition (-1: any) before they wait for another one? Their
 * part in what the condition stands for is then done before the wait. */
bool entry_signals_early(const struct monitors *monitors, int entry, int condition);

#endif
