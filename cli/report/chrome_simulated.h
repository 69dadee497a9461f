/* A simulated run as Chrome's JSON events, in the form of a recorded one (cli/report/chrome.h). */
#ifndef PERSIK_CLI_REPORT_CHROME_SIMULATED_H
#define PERSIK_CLI_REPORT_CHROME_SIMULATED_H

#include <stdio.h>

#include "cli/prediction/simulated_run.h"

/* `span` as for chrome_write(). */
void chrome_write_simulated(const struct model *model, const struct simulated_run *run,
                            struct trace_span span, FILE *out);

#endif
