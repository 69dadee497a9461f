/* What the calls of the recorded run read of the page cache, call by call, in pages that have
 * numbers.
 *
 * Of each page the kernel said when it was read and when it came in; that is, which reads found
 * what they wanted. What came in during a call is what the disk was asked for in it, in the same
 * order: so a page's place on the disk is known, and which pages came with one request. */
#ifndef PERSIK_MODELGEN_CALIBRATE_PAGE_READS_H
#define PERSIK_MODELGEN_CALIBRATE_PAGE_READS_H

#include "modelgen/calibrate/disk_service.h"

/* A call that read, or a moment outside of all calls at which a thread had pages come in. */
struct page_call {
    size_t thread;
    uint64_t start_ns; /* of the call */
    size_t first, n;   /* of its accesses */
};

struct page_reads {
    struct page_call *calls; /* by start, then by thread */
    size_t n_calls;
    struct cache_access *accesses;
    size_t n_accesses;
    bool **came; /* of each access, for each of its pages: it came in during the call */
    size_t n_pages;
    int *group_of;   /* of each page: which request it came with first */
    bool *warm;      /* of each page: was there before the recording saw it */
    double *sectors; /* of each page; -1: it came without a request: a hole in a file. Where nobody
                      * saw it come it is as far from a neighbour in the file as the pages are */
    size_t mapped;   /* pages of mapped files that were found not to be mapped yet */
};

/* Of a trace with pages; `disks` must be of it. page_reads_free() ends it. */
struct page_reads page_reads_find(const struct disk_service *disks);
void page_reads_free(struct page_reads *reads);

#endif
