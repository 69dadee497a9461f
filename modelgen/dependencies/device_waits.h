/* When requests of each thread to disks were done. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_DEVICE_WAITS_H
#define PERSIK_MODELGEN_DEPENDENCIES_DEVICE_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/trace.h"

struct device_waits {
    const struct trace_block **blocks; /* by thread, then by completion */
    size_t count;
};

struct device_waits device_waits_of(const struct trace *trace);
void device_waits_free(struct device_waits *waits);

/* Was a request of the thread `tid` done in [from, to]? */
bool device_waits_has(const struct device_waits *waits, int tid, uint64_t from_ns, uint64_t to_ns);

#endif
