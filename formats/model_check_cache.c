/* What a model says of the page cache. */
#include <math.h>

#include "formats/model_check.h"

/* 256 GB: what a replay has of each must fit into memory, too. */
#define MOST_PAGES 0x1p26

static bool is_whole(double value, double least, double most) {
    return value >= least && value <= most && value == floor(value);
}

static int check_groups(const struct page_cache *cache, const struct place *place, double *pages,
                        struct error *error) {
    if (cache->n_groups % 3 != 0)
        return model_violation(place, error, "of each group three numbers");
    for (size_t i = 0; i < cache->n_groups; i += 3) {
        const double *group = &cache->groups[i];
        if (!is_whole(group[0], 1, MOST_PAGES) || !is_whole(group[1], 0, 1) ||
            !(group[2] >= -1 && isfinite(group[2])))
            return model_violation(PLACE_INDEX(place, i), error, "no group of pages");
        *pages += group[0];
    }
    return *pages <= MOST_PAGES ? 0 : model_violation(place, error, "more pages than fit anywhere");
}

static int check_accesses(const struct page_cache *cache, const struct place *place, double pages,
                          double *calls, struct error *error) {
    for (size_t i = 0; i < cache->n_calls;) {
        double n = cache->calls[i++];
        if (!is_whole(n, 0, floor((double)(cache->n_calls - i) / 3)))
            return model_violation(PLACE_INDEX(place, i - 1), error, "%g is no number of accesses",
                                   n);
        for (size_t a = 0; a < (size_t)n; a++, i += 3)
            if (!is_whole(cache->calls[i], 0, pages - 1) ||
                !is_whole(cache->calls[i + 1], 1, pages - cache->calls[i]) ||
                !is_whole(cache->calls[i + 2], 0, 1))
                return model_violation(PLACE_INDEX(place, i), error, "no pages that there are");
        ++*calls;
    }
    return 0;
}

/* One for each of the node's calls. */
static int check_node_reads(const struct node *node, const struct place *place, double calls,
                            struct error *error) {
    size_t n = 0;
    for (size_t i = 0; i < node->n_calls; i += 1 + 3 * (size_t)node->calls[i])
        n++;
    if (node->n_reads > 0 && node->n_reads != n)
        return model_violation(place, error, "not one for each of the %zu calls", n);
    for (size_t i = 0; i < node->n_reads; i++)
        if (!is_whole(node->reads[i], -1, calls - 1))
            return model_violation(PLACE_INDEX(place, i), error, "no call of the page cache's");
    return 0;
}

int model_check_page_cache(const struct model *model, struct error *error) {
    const struct page_cache *cache = &model->page_cache;
    const struct place *place = PLACE_KEY(NULL, "page_cache");
    double pages = 0, calls = 0;
    if (model_check_amount(cache->size_bytes, "size_bytes", place, error) ||
        model_check_amount(cache->read_bytes, "read_bytes", place, error) ||
        model_check_amount(cache->agreement, "agreement", place, error) ||
        check_groups(cache, PLACE_KEY(place, "groups"), &pages, error) ||
        check_accesses(cache, PLACE_KEY(place, "calls"), pages, &calls, error))
        return -1;
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct place *node = PLACE_INDEX(PLACE_KEY(NULL, "nodes"), i);
        if (check_node_reads(&model->nodes[i], PLACE_KEY(node, "reads"), calls, error))
            return -1;
    }
    return 0;
}
