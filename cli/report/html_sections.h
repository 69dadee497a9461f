/* The sections of the HTML report (cli/report/html_report.h puts them together). Private to it. */
#ifndef PERSIK_CLI_REPORT_HTML_SECTIONS_H
#define PERSIK_CLI_REPORT_HTML_SECTIONS_H

#include <stdio.h>

#include "cli/report/forecast.h"
#include "cli/report/html_input.h"

/* The top of the page: what was run, one answer, and the figures behind it. */
void html_answer(FILE *out, const struct html_report *report, const struct forecast *forecast);

/* Plots of what is predicted, with what was measured, and the table of it. */
void html_forecast_plots(FILE *out, const struct html_report *report,
                         const struct forecast *forecast);

/* What is used most in each configuration, and cards of pools, locks and queues. */
void html_resources(FILE *out, const struct html_report *report, const struct forecast *forecast);

/* Where the recorded threads waited, and what they did when. */
void html_waits(FILE *out, const struct trace *trace);
void html_timeline(FILE *out, const struct trace *trace);

/* The same of one run of the model, in the recorded configuration; nothing where it stands still.
 */
void html_simulated_timeline(FILE *out, const struct model *model);

/* How far to trust it: the recording, the self-check, what is not modelled; and what it was made
 * of. */
void html_quality(FILE *out, const struct html_report *report);
void html_provenance(FILE *out, const struct html_report *report);

/* The row of the recorded configuration and load; NULL: it is not among them. */
const struct forecast_row *html_recorded_row(const struct html_report *report,
                                             const struct forecast *forecast);

#endif
