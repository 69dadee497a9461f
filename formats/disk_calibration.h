/* What `persik calibrate` measured of a disk, a JSON file that `build-model --disk` reads:
 * docs/formats.md. */
#ifndef PERSIK_FORMATS_DISK_CALIBRATION_H
#define PERSIK_FORMATS_DISK_CALIBRATION_H

#include "base/error.h"
#include "host/disk_probe.h"

#define DISK_CALIBRATION_VERSION 1

/* The name of a kind of requests in the file. */
const char *disk_request_name(enum disk_request kind);

/* The text of the file, allocated. `date` is an ISO date. */
char *disk_calibration_text(const struct disk_probe *probe, const char *date);

/* Writes it, whole or not at all. 0, or -1 and `error`. */
int disk_calibration_save(const struct disk_probe *probe, const char *date, const char *path,
                          struct error *error);

/* Reads it. -1 and `error`: no such file, not such JSON, or of a newer version. disk_probe_free()
 * ends it. */
int disk_calibration_load(const char *path, struct disk_probe *probe, struct error *error);

#endif
