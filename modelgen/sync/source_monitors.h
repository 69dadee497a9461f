/* Which mutex of the run each monitor is that the source proposes, and what it says of it. */
#ifndef PERSIK_MODELGEN_SYNC_SOURCE_MONITORS_H
#define PERSIK_MODELGEN_SYNC_SOURCE_MONITORS_H

#include "modelgen/sync/monitor.h"

/* Sets proposal_of and unproposed, both allocated. `monitors` has its classes; `facts` may be NULL.
 */
void source_monitors_find(const struct trace *trace, const struct sections *sections,
                          const struct facts *facts, struct monitors *monitors);

/* Does the proposal say that this class' section acts so? One function may have several sections.
 */
bool source_monitors_act(const struct facts_monitor *proposal, enum facts_role role,
                         const struct section_class *class);

/* Does the chain of calls pass the call that makes objects with this choice of the amount? Where
 * one line has several such calls, the column tells which it is. */
bool source_monitors_made_by(const struct trace *trace, uint32_t context,
                             const struct facts_amount *amount, size_t choice);

/* What the source says the amount is. Of objects that are made by different calls, each with an
 * amount of its own, this mutex' and of those that it stands for, if they have one. */
const struct facts_amount *source_monitors_amount(const struct trace *trace,
                                                  const struct sections *sections,
                                                  const struct facts_monitor *proposal, int mutex);

#endif
