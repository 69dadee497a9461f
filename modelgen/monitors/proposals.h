/* Which mutex of the run each monitor is that the source proposes. */
#ifndef PERSIK_MODELGEN_MONITORS_PROPOSALS_H
#define PERSIK_MODELGEN_MONITORS_PROPOSALS_H

#include "modelgen/monitors/monitors.h"

/* Sets proposal_of and unproposed, both allocated. `monitors` has its classes; `facts` may be NULL.
 */
void proposals_find(const struct trace *trace, const struct sections *sections,
                    const struct facts *facts, struct monitors *monitors);

#endif
