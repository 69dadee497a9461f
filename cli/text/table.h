/* One table, four forms: aligned text and HTML for people, CSV and JSON for programs.
 *
 * A column has a title (for people) and a key (for files; with its unit, "run_ns"); either may be
 * NULL, then the column is left out of that form. Cells are added left to right. */
#ifndef PERSIK_CLI_TEXT_TABLE_H
#define PERSIK_CLI_TEXT_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "cli/text/quantity.h"
#include "simulator/simulator.h"

enum table_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/* 0, or -1 for another word. */
int table_format_parse(const char *word, enum table_format *format);

struct table_column {
    const char *key;
    const char *title;
};

struct table;

/* `columns` must live as long as the table. */
struct table *table_new(const struct table_column *columns, size_t n_columns);
void table_free(struct table *table);

/* Each adds one cell, table_add_estimate two: the mean (shown with its interval) and, in
 * files only, the half width. A number that is not finite is shown as "-" and is null in JSON, as
 * is a text that is NULL. */
void table_add_text(struct table *table, const char *text);
void table_add_integer(struct table *table, long value);
void table_add_number(struct table *table, double value, enum unit unit);
void table_add_shown_number(struct table *table, const char *shown,
                            double value); /* as in `shown` */
void table_add_estimate(struct table *table, struct estimate estimate, enum unit unit);

/* Three cells: the mean, shown with the half width that `widened` has, which files have next, and
 * there the simulation's own. */
void table_add_prediction(struct table *table, struct estimate simulated, struct estimate widened,
                          enum unit unit);

/* Two cells: the mean, shown by itself, and in files the simulation's own half width. */
void table_add_simulated(struct table *table, struct estimate simulated, enum unit unit);
void table_add_signed_share(struct table *table, double share); /* "+2.1 %" */

/* Adds three cells: "+2.1 % (+1.0 to +3.4)", and the ends in files only. Without a finite `share`
 * only the range is shown. */
void table_add_share_range(struct table *table, double share, double low, double high);

size_t table_rows(const struct table *table);

/* Which columns are left out first where the page is too narrow, in this order, by their keys or
 * titles. These must live as long as the table. */
void table_spare(struct table *table, const char *const *names, size_t n);
#define TABLE_SPARE(table, ...)                                                                    \
    do {                                                                                           \
        static const char *const spare[] = {__VA_ARGS__};                                          \
        table_spare(table, spare, sizeof spare / sizeof *spare);                                   \
    } while (0)

/* Text columns are left-aligned, numbers right-aligned. It fits the page (cli/text/text_page.h):
 * titles go over several lines, long names lose their middle, and what is left out all the same is
 * named.
 */
void table_print_text(const struct table *table, FILE *out);
void table_print_csv(const struct table *table, FILE *out);

/* As a table of an HTML page. The values of the column `bars`, a title, unless NULL, are bars, too.
 */
void table_print_html(const struct table *table, const char *bars, FILE *out);

/* For pull requests and issues. */
void table_print_markdown(const struct table *table, FILE *out);

/* One CSV field, in quotes where it needs them. */
void table_print_csv_text(const char *text, FILE *out);

/* An array of objects; the caller owns it (json_decref). */
json_t *table_json(const struct table *table);

/* In the given form; JSON is printed as by table_print_json. */
void table_print(const struct table *table, enum table_format format, FILE *out);

/* Any JSON the way persik prints it: indented, order kept, newline at the end. Steals `json`. */
void table_print_json(json_t *json, FILE *out);

#endif
