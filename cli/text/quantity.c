#include "cli/text/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale {
    double size;
    const char *suffix;
};

static const struct scale time_scales[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
static const struct scale byte_scales[] = {{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"}};
static const struct scale bandwidth_scales[] = {
    {0.125e9, " Gbit/s"}, {0.125e6, " Mbit/s"}, {0.125e3, " kbit/s"}, {0.125, " bit/s"}};
static const struct scale rate_scales[] = {{1e6, " M/s"}, {1, " /s"}};
static const struct scale plain_scales[] = {{1, ""}};
static const struct scale share_scales[] = {{0.01, " %"}};

static struct scale pick_scale(double value, enum unit unit) {
    const struct scale *scales = plain_scales;
    size_t n = 1;
    switch (unit) {
    case UNIT_TIME:
        scales = time_scales;
        n = sizeof time_scales / sizeof *time_scales;
        break;
    case UNIT_BYTES:
        scales = byte_scales;
        n = sizeof byte_scales / sizeof *byte_scales;
        break;
    case UNIT_BANDWIDTH:
        scales = bandwidth_scales;
        n = sizeof bandwidth_scales / sizeof *bandwidth_scales;
        break;
    case UNIT_RATE:
        scales = rate_scales;
        n = sizeof rate_scales / sizeof *rate_scales;
        break;
    case UNIT_SHARE:
        scales = share_scales;
        break;
    case UNIT_NONE:
        break;
    }
    size_t i = 0;
    while (i + 1 < n && fabs(value) < scales[i].size)
        i++;
    return scales[i];
}

/* Decimals that leave `digits` significant digits of `value`. */
static int decimals_for(double value, int digits) {
    if (value == 0)
        return 0;
    int magnitude = (int)floor(log10(fabs(value))) + 1;
    int decimals = digits - magnitude;
    return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

char *quantity_show(double value, enum unit unit, char text[QUANTITY_BYTES]) {
    if (!isfinite(value)) {
        snprintf(text, QUANTITY_BYTES, "-");
        return text;
    }
    struct scale scale = pick_scale(value, unit);
    double shown = value / scale.size;
    snprintf(text, QUANTITY_BYTES, "%.*f%s", decimals_for(shown, 3), shown, scale.suffix);
    return text;
}

char *quantity_show_interval(double value, double half_width, enum unit unit,
                             char text[QUANTITY_BYTES]) {
    if (!isfinite(value) || !isfinite(half_width))
        return quantity_show(value, unit, text);
    struct scale scale = pick_scale(value, unit);
    double shown = value / scale.size;
    double width = half_width / scale.size;
    int decimals = decimals_for(shown, 4);
    int sensible = width > 0 ? decimals_for(width, 2) : decimals;
    if (sensible < decimals)
        decimals = sensible;
    snprintf(text, QUANTITY_BYTES, "%.*f%s ±%.*f", decimals, shown, scale.suffix,
             width > 0 ? decimals : 0, width);
    return text;
}

static int scale_of_suffix(const char *suffix, enum unit unit, double *scale) {
    static const struct {
        enum unit unit;
        const char *suffix;
        double scale;
    } suffixes[] = {
        {UNIT_TIME, "ns", 1},
        {UNIT_TIME, "us", 1e3},
        {UNIT_TIME, "ms", 1e6},
        {UNIT_TIME, "s", 1e9},
        {UNIT_TIME, "min", 6e10},
        {UNIT_RATE, "/s", 1},
        {UNIT_RATE, "", 1},
        {UNIT_SHARE, "%", 0.01},
        {UNIT_SHARE, "", 1},
        {UNIT_NONE, "", 1},
        {UNIT_BYTES, "", 1},
        {UNIT_BYTES, "K", 1 << 10},
        {UNIT_BYTES, "M", 1 << 20},
        {UNIT_BYTES, "G", 1 << 30},
        {UNIT_BANDWIDTH, "bit/s", 0.125},
        {UNIT_BANDWIDTH, "kbit/s", 0.125e3},
        {UNIT_BANDWIDTH, "Mbit/s", 0.125e6},
        {UNIT_BANDWIDTH, "Gbit/s", 0.125e9},
        {UNIT_BANDWIDTH, "B/s", 1},
        {UNIT_BANDWIDTH, "kB/s", 1e3},
        {UNIT_BANDWIDTH, "MB/s", 1e6},
        {UNIT_BANDWIDTH, "GB/s", 1e9},
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (suffixes[i].unit == unit && strcmp(suffixes[i].suffix, suffix) == 0) {
            *scale = suffixes[i].scale;
            return 0;
        }
    }
    return -1;
}

int quantity_parse(const char *text, enum unit unit, double *value) {
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (end == text || errno || !isfinite(number))
        return -1;
    while (*end == ' ')
        end++;
    double scale;
    if (scale_of_suffix(end, unit, &scale) < 0)
        return -1;
    *value = number * scale;
    return 0;
}
