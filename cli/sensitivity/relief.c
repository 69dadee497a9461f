#include "cli/sensitivity/relief.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/variation_graph.h"

static const char *const names[N_LIMITS] = {
    [LIMIT_CORES] = "cores",
    [LIMIT_CORES_AND_THREADS] = "cores, threads",
    [LIMIT_LOCK] = "lock",
    [LIMIT_CAPACITY] = "capacity",
    [LIMIT_PERMITS] = "permits",
    [LIMIT_DISK] = "disk",
    [LIMIT_NETWORK] = "network",
    [LIMIT_THREADS] = "threads",
    [LIMIT_CROWD] = "crowd",
    [LIMIT_ONE_THREAD] = "one thread",
    [LIMIT_UNEVEN_WORK] = "uneven work",
    [LIMIT_SLEEPS] = "sleeps",
    [LIMIT_IO] = "I/O",
};

const char *limit_name(enum limit limit) {
    return names[limit];
}

struct lister {
    const struct model *model;
    const int *pool_threads;
    int cores;
    const struct sim_result *base;
    struct reliefs list;
};

/* Takes `change`. */
static struct relief *add(struct lister *lister, enum limit limit, enum variation_kind kind,
                          int index, const char *subject, char *change) {
    struct relief *relief = VECTOR_ADD(&lister->list);
    *relief = (struct relief){
        .limit = limit,
        .variation = {.kind = kind,
                      .index = index,
                      .subject = memory_strdup(subject),
                      .change = change,
                      .place = variation_place(subject)},
        .in_use = NAN,
    };
    return relief;
}

/* ---- pools ---- */

#define HALF  0.5
#define TWICE 2

static struct relief *add_of_pool(struct lister *lister, enum limit limit, enum variation_kind kind,
                                  int index, char *change) {
    const struct pool *pool = &lister->model->pools[index];
    struct relief *relief = add(lister, limit, kind, index, pool->name, change);
    free(relief->variation.place);
    relief->variation.place = variation_place(pool->origin);
    return relief;
}

static void add_pool_times(struct lister *lister, enum limit limit, enum variation_kind kind,
                           int index) {
    add(lister, limit, kind, index, lister->model->pools[index].name, memory_strdup("half as long"))
        ->variation.factor = HALF;
}

/* Is it known that other numbers of threads do the same work? Where each has its own, that is so of
 * loads without an end only: of them it is asked how much is done. */
static bool can_have_more(const struct pool *pool, const struct sim_result *base) {
    return pool->scales && pool->threads.n_terms == 0 && pool->partition != PARTITION_UNKNOWN &&
           (pool->partition != PARTITION_PERTHREAD || base->regime != REGIME_ENDING);
}

static void add_threads(struct lister *lister, enum limit limit, int index, int step) {
    int threads = lister->pool_threads[index];
    add_of_pool(lister, limit, VARY_THREADS, index,
                memory_format("%d threads, not %d", threads + step, threads))
        ->variation.step = step;
}

static int to_cores(const struct lister *lister, int index) {
    const struct pool *pool = &lister->model->pools[index];
    int fewer = lister->cores > pool->least_threads ? lister->cores : pool->least_threads;
    bool goes_another_way = fewer == 1 && pool->one_thread && *pool->one_thread;
    return goes_another_way ? 0 : fewer - lister->pool_threads[index];
}

static void list_threads(struct lister *lister, int index) {
    const struct pool *pool = &lister->model->pools[index];
    int threads = lister->pool_threads[index];
    if (!can_have_more(pool, lister->base))
        return;
    if (pool->most_threads == 0 || threads < pool->most_threads)
        add_threads(lister, LIMIT_THREADS, index, 1);
    if (to_cores(lister, index) < 0)
        add_threads(lister, LIMIT_CROWD, index, to_cores(lister, index));
}

/* Of its life. */
static double computing_share(const struct lister *lister, int index) {
    const struct sim_pool_result *pool = &lister->base->pools[index];
    double life = pool->cpu_ns.mean + pool->ready_ns.mean + pool->blocked_ns.mean;
    return life > 0 ? pool->cpu_ns.mean / life : NAN;
}

static void list_pool(struct lister *lister, int index) {
    const struct model *model = lister->model;
    bool is_one = lister->pool_threads[index] == 1;
    list_threads(lister, index);
    if (variation_graph_has_cpu(model, index) && is_one &&
        !can_have_more(&model->pools[index], lister->base)) {
        add_pool_times(lister, LIMIT_ONE_THREAD, VARY_POOL_CPU, index);
        lister->list.items[lister->list.count - 1].in_use = computing_share(lister, index);
    }
    if (!is_one)
        add_of_pool(lister, LIMIT_UNEVEN_WORK, VARY_EVEN, index, memory_strdup("all alike"));
    if (variation_graph_has_waits(model, index, NODE_SLEEP))
        add_pool_times(lister, LIMIT_SLEEPS, VARY_POOL_SLEEPS, index);
    if (variation_graph_has_waits(model, index, NODE_IO))
        add_pool_times(lister, LIMIT_IO, VARY_POOL_IO, index);
}

/* ---- objects ---- */

static bool is_lock(const struct object *object) {
    return object->kind == OBJECT_MUTEX || object->kind == OBJECT_RWLOCK ||
           object->kind == OBJECT_SPIN;
}

/* Tokens stand for much: work to be shared out, of which there must be an end, and events that must
 * be waited for. Permits and room are there at the start, and whoever finds none waits. */
static bool is_limit(const struct lister *lister, int index) {
    const struct model *model = lister->model;
    const struct object *object = &model->objects[index];
    if (object->kind == OBJECT_QUEUE)
        return object->bounded;
    if (object->kind != OBJECT_TOKENS || linear_value(&object->amount, lister->pool_threads) < 1 ||
        linear_value(&object->refilled_after, lister->pool_threads) > 0)
        return false;
    bool is_given_back = false;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->object != index)
            continue;
        if (node->kind == NODE_CLOSE || (node->kind == NODE_ACQUIRE && node->timeout_ns >= 0))
            return false;
        is_given_back |= node->kind == NODE_RELEASE;
    }
    return is_given_back;
}

/* Tokens by which a hand-made queue counts its room are its capacity. */
static enum limit limit_of(const struct model *model, int index) {
    if (model->objects[index].kind == OBJECT_QUEUE)
        return LIMIT_CAPACITY;
    for (size_t m = 0; m < model->n_monitors; m++)
        for (size_t i = 0; i < model->monitors[m].n_made_of; i++)
            if (model->monitors[m].made_of[i].object == index &&
                model->monitors[m].kind == HAND_MADE_BOUNDED_QUEUE)
                return LIMIT_CAPACITY;
    return LIMIT_PERMITS;
}

static void list_object(struct lister *lister, int index) {
    const struct object *object = &lister->model->objects[index];
    const struct sim_object_result *result = &lister->base->objects[index];
    bool waited_for = result->waits.mean > 0;
    if (is_lock(object) && waited_for)
        add(lister, LIMIT_LOCK, VARY_UNLOCKED, index, object->name, memory_strdup("nobody waits"))
            ->in_use = result->utilisation.mean;
    if (object->kind == OBJECT_DISK && result->operations.mean > 0) {
        struct relief *relief = add(lister, LIMIT_DISK, VARY_SERVICE, index, object->name,
                                    memory_strdup("half as long"));
        relief->variation.factor = HALF;
        relief->in_use = result->utilisation.mean;
    }
    if (object->kind == OBJECT_LINK && object->bytes_per_s > 0 && result->operations.mean > 0) {
        struct relief *relief = add(lister, LIMIT_NETWORK, VARY_BANDWIDTH, index, object->name,
                                    memory_strdup("twice the bandwidth"));
        relief->variation.factor = TWICE;
        relief->in_use = result->utilisation.mean;
    }
    if (waited_for && is_limit(lister, index)) {
        struct relief *relief = add(lister, limit_of(lister->model, index), VARY_UNLIMITED, index,
                                    object->name, memory_strdup("unlimited"));
        if (object->kind == OBJECT_TOKENS) /* none is left */
            relief->in_use = result->utilisation.mean;
    }
}

/* ---- all ---- */

struct reliefs reliefs_of(const struct model *model, const int *pool_threads, int cores,
                          const struct sim_result *base) {
    struct lister lister = {model, pool_threads, cores, base, {0}};
    struct relief *more = add(&lister, LIMIT_CORES, VARY_CORES, MODEL_NONE, "cores",
                              memory_format("%d cores, not %d", cores + 1, cores));
    more->variation.step = 1;
    more->in_use = base->cpu_utilisation.mean;
    for (size_t o = 0; o < model->n_objects; o++)
        list_object(&lister, (int)o);
    for (size_t p = 0; p < model->n_pools; p++)
        list_pool(&lister, (int)p);
    return lister.list;
}

const struct relief *reliefs_add_both(struct reliefs *reliefs, const struct model *model, int cores,
                                      const struct sim_result *base) {
    bool any = false;
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        if (pool->scales && pool->threads.n_terms == 0 && !can_have_more(pool, base))
            return NULL;
        any |= can_have_more(pool, base);
    }
    if (!any)
        return NULL;
    struct lister lister = {.model = model, .cores = cores, .base = base, .list = *reliefs};
    struct relief *both = add(&lister, LIMIT_CORES_AND_THREADS, VARY_CORES_AND_THREADS, MODEL_NONE,
                              "cores and threads", memory_strdup("one more of each"));
    both->variation.step = 1;
    both->in_use = base->cpu_utilisation.mean;
    *reliefs = lister.list;
    return both;
}

void reliefs_free(struct reliefs *reliefs) {
    for (size_t i = 0; i < reliefs->count; i++)
        variation_free(&reliefs->items[i].variation);
    free(reliefs->items);
    *reliefs = (struct reliefs){0};
}
