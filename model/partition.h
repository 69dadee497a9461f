/* How work follows the number of threads that do it, and who gets what of it.
 *
 * Facts of the source and models speak of the same things: rules for a pool, and what a division
 * leaves over. */
#ifndef PERSIK_MODEL_PARTITION_H
#define PERSIK_MODEL_PARTITION_H

#include <stddef.h>

/* A pool's rule. */
enum partition {
    PARTITION_NONE,      /* its number of threads is not --threads */
    PARTITION_SHARED,    /* a supply that all draw from, first come, first served */
    PARTITION_FIXED,     /* a total that is split among the threads beforehand */
    PARTITION_PERTHREAD, /* each thread does all of it */
    PARTITION_MIXED,     /* parts of each */
    PARTITION_UNKNOWN,   /* one run cannot tell; modelled as fixed */
};

/* Who gets the items that do not divide evenly. */
enum rest {
    REST_NONE,   /* not known, or so small that it does not count */
    REST_EVEN,   /* the first ones (or some) get one more */
    REST_LAST,   /* the last thread takes what is left over */
    REST_CHUNKS, /* rounded up: the last ones get less or nothing */
};

/* Names as in files, NULL-terminated, by value. */
extern const char *const partition_names[];
extern const char *const rest_names[];

/* How many of `total` items thread `index` of `threads` gets. REST_NONE: total / threads, a
 * fraction, as for an index out of range; else whole numbers that add up to `total`. */
double partition_part(enum rest rest, double total, int threads, int index);

/* What thread `index` of `threads` has to do of a total that is split evenly, over the mean of all
 * threads, when `parts` tells that of each of `n` equal parts of the total: they are taken for the
 * means of something that goes on steadily across them. 1 without parts, and for an index out of
 * range. */
double partition_weight(const double *parts, size_t n, int threads, int index);

#endif
