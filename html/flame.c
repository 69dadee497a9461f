#include "html/flame.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "html/writer.h"

enum {
    WIDTH = 1200,
    ROW = 20,
    CHARACTER = 8, /* about, in the font of the page */
    COLOURS = 3
};
#define NARROWEST 0.5 /* what is narrower is not drawn: it could not be seen */

struct flame {
    FILE *out;
    const struct flame_stack *stacks;
    size_t n, height; /* of frames, and the row of all */
    double total;
    void (*shown)(double value, char text[64]);
};

/* One colour for a name wherever it stands. */
static unsigned colour_of(const char *name) {
    unsigned sum = 0;
    for (; *name; name++)
        sum = sum * 31 + (unsigned char)*name;
    return sum % COLOURS;
}

static void print_box(const struct flame *flame, const char *name, size_t depth, double before,
                      double value) {
    double scale = WIDTH / flame->total, width = value * scale;
    int top = (int)(flame->height - 1 - depth) * ROW;
    char text[64];
    if (width < NARROWEST)
        return;
    flame->shown(value, text);
    html_print(flame->out, "<g><title>%s: %s, %.2f %%</title>", name, text,
               100 * value / flame->total);
    html_print(flame->out, "<rect class=\"f%d\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
               (int)colour_of(name), before * scale, top, width, ROW - 1);
    size_t fit = (size_t)(width / CHARACTER);
    if (fit >= 3) {
        char *short_name = html_shorten(name, fit);
        html_print(flame->out, "<text x=\"%.1f\" y=\"%d\">%s</text>", before * scale + 3,
                   top + ROW - 6, short_name);
        free(short_name);
    }
    html_print(flame->out, "</g>\n");
}

static bool begin_alike(const struct flame_stack *a, const struct flame_stack *b, size_t depth) {
    if (a->n_frames <= depth || b->n_frames <= depth)
        return false;
    for (size_t f = 0; f <= depth; f++)
        if (strcmp(a->frames[f], b->frames[f]) != 0)
            return false;
    return true;
}

/* All boxes of one depth: neighbours that begin alike are one. */
static void print_row(const struct flame *flame, size_t depth) {
    double before = 0;
    for (size_t i = 0; i < flame->n;) {
        const struct flame_stack *first = &flame->stacks[i];
        double value = 0;
        size_t end = i;
        do
            value += flame->stacks[end++].value;
        while (end < flame->n && begin_alike(first, &flame->stacks[end], depth));
        if (first->n_frames > depth)
            print_box(flame, first->frames[depth], depth + 1, before, value);
        before += value;
        i = end;
    }
}

void flame_print(FILE *out, const struct flame_stack *stacks, size_t n,
                 void (*shown)(double value, char text[64])) {
    struct flame flame = {out, stacks, n, 0, 0, shown};
    for (size_t i = 0; i < n; i++) {
        flame.total += stacks[i].value;
        if (stacks[i].n_frames + 1 > flame.height)
            flame.height = stacks[i].n_frames + 1;
    }
    if (flame.total <= 0) {
        html_print(out, "<p>No time passed.</p>\n");
        return;
    }
    html_print(out,
               "<svg class=\"flame\" viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"flame "
               "graph\">\n",
               WIDTH, flame.height * ROW);
    print_box(&flame, "all", 0, 0, flame.total);
    for (size_t depth = 0; depth + 1 < flame.height; depth++)
        print_row(&flame, depth);
    html_print(out, "</svg>\n");
}
