#include "modelgen/calibrate/page_cache_size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/cached_reads.h"
#include "modelgen/evidence.h"

#define STEPS 16 /* of the search: to a 1000th of the size, and finer */

struct numbers {
    double *items;
    size_t count, capacity;
};

static bool go_together(const struct page_reads *reads, size_t page) {
    double distance = reads->sectors[page] - reads->sectors[page - 1];
    return reads->group_of[page] == reads->group_of[page - 1] &&
           reads->warm[page] == reads->warm[page - 1] &&
           (distance == PAGE_SECTORS || (distance == 0 && reads->sectors[page] < 0));
}

static void write_groups(const struct page_reads *reads, struct page_cache *cache) {
    struct numbers groups = {0};
    for (size_t page = 0; page < reads->n_pages; page++) {
        if (page > 0 && go_together(reads, page)) {
            groups.items[groups.count - 3]++;
            continue;
        }
        *VECTOR_ADD(&groups) = 1;
        *VECTOR_ADD(&groups) = reads->warm[page];
        *VECTOR_ADD(&groups) = reads->sectors[page];
    }
    cache->groups = groups.items;
    cache->n_groups = groups.count;
    cache->read_bytes = (double)reads->n_pages * PAGE_CACHE_PAGE_BYTES;
}

static void write_calls(const struct page_reads *reads, struct page_cache *cache) {
    struct numbers calls = {0};
    for (size_t c = 0; c < reads->n_calls; c++) {
        *VECTOR_ADD(&calls) = (double)reads->calls[c].n;
        for (size_t i = 0; i < reads->calls[c].n; i++) {
            const struct cache_access *access = &reads->accesses[reads->calls[c].first + i];
            *VECTOR_ADD(&calls) = access->first;
            *VECTOR_ADD(&calls) = access->count;
            *VECTOR_ADD(&calls) = access->ahead;
        }
    }
    cache->calls = calls.items;
    cache->n_calls = calls.count;
}

/* ---- what is held against what ---- */

/* Of the pages that were read, those that had been read or brought in before: how often they were
 * found or not, by the recording (first) and by the replay. */
struct outcomes {
    double count[2][2]; /* [recorded: not there][replayed: not there] */
    double came;        /* pages that came in, in all, by the replay */
};

static double all_of(const struct outcomes *found) {
    return found->count[0][0] + found->count[0][1] + found->count[1][0] + found->count[1][1];
}

static double share_alike(const struct outcomes *found) {
    double all = all_of(found);
    return all > 0 ? (found->count[0][0] + found->count[1][1]) / all : 1;
}

/* Correlation of the two: 0 where the replay tells nothing of the recording. */
static double correlation(const struct outcomes *found) {
    const double(*n)[2] = found->count;
    double spread =
        (n[0][0] + n[0][1]) * (n[1][0] + n[1][1]) * (n[0][0] + n[1][0]) * (n[0][1] + n[1][1]);
    return spread > 0 ? (n[0][0] * n[1][1] - n[0][1] * n[1][0]) / sqrt(spread) : 0;
}

/* `call_of` has room for each page: 1 + the last call that brought it in by the replay. */
static struct outcomes compare(const struct page_reads *reads, const struct cached_reads *made,
                               const struct cache_misses *misses, size_t *call_of, bool *seen) {
    struct outcomes found = {0};
    size_t m = 0;
    memset(call_of, 0, reads->n_pages * sizeof *call_of);
    memset(seen, 0, reads->n_pages * sizeof *seen);
    for (size_t c = 0; c < made->n_calls; c++) {
        for (; m < misses->count && misses->items[m].access < made->calls[c + 1]; m++)
            for (int k = 0; k < misses->items[m].count; k++, found.came++)
                call_of[misses->items[m].first + k] = c + 1;
        for (size_t a = made->calls[c]; a < made->calls[c + 1]; a++) {
            const struct cache_access *access = &made->reads.accesses[a];
            for (int k = 0; k < access->count; k++) {
                size_t page = (size_t)access->first + (size_t)k;
                if (seen[page] && !access->ahead)
                    found.count[reads->came[a][k]][call_of[page] == c + 1]++;
                seen[page] = true;
            }
        }
    }
    return found;
}

struct search {
    const struct page_reads *reads;
    struct cached_reads made;
    size_t *call_of;
    bool *seen;
};

static struct outcomes try_size(struct search *search, enum cache_rule rule, double bytes) {
    struct cache_misses misses = page_cache_replay(&search->made.reads, rule, bytes);
    struct outcomes found =
        compare(search->reads, &search->made, &misses, search->call_of, search->seen);
    free(misses.items);
    return found;
}

static double count_came(const struct page_reads *reads) {
    double came = 0;
    for (size_t a = 0; a < reads->n_accesses; a++)
        for (int k = 0; k < reads->accesses[a].count; k++)
            came += reads->came[a][k];
    return came;
}

/* With which as many pages come in as did: the more it holds, the fewer. */
static double fit_size(struct search *search, enum cache_rule rule, double most_bytes,
                       double came) {
    double low = PAGE_CACHE_PAGE_BYTES, high = most_bytes;
    for (int step = 0; step < STEPS && low < high; step++) {
        double middle = sqrt(low * high);
        if (try_size(search, rule, middle).came > came)
            low = middle;
        else
            high = middle;
    }
    return floor(high / PAGE_CACHE_PAGE_BYTES) * PAGE_CACHE_PAGE_BYTES;
}

/* Which of the mapped pages are used again nobody sees. */
static bool is_mostly_mapped(const struct page_reads *reads) {
    double read = 0;
    for (size_t a = 0; a < reads->n_accesses; a++)
        read += reads->accesses[a].ahead ? 0 : reads->accesses[a].count;
    return (double)reads->mapped > evidence.majority * (read + (double)reads->mapped);
}

static void find_size(struct search *search, struct page_cache *cache) {
    double came = count_came(search->reads);
    struct outcomes whole = try_size(search, CACHE_TWO_LISTS, INFINITY);
    double missed_again = whole.count[1][0] + whole.count[1][1];
    cache->agreement = share_alike(&whole);
    if (missed_again <= evidence.negligible * all_of(&whole))
        return; /* it held all */
    double best = 0;
    for (enum cache_rule rule = 0; rule < CACHE_RULES; rule++) {
        double bytes = fit_size(search, rule, cache->read_bytes, came);
        struct outcomes found = try_size(search, rule, bytes);
        if (rule > 0 && share_alike(&found) <= cache->agreement)
            continue;
        cache->rule = rule;
        cache->size_bytes = bytes;
        cache->agreement = share_alike(&found);
        best = correlation(&found);
    }
    if (best < evidence.cache_correlation)
        cache->unknown = memory_format(
            "which reads found what they wanted in it is explained by no size: of those that read "
            "pages again %.0f %% had been to the disk, and the best guess, %.1f MB, is right for "
            "%.0f %%; others may have used it, or its size may have changed",
            100 * missed_again / all_of(&whole), cache->size_bytes / 1e6, 100 * cache->agreement);
}

struct page_cache page_cache_size_find(const struct page_reads *reads) {
    struct page_cache cache = {0};
    write_groups(reads, &cache);
    write_calls(reads, &cache);
    if (reads->n_pages == 0)
        return cache;
    struct search search = {reads, cached_reads_make(&cache),
                            memory_alloc(reads->n_pages, sizeof *search.call_of),
                            memory_alloc(reads->n_pages, sizeof *search.seen)};
    find_size(&search, &cache);
    if (!cache.unknown && is_mostly_mapped(reads))
        cache.unknown =
            memory_strdup("most of what was used of files was mapped (mmap), and not read "
                          "by calls: which of it is used again is not known");
    cached_reads_free(&search.made);
    free(search.call_of);
    free(search.seen);
    return cache;
}
