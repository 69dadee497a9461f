/* What a run's time hangs on, as tables: by what is done, by lock or queue, by thread. */
#ifndef PERSIK_CLI_REPORT_PATH_TABLES_H
#define PERSIK_CLI_REPORT_PATH_TABLES_H

#include "cli/text/table.h"
#include "critical-path/critical_path.h"

/* "computing". */
const char *path_subject_name(enum path_subject subject);

/* At most so many rows, the first ones; table_free() ends each. */
struct table *path_table(const struct critical_path *path, size_t most);
struct table *path_object_table(const struct critical_path *path, size_t most);
struct table *path_thread_table(const struct critical_path *path, size_t most);

#endif
