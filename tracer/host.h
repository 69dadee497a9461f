/* Where and when the run took place. The texts are allocated. */
#ifndef PERSIK_TRACER_HOST_H
#define PERSIK_TRACER_HOST_H

#include <stdint.h>

/* CPU time of all cores since boot; 0: not known. */
struct host_use {
    double busy_ns;   /* of everything that runs here */
    double stolen_ns; /* that went to other guests of a virtual machine's host */
    uint64_t at_ns;   /* when it was read, CLOCK_MONOTONIC */
};

/* What host_use() counts in, on each core. */
double host_count_ns(void);

struct host_use host_use(void);

int host_cores(void);      /* that this process and its children may use */
double host_tick_ns(void); /* period of the kernel's timer tick; 0: not known */
char *host_name(void);     /* "2 cores, AMD EPYC, Linux 6.18"; never the machine's own name */
char *host_libc(void);     /* version of glibc */
char *host_date(void);     /* ISO 8601 */

#endif
