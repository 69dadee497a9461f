/* Debug information calls all lambdas operator(): the trace and the samples get the source's names
 * for them, so that what it says about one is not taken for another. */
#ifndef PERSIK_MODELGEN_EVENTS_SYMBOL_NAMES_H
#define PERSIK_MODELGEN_EVENTS_SYMBOL_NAMES_H

#include "formats/facts.h"
#include "formats/sample.h"
#include "formats/trace.h"

/* Renames the call operators that the source knows. `facts` and `sample` may be NULL. */
void symbol_names_of_lambdas(const struct facts *facts, struct trace *trace, struct sample *sample);

#endif
