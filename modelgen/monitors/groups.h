/* Whoever comes first does the work of all who have come until it begins, as databases do that
 * write what several threads commit at once: the others wait, and find it done; or find that it is
 * their turn to do it for those who have come meanwhile. */
#ifndef PERSIK_MODELGEN_MONITORS_GROUPS_H
#define PERSIK_MODELGEN_MONITORS_GROUPS_H

#include "modelgen/monitors/finder.h"
#include "modelgen/run/losses.h"

/* In the finder's history, all under one mutex. True: found, and added to the monitors' patterns.
 */
bool groups_find(const struct finder *finder);

/* What leaders computed for those that they led: the simulator charges it by how many they are
 * then. The caller frees the items. */
struct losses groups_losses(const struct trace *trace, const struct sections *sections,
                            const struct monitors *monitors);

#endif
