/* Where a thread left its core by itself outside of every recorded call: it slept for a lock of the
 * kernel, for a page that had to be read, or in a call that the catalog does not have. */
#ifndef PERSIK_MODELGEN_EVENTS_UNRECORDED_STOPS_H
#define PERSIK_MODELGEN_EVENTS_UNRECORDED_STOPS_H

#include <stddef.h>

#include "formats/trace.h"

struct unrecorded_stops {
    size_t n;
    double ns, longest_ns; /* until it was ready again: all of them, and the longest one */
};

/* None without scheduling records. */
struct unrecorded_stops unrecorded_stops_of(const struct trace_thread *thread);

#endif
