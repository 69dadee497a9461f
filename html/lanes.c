/* Each state has its place as well as its colour: computing is dark and stands on the ground,
 * waiting for a core is light and lies on it, blocked is a thin line. */
#include "html/lanes.h"

#include <math.h>

#include "html/writer.h"

enum { LANE_HEIGHT = 20, BLOCKED_HEIGHT = 2 };

/* How high `share` is, in whole units: what looks alike is one step of the path. */
static int height_of(float share) {
    float most = share < 0 ? 0 : share > 1 ? 1 : share;
    return (int)lroundf(most * LANE_HEIGHT);
}

/* The area under `lower` + `upper`; `upper` may be NULL. */
static void print_area(FILE *out, const char *state, const float *lower, const float *upper,
                       size_t n_bins) {
    int height = 0;
    html_print(out, "<path class=\"%s\" d=\"M0 %d", state, LANE_HEIGHT);
    for (size_t i = 0; i < n_bins; i++) {
        int now = height_of(lower[i] + (upper ? upper[i] : 0));
        if (now != height)
            html_print(out, "H%zuV%d", i, LANE_HEIGHT - now);
        height = now;
    }
    html_print(out, "H%zuV%dz\"/>", n_bins, LANE_HEIGHT);
}

static void print_lane(FILE *out, const struct lane *lane, size_t n_bins) {
    double bins = (double)n_bins;
    html_print(out, "<div class=\"lane\" title=\"%s\"><span class=\"who\">%s</span>", lane->title,
               lane->name);
    html_print(out,
               "<svg viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%s\">",
               n_bins, LANE_HEIGHT, lane->title);
    html_print(out, "<path class=\"blocked\" d=\"M%.1f %dH%.1fv%dH%.1fz\"/>", lane->from * bins,
               LANE_HEIGHT - BLOCKED_HEIGHT, lane->to * bins, BLOCKED_HEIGHT, lane->from * bins);
    print_area(out, "ready", lane->computing, lane->ready, n_bins);
    print_area(out, "computing", lane->computing, NULL, n_bins);
    html_print(out, "</svg></div>\n");
}

void lanes_print(FILE *out, const struct lanes *lanes) {
    html_print(out, "<div class=\"lanes\">");
    for (size_t i = 0; i < lanes->n_lanes; i++)
        print_lane(out, &lanes->items[i], lanes->n_bins);
    html_print(out,
               "<div class=\"lane\"><span class=\"who\"></span><span class=\"time\">"
               "<span>%s</span><span>%s</span></span></div></div>\n",
               lanes->begin, lanes->end);
    html_print(out, "<p class=\"key\"><span><i class=\"computing\"></i>computing</span> "
                    "<span><i class=\"ready\"></i>waiting for a core</span> "
                    "<span><i class=\"blocked\"></i>blocked</span></p>\n");
}
