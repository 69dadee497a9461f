/* Which reads find what they want in a page cache of a given size: the recorded reads are replayed
 * against it, in their order.
 *
 * Pages have numbers; those of one file in a row. They are in groups, each of which the disk was
 * asked for at once: who misses a page has those of its group that follow brought in as well, where
 * they are missing. Two rules of what goes are known:
 *
 *   LRU        what was not used for longest (Mattson, Gecsei, Slutz and Traiger 1970)
 *   TWO_LISTS  Linux' (mm/vmscan.c, mm/workingset.c): with its first use a page is on the inactive
 *              list, with the second one on the active list; pages go from the end of the inactive
 *              one. One that comes back after fewer others went than the active list holds is
 * active at once (Weiner 2014, "Thrash detection-based file cache sizing"). The active list ages
 * when it is the longer one, and when such pages came back. */
#ifndef PERSIK_MODEL_PAGE_CACHE_H
#define PERSIK_MODEL_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_CACHE_PAGE_BYTES 4096.0

enum cache_rule { CACHE_TWO_LISTS, CACHE_LRU, CACHE_RULES };

/* Of pages in a row. */
struct cache_access {
    int first, count;
    bool ahead; /* they come in for a read that may follow, and are not read yet */
};

struct cache_reads {
    const struct cache_access *accesses;
    size_t n;
    const int *group_of; /* of each page; the pages of a group are in a row */
    const bool *warm;    /* of each page: was there at the beginning, as if the same had gone on
                          * before */
    size_t n_pages;
};

/* What access number `access` has to have brought in: pages of one group, in a row. */
struct cache_miss {
    size_t access;
    int first, count;
};

/* In the order of the accesses. */
struct cache_misses {
    size_t count, capacity;
    struct cache_miss *items; /* owned */
};

/* O(pages that are accessed). The caller frees the items. */
struct cache_misses page_cache_replay(const struct cache_reads *reads, enum cache_rule rule,
                                      double size_bytes);

#endif
