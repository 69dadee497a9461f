/* Which requests to a disk lie close together: those that calls of one place in the program made,
 * and those of a journal's commits. Behind one of its own stream a request costs a disk with a
 * moving head less than behind another's. */
#ifndef PERSIK_MODELGEN_CALIBRATE_REQUEST_STREAMS_H
#define PERSIK_MODELGEN_CALIBRATE_REQUEST_STREAMS_H

#include "modelgen/calibrate/commits.h"

#define STREAM_OF_JOURNAL 1 /* of each device; others are numbered from 2 */

/* For each of the trace's blocks. */
struct request_streams {
    int *stream;        /* 0: of none (a flush, the kernel's own) */
    bool *is_near;      /* the device served one of the same stream before it */
    int *alike;         /* writes of one stream, near or not, and flushes; 0: all that is read */
    double *service_ns; /* how long it had a server of its disk; disk_service_times() sets it */
};

/* `places`: see source_places(). request_streams_free() ends it. */
struct request_streams request_streams_find(const struct disk_service *disks,
                                            const struct commits *commits, const uint32_t *places);
void request_streams_free(struct request_streams *streams);

#endif
