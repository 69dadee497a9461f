/* A trace in the Trace Event Format, for Perfetto and chrome://tracing: one track per thread with
 * its calls, one per core with who ran on it. */
#ifndef PERSIK_CLI_REPORT_CHROME_H
#define PERSIK_CLI_REPORT_CHROME_H

#include <stdio.h>

#include "formats/trace.h"

/* Instantaneous calls (no duration) are left out: they would be invisible. */
void chrome_write(const struct trace *trace, FILE *out);

#endif
