/* The HTML report of a recording, with predictions that nobody had to ask for. */
#ifndef PERSIK_CLI_REPORT_PREDICT_REPORT_H
#define PERSIK_CLI_REPORT_PREDICT_REPORT_H

#include "base/error.h"
#include "cli/report/html_report.h"

/* Writes the report of the recording in `directory` (cli/report/html_report.h). Where it has a
 * model, what is around the recorded configuration is simulated, which takes some seconds: up to
 * twice its threads on up to its cores; of a program whose tasks come from outside, loads up to its
 * saturation. 0, or -1 and `error`. */
int predict_report(const char *path, const char *directory, const char *measurements,
                   const struct html_report *report, struct error *error);

#endif
