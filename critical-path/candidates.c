/* The parts of a run that could take less. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "critical-path/judgement.h"
#include "critical-path/step_clock.h"

struct candidates {
    struct candidate *items;
    size_t count, capacity;
    struct map seen; /* of what and name -> 1 + its number */
};

/* The one of that name, which may be new; until the next one is looked for. */
static struct candidate *find(struct candidates *found, enum scale_of of, const char *name,
                              double limit) {
    uint64_t key = map_mix_text((uint64_t)of + 1, name);
    int known = map_get(&found->seen, key, 0);
    if (known > 0)
        return &found->items[known - 1];
    *VECTOR_ADD(found) = (struct candidate){.of = of, .name = name, .limit = limit};
    map_put(&found->seen, key, (int)found->count);
    return &found->items[found->count - 1];
}

/* ---- functions ---- */

static bool scale_of_step(const struct dependency_step *step, enum scale_of *of) {
    switch ((enum step_kind)step->kind) {
    case STEP_COMPUTE:
        *of = SCALE_COMPUTING;
        return true;
    case STEP_SLEEP:
        *of = SCALE_SLEEPS;
        return true;
    case STEP_DEVICE:
        *of = SCALE_DEVICE;
        return true;
    default:
        return false;
    }
}

/* Adds each function, by what it and those that it calls compute, sleep, and wait for disks: the
 * innermost first, so that of two with the same gain the closer one stands before. */
static void add_functions(struct candidates *found, const struct dependencies *all) {
    struct step_clock clock = step_clock_start(all);
    for (size_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        double lasted_ns = step_clock_lasted(&clock, i);
        enum scale_of of;
        if (all->threads[step->thread].is_made || lasted_ns <= 0 || !scale_of_step(step, &of))
            continue;
        if (step->place == DEPENDENCIES_NONE) {
            find(found, of, all->threads[step->thread].name, NAN)->total_ns += lasted_ns;
            continue;
        }
        const struct dependency_place *place = &all->places[step->place];
        for (size_t f = 0; f < place->n_frames; f++)
            find(found, of, place->frames[f].function, NAN)->total_ns += lasted_ns;
    }
    step_clock_free(&clock);
}

/* ---- locks and limits ---- */

static void add_locks(struct candidates *found, const struct dependencies *all,
                      const struct critical_path *path) {
    for (size_t o = 0; o < all->n_objects; o++) {
        const char *kind = all->objects[o].kind;
        if (strcmp(kind, "mutex") == 0 || strcmp(kind, "rwlock") == 0)
            find(found, SCALE_HOLDING, all->objects[o].name, NAN)->total_ns +=
                path->objects[o].held_ns;
    }
}

/* Of the first object of that name that has one; NAN: none. */
static double limit_of(const struct critical_path *path, const struct dependencies *all,
                       const char *name) {
    for (size_t o = 0; o < all->n_objects; o++)
        if (!isnan(path->objects[o].limit) && strcmp(all->objects[o].name, name) == 0)
            return path->objects[o].limit;
    return NAN;
}

static void add_limits(struct candidates *found, const struct dependencies *all,
                       const struct critical_path *path) {
    static const enum scale_of kinds[] = {SET_CAPACITY, SET_PERMITS};
    struct map seen = MAP_EMPTY; /* room in a queue may be called either */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n;
        const char **names = scale_names(all, kinds[k], &n);
        for (size_t i = 0; i < n; i++) {
            double limit = limit_of(path, all, names[i]);
            uint64_t key = map_mix_text(1, names[i]);
            if (!(limit >= 1) || map_get(&seen, key, 0))
                continue;
            map_put(&seen, key, 1);
            find(found, kinds[k], names[i], limit)->total_ns = path->checks.traced_ns;
        }
        free(names);
    }
    map_free(&seen);
}

/* ---- all of them ---- */

struct candidate *critical_path_candidates(const struct critical_path *path,
                                           const struct dependencies *all, size_t *n) {
    double run_ns = path->checks.traced_ns;
    struct candidates found = {.seen = MAP_EMPTY};
    add_functions(&found, all);
    add_locks(&found, all, path);
    add_limits(&found, all, path);
    map_free(&found.seen);
    *n = 0;
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].total_ns >= path_judgement.matters * run_ns)
            found.items[(*n)++] = found.items[i];
    found.count = *n;
    if (all->cores > 0)
        *VECTOR_ADD(&found) = (struct candidate){
            .is_cores = true, .name = "cores", .limit = all->cores, .total_ns = run_ns};
    *n = found.count;
    return found.items;
}
