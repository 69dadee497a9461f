/* A plot is 480 units wide and is shown between 340 and 600 pixels wide, so that its text keeps a
 * readable size from a telephone to a large screen. What depends on the theme is in the style
 * sheet: classes k0 ... k5 are the series. */
#include "html/plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "html/scale.h"
#include "html/writer.h"

enum {
    WIDTH = 480,
    HEIGHT = 272,
    LEFT = 46,
    RIGHT = 404, /* the names of the series stand right of it */
    RIGHT_WITHOUT_NAMES = 462,
    TOP = 28,
    BOTTOM = 228,
    NAME_CHARACTERS = 11,
    NAME_HEIGHT = 15,
    SMALL_WIDTH = 160,
    SMALL_HEIGHT = 40,
    SMALL_MARGIN = 4
};

struct axes {
    struct scale x, y;
    double right;
};

/* ---- what there is ---- */

static double upper_end(const struct plot_point *point) {
    return isfinite(point->half_width) ? point->y + point->half_width : point->y;
}

/* The largest value that is to be seen; NaN: none is known. An interval that dwarfs the values is
 * cut: the lines are what is read. */
static double largest(const struct plot *plot) {
    double value = NAN, end = NAN;
    for (size_t s = 0; s < plot->n_series; s++) {
        const struct plot_series *series = &plot->series[s];
        for (size_t i = 0; i < series->n_points; i++) {
            value = fmax(value, series->points[i].y);
            if (isfinite(series->points[i].y))
                end = fmax(end, upper_end(&series->points[i]));
        }
        for (size_t i = 0; i < series->n_marks; i++) {
            value = fmax(value, series->marks[i].y);
            value = fmax(value, series->marks[i].high);
        }
    }
    return fmin(fmax(value, end), 2 * value);
}

static struct scale x_scale(const struct plot *plot, double first, double last) {
    struct {
        double *items;
        size_t count, capacity;
    } values = {0};
    for (size_t s = 0; s < plot->n_series; s++) {
        for (size_t i = 0; i < plot->series[s].n_points; i++)
            *VECTOR_ADD(&values) = plot->series[s].points[i].x;
        for (size_t i = 0; i < plot->series[s].n_marks; i++)
            *VECTOR_ADD(&values) = plot->series[s].marks[i].x;
    }
    if (isfinite(plot->x_limit))
        *VECTOR_ADD(&values) = plot->x_limit;
    struct scale scale = {.from = 0, .to = 1, .first = first, .last = last};
    if (values.count > 0 && plot->x_from_zero)
        *VECTOR_ADD(&values) = 0;
    if (values.count > 0)
        scale = scale_over(values.items, values.count, first, last);
    free(values.items);
    return scale;
}

static bool has_names(const struct plot *plot) {
    return plot->n_series > 1;
}

static struct axes find_axes(const struct plot *plot) {
    struct axes axes = {.right = has_names(plot) ? RIGHT : RIGHT_WITHOUT_NAMES};
    enum { PADDING = 8 };
    axes.x = x_scale(plot, LEFT + PADDING, axes.right - PADDING);
    double top = (plot->top > 0 ? plot->top : largest(plot)) / plot->unit_size;
    axes.y = scale_from_zero(top, BOTTOM, TOP);
    return axes;
}

static double x_place(const struct axes *axes, double x) {
    return scale_place(&axes->x, x);
}

static double y_place(const struct plot *plot, const struct axes *axes, double y) {
    double place = scale_place(&axes->y, y / plot->unit_size);
    return fmax(fmin(place, axes->y.first), axes->y.last);
}

/* ---- axes ---- */

static void print_y_axis(FILE *out, const struct plot *plot, const struct axes *axes) {
    double ticks[SCALE_MOST_TICKS];
    size_t n = scale_ticks(&axes->y, 5, false, ticks);
    html_print(out, "<text class=\"unit\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
               LEFT - 6, TOP - 15, plot->unit);
    for (size_t i = 0; i < n; i++) {
        double y = scale_place(&axes->y, ticks[i]);
        html_print(out,
                   "<path class=\"%s\" d=\"M%d %.1fH%.0f\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>",
                   ticks[i] == 0 ? "base" : "grid", LEFT, y, axes->right, LEFT - 6, y + 4,
                   ticks[i]);
    }
}

static void print_x_axis(FILE *out, const struct plot *plot, const struct axes *axes) {
    double ticks[SCALE_MOST_TICKS];
    size_t n = plot->names_x ? 0 : scale_ticks(&axes->x, 8, plot->whole_x, ticks);
    for (size_t i = 0; i < n; i++)
        html_print(out,
                   "<path class=\"base\" d=\"M%.1f %dv4\"/>"
                   "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>",
                   x_place(axes, ticks[i]), BOTTOM, x_place(axes, ticks[i]), BOTTOM + 18, ticks[i]);
    html_print(out, "<text class=\"unit\" x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
               (LEFT + axes->right) / 2, HEIGHT - 8, plot->x_title);
}

/* Its name stands on the side that has more room. */
static void print_limit(FILE *out, const struct plot *plot, const struct axes *axes) {
    if (!isfinite(plot->x_limit))
        return;
    double x = x_place(axes, plot->x_limit);
    bool is_right = x > (LEFT + axes->right) / 2;
    html_print(out,
               "<path class=\"limit\" d=\"M%.1f %dV%d\"/>"
               "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>",
               x, BOTTOM, TOP, x + (is_right ? -5 : 5), TOP - 8, is_right ? "end" : "start",
               plot->x_limit_name);
}

/* ---- a series ---- */

/* How many points from `from` on are known, in a row; with `intervals`, with an interval. */
static size_t run_of_known(const struct plot_series *series, size_t from, bool intervals) {
    size_t n = 0;
    while (from + n < series->n_points && isfinite(series->points[from + n].y) &&
           (!intervals || isfinite(series->points[from + n].half_width)))
        n++;
    return n;
}

static void print_band(FILE *out, const struct plot *plot, const struct axes *axes, size_t s) {
    const struct plot_series *series = &plot->series[s];
    for (size_t from = 0; from < series->n_points; from++) {
        size_t n = run_of_known(series, from, true);
        if (n < 2) /* a single one is a bar */
            continue;
        html_print(out, "<path class=\"band k%zu\" d=\"", s);
        for (size_t i = from; i < from + n; i++)
            html_print(out, "%s%.1f %.1f", i == from ? "M" : "L",
                       x_place(axes, series->points[i].x),
                       y_place(plot, axes, series->points[i].y + series->points[i].half_width));
        for (size_t i = from + n; i-- > from;)
            html_print(out, "L%.1f %.1f", x_place(axes, series->points[i].x),
                       y_place(plot, axes, series->points[i].y - series->points[i].half_width));
        html_print(out, "Z\"/>");
        from += n;
    }
}

static void print_lines(FILE *out, const struct plot *plot, const struct axes *axes, size_t s) {
    const struct plot_series *series = &plot->series[s];
    for (size_t from = 0; from < series->n_points; from++) {
        size_t n = run_of_known(series, from, false);
        if (n < 2)
            continue;
        html_print(out, "<path class=\"line k%zu\" d=\"", s);
        for (size_t i = from; i < from + n; i++)
            html_print(out, "%s%.1f %.1f", i == from ? "M" : "L",
                       x_place(axes, series->points[i].x),
                       y_place(plot, axes, series->points[i].y));
        html_print(out, "\"/>");
        from += n;
    }
}

/* The mark's shape tells the series where colour does not. */
static const char *shape_of(size_t s) {
    static const char *const shapes[PLOT_MOST_SERIES] = {
        "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",         /* disc */
        "m-3-3h6v6h-6z",                                            /* square */
        "m0-4l3.8 6.8h-7.6z",                                       /* triangle */
        "m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",                        /* diamond */
        "m0 4l3.8-6.8h-7.6z",                                       /* triangle, upside down */
        "m-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z" /* plus */
    };
    return shapes[s % PLOT_MOST_SERIES];
}

static void print_tooltip(FILE *out, const struct plot *plot, const struct plot_series *series,
                          const struct plot_point *point) {
    html_print(out, "<title>");
    if (plot->names_x)
        html_print(out, "%s", plot->x_title);
    else
        html_print(out, "%.6g %s", point->x, plot->x_title);
    html_print(out, "%s%s: %s", *series->label ? ", " : "", series->label, point->shown);
    if (point->note)
        html_print(out, " (%s)", point->note);
    html_print(out, "</title>");
}

/* An interval without neighbours, as a bar. */
static void print_bar(FILE *out, const struct plot *plot, const struct axes *axes, size_t s,
                      size_t i) {
    const struct plot_series *series = &plot->series[s];
    const struct plot_point *point = &series->points[i];
    bool before = i > 0 && isfinite(series->points[i - 1].y + series->points[i - 1].half_width);
    bool after = i + 1 < series->n_points &&
                 isfinite(series->points[i + 1].y + series->points[i + 1].half_width);
    if (before || after || !isfinite(point->half_width))
        return;
    html_print(out, "<path class=\"bar k%zu\" d=\"M%.1f %.1fV%.1f\"/>", s, x_place(axes, point->x),
               y_place(plot, axes, point->y - point->half_width),
               y_place(plot, axes, point->y + point->half_width));
}

static void print_point(FILE *out, const struct plot *plot, const struct axes *axes, size_t s,
                        size_t i) {
    const struct plot_series *series = &plot->series[s];
    const struct plot_point *point = &series->points[i];
    double x = x_place(axes, point->x);
    html_print(out, "<g>");
    print_tooltip(out, plot, series, point);
    if (isfinite(point->y)) {
        double y = y_place(plot, axes, point->y);
        print_bar(out, plot, axes, s, i);
        html_print(out, "<circle class=\"reach\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>", x, y);
        html_print(out, "<path class=\"point k%zu\" d=\"M%.1f %.1f%s\"/>", s, x, y, shape_of(s));
    } else { /* a cross on the axis: there is no figure */
        html_print(out, "<circle class=\"reach\" cx=\"%.1f\" cy=\"%d\" r=\"9\"/>", x, BOTTOM - 6);
        html_print(out, "<path class=\"none k%zu\" d=\"M%.1f %dm-3-3l6 6m0-6l-6 6\"/>", s, x,
                   BOTTOM - 6);
    }
    html_print(out, "</g>");
}

/* A ring with the range of the single runs. */
static void print_mark(FILE *out, const struct plot *plot, const struct axes *axes, size_t s,
                       const struct plot_mark *mark) {
    if (!isfinite(mark->y))
        return;
    double x = x_place(axes, mark->x);
    double y = y_place(plot, axes, mark->y);
    html_print(out, "<g><title>%s: %s</title>", mark->what, mark->shown);
    if (isfinite(mark->low) && isfinite(mark->high))
        html_print(out, "<path class=\"bar k%zu\" d=\"M%.1f %.1fV%.1fm-3 0h6M%.1f %.1fh6\"/>", s, x,
                   y_place(plot, axes, mark->low), y_place(plot, axes, mark->high), x - 3,
                   y_place(plot, axes, mark->low));
    html_print(out, "<circle class=\"mark k%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/></g>", s, x, y);
}

/* ---- names at the ends of the lines ---- */

struct name {
    size_t series;
    double x, y; /* of the last point that is known */
    double place;
};

static int compare_names(const void *left, const void *right) {
    const struct name *a = left;
    const struct name *b = right;
    return a->y != b->y ? (a->y < b->y ? -1 : 1) : a->series < b->series ? -1 : 1;
}

static size_t find_names(const struct plot *plot, const struct axes *axes,
                         struct name names[PLOT_MOST_SERIES]) {
    size_t n = 0;
    for (size_t s = 0; s < plot->n_series && s < PLOT_MOST_SERIES; s++) {
        const struct plot_series *series = &plot->series[s];
        for (size_t i = series->n_points; i-- > 0;) {
            if (!isfinite(series->points[i].y))
                continue;
            double y = y_place(plot, axes, series->points[i].y);
            names[n++] = (struct name){s, x_place(axes, series->points[i].x), y, y};
            break;
        }
    }
    return n;
}

/* So that none covers another: downwards first, then up again from the bottom. */
static void spread_names(struct name *names, size_t n) {
    for (size_t i = 1; i < n; i++)
        names[i].place = fmax(names[i].place, names[i - 1].place + NAME_HEIGHT);
    for (size_t i = n; i-- > 0;) {
        double lowest = i + 1 < n ? names[i + 1].place - NAME_HEIGHT : BOTTOM;
        names[i].place = fmin(names[i].place, lowest);
    }
}

/* Where a line ends early its name stands there, so that nothing seems to go on. */
static void print_name(FILE *out, const struct plot *plot, const struct axes *axes,
                       const struct name *name) {
    enum { NEAR = 30 };
    const char *full = plot->series[name->series].label;
    char *label = html_shorten(full, NAME_CHARACTERS);
    bool is_early = name->x < axes->right - NEAR;
    double x = is_early ? name->x + 12 : axes->right + 5;
    html_print(out, "<path class=\"leader k%zu\" d=\"M%.1f %.1fL%.1f %.1f\"/>", name->series,
               name->x + 6, name->y, x - 3, name->place);
    html_print(out, "<text class=\"name k%zu\" x=\"%.1f\" y=\"%.1f\"><title>%s</title>%s</text>",
               name->series, x, name->place + 4, full, label);
    free(label);
}

static void print_names(FILE *out, const struct plot *plot, const struct axes *axes) {
    struct name names[PLOT_MOST_SERIES];
    size_t n = find_names(plot, axes, names);
    if (n == 0)
        return;
    qsort(names, n, sizeof *names, compare_names);
    spread_names(names, n);
    for (size_t i = 0; i < n; i++)
        print_name(out, plot, axes, &names[i]);
}

/* ---- the values ---- */

struct values {
    double *items;
    size_t count, capacity;
};

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* All x, ascending, each once; the caller frees the items. */
static struct values all_x(const struct plot *plot) {
    struct values all = {0};
    for (size_t s = 0; s < plot->n_series; s++) {
        for (size_t i = 0; i < plot->series[s].n_points; i++)
            *VECTOR_ADD(&all) = plot->series[s].points[i].x;
        for (size_t i = 0; i < plot->series[s].n_marks; i++)
            *VECTOR_ADD(&all) = plot->series[s].marks[i].x;
    }
    VECTOR_SORT(&all, compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++)
        if (kept == 0 || all.items[kept - 1] != all.items[i])
            all.items[kept++] = all.items[i];
    all.count = kept;
    return all;
}

static const struct plot_point *point_at(const struct plot_series *series, double x) {
    for (size_t i = 0; i < series->n_points; i++)
        if (series->points[i].x == x)
            return &series->points[i];
    return NULL;
}

/* The first of that kind of mark, "measured ...", at x. */
static const struct plot_mark *mark_at(const struct plot_series *series, double x) {
    for (size_t i = 0; i < series->n_marks; i++)
        if (series->marks[i].x == x)
            return &series->marks[i];
    return NULL;
}

static void print_head(FILE *out, const struct plot *plot) {
    html_print(out, "<tr><th scope=\"col\">%s</th>", plot->x_title);
    for (size_t s = 0; s < plot->n_series; s++) {
        const struct plot_series *series = &plot->series[s];
        html_print(out, "<th scope=\"col\" class=\"n\">%s</th>",
                   *series->label ? series->label : plot->title);
        if (series->n_marks > 0)
            html_print(out, "<th scope=\"col\" class=\"n\">measured</th>");
    }
    html_print(out, "</tr>");
}

static void print_value(FILE *out, const struct plot_point *point) {
    if (point && isfinite(point->y))
        html_print(out, "<td class=\"n\"><data value=\"%.9g\">%s</data></td>", point->y,
                   point->shown);
    else
        html_print(out, "<td class=\"n\">%s</td>", point ? "-" : "");
}

static void print_values(FILE *out, const struct plot *plot) {
    struct values all = all_x(plot);
    html_print(out, "<details><summary>Values</summary><div class=\"wide\"><table><thead>");
    print_head(out, plot);
    html_print(out, "</thead><tbody>");
    for (size_t i = 0; i < all.count; i++) {
        html_print(out, "<tr><th scope=\"row\">%.6g</th>", all.items[i]);
        for (size_t s = 0; s < plot->n_series; s++) {
            const struct plot_series *series = &plot->series[s];
            print_value(out, point_at(series, all.items[i]));
            if (series->n_marks == 0)
                continue;
            const struct plot_mark *mark = mark_at(series, all.items[i]);
            html_print(out, "<td class=\"n\" title=\"%s\">%s</td>", mark ? mark->what : "",
                       mark ? mark->shown : "");
        }
        html_print(out, "</tr>");
    }
    html_print(out, "</tbody></table></div></details>");
    free(all.items);
}

/* ---- the figure ---- */

static void print_drawing(FILE *out, const struct plot *plot) {
    struct axes axes = find_axes(plot);
    html_print(out,
               "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s against "
               "%s; the values are in the table below\">",
               WIDTH, HEIGHT, plot->title, plot->x_title);
    print_y_axis(out, plot, &axes);
    print_x_axis(out, plot, &axes);
    print_limit(out, plot, &axes);
    for (size_t s = 0; s < plot->n_series; s++)
        print_band(out, plot, &axes, s);
    for (size_t s = 0; s < plot->n_series; s++)
        print_lines(out, plot, &axes, s);
    if (has_names(plot))
        print_names(out, plot, &axes);
    for (size_t s = 0; s < plot->n_series; s++) {
        for (size_t i = 0; i < plot->series[s].n_points; i++)
            print_point(out, plot, &axes, s, i);
        for (size_t i = 0; i < plot->series[s].n_marks; i++)
            print_mark(out, plot, &axes, s, &plot->series[s].marks[i]);
    }
    html_print(out, "</svg>");
}

void plot_print(FILE *out, const struct plot *plot) {
    html_print(out, "<figure><figcaption>%s</figcaption>", plot->title);
    if (isnan(largest(plot)))
        html_print(out, "<p class=\"quiet\">No figures: nothing of this is known.</p>");
    else
        print_drawing(out, plot);
    print_values(out, plot);
    html_print(out, "</figure>\n");
}

/* A place to point at, for the tooltip; a dot where no line leads to the point. */
static void print_reach(FILE *out, const struct plot *plot, const struct axes *axes, size_t s,
                        size_t i) {
    const struct plot_series *series = &plot->series[s];
    const struct plot_point *point = &series->points[i];
    if (!isfinite(point->y))
        return;
    bool before = i > 0 && isfinite(series->points[i - 1].y);
    bool after = i + 1 < series->n_points && isfinite(series->points[i + 1].y);
    html_print(out, "<g>");
    print_tooltip(out, plot, series, point);
    html_print(out, "<circle class=\"%s k%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/></g>",
               before || after ? "reach" : "point", s, x_place(axes, point->x),
               y_place(plot, axes, point->y), before || after ? 5 : 2);
}

void plot_print_small(FILE *out, const struct plot *plot) {
    struct axes axes = {
        .x = x_scale(plot, SMALL_MARGIN, SMALL_WIDTH - SMALL_MARGIN),
        .y = {.from = 0,
              .to = plot->top / plot->unit_size,
              .first = SMALL_HEIGHT - SMALL_MARGIN,
              .last = SMALL_MARGIN},
    };
    html_print(out,
               "<svg class=\"small\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s against "
               "%s\">",
               SMALL_WIDTH, SMALL_HEIGHT, plot->title, plot->x_title);
    html_print(out, "<path class=\"base\" d=\"M0 %dH%d\"/><path class=\"grid\" d=\"M0 %dH%d\"/>",
               SMALL_HEIGHT - SMALL_MARGIN, SMALL_WIDTH, SMALL_MARGIN, SMALL_WIDTH);
    for (size_t s = 0; s < plot->n_series; s++)
        print_lines(out, plot, &axes, s);
    for (size_t s = 0; s < plot->n_series; s++)
        for (size_t i = 0; i < plot->series[s].n_points; i++)
            print_reach(out, plot, &axes, s, i);
    html_print(out, "</svg>");
}
