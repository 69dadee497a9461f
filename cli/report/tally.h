/* Sums over a trace: how often each object and each call site was used and how long threads waited
 * there. Pure: reads the trace, prints nothing. */
#ifndef PERSIK_CLI_REPORT_TALLY_H
#define PERSIK_CLI_REPORT_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct tally_row {
    enum api api;     /* of the first operation seen */
    uint64_t object;  /* 0 in a tally of sites */
    uint32_t context; /* of the first operation seen */
    uint64_t operations;
    uint64_t waits;   /* operations that took time */
    uint64_t wait_ns; /* in all */
};

struct tally {
    struct tally_row *items;
    size_t count, capacity;
};

/* By object: locks, conditions, barriers, queues; files and threads are left out. */
struct tally tally_objects(const struct trace *trace);

/* By call and the innermost frame of its context. */
struct tally tally_sites(const struct trace *trace);

/* Longest total waiting first; ties by first appearance. */
void tally_sort(struct tally *tally);

#endif
