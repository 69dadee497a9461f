/* A model's page cache, as model/page_cache.h replays it. */
#ifndef PERSIK_FORMATS_CACHED_READS_H
#define PERSIK_FORMATS_CACHED_READS_H

#include "formats/model.h"

#define PAGE_SECTORS 8.0 /* of 512 bytes in a page */

struct cached_reads {
    struct cache_reads reads; /* its arrays are owned */
    double *sectors;          /* of each page; -1: it is read from no disk */
    size_t *calls; /* of each call the first of its accesses, and the end of the last one's */
    size_t n_calls;
};

/* Of a checked model. cached_reads_free() ends it. */
struct cached_reads cached_reads_make(const struct page_cache *cache);
void cached_reads_free(struct cached_reads *reads);

#endif
