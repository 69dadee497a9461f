#include "cli/difference/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report/tally.h"

static int by_name(const void *left, const void *right) {
    return strcmp(((const struct cost *)left)->name, ((const struct cost *)right)->name);
}

/* One of each name, in their order. */
static void merge(struct costs *costs) {
    size_t kept = 0;
    VECTOR_SORT(costs, by_name);
    for (size_t i = 0; i < costs->count; i++) {
        struct cost *last = kept > 0 ? &costs->items[kept - 1] : NULL;
        if (last && strcmp(last->name, costs->items[i].name) == 0) {
            last->ns += costs->items[i].ns;
            last->count += costs->items[i].count;
            free(costs->items[i].name);
        } else {
            costs->items[kept++] = costs->items[i];
        }
    }
    costs->count = kept;
}

struct costs costs_of_functions(const struct sample *sample) {
    struct costs costs = {0};
    double period_ns = 1e9 / sample->rate_hz;
    for (size_t i = 0; i < sample->n_nodes; i++) {
        const struct sample_node *node = &sample->nodes[i];
        if (node->running > 0)
            *VECTOR_ADD(&costs) = (struct cost){.name = memory_strdup(node->function),
                                                .ns = (double)node->running * period_ns,
                                                .count = (double)node->running};
    }
    merge(&costs);
    for (size_t i = 0; i < costs.count; i++)
        costs.items[i].error_ns = sqrt(costs.items[i].count) * period_ns;
    return costs;
}

static char *name_of_call(const struct trace *trace, const struct tally_row *row) {
    const char *caller = NULL;
    if (row->context != TRACE_NO_CONTEXT && trace->contexts[row->context].n_frames > 0)
        caller = trace->contexts[row->context].frames[0].function;
    return memory_format("%s: %s", caller ? caller : "?", api_catalog[row->api].name);
}

struct costs costs_of_calls(const struct trace *trace) {
    struct costs costs = {0};
    struct tally sites = tally_sites(trace);
    for (size_t i = 0; i < sites.count; i++)
        *VECTOR_ADD(&costs) = (struct cost){.name = name_of_call(trace, &sites.items[i]),
                                            .ns = (double)sites.items[i].wait_ns,
                                            .count = (double)sites.items[i].operations};
    free(sites.items);
    merge(&costs);
    return costs;
}

void costs_free(struct costs *costs) {
    for (size_t i = 0; i < costs->count; i++)
        free(costs->items[i].name);
    free(costs->items);
    *costs = (struct costs){0};
}

/* ---- pairs ---- */

/* One of them may be NULL. */
static void add_pair(struct cost_pairs *pairs, const char *name, const struct cost *before,
                     const struct cost *after) {
    double errors[] = {before ? before->error_ns : 0, after ? after->error_ns : 0};
    *VECTOR_ADD(pairs) = (struct cost_pair){
        .name = name,
        .before = before,
        .after = after,
        .change_ns = (after ? after->ns : 0) - (before ? before->ns : 0),
        .error_ns = hypot(errors[0], errors[1]),
    };
}

static int by_change(const void *left, const void *right) {
    const struct cost_pair *a = left, *b = right;
    double sizes[] = {fabs(a->change_ns), fabs(b->change_ns)};
    if (sizes[0] < sizes[1] || sizes[0] > sizes[1])
        return sizes[0] < sizes[1] ? 1 : -1;
    return strcmp(a->name, b->name);
}

struct cost_pairs costs_pair(const struct costs *before, const struct costs *after) {
    struct cost_pairs pairs = {0};
    const struct cost *b = before->items, *a = after->items;
    const struct cost *b_end = b + before->count, *a_end = a + after->count;
    while (b < b_end || a < a_end) {
        int order = b == b_end ? 1 : a == a_end ? -1 : strcmp(b->name, a->name);
        if (order <= 0)
            add_pair(&pairs, b->name, b, order == 0 ? a : NULL);
        else
            add_pair(&pairs, a->name, NULL, a);
        b += order <= 0;
        a += order >= 0;
    }
    VECTOR_SORT(&pairs, by_change);
    return pairs;
}
