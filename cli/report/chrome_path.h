/* The critical path as Chrome's JSON events: a track for each thread that it passes, on which is
 * what it did there, and an arrow wherever it is handed over to another one. */
#ifndef PERSIK_CLI_REPORT_CHROME_PATH_H
#define PERSIK_CLI_REPORT_CHROME_PATH_H

#include <stdio.h>

#include "formats/dependencies.h"
#include "formats/trace.h"

/* Its events, within a document that others begin and end (cli/report/chrome_run.h); what lies
 * outside of `span` is left out. */
void chrome_path_write(const struct dependencies *all, struct trace_span span, FILE *out);

/* A document of its own, with all of it. */
void chrome_path_print(const struct dependencies *all, FILE *out);

#endif
