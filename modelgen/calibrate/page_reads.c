#include "modelgen/calibrate/page_reads.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "formats/cached_reads.h"
#include "modelgen/events/thread_numbers.h"

#define PAGE_BITS    36 /* of a key, which are the file's number and the page's */
#define NO_RECORD    SIZE_MAX
#define NOT_REQUIRED (-1.0)
#define NOT_KNOWN    0.0

/* Pages of a file that a thread read, or that came in for it. */
struct use {
    uint64_t start_ns; /* of the call, or when it was */
    size_t thread;
    size_t record;    /* NO_RECORD: outside of all calls */
    size_t order;     /* in the trace */
    uint64_t key;     /* of the first page */
    uint64_t end_key; /* of the one behind all that were asked for */
    uint32_t count;
    bool came;
    bool may_end_later; /* with the page that follows */
};

struct uses {
    struct use *items;
    size_t count, capacity;
};

struct keys {
    uint64_t *items;
    size_t count, capacity;
};

struct finder {
    const struct disk_service *disks;
    struct uses uses;
    struct keys keys; /* of all pages, sorted: their places are the pages' numbers */
    struct page_reads *reads;
    struct map number; /* key -> number */
    size_t accesses_room;
    int n_groups;
};

/* ---- whose pages, and which ---- */

/* The pages of a disk itself, in which file systems keep what they know of their files: such a
 * page's file has the disk's number. */
static bool *find_metadata(const struct trace *trace) {
    struct map devices = MAP_EMPTY;
    bool *is_metadata = memory_alloc(trace->n_pages, sizeof *is_metadata);
    for (size_t b = 0; b < trace->n_blocks; b++)
        map_put(&devices, trace->blocks[b].device, 1);
    for (size_t i = 0; i < trace->n_pages; i++) {
        const struct trace_pages *pages = &trace->pages[i];
        is_metadata[i] = pages->device >> 20 == 0 && map_get(&devices, pages->file, 0);
    }
    map_free(&devices);
    return is_metadata;
}

/* The thread's call during which it was; NO_RECORD: none. */
static size_t find_record(const struct trace_thread *thread, uint64_t time_ns) {
    size_t begun = trace_records_begun(thread, time_ns);
    return begun > 0 && trace_end_ns(&thread->records[begun - 1]) >= time_ns ? begun - 1
                                                                             : NO_RECORD;
}

/* How many of the pages that it asked for the call read at least, which asks beyond the end of the
 * file; one more where it does not begin with a page, which is not told. */
static uint32_t pages_got(const struct trace_record *record, const struct trace_pages *pages) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->probe == PROBE_BUFFERED)
        return pages->count; /* its value counts something else, its buffer is small */
    uint64_t bytes = record->value > 0 ? (uint64_t)record->value : 0;
    uint64_t most = bytes == 0 ? 0 : (bytes - 1) / TRACE_PAGE_BYTES + 1;
    return most < pages->count ? (uint32_t)most : pages->count;
}

/* A call is served in steps, each of which says what is left of it. `last`: what the thread read
 * before; NULL: nothing. */
static bool is_rest(const struct use *last, const struct use *use) {
    return last && use->record != NO_RECORD && last->record == use->record &&
           last->end_key == use->end_key && last->key < use->key;
}

static void find_uses(struct finder *finder) {
    const struct trace *trace = finder->disks->trace;
    struct thread_numbers numbers = thread_numbers_find(trace);
    bool *is_metadata = find_metadata(trace);
    struct map files = MAP_EMPTY;
    int n_files = 0;
    size_t *last_read = memory_alloc(trace->n_threads, sizeof *last_read); /* 1 + its use */
    for (size_t i = 0; i < trace->n_pages; i++) {
        const struct trace_pages *pages = &trace->pages[i];
        int thread = thread_numbers_owner(&numbers, pages->tid, pages->time_ns);
        if (pages->kind == PAGES_MAPPED)
            finder->reads->mapped += pages->count;
        if (thread < 0 || is_metadata[i] || pages->kind == PAGES_MAPPED)
            continue;
        uint64_t file = map_mix(map_mix(1, pages->device), pages->file);
        if (map_get(&files, file, -1) < 0)
            map_put(&files, file, n_files++);
        struct use use = {pages->time_ns,
                          (size_t)thread,
                          find_record(&trace->threads[thread], pages->time_ns),
                          i,
                          (uint64_t)map_get(&files, file, 0) << PAGE_BITS | pages->first,
                          0,
                          pages->count,
                          pages->kind == PAGES_ADDED,
                          false};
        use.end_key = use.key + use.count;
        if (use.record != NO_RECORD) {
            const struct trace_record *record = &trace->threads[thread].records[use.record];
            use.start_ns = record->start_ns;
            use.count = use.came ? use.count : pages_got(record, pages);
            use.may_end_later = use.count < pages->count;
        }
        size_t last = last_read[thread];
        if (use.count == 0 ||
            (!use.came && is_rest(last > 0 ? &finder->uses.items[last - 1] : NULL, &use)))
            continue;
        *VECTOR_ADD(&finder->uses) = use;
        last_read[thread] = use.came ? last : finder->uses.count;
    }
    map_free(&files);
    free(last_read);
    free(is_metadata);
    thread_numbers_free(&numbers);
}

static int compare_uses(const void *left, const void *right) {
    const struct use *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->record != b->record)
        return a->record < b->record ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_keys(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void number_pages(struct finder *finder) {
    for (size_t i = 0; i < finder->uses.count; i++)
        for (uint32_t k = 0; k < finder->uses.items[i].count; k++) {
            uint64_t key = finder->uses.items[i].key + k;
            if (map_get(&finder->number, key, -1) >= 0)
                continue;
            map_put(&finder->number, key, 0);
            *VECTOR_ADD(&finder->keys) = key;
        }
    for (size_t i = 0; i < finder->uses.count; i++) { /* beyond the file's end there is no page */
        struct use *use = &finder->uses.items[i];
        use->count +=
            use->may_end_later && map_get(&finder->number, use->key + use->count, -1) >= 0;
    }
    VECTOR_SORT(&finder->keys, compare_keys);
    for (size_t i = 0; i < finder->keys.count; i++)
        map_put(&finder->number, finder->keys.items[i], (int)i);
}

/* ---- call by call ---- */

static bool is_data(const struct trace_block *block) {
    return block->kind == BLOCK_READ || block->kind == BLOCK_READAHEAD;
}

static bool is_known(double sector) {
    return sector != NOT_KNOWN && sector != NOT_REQUIRED;
}

/* Those that came in during a call, in their order, are those of its requests. What came in first
 * with a page is its group: later on parts of that may still be there. */
static void place_pages(struct finder *finder, const struct use *uses, size_t n,
                        struct disk_requests requests) {
    struct page_reads *reads = finder->reads;
    const struct trace *trace = finder->disks->trace;
    size_t r = 0;
    double left = 0, sector = 0; /* bytes of the request under way, and where they are */
    for (size_t i = 0; i < n; i++) {
        if (!uses[i].came)
            continue;
        if (i > 0 && uses[i].key != uses[i - 1].end_key)
            left = 0;
        finder->n_groups += left <= 0;
        for (uint32_t k = 0; k < uses[i].count; k++) {
            while (left <= 0 && r < requests.n && !is_data(&trace->blocks[requests.items[r]]))
                r++;
            if (left <= 0 && r < requests.n) {
                const struct trace_block *block = &trace->blocks[requests.items[r++]];
                left = block->bytes;
                sector = (double)block->sector;
                finder->n_groups++;
            }
            int page = map_get(&finder->number, uses[i].key + k, 0);
            if (!is_known(reads->sectors[page])) {
                reads->group_of[page] = finder->n_groups;
                reads->sectors[page] = left > 0 ? sector : NOT_REQUIRED;
            }
            sector += PAGE_SECTORS;
            left -= TRACE_PAGE_BYTES;
        }
    }
}

static void add_access(struct finder *finder, int page, bool ahead, bool came, bool goes_on) {
    struct page_reads *reads = finder->reads;
    struct cache_access *last =
        reads->n_accesses > 0 ? &reads->accesses[reads->n_accesses - 1] : NULL;
    if (!goes_on || !last || last->ahead != ahead || last->first + last->count != page) {
        if (reads->n_accesses == finder->accesses_room) {
            finder->accesses_room = 2 * finder->accesses_room + 64;
            reads->accesses =
                memory_resize(reads->accesses, finder->accesses_room, sizeof *reads->accesses);
            reads->came = memory_resize(reads->came, finder->accesses_room, sizeof *reads->came);
        }
        last = &reads->accesses[reads->n_accesses];
        reads->came[reads->n_accesses++] = NULL;
        *last = (struct cache_access){page, 0, ahead};
    }
    bool **marks = &reads->came[reads->n_accesses - 1];
    if ((last->count & (last->count - 1)) == 0) /* room for powers of two */
        *marks =
            memory_resize(*marks, last->count > 0 ? 2 * (size_t)last->count : 1, sizeof **marks);
    (*marks)[last->count++] = came;
}

/* `stamp` has of each page whether the call brought it in (1), and whether it read it, too (2). */
static void list_accesses(struct finder *finder, const struct use *uses, size_t n, char *stamp) {
    for (int pass = 0; pass < 2; pass++) /* what is read, then what came for later */
        for (size_t i = 0; i < n; i++) {
            bool goes_on = false;
            for (uint32_t k = 0; k < uses[i].count && uses[i].came == (pass == 1); k++) {
                int page = map_get(&finder->number, uses[i].key + k, 0);
                if (pass == 1 && stamp[page] == 2)
                    continue;
                add_access(finder, page, pass == 1, stamp[page] != 0, goes_on);
                goes_on = true;
                if (pass == 0 && stamp[page] == 1)
                    stamp[page] = 2;
            }
        }
}

static void read_call(struct finder *finder, const struct use *uses, size_t n, bool *seen,
                      char *stamp) {
    struct page_reads *reads = finder->reads;
    struct disk_requests requests = {0};
    if (uses->record != NO_RECORD) {
        const struct trace_record *record =
            &finder->disks->trace->threads[uses->thread].records[uses->record];
        requests = disk_service_queued(finder->disks, uses->thread, record->start_ns,
                                       trace_end_ns(record));
    }
    place_pages(finder, uses, n, requests);
    for (int pass = 0; pass < 2; pass++) /* what came in is known before what is read */
        for (size_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < uses[i].count && uses[i].came == (pass == 0); k++) {
                int page = map_get(&finder->number, uses[i].key + k, 0);
                stamp[page] = (char)(pass == 0 ? 1 : stamp[page]);
                if (seen[page])
                    continue;
                seen[page] = true;
                reads->warm[page] = pass == 1;
                if (pass == 1) {
                    reads->group_of[page] = finder->n_groups + (k == 0);
                    finder->n_groups += k == 0;
                    reads->sectors[page] = NOT_KNOWN;
                }
            }
    reads->calls[reads->n_calls] =
        (struct page_call){uses->thread, uses->start_ns, reads->n_accesses, 0};
    list_accesses(finder, uses, n, stamp);
    reads->calls[reads->n_calls].n = reads->n_accesses - reads->calls[reads->n_calls].first;
    reads->n_calls++;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < uses[i].count; k++)
            stamp[map_get(&finder->number, uses[i].key + k, 0)] = 0;
}

/* ---- places that nobody saw ---- */

/* As far from a neighbour in the same file as the pages are; else that of any page. */
static void guess_places(struct finder *finder) {
    struct page_reads *reads = finder->reads;
    const uint64_t *keys = finder->keys.items;
    double *sectors = reads->sectors;
    size_t any = 0;
    while (any < reads->n_pages && !is_known(sectors[any]))
        any++;
    for (size_t from = 0; from < reads->n_pages;) {
        size_t to = from, known = reads->n_pages;
        for (; to < reads->n_pages && keys[to] >> PAGE_BITS == keys[from] >> PAGE_BITS; to++)
            if (is_known(sectors[to]) && known == reads->n_pages)
                known = to;
        for (size_t i = from; i < to; i++) {
            if (is_known(sectors[i])) {
                known = i;
                continue;
            }
            if (sectors[i] == NOT_REQUIRED)
                continue;
            if (known < reads->n_pages)
                sectors[i] =
                    sectors[known] + PAGE_SECTORS * ((double)keys[i] - (double)keys[known]);
            else if (any < reads->n_pages)
                sectors[i] = sectors[any];
            sectors[i] = sectors[i] < 0 ? 0 : sectors[i];
        }
        from = to;
    }
}

struct page_reads page_reads_find(const struct disk_service *disks) {
    struct page_reads reads = {0};
    struct finder finder = {.disks = disks, .reads = &reads, .number = MAP_EMPTY};
    find_uses(&finder);
    size_t n = finder.uses.count;
    if (n > 0)
        qsort(finder.uses.items, n, sizeof *finder.uses.items, compare_uses);
    number_pages(&finder);
    reads.n_pages = finder.keys.count;
    reads.group_of = memory_alloc(reads.n_pages, sizeof *reads.group_of);
    reads.warm = memory_alloc(reads.n_pages, sizeof *reads.warm);
    reads.sectors = memory_alloc(reads.n_pages, sizeof *reads.sectors);
    reads.calls = memory_alloc(n, sizeof *reads.calls);
    bool *seen = memory_alloc(reads.n_pages, sizeof *seen);
    char *stamp = memory_alloc(reads.n_pages, sizeof *stamp);
    for (size_t from = 0, to; from < n; from = to) {
        const struct use *first = &finder.uses.items[from];
        to = from + 1;
        while (to < n && first->record != NO_RECORD &&
               finder.uses.items[to].thread == first->thread &&
               finder.uses.items[to].record == first->record)
            to++;
        read_call(&finder, first, to - from, seen, stamp);
    }
    guess_places(&finder);
    free(seen);
    free(stamp);
    free(finder.uses.items);
    free(finder.keys.items);
    map_free(&finder.number);
    return reads;
}

void page_reads_free(struct page_reads *reads) {
    for (size_t i = 0; i < reads->n_accesses; i++)
        free(reads->came[i]);
    free(reads->came);
    free(reads->accesses);
    free(reads->calls);
    free(reads->group_of);
    free(reads->warm);
    free(reads->sectors);
}
