/* Line plots as SVG inside the page, and the table of their values beneath. Each series has a
 * colour, a dash and a shape of mark of its own, and its name at the end of its line, so that no
 * reader needs the colours. Values may be unknown (NaN): the line is broken there. */
#ifndef PERSIK_HTML_PLOT_H
#define PERSIK_HTML_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot_point {
    double x;          /* finite */
    double y;          /* NaN: unknown */
    double half_width; /* of the interval that is drawn around y; not finite: none is */
    const char *shown; /* y as people read it: "4.43 s ±0.30" */
    const char *note;  /* more for its tooltip, such as why it is unknown; may be NULL */
};

/* What was measured. */
struct plot_mark {
    double x, y;
    double low, high;  /* of single runs; not finite: not known */
    const char *shown; /* "4.5 s" */
    const char *what;  /* "measured, median of 3 runs" */
};

struct plot_series {
    const char *label; /* "2 cores"; "" where there is only one */
    size_t n_points, n_marks;
    const struct plot_point *points; /* ascending x */
    const struct plot_mark *marks;
};

enum { PLOT_MOST_SERIES = 6 };

struct plot {
    const char *title;   /* "Running time" */
    const char *x_title; /* "threads" */
    const char *unit;    /* "s"; "" without */
    double unit_size;    /* a value of 1 unit: 1e9 for seconds where values are nanoseconds */
    double top;          /* where the y axis, which begins at 0, ends; 0: as the values do */
    bool x_from_zero;
    double x_limit; /* an upright line there, such as at saturation; NaN: none */
    const char *x_limit_name;
    bool whole_x;    /* ticks of x at whole numbers only */
    bool names_x;    /* x only numbers the configurations in their order: no ticks */
    size_t n_series; /* at most PLOT_MOST_SERIES */
    const struct plot_series *series;
};

/* A <figure>: caption, drawing, and the values in a <details>. Without a known value there is a
 * sentence in place of the drawing. */
void plot_print(FILE *out, const struct plot *plot);

/* The same lines as a small drawing without axes, from 0 to `top`; `title` tells what it
 * shows to those who do not see it. */
void plot_print_small(FILE *out, const struct plot *plot);

#endif
