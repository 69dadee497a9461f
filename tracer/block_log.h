/* Requests to disks that a trace lacks, from a log that blktrace(8) wrote meanwhile: where persik
 * ran without the right to see them, another user may have it. */
#ifndef PERSIK_TRACER_BLOCK_LOG_H
#define PERSIK_TRACER_BLOCK_LOG_H

#include "base/error.h"
#include "formats/trace.h"

/* Gives the trace the requests of its threads from the files NAME.blktrace.CPU, in the place of
 * those it has. Both name the threads, and both know when they began by the machine's clock. 0, or
 * -1 and `error`: no such files, or none that can be held against this trace. */
int block_log_add(struct trace *trace, const char *name, struct error *error);

#endif
