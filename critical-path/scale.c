/* Changes of what steps take, and the time of the run with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/whole_words.h"
#include "critical-path/critical_path.h"
#include "critical-path/function_shares.h"
#include "critical-path/limits.h"
#include "critical-path/longest_path.h"
#include "critical-path/replay.h"

/* ---- what a change applies to ---- */

/* "queue.mutex" is "struct queue.mutex", and "struct queue.mutex #2", "lock" is "global:lock", and
 * "put" is "put (queue.c:31)", where the lock is used first: who types it need not say all. */
static bool object_is_called(const struct dependency_object *object, const char *name) {
    static const char *const kinds[] = {"struct ", "union ", "class ", "global:", "local:"};
    const char *own = object->name;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strncmp(own, kinds[k], strlen(kinds[k])) == 0)
            own += strlen(kinds[k]);
    size_t length = strlen(name);
    return strncmp(own, name, length) == 0 &&
           (own[length] == '\0' || strncmp(own + length, " (", 2) == 0 ||
            strncmp(own + length, " #", 2) == 0);
}

/* Marks those that are called so, which may be several; who says the whole name of one means that.
 * Their number. */
static size_t mark_objects(const struct dependencies *all, const char *name, bool *marks,
                           size_t stride) {
    bool is_whole = false;
    size_t n = 0;
    for (size_t o = 0; o < all->n_objects; o++)
        is_whole |= strcmp(all->objects[o].name, name) == 0;
    for (size_t o = 0; o < all->n_objects; o++) {
        const struct dependency_object *object = &all->objects[o];
        bool is_meant = is_whole ? strcmp(object->name, name) == 0 : object_is_called(object, name);
        marks[o * stride] = is_meant;
        n += is_meant;
    }
    return n;
}

/* ---- limits ---- */

static bool is_set(enum scale_of of) {
    return of == SET_CAPACITY || of == SET_PERMITS;
}

/* Can this limit of the object be set? Room in a queue may be called either. */
static bool can_be_set(const struct dependencies *all, const double *recorded, size_t object,
                       enum scale_of of) {
    const struct dependency_object *is = &all->objects[object];
    bool is_permits =
        is->is_pool ? strcmp(is->kind, "permits") == 0 : strcmp(is->kind, "semaphore") == 0;
    return !isnan(recorded[object]) &&
           (of == SET_CAPACITY ? !is_permits : is_permits || is->is_pool);
}

/* Per object: what is asked for; NAN: nothing. NULL: no limit is set. Notes what is met. */
static double *limits_of(const struct dependencies *all, struct scale *scales, size_t n) {
    double *limits = NULL, *recorded = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_set(scales[i].of))
            continue;
        if (!limits) {
            recorded = limits_recorded(all);
            limits = memory_alloc(all->n_objects, sizeof *limits);
            for (size_t o = 0; o < all->n_objects; o++)
                limits[o] = NAN;
        }
        for (size_t o = 0; o < all->n_objects; o++)
            if (can_be_set(all, recorded, o, scales[i].of) &&
                whole_words_stand_in(scales[i].name, all->objects[o].name)) {
                limits[o] = scales[i].factor;
                scales[i].n_steps = ++scales[i].n_objects;
            }
    }
    free(recorded);
    return limits;
}

const char **scale_names(const struct dependencies *all, enum scale_of of, size_t *n) {
    struct map seen = MAP_EMPTY;
    struct {
        const char **items;
        size_t count, capacity;
    } names = {0};
    double *recorded = is_set(of) ? limits_recorded(all) : NULL;
    for (size_t o = 0; recorded && o < all->n_objects; o++)
        if (can_be_set(all, recorded, o, of))
            *VECTOR_ADD(&names) = all->objects[o].name;
    free(recorded);
    for (size_t o = 0; of == SCALE_HOLDING && o < all->n_objects; o++)
        if (strcmp(all->objects[o].kind, "mutex") == 0 ||
            strcmp(all->objects[o].kind, "rwlock") == 0)
            *VECTOR_ADD(&names) = all->objects[o].name;
    for (size_t p = 0; of != SCALE_HOLDING && !is_set(of) && p < all->n_places; p++)
        for (size_t f = 0; f < all->places[p].n_frames; f++) {
            const char *name = all->places[p].frames[f].function;
            uint64_t key = map_mix_text(1, name);
            if (map_get(&seen, key, 0))
                continue;
            map_put(&seen, key, 1);
            *VECTOR_ADD(&names) = name;
        }
    map_free(&seen);
    *n = names.count;
    return names.items;
}

/* Per place and per object: by which changes it is met. */
struct changes {
    struct scale *scales;
    size_t n;
    bool *of_places;                /* place * n + change */
    bool *of_objects;               /* object * n + change */
    struct function_shares *shares; /* per change; only those of computing have some */
    enum share_bound bound;
};

static struct changes changes_of(const struct dependencies *all, struct scale *scales, size_t n) {
    struct changes changes = {scales,
                              n,
                              memory_alloc(all->n_places * n, sizeof(bool)),
                              memory_alloc(all->n_objects * n, sizeof(bool)),
                              memory_alloc(n, sizeof(struct function_shares)),
                              SHARE_LIKELY};
    uint32_t *call_before = function_shares_calls_before(all);
    for (size_t i = 0; i < n; i++) {
        bool is_at_place = scales[i].of == SCALE_SLEEPS || scales[i].of == SCALE_DEVICE;
        for (size_t p = 0; is_at_place && p < all->n_places; p++)
            changes.of_places[p * n + i] = place_has_function(&all->places[p], scales[i].name);
        if (scales[i].of == SCALE_HOLDING)
            scales[i].n_objects = mark_objects(all, scales[i].name, &changes.of_objects[i], n);
        if (scales[i].of == SCALE_COMPUTING)
            changes.shares[i] = function_shares_of(all, call_before, scales[i].name);
    }
    free(call_before);
    return changes;
}

static void changes_end(struct changes *changes) {
    for (size_t i = 0; i < changes->n; i++)
        function_shares_free(&changes->shares[i]);
    free(changes->shares);
    free(changes->of_places);
    free(changes->of_objects);
}

static bool is_kind(const struct dependency_step *step, enum scale_of of) {
    switch (of) {
    case SCALE_COMPUTING:
        return step->kind == STEP_COMPUTE;
    case SCALE_SLEEPS:
        return step->kind == STEP_SLEEP;
    case SCALE_DEVICE:
        return step->kind == STEP_DEVICE;
    case SET_CAPACITY:
    case SET_PERMITS:
        return false;
    default:
        return step->kind == STEP_COMPUTE || step->kind == STEP_SLEEP;
    }
}

/* How much of the step the change is of, 0 to 1. A thread that makes no calls is where it began. */
static double share_met(const struct changes *changes, size_t i, const struct dependencies *all,
                        uint32_t index) {
    const struct dependency_step *step = &all->steps[index];
    switch (changes->scales[i].of) {
    case SCALE_COMPUTING:
        return function_share(&changes->shares[i], index, changes->bound);
    case SCALE_HOLDING:
        return step->object != DEPENDENCIES_NONE &&
               changes->of_objects[step->object * changes->n + i];
    default:
        return step->place == DEPENDENCIES_NONE
                   ? strcmp(all->threads[step->thread].name, changes->scales[i].name) == 0
                   : changes->of_places[step->place * changes->n + i];
    }
}

/* A sleep lasts longer than it was asked to, as the kernel may let several end at once
 * (PR_SET_TIMERSLACK's default). That does not change with the program. */
#define TIMER_SLACK_NS 50000.0

static double times(const struct dependency_step *step, double lasted_ns, double factor) {
    double stays_ns = step->kind == STEP_SLEEP && factor > 0 ? fmin(TIMER_SLACK_NS, lasted_ns) : 0;
    return (lasted_ns - stays_ns) * factor + stays_ns;
}

/* Several changes of one step multiply. */
static double changed(const struct dependencies *all, uint32_t index, double lasted_ns,
                      void *context) {
    struct changes *changes = context;
    const struct dependency_step *step = &all->steps[index];
    for (size_t i = 0; i < changes->n; i++) {
        struct scale *scale = &changes->scales[i];
        double share = is_kind(step, scale->of) ? share_met(changes, i, all, index) : 0;
        if (share == 0)
            continue;
        scale->n_steps++;
        lasted_ns = times(step, lasted_ns * share, scale->factor) + lasted_ns * (1 - share);
    }
    return lasted_ns;
}

/* ---- where two ways to predict part ---- */

/* Per object, and behind them for cores: what threads wait in the longest path. */
static double *waits_on_path(const struct longest_path *path) {
    const struct dependencies *all = path->all;
    double *waited_ns = memory_alloc(all->n_objects + 1, sizeof *waited_ns);
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        uint32_t before = path->before[i];
        bool is_lock = step->limit_kind == LINK_LOCK && step->operand != DEPENDENCIES_NONE;
        uint32_t object = step->kind == STEP_BLOCKED ? step->object
                          : is_lock                  ? step->operand
                                                     : DEPENDENCIES_NONE;
        if (before == DEPENDENCIES_NONE || path->via[i] == VIA_THREAD)
            continue;
        double wait_ns = path->length_ns[i] - path->length_ns[before];
        if (step->kind == STEP_READY)
            waited_ns[all->n_objects] += wait_ns;
        else if (object != DEPENDENCIES_NONE)
            waited_ns[object] += wait_ns;
    }
    return waited_ns;
}

static void find_parting(struct what_if *what_if, const struct longest_path *path,
                         const struct replayed *replayed) {
    const struct dependencies *all = path->all;
    double *waited_ns = waits_on_path(path);
    size_t most = all->n_objects;
    double most_ns = 0;
    for (size_t o = 0; o <= all->n_objects; o++) {
        double differs_ns = fabs(waited_ns[o] - replayed->waited_ns[o]);
        if (differs_ns > most_ns) {
            most = o;
            most_ns = differs_ns;
        }
    }
    bool is_object = most < all->n_objects;
    what_if->parted = is_object ? all->objects[most].kind : "cores";
    what_if->parted_name = is_object ? all->objects[most].name : NULL;
    free(waited_ns);
}

/* ---- all ways ---- */

static void reschedule(struct what_if *what_if, const struct longest_path *path,
                       struct changes *changes, int cores, const double *limits) {
    const struct dependencies *all = path->all;
    what_if->rescheduled_ns = NAN;
    if (!all->has_operations)
        return;
    const struct replay_change change = {changed, changes, cores, limits,
                                         all->are_pools_off && !limits};
    struct replayed replayed = replay(all, &change);
    what_if->rescheduled_ns = replayed.end_ns;
    what_if->taken = replayed.taken;
    what_if->reordered = replayed.reordered;
    what_if->forced = replayed.forced;
    find_parting(what_if, path, &replayed);
    replayed_free(&replayed);
}

/* Whatever was done how often: each step counts once. */
static void count_steps(struct changes *changes, const struct dependencies *all) {
    for (size_t i = 0; i < changes->n; i++)
        if (!is_set(changes->scales[i].of))
            changes->scales[i].n_steps = 0;
    for (uint32_t i = 0; i < all->n_steps; i++)
        changed(all, i, 0, changes);
}

static double as_recorded(const struct dependencies *all, struct changes *changes,
                          enum share_bound bound) {
    changes->bound = bound;
    struct longest_path path = longest_path_find(all, changed, changes);
    double length_ns = path.length_ns[path.end];
    longest_path_free(&path);
    changes->bound = SHARE_LIKELY;
    return length_ns;
}

struct what_if critical_path_predict(const struct dependencies *all, struct scale *scales, size_t n,
                                     int cores) {
    for (size_t i = 0; i < n; i++)
        scales[i].n_steps = scales[i].n_objects = 0;
    struct changes changes = changes_of(all, scales, n);
    struct what_if what_if = {0};
    struct longest_path path = longest_path_find(all, changed, &changes);
    double *limits = limits_of(all, scales, n);
    what_if.as_recorded_ns = limits ? NAN : path.length_ns[path.end];
    reschedule(&what_if, &path, &changes, cores, limits);
    longest_path_free(&path);
    what_if.least_ns = limits ? NAN : as_recorded(all, &changes, SHARE_LEAST);
    what_if.most_ns =
        limits || !all->sampled ? what_if.as_recorded_ns : as_recorded(all, &changes, SHARE_MOST);
    count_steps(&changes, all);
    free(limits);
    changes_end(&changes);
    return what_if;
}
