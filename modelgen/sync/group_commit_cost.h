/* What threads that are led in a group commit cost the one that leads them: it does their work,
 * too.
 */
#ifndef PERSIK_MODELGEN_SYNC_GROUP_COMMIT_COST_H
#define PERSIK_MODELGEN_SYNC_GROUP_COMMIT_COST_H

#include "modelgen/events/excluded_time.h"
#include "modelgen/sync/template.h"

/* Of the template's candidate: in_groups, led and led_cpu_ns. */
void group_commit_finish(const struct finder *finder, const struct candidate *candidate,
                         struct explanation *pattern);

/* What leaders computed for those that they led: the simulator charges it by how many they are
 * then. The caller frees the items. */
struct excluded_time group_commit_cost_excluded(const struct trace *trace,
                                                const struct sections *sections,
                                                const struct monitors *monitors);

#endif
