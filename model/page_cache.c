#include "model/page_cache.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define NONE         (-1)
#define RECLAIMED    32 /* pages at least that the kernel frees at once: SWAP_CLUSTER_MAX */
#define PAGES_PER_GB ((size_t)0x40000)

enum list_name { NOWHERE, INACTIVE, ACTIVE, LISTS };

struct page {
    int older, newer; /* on its list */
    enum list_name list;
    bool referenced; /* used since it came, or since it was made active */
    bool has_gone;
    size_t gone_at; /* the age at which it went */
};

struct list {
    int oldest, newest;
    size_t count;
};

struct cache {
    enum cache_rule rule;
    size_t most; /* pages that it holds */
    struct page *pages;
    struct list lists[LISTS];
    size_t age;     /* pages that have left the inactive list, in either direction */
    double to_age;  /* pages of the active list that are due to leave it */
    bool came_back; /* pages that had gone became active since the last reclaim */
};

static void list_remove(struct cache *cache, int at) {
    const struct page *page = &cache->pages[at];
    struct list *list = &cache->lists[page->list];
    if (page->list == NOWHERE)
        return;
    *(page->older == NONE ? &list->oldest : &cache->pages[page->older].newer) = page->newer;
    *(page->newer == NONE ? &list->newest : &cache->pages[page->newer].older) = page->older;
    list->count--;
    cache->pages[at].list = NOWHERE;
}

/* As the newest one. */
static void list_add(struct cache *cache, enum list_name name, int at) {
    list_remove(cache, at);
    struct page *page = &cache->pages[at];
    struct list *list = &cache->lists[name];
    page->list = name;
    page->older = list->newest;
    page->newer = NONE;
    *(list->newest == NONE ? &list->oldest : &cache->pages[list->newest].newer) = at;
    list->newest = at;
    list->count++;
}

static size_t count_there(const struct cache *cache) {
    return cache->lists[INACTIVE].count + cache->lists[ACTIVE].count;
}

static void let_go(struct cache *cache, int at) {
    list_remove(cache, at);
    cache->pages[at].has_gone = true;
    cache->pages[at].gone_at = cache->age++;
}

/* The active list's oldest become the inactive list's newest. */
static void deactivate(struct cache *cache, double pages) {
    const struct list *active = &cache->lists[ACTIVE];
    cache->to_age += pages;
    for (; active->count > 0 && cache->to_age >= 1; cache->to_age--)
        list_add(cache, INACTIVE, active->oldest);
    if (active->count == 0)
        cache->to_age = 0;
}

/* inactive_is_low() of mm/vmscan.c. */
static bool is_inactive_low(const struct cache *cache) {
    size_t gigabytes = count_there(cache) / PAGES_PER_GB;
    double ratio = gigabytes > 0 ? floor(sqrt(10 * (double)gigabytes)) : 1;
    return (double)cache->lists[INACTIVE].count * ratio < (double)cache->lists[ACTIVE].count;
}

/* Both lists are scanned in proportion to their lengths. */
static void reclaim(struct cache *cache) {
    const struct list *inactive = &cache->lists[INACTIVE], *active = &cache->lists[ACTIVE];
    if (is_inactive_low(cache) || cache->came_back)
        deactivate(cache,
                   RECLAIMED *
                       (inactive->count > 0 ? (double)active->count / (double)inactive->count : 2));
    cache->came_back = false;
    for (int i = 0; i < RECLAIMED && inactive->count > 0; i++)
        let_go(cache, inactive->oldest);
}

static void make_room(struct cache *cache) {
    while (count_there(cache) > 0 && count_there(cache) >= cache->most) {
        if (cache->rule == CACHE_LRU)
            let_go(cache, cache->lists[INACTIVE].oldest);
        else
            reclaim(cache);
    }
}

static void come(struct cache *cache, int at) {
    struct page *page = &cache->pages[at];
    make_room(cache);
    bool is_soon = page->has_gone && cache->age - page->gone_at <= cache->lists[ACTIVE].count;
    page->has_gone = false;
    page->referenced = false;
    if (cache->rule == CACHE_LRU || !is_soon) {
        list_add(cache, INACTIVE, at);
        return;
    }
    list_add(cache, ACTIVE, at);
    cache->age++;
    cache->came_back = true;
}

static void use(struct cache *cache, int at) {
    struct page *page = &cache->pages[at];
    if (cache->rule == CACHE_LRU) {
        list_add(cache, INACTIVE, at);
    } else if (!page->referenced) {
        page->referenced = true;
    } else if (page->list == INACTIVE) {
        list_add(cache, ACTIVE, at);
        page->referenced = false;
        cache->age++;
    }
}

/* The page and those that follow it in its group and are not there, up to the first one that is. */
static struct cache_miss fetch(struct cache *cache, const struct cache_reads *reads, size_t access,
                               int page) {
    struct cache_miss miss = {access, page, 0};
    for (size_t at = (size_t)page;
         at < reads->n_pages && reads->group_of[at] == reads->group_of[page] &&
         cache->pages[at].list == NOWHERE;
         at++) {
        come(cache, (int)at);
        miss.count++;
    }
    return miss;
}

/* `misses`: NULL where nobody asks. */
static void replay_once(struct cache *cache, const struct cache_reads *reads,
                        struct cache_misses *misses) {
    for (size_t i = 0; i < reads->n; i++) {
        const struct cache_access *access = &reads->accesses[i];
        for (int page = access->first; page < access->first + access->count; page++) {
            if (cache->pages[page].list == NOWHERE) {
                struct cache_miss miss = fetch(cache, reads, i, page);
                if (misses)
                    *VECTOR_ADD(misses) = miss;
            }
            if (!access->ahead && cache->pages[page].list != NOWHERE)
                use(cache, page);
        }
    }
}

static bool has_warm(const struct cache_reads *reads) {
    for (size_t i = 0; i < reads->n_pages; i++)
        if (reads->warm[i])
            return true;
    return false;
}

struct cache_misses page_cache_replay(const struct cache_reads *reads, enum cache_rule rule,
                                      double size_bytes) {
    struct cache_misses misses = {0};
    double most = floor(size_bytes / PAGE_CACHE_PAGE_BYTES);
    struct cache cache = {.rule = rule,
                          .most = most < (double)reads->n_pages ? (size_t)fmax(most, 1)
                                                                : reads->n_pages + 1,
                          .pages = memory_alloc(reads->n_pages, sizeof *cache.pages)};
    for (int name = 0; name < LISTS; name++)
        cache.lists[name] = (struct list){NONE, NONE, 0};
    if (has_warm(reads)) {
        replay_once(&cache, reads, NULL);
        for (size_t i = 0; i < reads->n_pages; i++)
            if (!reads->warm[i]) {
                list_remove(&cache, (int)i);
                cache.pages[i].has_gone = false;
            }
    }
    replay_once(&cache, reads, &misses);
    free(cache.pages);
    return misses;
}
