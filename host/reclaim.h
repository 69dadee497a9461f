/* Whether the kernel takes file pages out of memory that is not short: hosts of virtual machines
 * set it so, to get memory back. What a program has read it then reads from the disk once more, at
 * moments that differ between runs.
 *
 * Source: Documentation/admin-guide/mm/damon/ of Linux 6.18. */
#ifndef PERSIK_HOST_RECLAIM_H
#define PERSIK_HOST_RECLAIM_H

#include <stdbool.h>

/* Is there a monitor of accesses (DAMON) at work that pages out what is cold? Reads ROOT/sys; ""
 * for this machine. What cannot be read is not at work. */
bool reclaim_is_proactive(const char *root);

#endif
