/* The trace as Chrome's JSON events, for Perfetto: one track per thread with its calls, and one per
 * core with the threads that ran there. A call says on which object it was, where, and for whom; an
 * arrow leads from who woke a thread to where this then ran. */
#ifndef PERSIK_CLI_REPORT_CHROME_H
#define PERSIK_CLI_REPORT_CHROME_H

#include <stdio.h>

#include "formats/dependencies.h"
#include "formats/trace.h"

/* Of the whole trace. */
#define CHROME_ALL ((struct trace_span){0, UINT64_MAX})

/* Calls that took no time are left out, and so is what ended before or began after `span`. `path`:
 * its critical path is shown beside them; NULL: none. */
void chrome_write(const struct trace *trace, const struct dependencies *path,
                  struct trace_span span, FILE *out);

#endif
