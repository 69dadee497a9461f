/* A timeline: one lane for each thread, over the time of a run. Its text is HTML, so that it keeps
 * its size; only the lanes are drawn, and stretched to the width that there is. */
#ifndef PERSIK_HTML_LANES_H
#define PERSIK_HTML_LANES_H

#include <stddef.h>
#include <stdio.h>

/* In each of the n_bins equal parts of the time, shares 0..1 of what the thread did; together at
 * most 1. The rest it was blocked, within its life. */
struct lane {
    const char *name;
    const char *title; /* its tooltip, with what it did in all */
    const float *computing, *ready;
    double from, to; /* its life, in parts of the whole time: 0..1 */
};

struct lanes {
    size_t n_lanes, n_bins;
    const struct lane *items;
    const char *begin, *end; /* the ends of the time, as people read them: "0", "4.5 s" */
};

void lanes_print(FILE *out, const struct lanes *lanes);

#endif
