/* Writes that the kernel makes later, of pages that programs left dirty: how fast it does, and how
 * many may wait to be written before it holds up who makes more. */
#ifndef PERSIK_MODELGEN_CALIBRATE_WRITE_BACK_H
#define PERSIK_MODELGEN_CALIBRATE_WRITE_BACK_H

#include "modelgen/calibrate/commits.h"

/* Of the device to which the kernel wrote most; commits of its journal are no part of it. */
struct write_back {
    size_t n; /* requests; 0: there was none */
    uint32_t device;
    double bytes;
    size_t *requests; /* into the trace's blocks, by completion */
    double *done;     /* bytes until and with each */
};

/* write_back_free() ends it. */
struct write_back write_back_find(const struct disk_service *disks, const struct commits *commits);
void write_back_free(struct write_back *write_back);

/* Bytes that were on the device by the time. */
double write_back_done(const struct write_back *write_back, const struct disk_service *disks,
                       uint64_t time_ns);

/* Of a time, how long its requests were under way. */
double write_back_covers(const struct write_back *write_back, const struct disk_service *disks,
                         uint64_t from_ns, uint64_t to_ns);

#endif
