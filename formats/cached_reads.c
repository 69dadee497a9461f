#include "formats/cached_reads.h"

#include <stdlib.h>

#include "base/memory.h"

static void make_pages(struct cached_reads *made, const struct page_cache *cache) {
    size_t n = 0;
    for (size_t i = 0; i < cache->n_groups; i += 3)
        n += (size_t)cache->groups[i];
    int *group_of = memory_alloc(n, sizeof *group_of);
    bool *warm = memory_alloc(n, sizeof *warm);
    made->sectors = memory_alloc(n, sizeof *made->sectors);
    for (size_t i = 0, page = 0; i < cache->n_groups; i += 3) {
        const double *group = &cache->groups[i];
        for (size_t k = 0; k < (size_t)group[0]; k++, page++) {
            group_of[page] = (int)(i / 3);
            warm[page] = group[1] > 0;
            made->sectors[page] = group[2] < 0 ? -1 : group[2] + PAGE_SECTORS * (double)k;
        }
    }
    made->reads.group_of = group_of;
    made->reads.warm = warm;
    made->reads.n_pages = n;
}

static void make_accesses(struct cached_reads *made, const struct page_cache *cache) {
    struct cache_access *accesses = memory_alloc(cache->n_calls / 3, sizeof *accesses);
    made->calls = memory_alloc(cache->n_calls + 1, sizeof *made->calls);
    for (size_t i = 0; i < cache->n_calls;) {
        size_t n = (size_t)cache->calls[i++];
        for (size_t a = 0; a < n; a++, i += 3)
            accesses[made->reads.n++] = (struct cache_access){
                (int)cache->calls[i], (int)cache->calls[i + 1], cache->calls[i + 2] > 0};
        made->calls[++made->n_calls] = made->reads.n;
    }
    made->reads.accesses = accesses;
}

struct cached_reads cached_reads_make(const struct page_cache *cache) {
    struct cached_reads made = {0};
    make_pages(&made, cache);
    make_accesses(&made, cache);
    return made;
}

void cached_reads_free(struct cached_reads *reads) {
    free((void *)reads->reads.accesses);
    free((void *)reads->reads.group_of);
    free((void *)reads->reads.warm);
    free(reads->sectors);
    free(reads->calls);
}
