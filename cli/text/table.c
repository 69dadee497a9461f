#include "cli/text/table.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"
#include "html/writer.h"

struct cell {
    char *shown;
    json_t *value;
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    struct {
        struct cell *items;
        size_t count, capacity;
    } cells; /* row after row */
};

int table_format_parse(const char *word, enum table_format *format) {
    static const char *const words[] = {"table", "json", "csv"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], word) == 0) {
            *format = (enum table_format)i;
            return 0;
        }
    }
    return -1;
}

struct table *table_new(const struct table_column *columns, size_t n_columns) {
    struct table *table = memory_alloc(1, sizeof *table);
    table->columns = columns;
    table->n_columns = n_columns;
    return table;
}

void table_free(struct table *table) {
    if (!table)
        return;
    for (size_t i = 0; i < table->cells.count; i++) {
        free(table->cells.items[i].shown);
        json_decref(table->cells.items[i].value);
    }
    free(table->cells.items);
    free(table);
}

size_t table_rows(const struct table *table) {
    assert(table->n_columns > 0);
    return table->cells.count / table->n_columns;
}

/* ---- cells ---- */

static void add_cell(struct table *table, const char *shown, json_t *value) {
    *VECTOR_ADD(&table->cells) = (struct cell){printable(shown), value};
}

static json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

void table_add_text(struct table *table, const char *text) {
    /* A name from a foreign binary need not be UTF-8; JSON must be. */
    json_t *value = text ? json_string(text) : NULL;
    add_cell(table, text ? text : "", value ? value : json_null());
}

void table_add_integer(struct table *table, long value) {
    char text[QUANTITY_BYTES];
    snprintf(text, sizeof text, "%ld", value);
    add_cell(table, text, json_integer(value));
}

void table_add_number(struct table *table, double value, enum unit unit) {
    char text[QUANTITY_BYTES];
    add_cell(table, quantity_show(value, unit, text), json_number(value));
}

void table_add_shown_number(struct table *table, const char *shown, double value) {
    add_cell(table, shown, json_number(value));
}

void table_add_estimate(struct table *table, struct estimate estimate, enum unit unit) {
    char text[QUANTITY_BYTES];
    quantity_show_interval(estimate.mean, estimate.half_width, unit, text);
    add_cell(table, text, json_number(estimate.mean));
    add_cell(table, "", json_number(estimate.half_width));
}

void table_add_prediction(struct table *table, struct estimate simulated, struct estimate widened,
                          enum unit unit) {
    table_add_estimate(table, widened, unit);
    add_cell(table, "", json_number(simulated.half_width));
}

void table_add_simulated(struct table *table, struct estimate simulated, enum unit unit) {
    table_add_number(table, simulated.mean, unit);
    add_cell(table, "", json_number(simulated.half_width));
}

void table_add_signed_share(struct table *table, double share) {
    char text[QUANTITY_BYTES];
    if (isfinite(share))
        snprintf(text, sizeof text, "%+.1f %%", 100 * share);
    add_cell(table, isfinite(share) ? text : "-", json_number(share));
}

/* What is shown as one number: the ends are alike. */
#define NARROW 0.0015

void table_add_share_range(struct table *table, double share, double low, double high) {
    if (!isfinite(low) || !isfinite(high) || (isfinite(share) && high - low < NARROW)) {
        table_add_signed_share(table, share);
    } else {
        char *text = isfinite(share) ? memory_format("%+.1f %% (%+.1f to %+.1f)", 100 * share,
                                                     100 * low, 100 * high)
                                     : memory_format("%+.1f to %+.1f %%", 100 * low, 100 * high);
        add_cell(table, text, json_number(share));
        free(text);
    }
    add_cell(table, "", json_number(low));
    add_cell(table, "", json_number(high));
}

/* ---- text ---- */

enum { COLUMN_GAP = 2 };

static const struct cell *cell_at(const struct table *table, size_t row, size_t column) {
    return &table->cells.items[row * table->n_columns + column];
}

/* Characters, not bytes: "±" is two bytes wide and one column. */
static int text_width(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static int column_width(const struct table *table, size_t column) {
    int width = text_width(table->columns[column].title);
    for (size_t row = 0; row < table_rows(table); row++) {
        int cell = text_width(cell_at(table, row, column)->shown);
        width = cell > width ? cell : width;
    }
    return width;
}

static bool column_is_text(const struct table *table, size_t column) {
    for (size_t row = 0; row < table_rows(table); row++)
        if (json_is_string(cell_at(table, row, column)->value))
            return true;
    return false;
}

/* Spaces are held back until text follows: no line ends in them. */
static void print_text_line(const struct table *table, const int *widths, const bool *left,
                            const struct cell *cells, FILE *out) {
    int spaces = 0;
    for (size_t column = 0; column < table->n_columns; column++) {
        if (!table->columns[column].title)
            continue;
        const char *text = cells ? cells[column].shown : table->columns[column].title;
        int padding = widths[column] - text_width(text);
        spaces += left[column] ? 0 : padding;
        if (*text) {
            fprintf(out, "%*s%s", spaces, "", text);
            spaces = 0;
        }
        spaces += (left[column] ? padding : 0) + COLUMN_GAP;
    }
    fputc('\n', out);
}

void table_print_text(const struct table *table, FILE *out) {
    int *widths = memory_alloc(table->n_columns, sizeof *widths);
    bool *left = memory_alloc(table->n_columns, sizeof *left);
    for (size_t column = 0; column < table->n_columns; column++) {
        if (table->columns[column].title) {
            widths[column] = column_width(table, column);
            left[column] = column_is_text(table, column);
        }
    }
    print_text_line(table, widths, left, NULL, out);
    for (size_t row = 0; row < table_rows(table); row++)
        print_text_line(table, widths, left, cell_at(table, row, 0), out);
    free(widths);
    free(left);
}

/* ---- HTML ---- */

/* The largest number of the column; 0: there is none above that. */
static double column_most(const struct table *table, size_t column) {
    double most = 0;
    for (size_t row = 0; row < table_rows(table); row++)
        most = fmax(most, json_number_value(cell_at(table, row, column)->value));
    return most;
}

static void print_html_number(const struct cell *cell, bool is_bar, double most, FILE *out) {
    double value = json_number_value(cell->value);
    fputs("<td class=\"n", out);
    if (is_bar && most > 0)
        html_print(out, " bars\" style=\"--w:%.1f%%", 100 * value / most);
    fputs("\">", out);
    if (json_is_number(cell->value))
        html_print(out, "<data value=\"%.9g\">%s</data></td>", value, cell->shown);
    else
        html_print(out, "%s</td>", cell->shown);
}

void table_print_html(const struct table *table, const char *bars, FILE *out) {
    fputs("<div class=\"wide\"><table><thead><tr>", out);
    for (size_t column = 0; column < table->n_columns; column++)
        if (table->columns[column].title)
            html_print(out, "<th scope=\"col\" class=\"%s\">%s</th>",
                       column_is_text(table, column) ? "" : "n", table->columns[column].title);
    fputs("</tr></thead><tbody>\n", out);
    for (size_t row = 0; row < table_rows(table); row++) {
        fputs("<tr>", out);
        for (size_t column = 0; column < table->n_columns; column++) {
            const char *title = table->columns[column].title;
            const struct cell *cell = cell_at(table, row, column);
            if (title && column_is_text(table, column))
                html_print(out, "<td class=\"text\">%s</td>", cell->shown);
            else if (title)
                print_html_number(cell, bars && strcmp(bars, title) == 0,
                                  column_most(table, column), out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- CSV and JSON ---- */

void table_print_csv_text(const char *text, FILE *out) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv_value(const json_t *value, FILE *out) {
    if (json_is_string(value))
        table_print_csv_text(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
}

void table_print_csv(const struct table *table, FILE *out) {
    const char *comma = "";
    for (size_t column = 0; column < table->n_columns; column++) {
        if (!table->columns[column].key)
            continue;
        fprintf(out, "%s%s", comma, table->columns[column].key);
        comma = ",";
    }
    fputc('\n', out);
    for (size_t row = 0; row < table_rows(table); row++) {
        comma = "";
        for (size_t column = 0; column < table->n_columns; column++) {
            if (!table->columns[column].key)
                continue;
            fputs(comma, out);
            comma = ",";
            print_csv_value(cell_at(table, row, column)->value, out);
        }
        fputc('\n', out);
    }
}

json_t *table_json(const struct table *table) {
    json_t *rows = json_array();
    for (size_t row = 0; row < table_rows(table); row++) {
        json_t *object = json_object();
        for (size_t column = 0; column < table->n_columns; column++)
            if (table->columns[column].key)
                json_object_set(object, table->columns[column].key,
                                cell_at(table, row, column)->value);
        json_array_append_new(rows, object);
    }
    return rows;
}

void table_print_json(json_t *json, FILE *out) {
    json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(json);
}

void table_print(const struct table *table, enum table_format format, FILE *out) {
    switch (format) {
    case FORMAT_TABLE:
        table_print_text(table, out);
        break;
    case FORMAT_CSV:
        table_print_csv(table, out);
        break;
    case FORMAT_JSON:
        table_print_json(table_json(table), out);
        break;
    }
}
