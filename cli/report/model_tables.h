/* What a model consists of, as `graph` and `build-model` print it. */
#ifndef PERSIK_CLI_REPORT_MODEL_TABLES_H
#define PERSIK_CLI_REPORT_MODEL_TABLES_H

#include "cli/text/table.h"
#include "formats/model.h"

/* A row for each pool, shared object, hand-made object, figure of the recorded run. table_free()
 * ends them. */
struct table *model_pool_table(const struct model *model);
struct table *model_object_table(const struct model *model);
struct table *model_monitor_table(const struct model *model);
struct table *model_check_table(const struct model *model);

/* How much of the waiting for other threads is modelled, and how well; the caller frees. NULL:
 * nobody waited. */
char *model_waiting_text(const struct model *model);

/* An object with the program, these three and the notes; the caller owns it. */
json_t *model_tables_json(const struct model *model);

/* What is not modelled exactly, to stdout, behind a blank line; nothing where there is none. */
void model_tables_print_notes(const struct model *model);

#endif
