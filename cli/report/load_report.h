/* What `persik load` measured: as a table, JSON or CSV, and as the file that `persik validate`
 * reads. */
#ifndef PERSIK_CLI_REPORT_LOAD_REPORT_H
#define PERSIK_CLI_REPORT_LOAD_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/text/table.h"
#include "load/load.h"

/* Prints the result. `histogram`: also quantiles, as HdrHistogram lists them: ever more of them
 * towards the maximum. Not in CSV. Without answers there is no table. */
void load_report_print(const struct load_options *options, const struct load_result *result,
                       enum table_format format, bool histogram, FILE *out);

/* Warns of what makes the figures other than they look. */
void load_report_warn(const struct load_result *result);

/* "closed early 480, timed out 20"; freed by the caller. */
char *load_report_failures(const struct load_result *result);

/* Writes the JSON into the file `path`, which appears whole. 0, or -1 and `error`. */
int load_report_write(const struct load_options *options, const struct load_result *result,
                      const char *path, struct error *error);

#endif
