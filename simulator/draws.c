#include "simulator/draws.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* About so many rounds in a row have values from everywhere in the distribution, so that few
 * rounds, too, do nearly the work that was measured. */
#define STRATA 8

void draws_make(struct engine *engine) {
    const struct plan *plan = engine->plan;
    engine->bags = memory_alloc((size_t)plan->n_draws, sizeof *engine->bags);
    engine->bag_values = memory_alloc(plan->n_values, sizeof *engine->bag_values);
    engine->rounds =
        memory_alloc((size_t)plan->n_threads * (size_t)plan->n_rounds, sizeof *engine->rounds);
}

void draws_free(struct engine *engine) {
    free(engine->bags);
    free(engine->bag_values);
    free(engine->rounds);
}

struct place {
    double at, value;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The sorted values in the order in which rounds get them. The values of each stratum are spread
 * evenly over all rounds, in random order. */
static void order_rounds(const double *sorted, size_t n, double *rounds,
                         struct random_stream *random) {
    struct place *places = memory_alloc(n, sizeof *places);
    size_t strata = n < STRATA ? n : STRATA;
    for (size_t s = 0; s < strata; s++) {
        struct place *first = &places[s * n / strata];
        size_t size = (size_t)(&places[(s + 1) * n / strata] - first);
        for (size_t i = 0; i < size; i++)
            first[i].at = ((double)i + random_unit(random)) / (double)size;
        for (size_t i = 0; i < size; i++) {
            size_t other = i + random_below(random, (uint32_t)(size - i));
            double at = first[i].at;
            first[i] = (struct place){first[other].at, sorted[s * n / strata + i]};
            first[other].at = at;
        }
    }
    qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++)
        rounds[i] = places[i].value;
    free(places);
}

void draws_reset(struct engine *engine, uint64_t seed) {
    const struct plan *plan = engine->plan;
    if (plan->n_values > 0)
        memcpy(engine->bag_values, plan->values, plan->n_values * sizeof *plan->values);
    memset(engine->rounds, 0,
           (size_t)plan->n_threads * (size_t)plan->n_rounds * sizeof *engine->rounds);
    for (int i = 0; i < plan->n_draws; i++) {
        const struct plan_draw *draw = &plan->draws[i];
        struct bag *bag = &engine->bags[i];
        *bag = (struct bag){
            .values = engine->bag_values + draw->first_value,
            .n = (uint32_t)draw->n_values,
            .random = random_open(seed, STREAM_DRAW, (uint64_t)i, 0),
        };
        if (draw->common > 0)
            order_rounds(plan->values + draw->first_round, draw->n_round_values,
                         engine->bag_values + draw->first_round, &bag->random);
    }
}

/* One step of a Fisher-Yates shuffle per value: without replacement, and never a pause to
 * shuffle everything. */
static double draw_from_bag(struct bag *bag) {
    if (bag->left == 0)
        bag->left = bag->n;
    uint32_t pick = random_below(&bag->random, bag->left--);
    double value = bag->values[pick];
    bag->values[pick] = bag->values[bag->left];
    bag->values[bag->left] = value;
    return value;
}

/* A run without an end needs no deck that comes out even: after each deck its sum would be the
 * same, and load that varies no longer than that would make shorter queues than there are. */
static double draw_with_replacement(const struct bag *bag, struct random_stream *random) {
    return bag->values[random_below(random, bag->n)];
}

double draws_one(struct engine *engine, int draw, struct random_stream *random) {
    if (draw == PLAN_NONE)
        return 0;
    const struct plan_draw *planned = &engine->plan->draws[draw];
    switch (planned->kind) {
    case DIST_NONE:
        return 0;
    case DIST_CONSTANT:
        return planned->mean;
    case DIST_EMPIRICAL:
        return engine->plan->is_steady ? draw_with_replacement(&engine->bags[draw], random)
                                       : draw_from_bag(&engine->bags[draw]);
    case DIST_EXPONENTIAL:
        return random_exponential(random, planned->mean);
    case DIST_UNIFORM:
        return planned->low + random_unit(random) * (planned->high - planned->low);
    }
    return 0;
}

double draws_of_round(struct engine *engine, int draw, struct thread *thread) {
    if (draw == PLAN_NONE)
        return 0;
    const struct plan_draw *planned = &engine->plan->draws[draw];
    if (planned->common <= 0)
        return draws_one(engine, draw, &thread->random);
    size_t place = thread->id * (size_t)engine->plan->n_rounds + (size_t)planned->rounds;
    uint32_t round = engine->rounds[place]++ % (uint32_t)planned->n_round_values;
    return random_unit(&thread->random) < planned->common
               ? engine->bag_values[planned->first_round + round]
               : draws_one(engine, draw, &thread->random);
}
