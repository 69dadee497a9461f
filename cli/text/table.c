#include "cli/text/table.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"
#include "cli/text/demangle.h"
#include "cli/text/fit.h"
#include "cli/text/text_page.h"
#include "html/writer.h"

struct cell {
    char *shown;
    json_t *value;
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    const char *const *spare; /* titles */
    size_t n_spare;
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

void table_spare(struct table *table, const char *const *titles, size_t n) {
    table->spare = titles;
    table->n_spare = n;
}

size_t table_rows(const struct table *table) {
    assert(table->n_columns > 0);
    return table->cells.count / table->n_columns;
}

/* ---- cells ---- */

static void add_cell(struct table *table, const char *shown, json_t *value) {
    char *clean = printable(shown);
    *VECTOR_ADD(&table->cells) = (struct cell){demangle_words(clean), value};
    free(clean);
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

static const struct cell *cell_at(const struct table *table, size_t row, size_t column) {
    return &table->cells.items[row * table->n_columns + column];
}

static bool column_is_text(const struct table *table, size_t column) {
    for (size_t row = 0; row < table_rows(table); row++)
        if (json_is_string(cell_at(table, row, column)->value))
            return true;
    return false;
}

/* What is printed of a column. */
struct printed {
    struct fit_column fit;
    int head; /* of fit_cut() */
};

static int widest_cell(const struct table *table, size_t column) {
    int width = 0;
    for (size_t row = 0; row < table_rows(table); row++) {
        int cell = fit_width(cell_at(table, row, column)->shown);
        width = cell > width ? cell : width;
    }
    return width;
}

static int widest_word(const char *title) {
    int width = 0;
    while (*title) {
        int word = (int)strcspn(title, " ");
        char *text = memory_format("%.*s", word, title);
        int characters = fit_width(text);
        width = characters > width ? characters : width;
        free(text);
        title += word + (title[word] == ' ');
    }
    return width;
}

/* Titles stand in one line where there is room, else word by word. */
static void measure(const struct table *table, bool in_words, struct printed *columns) {
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *title = table->columns[i].title;
        if (!title)
            continue;
        int cells = widest_cell(table, i), word = in_words ? widest_word(title) : fit_width(title);
        columns[i].fit.natural = cells > word ? cells : word;
        columns[i].fit.is_text = column_is_text(table, i);
        for (size_t s = 0; s < table->n_spare; s++)
            if (strcmp(table->spare[s], title) == 0 ||
                (table->columns[i].key && strcmp(table->spare[s], table->columns[i].key) == 0))
                columns[i].fit.spare = (int)s + 1;
    }
}

/* Without columns that are not for people. */
static void fit(const struct table *table, int page, struct printed *columns) {
    struct fit_column *shown = memory_alloc(table->n_columns, sizeof *shown);
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].title)
            shown[n++] = columns[i].fit;
    fit_columns(shown, n, page);
    n = 0;
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].title)
            columns[i].fit = shown[n++];
    free(shown);
}

static bool is_whole(const struct table *table, const struct printed *columns) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].title && columns[i].fit.width < columns[i].fit.natural)
            return false;
    return true;
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* How many different ones there are of a column, cut so. */
static size_t count_distinct(const struct table *table, size_t column, int width, int head) {
    size_t n = table_rows(table), distinct = 0;
    char **texts = memory_alloc(n + 1, sizeof *texts);
    for (size_t row = 0; row < n; row++)
        texts[row] = fit_cut(cell_at(table, row, column)->shown, width, head);
    qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t row = 0; row < n; row++)
        distinct += row == 0 || strcmp(texts[row], texts[row - 1]) != 0;
    for (size_t row = 0; row < n; row++)
        free(texts[row]);
    free(texts);
    return distinct;
}

/* Names are cut where they stay apart, if they can. */
static void choose_heads(const struct table *table, struct printed *columns) {
    static const int heads[] = {4, 3, 5, 2, 6, 1};
    for (size_t i = 0; i < table->n_columns; i++) {
        size_t most = 0;
        for (size_t h = 0; columns[i].fit.width && h < sizeof heads / sizeof *heads; h++) {
            size_t distinct = count_distinct(table, i, columns[i].fit.width, heads[h]);
            columns[i].head = distinct > most ? heads[h] : columns[i].head;
            most = distinct > most ? distinct : most;
        }
    }
}

/* Spaces are held back until text follows: no line ends in them. */
static void print_text_line(const struct table *table, const struct printed *columns,
                            char *const *texts, FILE *out) {
    int spaces = 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!columns[i].fit.width)
            continue;
        int padding = columns[i].fit.width - fit_width(texts[i]);
        spaces += columns[i].fit.is_text ? 0 : padding;
        if (*texts[i]) {
            fprintf(out, "%*s%s", spaces, "", texts[i]);
            spaces = 0;
        }
        spaces += (columns[i].fit.is_text ? padding : 0) + FIT_GAP;
    }
    fputc('\n', out);
}

/* What fits of a title, in words, into the column's next line; `*title` is what is left. */
static char *take_line(const char **title, int width) {
    const char *end = *title, *next = *title;
    while (*next) {
        next += strcspn(next, " ");
        char *line = memory_format("%.*s", (int)(next - *title), *title);
        bool fits = fit_width(line) <= width;
        free(line);
        if (!fits && end != *title)
            break;
        end = next;
        next += *next == ' ';
    }
    char *line = memory_format("%.*s", (int)(end - *title), *title);
    *title = *end == ' ' ? end + 1 : end;
    return line;
}

static size_t count_lines(const char *title, int width) {
    size_t n = 0;
    for (; *title; n++)
        free(take_line(&title, width));
    return n;
}

/* The last line of each title stands above the figures. */
static void print_titles(const struct table *table, const struct printed *columns, FILE *out) {
    size_t n = table->n_columns, most = 0, *lines = memory_alloc(n, sizeof *lines);
    const char **titles = memory_alloc(n, sizeof *titles);
    char **texts = memory_alloc(n, sizeof *texts);
    for (size_t i = 0; i < n; i++) {
        titles[i] = columns[i].fit.width ? table->columns[i].title : "";
        lines[i] = count_lines(titles[i], columns[i].fit.width);
        most = lines[i] > most ? lines[i] : most;
    }
    for (size_t left = most; left > 0; left--) {
        for (size_t i = 0; i < n; i++)
            texts[i] =
                lines[i] < left ? memory_strdup("") : take_line(&titles[i], columns[i].fit.width);
        print_text_line(table, columns, texts, out);
        for (size_t i = 0; i < n; i++)
            free(texts[i]);
    }
    free(texts);
    free(titles);
    free(lines);
}

static void print_row(const struct table *table, const struct printed *columns, size_t row,
                      FILE *out) {
    char **texts = memory_alloc(table->n_columns, sizeof *texts);
    for (size_t i = 0; i < table->n_columns; i++)
        texts[i] = columns[i].fit.width ? fit_cut(cell_at(table, row, i)->shown,
                                                  columns[i].fit.width, columns[i].head)
                                        : memory_strdup("");
    print_text_line(table, columns, texts, out);
    for (size_t i = 0; i < table->n_columns; i++)
        free(texts[i]);
    free(texts);
}

static void tell_left_out(const struct table *table, const struct printed *columns, FILE *out) {
    char *names = NULL;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!table->columns[i].title || columns[i].fit.width)
            continue;
        char *longer =
            memory_format("%s%s%s", names ? names : "", names ? ", " : "", table->columns[i].title);
        free(names);
        names = longer;
    }
    if (names)
        fprintf(out, "--wide shows also: %s\n", names);
    free(names);
}

void table_print_text(const struct table *table, FILE *out) {
    struct printed *columns = memory_alloc(table->n_columns, sizeof *columns);
    measure(table, false, columns);
    fit(table, text_page_columns(), columns);
    if (!is_whole(table, columns)) {
        measure(table, true, columns);
        fit(table, text_page_columns(), columns);
    }
    choose_heads(table, columns);
    print_titles(table, columns, out);
    for (size_t row = 0; row < table_rows(table); row++)
        print_row(table, columns, row, out);
    tell_left_out(table, columns, out);
    free(columns);
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

/* ---- Markdown ---- */

static void print_markdown_cell(const char *text, FILE *out) {
    fputs(" ", out);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

static void print_markdown_rule(const struct table *table, FILE *out) {
    fputs("|", out);
    for (size_t column = 0; column < table->n_columns; column++)
        if (table->columns[column].title)
            fputs(column_is_text(table, column) ? "---|" : "--:|", out);
    fputc('\n', out);
}

void table_print_markdown(const struct table *table, FILE *out) {
    fputs("|", out);
    for (size_t column = 0; column < table->n_columns; column++)
        if (table->columns[column].title)
            print_markdown_cell(table->columns[column].title, out);
    fputc('\n', out);
    print_markdown_rule(table, out);
    for (size_t row = 0; row < table_rows(table); row++) {
        fputs("|", out);
        for (size_t column = 0; column < table->n_columns; column++)
            if (table->columns[column].title)
                print_markdown_cell(cell_at(table, row, column)->shown, out);
        fputc('\n', out);
    }
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
