/* Models, call by call. Each call looks at its indices only; model_check() looks at the whole. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "library/handles.h"

/* ---- what is wrong ---- */

int handles_tell(const struct error *from, persik_error *to) {
    _Static_assert(sizeof from->text == sizeof to->text, "one line of the same length");
    if (to)
        memcpy(to->text, from->text, sizeof to->text);
    return -1;
}

/* Remembers the first thing. Always returns PERSIK_NONE, which is -1. */
static int __attribute__((format(printf, 2, 3)))
refuse(persik_model *model, const char *format, ...) {
    if (!model->wrong.text[0]) {
        va_list arguments;
        va_start(arguments, format);
        char *text = memory_vformat(format, arguments);
        va_end(arguments);
        error_set(&model->wrong, "%s", text);
        free(text);
    }
    return PERSIK_NONE;
}

/* The element, or NULL, remembered. */
static struct object *find_object(persik_model *model, const char *call, int object) {
    if (object >= 0 && (size_t)object < model->model->n_objects)
        return &model->model->objects[object];
    refuse(model, "%s: there is no object %d", call, object);
    return NULL;
}

static struct node *find_node(persik_model *model, const char *call, int node) {
    if (node >= 0 && (size_t)node < model->model->n_nodes)
        return &model->model->nodes[node];
    refuse(model, "%s: there is no node %d", call, node);
    return NULL;
}

static struct edge *find_edge(persik_model *model, const char *call, int node, int edge) {
    struct node *from = find_node(model, call, node);
    if (!from)
        return NULL;
    if (edge >= 0 && (size_t)edge < from->n_edges)
        return &from->edges[edge];
    refuse(model, "%s: node %d has no edge %d", call, node, edge);
    return NULL;
}

static bool has_pool(const persik_model *model, int pool) {
    return pool >= 0 && (size_t)pool < model->model->n_pools;
}

/* ---- distributions ---- */

persik_dist persik_constant(double value) {
    return (persik_dist){.kind = DIST_CONSTANT, .from = value};
}

persik_dist persik_exponential(double mean) {
    return (persik_dist){.kind = DIST_EXPONENTIAL, .from = mean};
}

persik_dist persik_uniform(double least, double most) {
    return (persik_dist){.kind = DIST_UNIFORM, .from = least, .to = most};
}

persik_dist persik_values(const double *values, size_t n) {
    return (persik_dist){.kind = DIST_EMPIRICAL, .values = values, .n_values = n};
}

static struct dist copy_values(const double *from, size_t n) {
    if (n == 0)
        return (struct dist){0};
    double *values = memory_alloc(n, sizeof *values);
    memcpy(values, from, n * sizeof *values);
    struct dist dist = dist_from_values(values, n, n);
    free(values);
    return dist;
}

static struct dist copy_uniform(persik_dist from) {
    double *values = memory_alloc(2, sizeof *values);
    values[0] = from.from;
    values[1] = from.to;
    return (struct dist){
        .kind = DIST_UNIFORM, .mean = (from.from + from.to) / 2, .n_values = 2, .values = values};
}

/* Into `to`, which gives up what it had. 0 or -1. */
static int set_dist(persik_model *model, const char *call, struct dist *to, persik_dist from) {
    struct dist dist = {.kind = (enum dist_kind)from.kind, .mean = from.from};
    if (from.kind == DIST_EMPIRICAL)
        dist = copy_values(from.values, from.n_values);
    else if (from.kind == DIST_UNIFORM)
        dist = copy_uniform(from);
    else if (from.kind != DIST_CONSTANT && from.kind != DIST_EXPONENTIAL)
        return refuse(model, "%s: no distribution: make one by persik_constant() ...", call);
    free(to->values);
    *to = dist;
    return 0;
}

/* ---- the model ---- */

persik_model *persik_model_new(int cores) {
    persik_model *model = memory_alloc(1, sizeof *model);
    model->model = memory_alloc(1, sizeof *model->model);
    *model->model = (struct model){
        .version = MODEL_VERSION,
        .program = memory_strdup(""),
        .built = memory_strdup(""),
        .host = memory_strdup(""),
        .build_id = memory_strdup(""),
        .perturbation = NAN,
        .machine = {.cores = cores, .quantum_ns = 4e6, .pull_share = 1},
    };
    return model;
}

persik_model *persik_model_load(const char *path, persik_error *error) {
    /* The reader limits jansson's memory, whose allocator is the whole process's. */
    static pthread_mutex_t one_reader = PTHREAD_MUTEX_INITIALIZER;
    struct error wrong = {0};
    pthread_mutex_lock(&one_reader);
    struct model *loaded = model_load(path, &wrong);
    pthread_mutex_unlock(&one_reader);
    if (!loaded) {
        handles_tell(&wrong, error);
        return NULL;
    }
    persik_model *model = memory_alloc(1, sizeof *model);
    model->model = loaded;
    return model;
}

int persik_check(persik_model *model, persik_error *error) {
    struct error wrong = model->wrong;
    if (!wrong.text[0] && model->model->n_pools == 0)
        error_set(&wrong, "the model has no threads: persik_add_pool() adds some");
    if (wrong.text[0])
        return handles_tell(&wrong, error);
    model_find_pools(model->model);
    return model_check(model->model, &wrong) == 0 ? 0 : handles_tell(&wrong, error);
}

int persik_model_save(persik_model *model, const char *path, persik_error *error) {
    struct error wrong = {0};
    if (persik_check(model, error) != 0)
        return -1;
    return model_save(model->model, path, &wrong) == 0 ? 0 : handles_tell(&wrong, error);
}

void persik_model_free(persik_model *model) {
    if (!model)
        return;
    model_free(model->model);
    free(model);
}

int persik_set_machine(persik_model *model, enum persik_machine what, double value) {
    struct machine *machine = &model->model->machine;
    switch (what) {
    case PERSIK_QUANTUM_NS:
        machine->quantum_ns = value;
        return 0;
    case PERSIK_SWITCH_CPU_NS:
        machine->switch_cpu_ns = value;
        return 0;
    case PERSIK_BLOCK_CPU_NS:
        machine->block_cpu_ns = value;
        return 0;
    case PERSIK_WAKE_CPU_NS:
        machine->wake_cpu_ns = value;
        return 0;
    case PERSIK_WAKE_LATENCY_NS:
        return set_dist(model, "persik_set_machine", &machine->wake_latency_ns,
                        persik_constant(value));
    }
    return refuse(model, "persik_set_machine: no such cost: %d", (int)what);
}

/* ---- objects ---- */

static const enum object_kind object_kinds[] = {
    [PERSIK_MUTEX] = OBJECT_MUTEX,     [PERSIK_RWLOCK] = OBJECT_RWLOCK,
    [PERSIK_SPINLOCK] = OBJECT_SPIN,   [PERSIK_TOKENS] = OBJECT_TOKENS,
    [PERSIK_QUEUE] = OBJECT_QUEUE,     [PERSIK_FLAG] = OBJECT_FLAG,
    [PERSIK_BARRIER] = OBJECT_BARRIER, [PERSIK_DISK] = OBJECT_DISK,
};

static char *name_or(const char *name, const char *kind, size_t number) {
    return name ? memory_strdup(name) : memory_format("%s %zu", kind, number);
}

int persik_add_object(persik_model *model, enum persik_object kind, const char *name,
                      double amount) {
    struct model *inside = model->model;
    if ((size_t)kind >= sizeof object_kinds / sizeof *object_kinds)
        return refuse(model, "persik_add_object: no such kind: %d", (int)kind);
    if (!isfinite(amount) || amount < 0)
        return refuse(model, "persik_add_object: %g is no amount", amount);
    enum object_kind made = object_kinds[kind];
    int index =
        model_add_object(inside, made, name_or(name, object_kind_name(made), inside->n_objects));
    struct object *object = &inside->objects[index];
    object->amount.base = made == OBJECT_DISK ? 0 : amount;
    object->bounded = made == OBJECT_QUEUE && amount > 0;
    object->servers = made == OBJECT_DISK ? amount : 1;
    return index;
}

int persik_set_service(persik_model *model, int disk, persik_dist service_ns) {
    struct object *object = find_object(model, __func__, disk);
    return object ? set_dist(model, __func__, &object->service_ns, service_ns) : PERSIK_NONE;
}

int persik_set_arrivals(persik_model *model, int queue, persik_dist interarrival_ns, double count) {
    struct object *object = find_object(model, __func__, queue);
    if (!object)
        return PERSIK_NONE;
    object->arrivals = count;
    return set_dist(model, __func__, &object->interarrival_ns, interarrival_ns);
}

int persik_set_clients(persik_model *model, int queue, int clients, persik_dist think_ns) {
    struct object *object = find_object(model, __func__, queue);
    if (!object)
        return PERSIK_NONE;
    object->clients = clients;
    return set_dist(model, __func__, &object->think_ns, think_ns);
}

/* ---- pools and nodes ---- */

static int add_node(struct model *model, enum node_kind kind, const char *name) {
    return model_add_node(model, MODEL_NONE, kind,
                          name_or(name, node_kind_name(kind), model->n_nodes));
}

int persik_add_pool(persik_model *model, const char *name, int threads, enum persik_begin begin) {
    struct model *inside = model->model;
    if (threads < 1)
        return refuse(model, "persik_add_pool: %d threads do nothing", threads);
    int entry = add_node(inside, NODE_START, NULL);
    int index = model_add_pool(inside, name_or(name, "pool", inside->n_pools));
    struct pool *pool = &inside->pools[index];
    pool->origin = memory_strdup("");
    pool->rule = memory_strdup("");
    pool->threads.base = threads;
    pool->profiled_threads = threads;
    pool->scales = true;
    pool->at_start = begin == PERSIK_AT_START;
    pool->entry = entry;
    return index;
}

int persik_entry(const persik_model *model, int pool) {
    return has_pool(model, pool) ? model->model->pools[pool].entry : PERSIK_NONE;
}

static const enum node_kind node_kinds[] = {
    [PERSIK_STEP] = NODE_STEP,
    [PERSIK_END] = NODE_END,
    [PERSIK_LOCK] = NODE_LOCK,
    [PERSIK_UNLOCK] = NODE_UNLOCK,
    [PERSIK_READ_LOCK] = NODE_RDLOCK,
    [PERSIK_WRITE_LOCK] = NODE_WRLOCK,
    [PERSIK_RW_UNLOCK] = NODE_RWUNLOCK,
    [PERSIK_ACQUIRE] = NODE_ACQUIRE,
    [PERSIK_RELEASE] = NODE_RELEASE,
    [PERSIK_PUT] = NODE_PUT,
    [PERSIK_GET] = NODE_GET,
    [PERSIK_CLOSE] = NODE_CLOSE,
    [PERSIK_WAIT] = NODE_WAIT,
    [PERSIK_SIGNAL] = NODE_SIGNAL,
    [PERSIK_BARRIER_WAIT] = NODE_BARRIER,
    [PERSIK_CREATE] = NODE_CREATE,
    [PERSIK_JOIN] = NODE_JOIN,
    [PERSIK_SLEEP] = NODE_SLEEP,
    [PERSIK_IO] = NODE_IO,
    [PERSIK_TASK_BEGIN] = NODE_TASK_BEGIN,
    [PERSIK_TASK_END] = NODE_TASK_END,
};

int persik_add_node(persik_model *model, enum persik_node kind, int on, const char *name) {
    if ((size_t)kind >= sizeof node_kinds / sizeof *node_kinds)
        return refuse(model, "persik_add_node: no such kind: %d", (int)kind);
    bool names_pool = kind == PERSIK_CREATE || kind == PERSIK_JOIN;
    if (names_pool && !has_pool(model, on))
        return refuse(model, "persik_add_node: there is no pool %d", on);
    if (!names_pool && on != PERSIK_NONE && !find_object(model, __func__, on))
        return PERSIK_NONE;
    int node = add_node(model->model, node_kinds[kind], name);
    *(names_pool ? &model->model->nodes[node].target_pool : &model->model->nodes[node].object) = on;
    return node;
}

int persik_set_wait(persik_model *model, int node, persik_dist wait_ns) {
    struct node *found = find_node(model, __func__, node);
    return found ? set_dist(model, __func__, &found->wait_ns, wait_ns) : PERSIK_NONE;
}

int persik_set_requests(persik_model *model, int node, persik_dist requests) {
    struct node *found = find_node(model, __func__, node);
    return found ? set_dist(model, __func__, &found->operations, requests) : PERSIK_NONE;
}

int persik_set_count(persik_model *model, int node, double count) {
    struct node *found = find_node(model, __func__, node);
    if (!found)
        return PERSIK_NONE;
    found->count = count;
    return 0;
}

int persik_set_timeout(persik_model *model, int node, double timeout_ns) {
    struct node *found = find_node(model, __func__, node);
    if (!found)
        return PERSIK_NONE;
    found->timeout_ns = timeout_ns;
    return 0;
}

int persik_set_mutex(persik_model *model, int node, int mutex) {
    struct node *found = find_node(model, __func__, node);
    if (!found || !find_object(model, __func__, mutex))
        return PERSIK_NONE;
    found->mutex = mutex;
    return 0;
}

/* ---- edges ---- */

int persik_add_edge(persik_model *model, int from, int to, persik_dist cpu_ns) {
    struct node *node = find_node(model, __func__, from);
    if (!node || !find_node(model, __func__, to))
        return PERSIK_NONE;
    struct dist cpu = {0};
    if (set_dist(model, __func__, &cpu, cpu_ns) != 0)
        return PERSIK_NONE;
    model_add_edge(node, to)->cpu_ns = cpu;
    return (int)node->n_edges - 1;
}

int persik_set_probability(persik_model *model, int from, int edge, double weight) {
    struct edge *found = find_edge(model, __func__, from, edge);
    if (!found)
        return PERSIK_NONE;
    found->probability = weight;
    return 0;
}

int persik_set_outcome(persik_model *model, int from, int edge, enum persik_outcome outcome) {
    struct edge *found = find_edge(model, __func__, from, edge);
    if (!found)
        return PERSIK_NONE;
    if (outcome != PERSIK_ANY && outcome != PERSIK_YES && outcome != PERSIK_NO)
        return refuse(model, "%s: no such outcome: %d", __func__, (int)outcome);
    found->when = outcome == PERSIK_YES  ? OUTCOME_YES
                  : outcome == PERSIK_NO ? OUTCOME_NO
                                         : OUTCOME_ANY;
    return 0;
}

int persik_add_loop(persik_model *model, int head, int body, int after, persik_dist times,
                    int split_among) {
    struct node *node = find_node(model, __func__, head);
    if (!node)
        return PERSIK_NONE;
    if (node->n_edges > 0)
        return refuse(model, "%s: node %d has other edges", __func__, head);
    if (split_among != PERSIK_NONE && !has_pool(model, split_among))
        return refuse(model, "%s: there is no pool %d", __func__, split_among);
    int into = persik_add_edge(model, head, body, persik_constant(0));
    int out = persik_add_edge(model, head, after, persik_constant(0));
    struct edge *rounds = into >= 0 && out >= 0 ? find_edge(model, __func__, head, into) : NULL;
    if (!rounds)
        return PERSIK_NONE;
    rounds->first = 1; /* every thread begins with the rounds */
    if (split_among != PERSIK_NONE)
        rounds->runs_scaling = (struct scaling){.share = 1, .pool = split_among};
    node->edges[out].runs = (struct dist){.kind = DIST_CONSTANT, .mean = 1};
    return set_dist(model, __func__, &rounds->runs, times);
}

/* ---- what is in it ---- */

int persik_pools(const persik_model *model) {
    return (int)model->model->n_pools;
}

int persik_objects(const persik_model *model) {
    return (int)model->model->n_objects;
}

const char *persik_pool_name(const persik_model *model, int pool) {
    return has_pool(model, pool) ? model->model->pools[pool].name : NULL;
}

const char *persik_object_name(const persik_model *model, int object) {
    bool is_there = object >= 0 && (size_t)object < model->model->n_objects;
    return is_there ? model->model->objects[object].name : NULL;
}

int persik_pool_threads(const persik_model *model, int pool) {
    return has_pool(model, pool) ? model->model->pools[pool].profiled_threads : 0;
}

int persik_find_pool(const persik_model *model, const char *name) {
    return model_find_pool(model->model, name);
}

int persik_find_object(const persik_model *model, const char *name) {
    for (size_t o = 0; o < model->model->n_objects; o++)
        if (strcmp(model->model->objects[o].name, name) == 0)
            return (int)o;
    return PERSIK_NONE;
}
