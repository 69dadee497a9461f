/* Calls that wait until what was written is on the disk: their own requests, stage by stage, and
 * the commit of the journal that they wait for together with others. Internal to step_writer.h. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_WRITES_H
#define PERSIK_MODELGEN_LOWER_LOWER_WRITES_H

#include "modelgen/lower/step_writer.h"

/* False: the call is none, or went to no disk that is known; nothing is written. */
bool lower_writes_sync(struct writer *writer, size_t index, const struct trace_record *record);

#endif
