/* What tests of disks' times share. */
#ifndef PERSIK_TESTS_UNIT_DISK_SPEED_H
#define PERSIK_TESTS_UNIT_DISK_SPEED_H

#include <stdlib.h>

#include "modelgen/calibrate/disk_service.h"

/* All that the model would own. */
static inline void free_speed(struct disk_speed *speed) {
    for (size_t i = 0; i < speed->n_distances; i++)
        free(speed->distances[i].service_ns.values);
    free(speed->distances);
    free(speed->service_ns.values);
    free(speed->alone_ns.values);
    free(speed->evidence);
}

#endif
