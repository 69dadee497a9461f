#include "modelgen/scaling/pool_rule.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/notes.h"

static const char *const rule_texts[] = {
    [PARTITION_NONE] = "does not follow --threads",
    [PARTITION_SHARED] = "takes work from a common supply",
    [PARTITION_FIXED] = "splits a fixed total among its threads",
    [PARTITION_PERTHREAD] = "each thread does the same work, however many there are",
    [PARTITION_MIXED] = "takes work from a common supply; splits fixed work",
};

const char *pool_rule_text(enum partition rule) {
    return rule_texts[rule];
}

/* With how many there are for so many asked for. Takes `text` over. */
static char *asked_text(const struct pool *pool, char *text) {
    if (pool->asked_factor == 0)
        return text;
    char *longer =
        memory_format("%s; %g * N %c %g of them for --threads N", text, pool->asked_factor,
                      pool->asked_offset < 0 ? '-' : '+', fabs(pool->asked_offset));
    free(text);
    return longer;
}

/* With what the cores allow it. Takes `text` over. */
static char *within_cores_text(const struct pool *pool, char *text) {
    if (pool->cores_factor == 0)
        return text;
    const char *whose = pool->cores_online ? "cores of the machine" : "cores";
    char *longer =
        pool->cores_factor == 1 && pool->cores_offset == 0
            ? memory_format("%s; no more than there are %s", text, whose)
            : memory_format("%s; at most %g * %s %c %g", text, pool->cores_factor, whose,
                            pool->cores_offset < 0 ? '-' : '+', fabs(pool->cores_offset));
    free(text);
    return longer;
}

/* With the bounds of the pool. Takes `text` over. */
static char *bounded_text(const struct pool *pool, char *text) {
    text = within_cores_text(pool, text);
    bool most = pool->most_threads > 0;
    int bound = most ? pool->most_threads : pool->least_threads;
    if (bound == 0)
        return text;
    char *longer = memory_format("%s; at %s %d thread%s", text, most ? "most" : "least", bound,
                                 bound == 1 ? "" : "s");
    free(text);
    return longer;
}

void pool_rule_set(struct pool *pool, enum partition rule, double confidence, char *text) {
    free(pool->rule);
    pool->partition = rule;
    pool->confidence = confidence;
    pool->rule = bounded_text(pool, asked_text(pool, text));
}

void pool_rule_set_unknown(struct model *model, int p, char *why) {
    struct pool *pool = &model->pools[p];
    pool_rule_set(
        pool, PARTITION_UNKNOWN, 0.5,
        memory_format("unknown: give --partition %s=shared|fixed|perthread (%s)", pool->name, why));
    notes_add(model, "%s: %s", pool->name, pool->rule);
    free(why);
}
