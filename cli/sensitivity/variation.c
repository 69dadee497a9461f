/* Which variations there are, and their words; variation_apply.c makes them. */
#include "cli/sensitivity/variation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/prediction/variation_graph.h"

/* Costs of scheduling and caches were measured from outside: twice as much is as far as they may be
 * wrong. */
#define COSTS 2

/* ---- words ---- */

/* Where the name of the function before `end` begins. */
static const char *word_before(const char *text, const char *end) {
    while (end > text && !isspace((unsigned char)end[-1]) && end[-1] != ',')
        end--;
    return end;
}

/* Does "(FILE:LINE)" or "(line LINE)" begin here? Then its length. */
static size_t place_length(const char *text) {
    size_t length = *text == '(' ? strcspn(text, ")") : 0;
    if (length < 2 || text[length] != ')' || !isdigit((unsigned char)text[length - 1]))
        return 0;
    size_t digits = length;
    while (isdigit((unsigned char)text[digits - 1]))
        digits--;
    return text[digits - 1] == ':' || strncmp(text, "(line ", 6) == 0 ? length + 1 : 0;
}

char *variation_place(const char *text) {
    for (const char *at = text; at && *at; at++) {
        size_t length = place_length(at);
        if (!length)
            continue;
        const char *end = at > text && at[-1] == ' ' ? at - 1 : at;
        const char *function = word_before(text, end);
        const char *file = at + 1;
        for (const char *c = at; c < at + length; c++)
            file = *c == '/' ? c + 1 : file;
        return memory_format("%.*s%s(%.*s", (int)(end - function), function,
                             end > function ? " " : "", (int)(at + length - file), file);
    }
    return memory_strdup("");
}

/* "+10 %" */
static char *percent(double factor) {
    return memory_format("%+.3g %%", 100 * (factor - 1));
}

static char *known_of_rule(const struct pool *pool) {
    if (pool->partition == PARTITION_NONE)
        return memory_strdup("as recorded");
    if (pool->partition == PARTITION_UNKNOWN)
        return memory_strdup("rule unknown");
    if (pool->confidence > 0)
        return memory_format("rule %s, %.0f %%", partition_names[pool->partition],
                             100 * pool->confidence);
    return memory_format("rule %s", partition_names[pool->partition]);
}

/* The hand-made object that this one is a part of; NULL: the program's own calls say what it is. */
static const struct hand_made *monitor_of(const struct model *model, int object) {
    for (size_t m = 0; m < model->n_monitors; m++)
        for (size_t i = 0; i < model->monitors[m].n_made_of; i++)
            if (model->monitors[m].made_of[i].object == object)
                return &model->monitors[m];
    return NULL;
}

/* A flag stands for a condition whose predicate nobody knows. */
static bool is_alike(const struct model *model, int object) {
    const struct hand_made *monitor = monitor_of(model, object);
    return monitor ? monitor->how == MODELLED_BY_FALLBACK
                   : model->objects[object].kind == OBJECT_FLAG;
}

static char *known_of_object(const struct model *model, int object) {
    const struct hand_made *monitor = monitor_of(model, object);
    const char *how = is_alike(model, object) ? "alike" : "exact";
    return monitor ? memory_format("%s, %.0f %%", how, 100 * monitor->confidence)
                   : memory_strdup(how);
}

/* ---- the list ---- */

struct lister {
    const struct model *model;
    const int *pool_threads;
    const struct sim_result *base;
    double share;
    struct variations list;
};

/* Takes `change`. */
static struct variation *add(struct lister *lister, enum variation_kind kind, int index,
                             const char *subject, char *change) {
    struct variation *variation = VECTOR_ADD(&lister->list);
    *variation = (struct variation){
        .kind = kind, .index = index, .subject = memory_strdup(subject), .change = change};
    return variation;
}

static struct variation *add_of_pool(struct lister *lister, enum variation_kind kind, int index,
                                     char *change) {
    const struct pool *pool = &lister->model->pools[index];
    struct variation *variation = add(lister, kind, index, pool->name, change);
    variation->place = variation_place(pool->origin);
    variation->known = known_of_rule(pool);
    return variation;
}

/* "CPU +10 %"; the caller frees. */
static char *times_text(const struct lister *lister, const char *what) {
    char *more = percent(1 + lister->share), *text = memory_format("%s %s", what, more);
    free(more);
    return text;
}

static void add_pool_times(struct lister *lister, enum variation_kind kind, int index,
                           const char *what) {
    add_of_pool(lister, kind, index, times_text(lister, what))->factor = 1 + lister->share;
}

static void list_rules(struct lister *lister, int index) {
    const struct pool *pool = &lister->model->pools[index];
    /* 0: a model written by hand says nothing of it. */
    bool certain =
        pool->partition != PARTITION_UNKNOWN && (pool->confidence == 0 || pool->confidence >= 1);
    if (!pool->scales || pool->partition == PARTITION_NONE || certain)
        return;
    for (enum partition rule = PARTITION_SHARED; rule <= PARTITION_PERTHREAD; rule++)
        if (rule != pool->partition)
            add_of_pool(lister, VARY_POOL_RULE, index,
                        memory_format("rule %s", partition_names[rule]))
                ->rule = rule;
}

static void list_pool(struct lister *lister, int index) {
    const struct model *model = lister->model;
    if (variation_graph_has_cpu(model, index))
        add_pool_times(lister, VARY_POOL_CPU, index, "CPU");
    if (variation_graph_has_waits(model, index, NODE_SLEEP))
        add_pool_times(lister, VARY_POOL_SLEEPS, index, "sleeps");
    if (variation_graph_has_waits(model, index, NODE_IO))
        add_pool_times(lister, VARY_POOL_IO, index, "I/O");
    if (model->pools[index].n_refill > 0 || model->pools[index].cold_cpu_ns > 0)
        add_of_pool(lister, VARY_POOL_CACHE, index, memory_strdup("cache costs doubled"))->factor =
            COSTS;
    list_rules(lister, index);
}

static struct variation *add_of_object(struct lister *lister, enum variation_kind kind, int index,
                                       char *change) {
    const struct object *object = &lister->model->objects[index];
    struct variation *variation = add(lister, kind, index, object->name, change);
    variation->place = variation_place(object->name);
    variation->known = known_of_object(lister->model, index);
    return variation;
}

static void add_object_times(struct lister *lister, enum variation_kind kind, int index,
                             const char *what) {
    add_of_object(lister, kind, index, times_text(lister, what))->factor = 1 + lister->share;
}

/* A step up and one down, where that leaves something. */
static void list_amount(struct lister *lister, int index) {
    const struct object *object = &lister->model->objects[index];
    double amount = round(linear_value(&object->amount, lister->pool_threads));
    double step = fmax(1, round(lister->share * amount));
    const char *what = object->kind == OBJECT_QUEUE ? "capacity" : "count";
    for (int sign = 1; sign >= -1 && amount >= 1; sign -= 2)
        if (amount + sign * step >= 1)
            add_of_object(lister, VARY_AMOUNT, index,
                          memory_format("%s %.0f to %.0f", what, amount, amount + sign * step))
                ->step = sign * step;
}

static void list_object(struct lister *lister, int index) {
    const struct object *object = &lister->model->objects[index];
    const struct sim_object_result *result = &lister->base->objects[index];
    bool waited_for = result->waits.mean > 0;
    bool is_lock = object->kind == OBJECT_MUTEX || object->kind == OBJECT_RWLOCK ||
                   object->kind == OBJECT_SPIN;
    if (is_lock && waited_for)
        add_object_times(lister, VARY_HOLD, index, "hold times");
    if ((object->kind == OBJECT_TOKENS && result->operations.mean > 0) ||
        (object->kind == OBJECT_QUEUE && object->bounded))
        list_amount(lister, index);
    if (object->kind == OBJECT_DISK && result->operations.mean > 0)
        add_object_times(lister, VARY_SERVICE, index, "service times");
    if (object->kind == OBJECT_LINK && object->bytes_per_s > 0)
        add_object_times(lister, VARY_BANDWIDTH, index, "bandwidth");
    if (object->interarrival_ns.kind != DIST_NONE)
        add_object_times(lister, VARY_ARRIVALS, index, "arrivals");
    if (waited_for && is_alike(lister->model, index) &&
        variation_graph_can_leave_out(lister->model, index))
        add_of_object(lister, VARY_LEFT_OUT, index, memory_strdup("nobody waits for it"));
}

static double life_ns(const struct model *model) {
    double threads = 0;
    for (size_t p = 0; p < model->n_pools; p++)
        threads += model->pools[p].profiled_threads;
    return threads * model->measured_run_ns;
}

static void list_waiting(struct lister *lister, int index) {
    const struct waiting_share *waiting = &lister->model->waiting[index];
    if (waiting->how != MODELLED_NOT ||
        waiting->wait_ns < judgement.least_waits * life_ns(lister->model))
        return;
    struct variation *variation =
        add(lister, VARY_WAITS_ADDED, index, waiting->what,
            memory_format("%.3g s of waiting added", waiting->wait_ns / 1e9));
    variation->place = variation_place(waiting->what);
    variation->known = memory_strdup("not");
}

static void add_of_machine(struct lister *lister, enum variation_kind kind, const char *what) {
    struct variation *variation =
        add(lister, kind, MODEL_NONE, "the scheduler", memory_format("%s doubled", what));
    variation->factor = COSTS;
    variation->place = memory_strdup("");
    variation->known = memory_strdup("measured");
}

static void list_machine(struct lister *lister) {
    const struct machine *machine = &lister->model->machine;
    if (machine->switch_cpu_ns + machine->block_cpu_ns + machine->wake_cpu_ns > 0)
        add_of_machine(lister, VARY_SCHEDULER, "CPU costs");
    if (dist_mean(&machine->wake_latency_ns) + machine->preempt_ns > 0)
        add_of_machine(lister, VARY_WAKE_LATENCY, "wake-up times");
}

struct variations variations_of(const struct model *model, const int *pool_threads,
                                const struct sim_result *base, double share) {
    struct lister lister = {model, pool_threads, base, share, {0}};
    for (size_t p = 0; p < model->n_pools; p++)
        list_pool(&lister, (int)p);
    for (size_t o = 0; o < model->n_objects; o++)
        list_object(&lister, (int)o);
    for (size_t w = 0; w < model->n_waiting; w++)
        list_waiting(&lister, (int)w);
    list_machine(&lister);
    return lister.list;
}

void variation_free(struct variation *variation) {
    free(variation->subject);
    free(variation->change);
    free(variation->place);
    free(variation->known);
}

void variations_free(struct variations *variations) {
    for (size_t i = 0; i < variations->count; i++)
        variation_free(&variations->items[i]);
    free(variations->items);
    *variations = (struct variations){0};
}
