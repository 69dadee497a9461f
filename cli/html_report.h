/* The report as one HTML file: what was recorded, what is predicted, what the model does not know.
 * It shows what the commands print elsewhere: predictions are those of `predict --format json`,
 * row for row. */
#ifndef PERSIK_CLI_HTML_REPORT_H
#define PERSIK_CLI_HTML_REPORT_H

#include <jansson.h>

#include "base/error.h"
#include "cli/measurement.h"
#include "cli/table.h"
#include "formats/model.h"
#include "formats/trace.h"

/* What there is; each may be NULL but for one of `trace` and `model`. */
struct html_report {
    const struct trace *trace;
    const struct model *model;
    const json_t *prediction;                /* as `predict --format json` prints it */
    const struct table *figures;             /* its rows as people read them */
    const struct measurements *measurements; /* real runs, to be marked in the plots */
};

/* Can `path` become a report? Asked first, before anything takes time. 0, or -1 and `error`: it is
 * something else than a file, or nothing can be written there. */
int html_report_check(const char *path, struct error *error);

/* Writes the file, whole or not at all. 0, or -1 and `error`. */
int html_report_write(const char *path, const struct html_report *report, struct error *error);

/* The same for a folder: with its trace, where it has one, and with the measurements in a file of
 * `validate --measurements`, unless NULL. `report` has the rest. */
int html_report_of(const char *path, const char *directory, const char *measurements,
                   struct html_report report, struct error *error);

#endif
