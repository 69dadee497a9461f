/* CPU time that threads spent on something that the simulator charges by itself, or that the probes
 * took: it is no part of their demands. */
#ifndef PERSIK_MODELGEN_RUN_LOSSES_H
#define PERSIK_MODELGEN_RUN_LOSSES_H

#include <stddef.h>
#include <stdint.h>

/* Of whichever thread ran on the core then. */
struct loss {
    uint64_t from_ns, to_ns;
    double share; /* of that time, 0..1 */
    uint32_t cpu;
};

struct losses {
    struct loss *items; /* by cpu, then by from_ns; free() them */
    size_t count, capacity;
};

void losses_sort(struct losses *losses);

#endif
