/* The source's own words held against the trace: the guarded commands of a proposal (what each
 * critical section reads, waits for, changes and signals) are carried out in the order in which
 * the sections really ran. Whoever waited, or signalled, must then have had to. */
#ifndef PERSIK_MODELGEN_COMMANDS_H
#define PERSIK_MODELGEN_COMMANDS_H

#include <stddef.h>

#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/monitors.h"
#include "modelgen/sections.h"

#define COMMANDS_FRAMES 4 /* callers in which the source may have put a section */

struct commands_verdict {
    double decisions; /* to wait, to go on, to signal: those whose predicates had known values */
    double waited;
    double violations;
    double unknown; /* decisions that depend on what the source does not tell */
    size_t n_contradictions;
    struct contradiction contradictions[CONTRADICTIONS_SHOWN];
};

/* Replays the sections of `mutex` (index into the objects). `threads`: the thread count of the run,
 * for variables that follow it. A proposal whose variables are not those of this mutex (one of many
 * items under a common lock) gives no decisions. */
struct commands_verdict commands_replay(const struct trace *trace, const struct sections *sections,
                                        const struct facts_monitor *proposal, int mutex,
                                        double threads);

/* The source's section that was entered at `context`; NULL when it is none of the proposal's. */
const struct facts_section *commands_section(const struct trace *trace, uint32_t context,
                                             const struct facts_monitor *proposal);

#endif
