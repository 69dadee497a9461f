/* CPU time that threads spent on something that the simulator charges by itself, or that the probes
 * took: it is no part of their demands. */
#ifndef PERSIK_MODELGEN_EVENTS_EXCLUDED_TIME_H
#define PERSIK_MODELGEN_EVENTS_EXCLUDED_TIME_H

#include <stddef.h>
#include <stdint.h>

/* Of whichever thread ran on the core then. */
struct excluded_interval {
    uint64_t from_ns, to_ns;
    double share; /* of that time, 0..1 */
    uint32_t cpu;
};

struct excluded_time {
    struct excluded_interval *items; /* by cpu, then by from_ns; free() them */
    size_t count, capacity;
};

void excluded_time_sort(struct excluded_time *losses);

#endif
