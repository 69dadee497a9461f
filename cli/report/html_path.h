/* The critical path as one HTML page. */
#ifndef PERSIK_CLI_REPORT_HTML_PATH_H
#define PERSIK_CLI_REPORT_HTML_PATH_H

#include <stdio.h>

#include "critical-path/critical_path.h"

/* Its checks, the flame graph of the path, and the tables that the command prints. */
void html_path_print(FILE *out, const struct critical_path *path, const struct dependencies *all);

#endif
