/* A tally as a table: where the recorded threads waited. */
#ifndef PERSIK_CLI_REPORT_TALLY_TABLE_H
#define PERSIK_CLI_REPORT_TALLY_TABLE_H

#include "cli/report/tally.h"
#include "cli/text/table.h"

enum tally_of { TALLY_OF_OBJECTS, TALLY_OF_SITES };

/* The `limit` rows with the longest waiting, the longest first; sorts the tally. The caller frees:
 * table_free(). */
struct table *tally_table(const struct trace *trace, struct tally *tally, enum tally_of of,
                          size_t limit);

#endif
