/* What is printed of every critical path and every what-if: how far the recording explains itself.
 */
#ifndef PERSIK_CLI_REPORT_PATH_CHECKS_H
#define PERSIK_CLI_REPORT_PATH_CHECKS_H

#include <jansson.h>
#include <stdio.h>

#include "critical-path/critical_path.h"
#include "formats/dependencies.h"

/* Some lines for people. */
void path_checks_print(const struct path_checks *checks, const struct dependencies *all, FILE *out);

/* The same for programs; the caller owns it. */
json_t *path_checks_json(const struct path_checks *checks, const struct dependencies *all);

/* Warns of what is missing in the recording, so that what follows of it is not to be relied on. */
void path_checks_warn(const struct dependencies *all);

#endif
