/* The search for what each mutex with conditions is, in the order of the modules in monitor.h. */
#ifndef PERSIK_MODELGEN_SYNC_MONITOR_SEARCH_H
#define PERSIK_MODELGEN_SYNC_MONITOR_SEARCH_H

#include "modelgen/sync/monitor.h"

/* `facts` may be NULL. `doubted` tells of each sync object whether to find nothing there, as it led
 * to a wrong model; NULL: none. monitors_free() ends it; all arguments must outlive it. */
struct monitors monitors_find(const struct trace *trace, const struct sections *sections,
                              const struct facts *facts, const bool *doubted);
void monitors_free(struct monitors *monitors);

#endif
