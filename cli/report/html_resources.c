#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/prediction/explanation.h"
#include "cli/report/html_sections.h"
#include "html/page.h"
#include "html/plot.h"
#include "html/writer.h"

enum { SHOWN_OBJECTS = 12, SHORT_NAME = 34 };

/* ---- the most used resource ---- */

/* What can be used all the time, and then limits. */
struct use {
    const char *kind; /* "cores", "threads", "mutex" */
    const char *name; /* NULL: the kind says it */
    double share;     /* of the run; NAN: none is known */
};

/* Objects that somebody holds or that work; of others "in use" only says that something is there.
 */
static bool can_limit(const char *kind) {
    static const char *const kinds[] = {"mutex", "spin", "rwlock", "disk"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "?";
}

static double life_ns(const json_t *pool) {
    return forecast_number(pool, "cpu_ns") + forecast_number(pool, "ready_ns") +
           forecast_number(pool, "blocked_ns");
}

/* How much of the run a thread of the pool computes. */
static double busy_share(const json_t *row, const json_t *pool) {
    double run_ns = forecast_number(row, "run_ns");
    return forecast_number(pool, "cpu_ns") / (isfinite(run_ns) ? run_ns : life_ns(pool));
}

static struct use most_used(const json_t *row) {
    struct use most = {"cores", NULL, forecast_number(row, "cpu_utilisation")};
    const json_t *objects = json_object_get(row, "objects");
    for (size_t i = 0; i < json_array_size(objects); i++) {
        const json_t *object = json_array_get(objects, i);
        double share = forecast_number(object, "utilisation");
        if (can_limit(text_of(object, "kind")) && share > most.share)
            most = (struct use){text_of(object, "kind"), text_of(object, "object"), share};
    }
    const json_t *pools = json_object_get(row, "pools");
    for (size_t i = 0; i < json_array_size(pools); i++) {
        const json_t *pool = json_array_get(pools, i);
        double share = busy_share(row, pool);
        if (share > most.share)
            most = (struct use){"threads of", text_of(pool, "pool"), share};
    }
    return most;
}

static const struct forecast_row *row_at(const struct forecast *forecast, size_t series, double x) {
    for (size_t i = 0; i < forecast->n_rows; i++)
        if (forecast->rows[i].series == series && forecast->rows[i].x == x)
            return &forecast->rows[i];
    return NULL;
}

static void print_use(FILE *out, const struct forecast_row *row) {
    struct use use = row ? most_used(row->json) : (struct use){"", NULL, NAN};
    if (!isfinite(use.share)) {
        html_print(out, "<td class=\"use\">%s</td>", row ? "-" : "");
        return;
    }
    char *name = use.name ? html_shorten(use.name, SHORT_NAME) : memory_strdup("");
    html_print(out, "<td class=\"use\" title=\"%s %s\"><b>%.0f %%</b> %s %s</td>", use.kind,
               use.name, 100 * use.share, use.kind, name);
    free(name);
}

/* All x of the rows once, as the rows of a table. */
static bool is_first_with_x(const struct forecast *forecast, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (forecast->rows[j].x == forecast->rows[i].x)
            return false;
    return true;
}

static void print_limits(FILE *out, const struct forecast *forecast) {
    html_print(
        out,
        "<p class=\"lead\">What is used most in each configuration: cores, the threads "
        "of a pool (the share of the run in which they compute), locks and disks. What "
        "nears 100 %% is what limits; <code>persik bottleneck</code> tells what relieving it "
        "would gain.</p>\n<div class=\"wide\"><table><thead><tr>"
        "<th scope=\"col\">%s</th>",
        forecast_axis_title(forecast->axis));
    for (size_t s = 0; s < forecast->n_series; s++)
        html_print(out, "<th scope=\"col\">%s</th>",
                   *forecast->labels[s] ? forecast->labels[s] : "most used");
    html_print(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < forecast->n_rows; i++) {
        if (!is_first_with_x(forecast, i))
            continue;
        html_print(out, "<tr><th scope=\"row\">%.6g</th>", forecast->rows[i].x);
        for (size_t s = 0; s < forecast->n_series; s++)
            print_use(out, row_at(forecast, s, forecast->rows[i].x));
        html_print(out, "</tr>\n");
    }
    html_print(out, "</tbody></table></div>\n");
}

/* ---- cards ---- */

/* Of the row's objects or pools, the one of that name; NULL: it has none. */
static const json_t *part_of(const json_t *row, const char *list, const char *key,
                             const char *name) {
    const json_t *parts = json_object_get(row, list);
    for (size_t i = 0; i < json_array_size(parts); i++)
        if (strcmp(text_of(json_array_get(parts, i), key), name) == 0)
            return json_array_get(parts, i);
    return NULL;
}

/* The row of the recorded configuration, else the best one, else the first. */
static const struct forecast_row *row_to_tell(const struct html_report *report,
                                              const struct forecast *forecast) {
    const struct forecast_row *row = html_recorded_row(report, forecast);
    row = row ? row : forecast_best(forecast);
    return row ? row : &forecast->rows[0];
}

/* In each row, of the part of that name. */
typedef double share_of_part(const json_t *row, const json_t *part);

static double utilisation(const json_t *row, const json_t *object) {
    (void)row;
    return forecast_number(object, "utilisation");
}

/* Where it is used most; NULL: nowhere. */
static const struct forecast_row *row_of_most(const struct forecast *forecast, const char *list,
                                              const char *key, const char *name,
                                              share_of_part *share_of) {
    const struct forecast_row *most = NULL;
    double share = 0;
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const json_t *part = part_of(forecast->rows[i].json, list, key, name);
        double here = part ? share_of(forecast->rows[i].json, part) : NAN;
        if (here > share) {
            share = here;
            most = &forecast->rows[i];
        }
    }
    return most;
}

static void print_sparkline(FILE *out, const struct forecast *forecast, const char *list,
                            const char *key, const char *name, share_of_part *share_of) {
    struct plot_series series[PLOT_MOST_SERIES];
    struct plot_point *points = memory_alloc(forecast->n_rows, sizeof *points);
    char(*shown)[QUANTITY_BYTES] = memory_alloc(forecast->n_rows, sizeof *shown);
    size_t n_series = 0;
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const struct forecast_row *row = &forecast->rows[i];
        if (i == 0 || row->series != forecast->rows[i - 1].series) {
            if (n_series == PLOT_MOST_SERIES)
                break;
            series[n_series++] =
                (struct plot_series){.label = forecast->labels[row->series], .points = &points[i]};
        }
        const json_t *part = part_of(row->json, list, key, name);
        double share = part ? share_of(row->json, part) : NAN;
        quantity_show(share, UNIT_SHARE, shown[i]);
        points[i] =
            (struct plot_point){.x = row->x, .y = share, .half_width = NAN, .shown = shown[i]};
        series[n_series - 1].n_points++;
    }
    const struct plot plot = {.title = "In use",
                              .x_title = forecast_axis_title(forecast->axis),
                              .unit = "%",
                              .unit_size = 0.01,
                              .top = 1,
                              .x_limit = NAN,
                              .names_x = forecast->axis == ALONG_ORDER,
                              .n_series = n_series,
                              .series = series};
    if (forecast->n_rows > 1)
        plot_print_small(out, &plot);
    free(points);
    free(shown);
}

static void print_most_use(FILE *out, const struct forecast *forecast, const char *list,
                           const char *key, const char *name, share_of_part *share_of) {
    const struct forecast_row *row = row_of_most(forecast, list, key, name, share_of);
    if (!row)
        return;
    char share[QUANTITY_BYTES];
    quantity_show(share_of(row->json, part_of(row->json, list, key, name)), UNIT_SHARE, share);
    html_print(out, "<p>%s %s%s with %s.</p>\n", list[0] == 'p' ? "Computing" : "In use",
               forecast->n_rows > 1 ? "at most " : "", share, row->label);
}

/* ---- a lock or queue ---- */

static const struct object *object_of(const struct model *model, const char *name) {
    for (size_t i = 0; i < model->n_objects; i++)
        if (strcmp(model->objects[i].name, name) == 0)
            return &model->objects[i];
    return NULL;
}

static void print_object_waits(FILE *out, const struct forecast_row *told, const char *name) {
    const json_t *object = part_of(told->json, "objects", "object", name);
    if (!object)
        return;
    char waits[QUANTITY_BYTES], wait[QUANTITY_BYTES], operations[QUANTITY_BYTES];
    quantity_show(forecast_number(object, "waits"), UNIT_NONE, waits);
    quantity_show(forecast_number(object, "wait_ns"), UNIT_TIME, wait);
    quantity_show(forecast_number(object, "operations"), UNIT_NONE, operations);
    if (forecast_number(object, "waits") > 0)
        html_print(out, "<p>With %s: %s of %s operations wait, %s on average.</p>\n", told->label,
                   waits, operations, wait);
    else
        html_print(out, "<p>With %s: none of %s operations waits.</p>\n", told->label, operations);
}

static void print_object(FILE *out, const struct html_report *report,
                         const struct forecast *forecast, const char *name) {
    const struct object *object = report->model ? object_of(report->model, name) : NULL;
    html_print(out, "<article class=\"card\"><h3>%s</h3>\n", name);
    if (object) {
        char *parameters = explanation_of_parameters(report->model, object);
        html_print(out, "<div class=\"kind\">%s%s%s</div>\n", object_kind_name(object->kind),
                   *parameters ? ", " : "", parameters);
        free(parameters);
    }
    if (row_of_most(forecast, "objects", "object", name, utilisation))
        print_sparkline(out, forecast, "objects", "object", name, utilisation);
    print_most_use(out, forecast, "objects", "object", name, utilisation);
    print_object_waits(out, row_to_tell(report, forecast), name);
    if (object && object->evidence && *object->evidence)
        html_print(out, "<p class=\"quiet\">Known from: %s</p>\n", object->evidence);
    html_print(out, "</article>\n");
}

struct ranked {
    const char *name;
    double wait_ns; /* the longest in any configuration, all waits together */
};

static int by_wait(const void *left, const void *right) {
    const struct ranked *a = left;
    const struct ranked *b = right;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns < b->wait_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Those for which anything waits in any configuration. */
static void print_objects(FILE *out, const struct html_report *report,
                          const struct forecast *forecast) {
    struct {
        struct ranked *items;
        size_t count, capacity;
    } ranked = {0};
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const json_t *objects = json_object_get(forecast->rows[i].json, "objects");
        for (size_t j = 0; j < json_array_size(objects); j++) {
            const json_t *object = json_array_get(objects, j);
            const char *name = text_of(object, "object");
            double wait_ns = forecast_number(object, "total_wait_ns");
            size_t at = 0;
            while (at < ranked.count && strcmp(ranked.items[at].name, name) != 0)
                at++;
            if (at == ranked.count)
                *VECTOR_ADD(&ranked) = (struct ranked){name, 0};
            ranked.items[at].wait_ns = fmax(ranked.items[at].wait_ns, wait_ns);
        }
    }
    VECTOR_SORT(&ranked, by_wait);
    size_t waited = 0;
    while (waited < ranked.count && ranked.items[waited].wait_ns > 0)
        waited++;
    size_t shown = waited < SHOWN_OBJECTS ? waited : SHOWN_OBJECTS;
    for (size_t i = 0; i < shown; i++)
        print_object(out, report, forecast, ranked.items[i].name);
    html_print(out, "</div>\n");
    if (ranked.count > shown)
        html_print(out,
                   "<p class=\"quiet\">Left out: %zu more. At %zu of them nothing waits in any of "
                   "these configurations.</p>\n",
                   ranked.count - shown, ranked.count - waited);
    free(ranked.items);
}

/* ---- a pool ---- */

static void print_share(FILE *out, const char *state, double ns, double all_ns) {
    if (ns > 0)
        html_print(out, "<i class=\"%s\" style=\"width:%.1f%%\"></i>", state, 100 * ns / all_ns);
}

/* Where a thread of the pool spends its life. */
static void print_life(FILE *out, const struct forecast_row *told, const char *name) {
    const json_t *pool = part_of(told->json, "pools", "pool", name);
    double all_ns = pool ? life_ns(pool) : 0;
    if (!(all_ns > 0))
        return;
    double cpu_ns = forecast_number(pool, "cpu_ns");
    double ready_ns = forecast_number(pool, "ready_ns");
    double blocked_ns = forecast_number(pool, "blocked_ns");
    html_print(out, "<div class=\"share\" aria-hidden=\"true\">");
    print_share(out, "computing", cpu_ns, all_ns);
    print_share(out, "ready", ready_ns, all_ns);
    print_share(out, "blocked", blocked_ns, all_ns);
    html_print(out,
               "</div>\n<p>With %s a thread computes %.1f %% of its time, waits %.1f %% for a "
               "core, and is blocked %.1f %%.</p>\n",
               told->label, 100 * cpu_ns / all_ns, 100 * ready_ns / all_ns,
               100 * blocked_ns / all_ns);
}

static void print_pool(FILE *out, const struct html_report *report, const struct forecast *forecast,
                       const struct pool *pool) {
    html_print(out,
               "<article class=\"card\"><h3>%s</h3>\n<div class=\"kind\">pool of %d thread%s, "
               "%s --threads</div>\n",
               pool->name, pool->profiled_threads, pool->profiled_threads == 1 ? "" : "s",
               pool->scales ? "follows" : "does not follow");
    print_life(out, row_to_tell(report, forecast), pool->name);
    print_sparkline(out, forecast, "pools", "pool", pool->name, busy_share);
    print_most_use(out, forecast, "pools", "pool", pool->name, busy_share);
    if (pool->rule && *pool->rule)
        html_print(out, "<p class=\"quiet\">%s</p>\n", pool->rule);
    html_print(out, "</article>\n");
}

void html_resources(FILE *out, const struct html_report *report, const struct forecast *forecast) {
    if (forecast->n_rows == 0 || !forecast_best(forecast))
        return;
    page_section(out, "limits", "What limits when", NULL);
    print_limits(out, forecast);
    page_section_end(out);
    if (report->model) {
        page_section(out, "pools", "Thread pools",
                     forecast->n_rows > 1
                         ? "Bars: where a thread spends its time. Lines: the share of the run "
                           "in which it computes, 0 to 100 %, in the series of the plots above."
                         : "Bars: where a thread spends its time.");
        html_print(out, "<div class=\"cards\">\n");
        for (size_t i = 0; i < report->model->n_pools; i++)
            print_pool(out, report, forecast, &report->model->pools[i]);
        html_print(out, "</div>\n");
        page_section_end(out);
    }
    page_section(out, "objects", "Locks and queues",
                 forecast->n_rows > 1
                     ? "Those at which threads wait longest, in any of these configurations. "
                       "Lines: how much of the time they are in use, 0 to 100 %."
                     : "Those at which threads wait longest.");
    html_print(out, "<div class=\"cards\">\n");
    print_objects(out, report, forecast);
    page_section_end(out);
}
