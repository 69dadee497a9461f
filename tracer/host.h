/* Where and when the run took place. The texts are allocated. */
#ifndef PERSIK_TRACER_HOST_H
#define PERSIK_TRACER_HOST_H

int host_cores(void);        /* that this process and its children may use */
double host_tick_ns(void);   /* period of the kernel's timer tick; 0: not known */
double host_stolen_ns(void); /* CPU time of all cores that went to other guests of a virtual
                              * machine's host, since boot; 0: none, or not known */
char *host_name(void);       /* "2 cores, AMD EPYC, Linux 6.18"; never the machine's own name */
char *host_libc(void);       /* version of glibc */
char *host_date(void);       /* ISO 8601 */

#endif
