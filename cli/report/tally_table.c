#include "cli/report/tally_table.h"

#include <math.h>
#include <stdlib.h>

#include "cli/report/site_name.h"

static const char *api_name(enum api api) {
    return api_catalog[api].name;
}

enum { COLUMNS = 6 };

static const struct table_column object_columns[COLUMNS] = {
    {"object", "object, by its first use"},
    {"kind", "kind"},
    {"operations", "operations"},
    {"waits", "waits"},
    {"wait_ns", "total wait"},
    {"mean_wait_ns", "mean wait"},
};

static const struct table_column site_columns[COLUMNS] = {
    {"place", "call in"},      {"call", "of"},
    {"calls", "calls"},        {"waits", "waits"},
    {"wait_ns", "total wait"}, {"mean_wait_ns", "mean wait"},
};

struct table *tally_table(const struct trace *trace, struct tally *tally, enum tally_of of,
                          size_t limit) {
    bool sites = of == TALLY_OF_SITES;
    tally_sort(tally);
    struct table *table = table_new(sites ? site_columns : object_columns, COLUMNS);
    TABLE_SPARE(table, "operations", "calls");
    for (size_t i = 0; i < tally->count && i < limit; i++) {
        const struct tally_row *row = &tally->items[i];
        char *site = site_name(trace, row->context);
        table_add_text(table, site);
        table_add_text(table,
                       sites ? api_name(row->api) : api_object_names[api_catalog[row->api].object]);
        table_add_integer(table, (long)row->operations);
        table_add_integer(table, (long)row->waits);
        table_add_number(table, (double)row->wait_ns, UNIT_TIME);
        table_add_number(table, row->waits ? (double)row->wait_ns / (double)row->waits : NAN,
                         UNIT_TIME);
        free(site);
    }
    return table;
}
