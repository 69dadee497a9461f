#include "modelgen/graph/positional_cost.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

/* What the threads of one place need for the edge. */
struct part {
    double sum, squares, count;
};

/* Per pass the number of its thread among those that live at one time; NULL: not all have one. The
 * caller frees. */
static size_t *numbers_of(const struct loop_passes *passes, const struct thread_pool *pool) {
    size_t n_positions, *position = loop_passes_positions(pool, &n_positions);
    size_t *numbers = memory_alloc(passes->count + 1, sizeof *numbers);
    bool known = pool->n_threads % (size_t)pool->size == 0;
    for (size_t i = 0; i < passes->count && known; i++) {
        size_t thread = passes->items[i].thread;
        known = thread < n_positions && position[thread] > 0;
        numbers[i] = known ? (position[thread] - 1) % (size_t)pool->size : 0;
    }
    free(position);
    if (known)
        return numbers;
    free(numbers);
    return NULL;
}

static double mean_of(const struct part *part) {
    return part->sum / part->count;
}

/* Do the means differ, by more than the threads may owe to the cores they were on? */
static bool are_spread(const struct part *parts, size_t n) {
    double least = INFINITY, most = 0, sum = 0;
    for (size_t k = 0; k < n; k++) {
        double mean = parts[k].count > 0 ? mean_of(&parts[k]) : NAN;
        least = fmin(least, mean);
        most = fmax(most, mean);
        sum += mean;
    }
    return sum > 0 &&
           most - least >= evidence.position_spread * sum / (double)n; /* not if one is unknown */
}

/* ... and by more than chance would have it, by an analysis of variance? With one value of each
 * thread, there is nothing to tell chance by, and it must be what they are there for. `pool_ns`:
 * what the whole pool computed. */
static bool is_no_chance(const struct part *parts, size_t n, double pool_ns) {
    double sum = 0, count = 0, between = 0, within = 0;
    for (size_t k = 0; k < n; k++) {
        sum += parts[k].sum;
        count += parts[k].count;
    }
    if (count == (double)n)
        return sum > evidence.majority * pool_ns;
    for (size_t k = 0; k < n; k++) {
        double mean = mean_of(&parts[k]), deviation = mean - sum / count;
        between += parts[k].count * deviation * deviation;
        within += fmax(parts[k].squares - parts[k].count * mean * mean, 0);
    }
    double groups = (double)n - 1, rest = count - (double)n;
    double ratio = between / groups / (within / rest);
    return sum > evidence.matters * pool_ns &&
           (within == 0 || gsl_cdf_fdist_Q(ratio, groups, rest) < evidence.chance);
}

void positional_cost_find(const struct peg_builder *builder, struct peg_edge *draft,
                          struct edge *edge) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    size_t n = (size_t)pool->size, *numbers = numbers_of(&draft->passes, pool);
    if (!numbers)
        return;
    struct part *parts = memory_alloc(n, sizeof *parts);
    for (size_t i = 0; i < draft->cpu_ns.count; i++) {
        double value = draft->cpu_ns.items[i];
        struct part *part = &parts[numbers[i]];
        part->sum += value;
        part->squares += value * value;
        part->count++;
    }
    if (n > 1 && are_spread(parts, n) && is_no_chance(parts, n, pool->cpu_ns)) {
        double mean = 0;
        for (size_t k = 0; k < n; k++)
            mean += mean_of(&parts[k]) / (double)n;
        edge->n_cpu_by_place = n;
        edge->cpu_by_place = memory_alloc(n, sizeof *edge->cpu_by_place);
        for (size_t k = 0; k < n; k++)
            edge->cpu_by_place[k] = mean_of(&parts[k]) / mean;
        for (size_t i = 0; i < draft->cpu_ns.count; i++) {
            double *value = &draft->cpu_ns.items[i], part = edge->cpu_by_place[numbers[i]];
            *value = part > 0 ? *value / part : mean;
        }
    }
    free(parts);
    free(numbers);
}

/* Of the pool's edges by place, the one with the most computation; NULL: none. */
static const struct edge *heaviest(const struct peg_builder *builder, int pool) {
    const struct edge *found = NULL;
    double most_ns = 0;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *draft = &builder->edges.items[e];
        const struct node *node = &builder->model->nodes[draft->from];
        for (size_t i = 0; i < node->n_edges; i++) {
            const struct edge *edge = &node->edges[i];
            double all_ns = dist_mean(&edge->cpu_ns) * (double)draft->passes.count;
            if (builder->nodes.items[draft->from].pool == pool && edge->to == draft->to &&
                edge->when == draft->when && edge->n_cpu_by_place > 0 && all_ns > most_ns) {
                found = edge;
                most_ns = all_ns;
            }
        }
    }
    return found;
}

void positional_cost_note(const struct peg_builder *builder) {
    for (size_t p = 0; p < builder->in->pools->n_pools; p++) {
        const struct edge *edge = heaviest(builder, (int)p);
        if (!edge)
            continue;
        double least = INFINITY, most = 0;
        for (size_t k = 0; k < edge->n_cpu_by_place; k++) {
            least = fmin(least, edge->cpu_by_place[k]);
            most = fmax(most, edge->cpu_by_place[k]);
        }
        notes_add(builder->model,
                  "%s: by their place in what is split, its threads had %.2f to %.2f times the "
                  "mean to compute; for other numbers of threads that is read off between them",
                  builder->model->pools[p].name, least, most);
    }
}
