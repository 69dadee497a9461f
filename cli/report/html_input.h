/* What the HTML report (cli/report/html_report.h) is made of. */
#ifndef PERSIK_CLI_REPORT_HTML_INPUT_H
#define PERSIK_CLI_REPORT_HTML_INPUT_H

#include <jansson.h>

#include "cli/text/table.h"
#include "cli/validation/measurement.h"
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

#endif
