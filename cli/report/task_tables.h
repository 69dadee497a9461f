/* What tasks hang on: the slowest of them, beside the average one. */
#ifndef PERSIK_CLI_REPORT_TASK_TABLES_H
#define PERSIK_CLI_REPORT_TASK_TABLES_H

#include <jansson.h>
#include <stdio.h>

#include "cli/text/table.h"
#include "critical-path/critical_path.h"

/* How many there are, how long they take, and how far their paths explain that. */
void task_path_print(const struct task_path *path, FILE *out);

/* The same for programs; the caller owns it. */
json_t *task_path_json(const struct task_path *path);

/* By what is done, and by lock or queue, at most so many rows; table_free() ends each. */
struct table *task_table(const struct task_path *path, size_t most);
struct table *task_object_table(const struct task_path *path, size_t most);

#endif
