/* The source's own words held against the trace: the guarded commands of a proposal (what each
 * critical section reads, waits for, changes and signals) are carried out in the order in which
 * the sections really ran. Whoever waited, or signalled, must then have had to. */
#ifndef PERSIK_MODELGEN_SYNC_GUARDED_COMMANDS_H
#define PERSIK_MODELGEN_SYNC_GUARDED_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/events/critical_sections.h"
#include "modelgen/sync/monitor.h"

#define GUARDED_COMMANDS_FRAMES 4 /* callers in which the source may have put a section */

struct guarded_commands_verdict {
    double decisions; /* to wait, to go on, to signal: those whose predicates had known values */
    double waited;
    double violations;
    double unknown; /* decisions that depend on what the source does not tell */
    /* What speaks against carrying them out in the place of the program, besides: */
    double unknown_signals; /* may have been given or not */
    double untold;          /* sections that signalled though none of their statements does */
    double strange;         /* sections that wait or signal, of which there are no statements */
    size_t n_contradictions;
    struct contradiction contradictions[CONTRADICTIONS_SHOWN];
};

/* For each section of the trace, which of its statements' guards held: bit number = step. */
typedef uint64_t guarded_commands_trail;
#define GUARDED_COMMANDS_TRAIL_STEPS 64

/* Replays the sections of `mutex` (index into the objects). `threads`: the thread count of the run,
 * for variables that follow it. A proposal whose variables are not those of this mutex (one of many
 * items under a common lock) gives no decisions. `trail`, one per section of the trace, may be
 * NULL. */
struct guarded_commands_verdict guarded_commands_replay(const struct trace *trace,
                                                        const struct sections *sections,
                                                        const struct facts_monitor *proposal,
                                                        int mutex, double threads,
                                                        guarded_commands_trail *trail);

/* Of each of the proposal's variables, whether every thread has one of its own. The caller frees.
 */
bool *guarded_commands_own(const struct facts_monitor *proposal);

/* The source's section that was entered at `context`; NULL when it is none of the proposal's. */
const struct facts_section *guarded_commands_section(const struct trace *trace, uint32_t context,
                                                     const struct facts_monitor *proposal);

#endif
