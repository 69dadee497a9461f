#include "cli/prediction/changed_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text/table.h"

static const struct table_column columns[] = {{"part", ""}, {"change", ""}};

void changed_parts_add(struct changed_parts *parts, const char *part, char *change) {
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].part, part) == 0 &&
            strcmp(parts->items[i].change, change) == 0) {
            free(change);
            return;
        }
    *VECTOR_ADD(parts) = (struct changed_part){memory_strdup(part), change};
}

void changed_parts_free(struct changed_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->items[i].part);
        free(parts->items[i].change);
    }
    free(parts->items);
    *parts = (struct changed_parts){0};
}

void changed_parts_print(const struct changed_parts *parts, FILE *out) {
    if (parts->count > 0)
        fputs("Changed:\n", out);
    for (size_t i = 0; i < parts->count; i++)
        fprintf(out, "  %s: %s\n", parts->items[i].part, parts->items[i].change);
    if (parts->count > 0)
        fputc('\n', out);
}

json_t *changed_parts_json(const struct changed_parts *parts) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < parts->count; i++) {
        table_add_text(table, parts->items[i].part);
        table_add_text(table, parts->items[i].change);
    }
    json_t *json = table_json(table);
    table_free(table);
    return json;
}
