/* Critical sections in classes: what starts at one call site and signals the same conditions is
 * taken to do the same to what the mutex guards. */
#ifndef PERSIK_MODELGEN_SYNC_OPERATION_CLASSES_H
#define PERSIK_MODELGEN_SYNC_OPERATION_CLASSES_H

#include <stdbool.h>

#include "modelgen/sync/counter_replay.h"
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

/* ---- which classes of a mutex' sections may have to do with what some of them wait for ---- */

#define FREE_LIMIT  9 /* classes of a hypothesis that have a weight of their own */
#define CLOSE_LIMIT 4 /* candidates for what closes an object */

/* The classes of the mutex that may take part, the closing class (-1: none) left out: as many call
 * sites, or pieces of code (`by_operation`), as can have a weight of their own, with all that is
 * signalled there. Gives how many were chosen; what a hypothesis cannot do without comes first. */
int candidate_classes_choose(const struct monitors *monitors, int mutex, int waiter_entry,
                             int condition, int close_class, bool by_operation,
                             int chosen[CLASS_LIMIT]);

/* A loop may lock before it begins and again in each round: what waits for the same in the same
 * function is one operation. `a` and `b` are classes. */
bool candidate_classes_are_alike(const struct monitors *monitors, int a, int b);

/* Classes that may end the condition's life: they broadcast to its waiters, and run once. The last
 * ones, the very last first. Gives how many were found. */
int candidate_classes_that_close(const struct monitors *monitors, int mutex, int condition,
                                 int found[CLOSE_LIMIT]);

#endif
