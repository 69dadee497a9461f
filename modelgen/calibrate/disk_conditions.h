/* What was measured of a disk beside the recorded run, for requests that the run had none of: one
 * at a time where it always had several, in a row where others' came between, several at once where
 * it never had two. */
#ifndef PERSIK_MODELGEN_CALIBRATE_DISK_CONDITIONS_H
#define PERSIK_MODELGEN_CALIBRATE_DISK_CONDITIONS_H

#include "host/disk_probe.h"
#include "modelgen/calibrate/disk_service.h"

/* One of each device. */
struct measured_disks {
    const struct disk_probe *items;
    size_t count;
};

/* NULL: nothing was measured of the device, or of any (`measured` NULL). */
const struct disk_probe *measured_disks_find(const struct measured_disks *measured,
                                             uint32_t device);

/* Completes `speed`, which disk_service_speed() found of the device: `alone_ns`, and the number of
 * servers and their times where the recorded run tells nothing of it. `measured` is of this device;
 * NULL: nothing was measured, and nothing changes. */
void disk_conditions_widen(struct disk_speed *speed, const struct disk_service *disks,
                           uint32_t device, const struct disk_probe *measured);

#endif
