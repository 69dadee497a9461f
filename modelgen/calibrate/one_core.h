/* What several cores cost each other: memory, caches, locks of the kernel. All of it is CPU time of
 * who waits for it, and no record tells it from computation. But the same run with one core has
 * none of it. */
#ifndef PERSIK_MODELGEN_CALIBRATE_ONE_CORE_H
#define PERSIK_MODELGEN_CALIBRATE_ONE_CORE_H

#include <stdbool.h>

#include "formats/model.h"
#include "formats/trace.h"

/* Compares what the runs on one core took of CPU time with what the model, simulated with one core,
 * has: one_core_cpu in the model where both differ by more than such runs do. `simulated_cpu_ns`:
 * of all threads; `ended_ns`: behind the ends of threads, which is in the model. Nothing where
 * there was no such run, where it may have been another one (threads bound to cores, a program that
 * asks for its cores), or where the recorded run had no more than one core itself. */
void one_core_compare(const struct trace *trace, double ended_ns, double simulated_cpu_ns,
                      struct model *model);

/* A run that took several times the CPU time with one core, without an end: its threads wait for
 * each other without sleeping, which no record shows. Then only the recorded configuration has
 * figures. For models that know of no spinning. */
void one_core_note_spinning(const struct trace_meta *meta, struct model *model);

/* Says in the model what that `ratio` is taken for: costs of turns on a core, which are in the
 * model (cli/prediction/turn_costs.h), or what several cores cost each other. */
void one_core_note(struct model *model, double ratio, bool turns_explain);

#endif
