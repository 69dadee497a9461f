/* Semaphores whose operations are no calls: std::counting_semaphore changes its count by itself and
 * calls the kernel only where a thread has to wait, or one may have to be woken. */
#ifndef PERSIK_MODELGEN_REPORT_INLINED_SEMAPHORES_H
#define PERSIK_MODELGEN_REPORT_INLINED_SEMAPHORES_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/trace.h"

/* Notes those that the source shows and that no recorded call was made for: how many units there
 * are is not in the model. `facts` may be NULL. */
void inlined_semaphores_note(const struct trace *trace, const struct facts *facts,
                             struct model *model);

#endif
