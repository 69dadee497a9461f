/* How much of what threads compute between two calls is a function's. Private to this room.
 *
 * The recorded calls tell surely where both are in the function. What lies between a call outside
 * of it and one inside may be its caller's; what lies behind its last call may be its own. How much
 * of both is, stacks of another run of the program tell (all->sampled): how often the function was
 * found computing, in all. So they do of functions that make no calls: which of those that make
 * some called them, and for which share of the time. */
#ifndef PERSIK_CRITICAL_PATH_FUNCTION_SHARES_H
#define PERSIK_CRITICAL_PATH_FUNCTION_SHARES_H

#include <stdbool.h>

#include "formats/dependencies.h"

/* The least and the most that samples, or where there are none the calls, leave open. */
enum share_bound { SHARE_LEAST, SHARE_LIKELY, SHARE_MOST, SHARE_BOUNDS };

enum { MOST_SHARE_CLASSES = 256 };

struct function_shares {
    uint8_t *class_of; /* per step: that computes */
    double shares[MOST_SHARE_CLASSES][SHARE_BOUNDS];
};

/* Per step, the place of the call that its thread made last; DEPENDENCIES_NONE. The caller frees.
 */
uint32_t *function_shares_calls_before(const struct dependencies *all);

/* `call_before` as above. O(steps + samples); function_shares_free() ends it. */
struct function_shares function_shares_of(const struct dependencies *all,
                                          const uint32_t *call_before, const char *function);
void function_shares_free(struct function_shares *shares);

/* Of the time of the step, 0 to 1. */
static inline double function_share(const struct function_shares *shares, uint32_t step,
                                    enum share_bound bound) {
    return shares->shares[shares->class_of[step]][bound];
}

/* Is the function in the chain of calls? */
bool place_has_function(const struct dependency_place *place, const char *function);

#endif
