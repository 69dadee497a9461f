#include "critical-path/function_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "critical-path/step_clock.h"
#include "formats/sample.h"

/* What a step that computes is of the function. From CALLERS on: of the function that makes calls
 * and from which the other one, which makes none, was called. */
enum { NOT_IN, SURELY_IN, LIKELY_IN, BEHIND, CALLERS };

/* ---- calls ---- */

uint32_t *function_shares_calls_before(const struct dependencies *all) {
    uint32_t *before = memory_alloc(all->n_steps, sizeof *before);
    uint32_t *last = memory_alloc(all->n_threads, sizeof *last);
    for (size_t t = 0; t < all->n_threads; t++)
        last[t] = DEPENDENCIES_NONE;
    for (size_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        before[i] = last[step->thread];
        if (step->in_call || step->operation != OPERATION_NONE)
            last[step->thread] = step->place;
    }
    free(last);
    return before;
}

static const struct dependency_frame *frame_of(const struct dependency_place *place,
                                               const char *function) {
    for (size_t f = 0; f < place->n_frames; f++)
        if (strcmp(place->frames[f].function, function) == 0)
            return &place->frames[f];
    return NULL;
}

bool place_has_function(const struct dependency_place *place, const char *function) {
    return frame_of(place, function) != NULL;
}

/* A function was entered before the last call, and not left since, if that was in it, too, at no
 * later line; or if all that the thread does is in it. `last` NULL: there was none. */
static bool is_surely_in(const struct dependency_place *next, const struct dependency_place *last,
                         const char *function) {
    const struct dependency_frame *to = frame_of(next, function);
    if (to && to == &next->frames[next->n_frames - 1])
        return true;
    const struct dependency_frame *from = last ? frame_of(last, function) : NULL;
    return to && from && from->line <= to->line;
}

/* ---- samples ---- */

/* The next frame outwards of a place that has the function; NULL: there is none. */
static const char *caller_in(const struct dependency_place *place, const char *function) {
    const struct dependency_frame *frame = frame_of(place, function);
    bool has_caller = frame && frame < &place->frames[place->n_frames - 1];
    return has_caller ? frame[1].function : NULL;
}

/* Do the samples know who calls the function by the same name as the calls do? Then they would
 * name it, too, had they met it: else it may be called something else there. */
static bool would_be_met(const struct dependencies *all, const char *function) {
    struct map sampled = MAP_EMPTY;
    for (size_t n = 0; all->sampled && n < all->sampled->n_nodes; n++)
        map_put(&sampled, map_mix_text(1, all->sampled->nodes[n].function), 1);
    bool met = false;
    for (size_t p = 0; p < all->n_places && !met; p++) {
        const char *caller = caller_in(&all->places[p], function);
        met = caller && map_get(&sampled, map_mix_text(1, caller), 0);
    }
    map_free(&sampled);
    return met;
}

/* Those found computing. */
struct counted {
    double all, in_function;
    size_t n_callers;
    struct caller {
        const char *function; /* the samples' */
        double in_function;
    } callers[MOST_SHARE_CLASSES - CALLERS];
};

/* Is the function on the stack that ends in the node? */
static bool is_on_stack(const struct sample *sampled, int node, const char *function) {
    for (; node >= 0; node = sampled->nodes[node].parent)
        if (strcmp(sampled->nodes[node].function, function) == 0)
            return true;
    return false;
}

/* The innermost function of the stack that makes calls; NULL: none does. */
static const char *innermost_known(const struct sample *sampled, int node,
                                   const struct map *known) {
    for (; node >= 0; node = sampled->nodes[node].parent)
        if (map_get(known, map_mix_text(1, sampled->nodes[node].function), 0))
            return sampled->nodes[node].function;
    return NULL;
}

static struct caller *caller_of(struct counted *counted, const char *function) {
    for (size_t c = 0; c < counted->n_callers; c++)
        if (strcmp(counted->callers[c].function, function) == 0)
            return &counted->callers[c];
    if (counted->n_callers == sizeof counted->callers / sizeof *counted->callers)
        return NULL;
    counted->callers[counted->n_callers] = (struct caller){function, 0};
    return &counted->callers[counted->n_callers++];
}

/* All functions that make calls. */
static struct map functions_of(const struct dependencies *all) {
    struct map known = MAP_EMPTY;
    for (size_t p = 0; p < all->n_places; p++)
        for (size_t f = 0; f < all->places[p].n_frames; f++)
            map_put(&known, map_mix_text(1, all->places[p].frames[f].function), 1);
    return known;
}

static struct counted count_samples(const struct dependencies *all, const char *function,
                                    bool makes_calls) {
    struct counted counted = {0};
    const struct sample *sampled = all->sampled;
    struct map known = makes_calls || !sampled ? MAP_EMPTY : functions_of(all);
    for (size_t n = 0; sampled && n < sampled->n_nodes; n++) {
        double running = (double)sampled->nodes[n].running;
        counted.all += running;
        if (running == 0 || !is_on_stack(sampled, (int)n, function))
            continue;
        counted.in_function += running;
        const char *by = makes_calls ? NULL : innermost_known(sampled, (int)n, &known);
        struct caller *caller = by ? caller_of(&counted, by) : NULL;
        if (caller)
            caller->in_function += running;
    }
    map_free(&known);
    return counted;
}

/* The share of samples, and between which shares it lies in 90 of 100 cases: E. Wilson, Probable
 * inference, the law of succession, and statistical inference (1927). */
static void find_shares(double hits, double all, double found[SHARE_BOUNDS]) {
    const double z = 1.645;
    double share = hits / all, centre = (share + z * z / (2 * all)) / (1 + z * z / all);
    double half = z / (1 + z * z / all) * sqrt(share * (1 - share) / all + z * z / (4 * all * all));
    found[SHARE_LIKELY] = share;
    found[SHARE_LEAST] = fmax(fmin(centre - half, share), 0);
    found[SHARE_MOST] = fmin(fmax(centre + half, share), 1);
}

/* ---- classes ---- */

/* Between its last call and its next one the thread was in a function that the deepest one of both
 * surely is, or in one that this calls. */
static size_t deepest_sure(const struct dependency_place *next,
                           const struct dependency_place *last) {
    for (size_t f = 0; f < next->n_frames; f++)
        if (is_surely_in(next, last, next->frames[f].function))
            return f;
    return next->n_frames;
}

static uint8_t class_by_callers(const struct counted *counted, const struct dependency_place *next,
                                const struct dependency_place *last) {
    if (counted->n_callers == 0 || !next)
        return NOT_IN;
    size_t deepest = deepest_sure(next, last);
    for (size_t f = 0; f < next->n_frames && f <= deepest; f++)
        for (size_t c = 0; c < counted->n_callers; c++)
            if (strcmp(next->frames[f].function, counted->callers[c].function) == 0)
                return (uint8_t)(CALLERS + c);
    return NOT_IN;
}

struct classifier {
    const struct dependencies *all;
    const uint32_t *call_before;
    const char *function;
    const bool *has; /* per place: the function */
    const struct counted *counted;
};

static uint8_t class_of(const struct classifier *by, uint32_t index) {
    const struct dependency_step *step = &by->all->steps[index];
    uint32_t next = step->place, last = by->call_before[index];
    if (step->kind != STEP_COMPUTE)
        return NOT_IN;
    if (next == DEPENDENCIES_NONE) /* a thread without calls is where it began */
        return strcmp(by->all->threads[step->thread].name, by->function) == 0 ? SURELY_IN : NOT_IN;
    const struct dependency_place *to = &by->all->places[next];
    const struct dependency_place *from = last == DEPENDENCIES_NONE ? NULL : &by->all->places[last];
    if (by->has[next])
        return is_surely_in(to, from, by->function) ? SURELY_IN : LIKELY_IN;
    if (from && by->has[last])
        return BEHIND;
    return class_by_callers(by->counted, to, from);
}

/* The computing of each class, and in all behind the last one. */
static double *time_by_class(const struct dependencies *all, const uint8_t *class_of) {
    double *time_ns = memory_alloc(MOST_SHARE_CLASSES + 1, sizeof *time_ns);
    struct step_clock clock = step_clock_start(all);
    for (size_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        double lasted_ns = step_clock_lasted(&clock, i);
        if (step->kind != STEP_COMPUTE || all->threads[step->thread].is_made)
            continue;
        time_ns[class_of[i]] += lasted_ns;
        time_ns[MOST_SHARE_CLASSES] += lasted_ns;
    }
    step_clock_free(&clock);
    return time_ns;
}

static double share_of(double part_ns, double of_ns) {
    return of_ns > 0 ? fmax(fmin(part_ns / of_ns, 1), 0) : 0;
}

/* What is not surely in the function is as much of what may be as samples tell; more than that is
 * behind its last calls. */
static void share_out(struct function_shares *shares, const double *time_ns,
                      const struct counted *counted) {
    double found[SHARE_BOUNDS], all_ns = time_ns[MOST_SHARE_CLASSES];
    find_shares(counted->in_function, counted->all, found);
    for (int b = 0; b < SHARE_BOUNDS; b++) {
        double rest_ns = found[b] * all_ns - time_ns[SURELY_IN];
        shares->shares[LIKELY_IN][b] = share_of(rest_ns, time_ns[LIKELY_IN]);
        shares->shares[BEHIND][b] = share_of(rest_ns - time_ns[LIKELY_IN], time_ns[BEHIND]);
    }
    for (size_t c = 0; c < counted->n_callers; c++) {
        find_shares(counted->callers[c].in_function, counted->all, found);
        for (int b = 0; b < SHARE_BOUNDS; b++)
            shares->shares[CALLERS + c][b] = share_of(found[b] * all_ns, time_ns[CALLERS + c]);
    }
}

/* ---- all ---- */

struct function_shares function_shares_of(const struct dependencies *all,
                                          const uint32_t *call_before, const char *function) {
    struct function_shares shares = {.class_of = memory_alloc(all->n_steps, sizeof(uint8_t)),
                                     .shares = {[SURELY_IN] = {1, 1, 1}, [LIKELY_IN] = {0, 1, 1}}};
    bool *has = memory_alloc(all->n_places, sizeof *has), makes_calls = false;
    for (size_t p = 0; p < all->n_places; p++)
        makes_calls |= has[p] = place_has_function(&all->places[p], function);
    struct counted counted = count_samples(all, function, makes_calls);
    const struct classifier by = {all, call_before, function, has, &counted};
    for (uint32_t i = 0; i < all->n_steps; i++)
        shares.class_of[i] = class_of(&by, i);
    if (counted.in_function > 0 || (counted.all > 0 && would_be_met(all, function))) {
        double *time_ns = time_by_class(all, shares.class_of);
        share_out(&shares, time_ns, &counted);
        free(time_ns);
    }
    free(has);
    return shares;
}

void function_shares_free(struct function_shares *shares) {
    free(shares->class_of);
}
