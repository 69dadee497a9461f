/* The report as one HTML file: what was recorded, what is predicted, what the model does not know.
 * It shows what the commands print elsewhere: predictions are those of `predict --format json`,
 * row for row. */
#ifndef PERSIK_CLI_REPORT_HTML_REPORT_H
#define PERSIK_CLI_REPORT_HTML_REPORT_H

#include "base/error.h"
#include "cli/report/html_input.h"

/* Can `path` become a report? Asked first, before anything takes time. 0, or -1 and `error`: it is
 * something else than a file, or nothing can be written there. */
int html_report_check(const char *path, struct error *error);

/* Writes the file, whole or not at all. 0, or -1 and `error`. */
int html_report_write(const char *path, const struct html_report *report, struct error *error);

/* The same for a folder (NULL: there is none): with its trace, where it has one, and with the
 * measurements in a file of `validate --measurements`, unless NULL. `report` has the rest. */
int html_report_of(const char *path, const char *directory, const char *measurements,
                   struct html_report report, struct error *error);

#endif
