/* Where and when the run took place. The texts are allocated. */
#ifndef PERSIK_TRACER_HOST_H
#define PERSIK_TRACER_HOST_H

int host_cores(void);  /* that this process and its children may use */
char *host_name(void); /* "2 cores, AMD EPYC, Linux 6.18"; never the machine's own name */
char *host_date(void); /* ISO 8601 */

#endif
