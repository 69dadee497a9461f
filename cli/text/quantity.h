/* Quantities as people read and write them: "1.24 s", "93 %", "5ms", "100/s". */
#ifndef PERSIK_CLI_TEXT_QUANTITY_H
#define PERSIK_CLI_TEXT_QUANTITY_H

#include <stddef.h>

enum unit {
    UNIT_NONE,  /* a plain number */
    UNIT_TIME,  /* nanoseconds */
    UNIT_RATE,  /* per second */
    UNIT_SHARE, /* 0..1, shown in per cent */
    UNIT_BYTES,
    UNIT_BANDWIDTH, /* bytes per second */
};

/* Long enough for every quantity_show. */
enum { QUANTITY_BYTES = 48 };

/* Three significant digits, "-" when not finite. Returns `text`. */
char *quantity_show(double value, enum unit unit, char text[QUANTITY_BYTES]);

/* "1.24 s ±0.03": the half width in the value's own unit, to two digits; no more digits of the
 * value than the half width makes sense of. Returns `text`. */
char *quantity_show_interval(double value, double half_width, enum unit unit,
                             char text[QUANTITY_BYTES]);

/* Reads a number with its unit's suffix (time: ns us ms s min, required; rate: /s or none; share:
 * % or none; bytes: K M G, of 1024, or none; bandwidth: bit/s or B/s, k M G before it, of 1000). 0
 * and *value in base units, or -1. */
int quantity_parse(const char *text, enum unit unit, double *value);

#endif
