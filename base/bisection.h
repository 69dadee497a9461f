/* Finds where a sorted row passes from "before" to "not before" (a binary search):
 *
 *     struct bisection at = bisection_of(0, n);
 *     while (bisection_next(&at))
 *         bisection_tell(&at, times_ns[at.middle] < time_ns);
 *     return at.low; // the first one at that time or later; n: none
 */
#ifndef PERSIK_BASE_BISECTION_H
#define PERSIK_BASE_BISECTION_H

#include <stdbool.h>
#include <stddef.h>

struct bisection {
    size_t low, high; /* the first one that is not before is in [low, high] */
    size_t middle;    /* the one to be asked about */
};

/* Among those in [low, high). */
static inline struct bisection bisection_of(size_t low, size_t high) {
    return (struct bisection){.low = low, .high = high};
}

/* False: `low` is the answer. */
static inline bool bisection_next(struct bisection *at) {
    at->middle = at->low + (at->high - at->low) / 2;
    return at->low < at->high;
}

static inline void bisection_tell(struct bisection *at, bool is_before) {
    if (is_before)
        at->low = at->middle + 1;
    else
        at->high = at->middle;
}

#endif
