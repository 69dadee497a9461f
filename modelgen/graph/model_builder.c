#include "modelgen/graph/model_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"

static char *origin_of(const struct trace *trace, const struct thread_pool *pool) {
    if (pool->creation_context == TRACE_NO_CONTEXT)
        return memory_strdup("the program's first thread");
    const struct trace_context *calls = &trace->contexts[pool->creation_context];
    if (calls->n_frames == 0)
        return memory_strdup("?");
    const struct trace_frame *frame = &calls->frames[0];
    const struct trace_frame *caller = calls->n_frames > 1 ? &calls->frames[1] : frame;
    return memory_format("created in %s (%s:%d), called from %s%s", frame->function,
                         frame->file ? frame->file : frame->module, frame->line, caller->function,
                         pool->with_creator && !pool->team ? "; one of them is the creator itself"
                                                           : "");
}

/* Where its first thread was made. */
static char *place_of(const struct trace *trace, const struct thread_pool *pool) {
    const struct trace_frame *frame = &trace->contexts[pool->creation_context].frames[0];
    return memory_format("%s (%s:%d)", frame->function,
                         frame->file ? path_name(frame->file) : frame->module, frame->line);
}

void model_builder_pools(const struct trace *trace, const struct thread_pools *pools,
                         const double *cpu_ns, struct model *model) {
    for (size_t p = 0; p < pools->n_pools; p++) {
        const struct thread_pool *from = &pools->pools[p];
        int index = model_add_pool(model, memory_strdup(from->name));
        struct pool *pool = &model->pools[index];
        pool->origin = origin_of(trace, from);
        pool->threads = model_builder_constant(from->size);
        pool->profiled_threads = from->size;
        for (size_t i = 0; i < from->n_threads; i++)
            pool->profiled_cpu_ns += cpu_ns[from->threads[i]];
        pool->scales = from->scales;
        bool is_plain = from->factor == 1 && from->offset == 0;
        pool->asked_factor = is_plain ? 0 : from->factor;
        pool->asked_offset = from->offset;
        pool->most_threads = from->most;
        pool->least_threads = from->least;
        pool->at_start = from->creator < 0;
        if (from->scales && from->uncounted)
            pool->uncounted = memory_strdup(from->uncounted);
        if (from->scales && from->capped)
            pool->capped = memory_strdup(from->capped);
        pool->with_creator = from->with_creator && !from->team;
        pool->per_task = from->per_task;
        pool->kept = from->team;
        pool->tree = from->in_tree ? place_of(trace, from) : NULL;
        pool->awake = from->team && from->team->spins;
        pool->sleep_cpu_ns = from->team ? from->team->sleep_cpu_ns : 0;
    }
}

static double *copy_numbers(const double *numbers, size_t n) {
    double *copy = n ? memory_alloc(n, sizeof *copy) : NULL;
    if (n)
        memcpy(copy, numbers, n * sizeof *copy);
    return copy;
}

static struct dist copy_dist(const struct dist *dist) {
    struct dist copy = *dist;
    copy.values = copy_numbers(dist->values, dist->n_values);
    return copy;
}

bool model_builder_copy_edges(const struct node *from, enum outcome when, struct node *to) {
    bool found = false;
    for (size_t e = 0; e < from->n_edges; e++) {
        if (from->edges[e].when != when || from->edges[e].leaves)
            continue;
        struct edge copy = from->edges[e];
        copy.cpu_ns = copy_dist(&copy.cpu_ns);
        copy.runs = copy_dist(&copy.runs);
        copy.cpu_by_place = copy_numbers(copy.cpu_by_place, copy.n_cpu_by_place);
        *model_add_edge(to, copy.to) = copy;
        found = true;
    }
    return found;
}

bool model_builder_is_closed(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_CLOSE && model->nodes[n].object == object)
            return true;
    return false;
}

void model_builder_remove_unreachable(struct model *model) {
    bool *reachable = memory_alloc(model->n_nodes, sizeof *reachable);
    int *number = memory_alloc(model->n_nodes, sizeof *number);
    for (size_t p = 0; p < model->n_pools; p++) {
        reachable[model->pools[p].entry] = true;
        model_mark_reached(model, model->pools[p].entry, NULL, reachable);
    }
    size_t kept = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        number[n] = (int)kept;
        if (reachable[n])
            model->nodes[kept++] = model->nodes[n];
        else
            model_free_node(&model->nodes[n]);
    }
    model->n_nodes = kept;
    for (size_t n = 0; n < kept; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            model->nodes[n].edges[e].to = number[model->nodes[n].edges[e].to];
    for (size_t p = 0; p < model->n_pools; p++)
        model->pools[p].entry = number[model->pools[p].entry];
    free(reachable);
    free(number);
}

struct linear model_builder_constant(double value) {
    return (struct linear){.base = value};
}

struct linear model_builder_asked(const struct thread_pools *pools, size_t p, double offset,
                                  double factor) {
    const struct thread_pool *pool = &pools->pools[p];
    double each = factor / pool->factor;
    return model_builder_per_thread(offset - each * pool->offset, (int)p, each);
}

struct linear model_builder_said(const struct facts_amount *amount,
                                 const struct thread_pools *pools) {
    for (size_t p = 0; amount->follows_threads && p < pools->n_pools; p++)
        if (thread_pools_follows(pools, p))
            return model_builder_asked(pools, p, amount->offset, amount->factor);
    return amount->constant ? model_builder_constant(amount->offset) : LINEAR_UNKNOWN;
}

struct linear model_builder_per_thread(double base, int pool, double factor) {
    struct linear amount = {.base = base};
    model_builder_add_per_thread(&amount, pool, factor);
    return amount;
}

void model_builder_add_per_thread(struct linear *amount, int pool, double factor) {
    amount->terms = memory_resize(amount->terms, amount->n_terms + 1, sizeof *amount->terms);
    amount->terms[amount->n_terms++] = (struct linear_term){pool, factor};
}

/* ---- shares of what a pool's threads do together ---- */

void model_builder_make_share(struct scaling *scaling, int pool, double less) {
    scaling->share = 1;
    scaling->growth = 0;
    scaling->less = less;
    scaling->pool = pool;
}

void model_builder_make_own(struct scaling *scaling) {
    scaling->share = scaling->growth = scaling->less = 0;
    if (scaling->rest == REST_NONE)
        scaling->pool = MODEL_NONE;
}

void model_builder_make_no_share(struct scaling *scaling) {
    scaling->share = 0;
    if (scaling->growth == 0)
        model_builder_make_own(scaling);
}

void model_builder_even_out(struct dist *stays, const struct scaling *scaling, int threads) {
    free(stays->values);
    *stays = (struct dist){.kind = DIST_CONSTANT, .mean = scaling->total / threads - scaling->less};
}
