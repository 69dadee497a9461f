#include "cli/prediction/page_cache_resize.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/text/quantity.h"
#include "formats/cached_reads.h"
#include "model/page_cache.h"

struct numbers {
    double *items;
    size_t count, capacity;
};

/* What comes in during each call. */
struct replayed {
    struct cache_misses misses;
    size_t *first; /* of each call: the first of its misses; n_calls + 1 of them */
};

static struct replayed replay(const struct cached_reads *made, enum cache_rule rule,
                              double size_bytes) {
    struct replayed found = {page_cache_replay(&made->reads, rule, size_bytes),
                             memory_alloc(made->n_calls + 1, sizeof *found.first)};
    size_t m = 0;
    for (size_t c = 0; c < made->n_calls; c++) {
        found.first[c] = m;
        while (m < found.misses.count && found.misses.items[m].access < made->calls[c + 1])
            m++;
    }
    found.first[made->n_calls] = m;
    return found;
}

static void free_replayed(struct replayed *found) {
    free(found->misses.items);
    free(found->first);
}

/* ---- what the model does not have ---- */

struct came {
    double all, outside; /* pages; of calls that no node with a disk makes */
};

static struct came count_came(const struct model *model, const struct cached_reads *made,
                              const struct replayed *found) {
    struct came came = {0, 0};
    bool *is_made = memory_alloc(made->n_calls, sizeof *is_made);
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t i = 0; i < model->nodes[n].n_reads; i++)
            if (model->nodes[n].reads[i] >= 0)
                is_made[(size_t)model->nodes[n].reads[i]] = true;
    for (size_t c = 0; c < made->n_calls; c++)
        for (size_t m = found->first[c]; m < found->first[c + 1]; m++) {
            came.all += found->misses.items[m].count;
            came.outside += is_made[c] ? 0 : found->misses.items[m].count;
        }
    free(is_made);
    return came;
}

static int check_outside(struct came before, struct came now, struct error *error) {
    double more = now.outside - before.outside;
    if (more <= judgement.unserved_pages * now.all)
        return 0;
    return error_set(error,
                     "--page-cache: %.0f %% of what would come from a disk is read by calls that "
                     "did not wait for one in the recorded run: what these would wait is not "
                     "known: record with a smaller page cache",
                     100 * more / now.all);
}

static void tell(const struct page_cache *cache, double size_bytes, struct came before,
                 struct came now, struct changed_parts *parts) {
    char from[QUANTITY_BYTES], to[QUANTITY_BYTES], less[QUANTITY_BYTES], more[QUANTITY_BYTES];
    bool held_all = cache->size_bytes == 0;
    quantity_show(held_all ? cache->read_bytes : cache->size_bytes, UNIT_BYTES, from);
    quantity_show(size_bytes, UNIT_BYTES, to);
    quantity_show(before.all * PAGE_CACHE_PAGE_BYTES, UNIT_BYTES, less);
    quantity_show(now.all * PAGE_CACHE_PAGE_BYTES, UNIT_BYTES, more);
    changed_parts_add(parts, "page cache",
                      held_all
                          ? memory_format("from one that held all that was read, %s, to %s: what "
                                          "comes from disks, from %s to %s",
                                          from, to, less, more)
                          : memory_format("%s to %s: what comes from disks, from %s to %s (%.0f %% "
                                          "of the recorded reads of pages read before found them, "
                                          "or not, as one of %s has it)",
                                          from, to, less, more, 100 * cache->agreement, from));
}

/* ---- what the calls ask for ---- */

/* Is it a request for pages that the call reads, and so one that the replay decides? */
static bool is_replayed(const struct cached_reads *made, size_t call, double sector) {
    for (size_t a = made->calls[call]; a < made->calls[call + 1]; a++) {
        const struct cache_access *access = &made->reads.accesses[a];
        for (int k = 0; k < access->count; k++) {
            double at = made->sectors[access->first + k];
            if (at >= 0 && sector >= at && sector < at + PAGE_SECTORS)
                return true;
        }
    }
    return false;
}

static void add_request(struct numbers *calls, const double request[3], size_t *n) {
    for (int i = 0; i < 3; i++)
        *VECTOR_ADD(calls) = request[i];
    ++*n;
}

/* `recorded` points to the number of requests of the call, which these follow. Those that go on
 * where the one before ended, or are of the same access, are there with it. */
static void write_call(const struct cached_reads *made, const struct replayed *found, int call,
                       const double *recorded, struct numbers *calls) {
    size_t at = calls->count, n = 0;
    *VECTOR_ADD(calls) = 0;
    for (size_t r = 0; r < (size_t)recorded[0]; r++)
        if (call < 0 || !is_replayed(made, (size_t)call, recorded[1 + 3 * r]))
            add_request(calls, &recorded[1 + 3 * r], &n);
    for (size_t m = call < 0 ? 0 : found->first[call]; call >= 0 && m < found->first[call + 1];
         m++) {
        const struct cache_miss *miss = &found->misses.items[m];
        double sector = made->sectors[miss->first];
        bool with_previous = m > found->first[call] && miss[-1].access == miss->access;
        if (sector >= 0)
            add_request(calls, (double[]){sector, PAGE_SECTORS * miss->count, with_previous}, &n);
    }
    calls->items[at] = (double)n;
}

static void rewrite_node(struct node *node, const struct cached_reads *made,
                         const struct replayed *found) {
    struct numbers calls = {0};
    size_t i = 0;
    for (size_t c = 0; c < node->n_reads; c++) {
        write_call(made, found, (int)node->reads[c], &node->calls[i], &calls);
        i += 1 + 3 * (size_t)node->calls[i];
    }
    free(node->calls);
    node->calls = calls.items;
    node->n_calls = calls.count;
}

/* Of the recorded run's cache. */
static double own_size(const struct page_cache *cache) {
    return cache->size_bytes > 0 ? cache->size_bytes : INFINITY;
}

static void rewrite_nodes(struct model *model, const struct cached_reads *made,
                          const struct replayed *found) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].n_reads > 0)
            rewrite_node(&model->nodes[n], made, found);
}

int page_cache_refill(struct model *model, struct error *error) {
    const struct page_cache *cache = &model->page_cache;
    if (cache->unknown)
        return error_set(error, "--file-mix: %s", cache->unknown);
    struct cached_reads made = cached_reads_make(cache);
    struct replayed found = replay(&made, cache->rule, own_size(cache));
    rewrite_nodes(model, &made, &found);
    free_replayed(&found);
    cached_reads_free(&made);
    return 0;
}

int page_cache_resize(struct model *model, double size_bytes, struct changed_parts *parts,
                      struct error *error) {
    const struct page_cache *cache = &model->page_cache;
    if (cache->unknown)
        return error_set(error, "--page-cache: %s", cache->unknown);
    if (cache->n_calls == 0)
        return error_set(
            error, "--page-cache: the recording does not tell what was read of it, or what a disk "
                   "takes for it: record again as root, on Linux 6.13 or later, and where not all "
                   "is in memory");
    struct cached_reads made = cached_reads_make(cache);
    struct replayed recorded = replay(&made, cache->rule, own_size(cache));
    struct replayed found = replay(&made, cache->rule, size_bytes);
    struct came before = count_came(model, &made, &recorded),
                now = count_came(model, &made, &found);
    int status = check_outside(before, now, error);
    if (status == 0) {
        rewrite_nodes(model, &made, &found);
        tell(cache, size_bytes, before, now, parts);
    }
    free_replayed(&recorded);
    free_replayed(&found);
    cached_reads_free(&made);
    return status;
}
