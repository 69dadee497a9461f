/* Another source of block I/O: the files NAME.blktrace.CPU that blktrace(8) writes, recorded on
 * this machine or another. Their layout is struct blk_io_trace of linux/blktrace_api.h. */
#ifndef PERSIK_TRACER_BLKTRACE_H
#define PERSIK_TRACER_BLKTRACE_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "tracer/requests.h"

struct blktrace {
    struct block_events events; /* time_ns since blktrace started; in file order */
    uint64_t wall_start_ns;     /* CLOCK_REALTIME at that moment; 0 = the file does not tell */
    struct map kernel;          /* thread ids of which the name is known -> is it the kernel's? */
};

/* Adds the events of one file (one CPU); call it for each. -1 and `error`: missing, not such a
 * file, of the other byte order, cut off. What was read until then stays. */
int blktrace_read(struct blktrace *blktrace, const char *path, struct error *error);

/* When all files have been read, for they name the threads in any of them: which events are
 * threads' of the kernel. */
void blktrace_name_events(struct blktrace *blktrace);

void blktrace_free(struct blktrace *blktrace);

#endif
