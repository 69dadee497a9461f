/* Changes of what steps take, and the time of the run with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/whole_words.h"
#include "critical-path/critical_path.h"
#include "critical-path/limits.h"
#include "critical-path/longest_path.h"
#include "critical-path/replay.h"

/* ---- what a change applies to ---- */

static bool place_matches(const struct dependency_place *place, const char *name) {
    for (size_t f = 0; f < place->n_frames; f++)
        if (strcmp(place->frames[f].function, name) == 0)
            return true;
    return false;
}

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
        bool is_meant =
            is_whole ? strcmp(object->name, name) == 0 : object_is_called(object, name);
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
    bool *of_places;       /* place * n + change */
    bool *of_objects;      /* object * n + change */
    uint32_t *call_before; /* per step: the place of its thread's last call before it */
    bool surely;           /* only computing that is in the function whatever lies between calls */
};

/* Per step, the place of the call that the thread made last. */
static uint32_t *calls_before(const struct dependencies *all) {
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

static struct changes changes_of(const struct dependencies *all, struct scale *scales, size_t n) {
    struct changes changes = {scales,
                              n,
                              memory_alloc(all->n_places * n, sizeof(bool)),
                              memory_alloc(all->n_objects * n, sizeof(bool)),
                              calls_before(all),
                              false};
    for (size_t i = 0; i < n; i++) {
        bool holds = scales[i].of == SCALE_HOLDING;
        bool at_place = !holds && !is_set(scales[i].of);
        for (size_t p = 0; at_place && p < all->n_places; p++)
            changes.of_places[p * n + i] = place_matches(&all->places[p], scales[i].name);
        if (holds)
            scales[i].n_objects = mark_objects(all, scales[i].name, &changes.of_objects[i], n);
    }
    return changes;
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

/* A thread that makes no calls is where it began. */
static bool is_met(const struct changes *changes, size_t i, const struct dependencies *all,
                   const struct dependency_step *step) {
    if (changes->scales[i].of == SCALE_HOLDING)
        return step->object != DEPENDENCIES_NONE &&
               changes->of_objects[step->object * changes->n + i];
    if (step->place == DEPENDENCIES_NONE)
        return strcmp(all->threads[step->thread].name, changes->scales[i].name) == 0;
    return changes->of_places[step->place * changes->n + i];
}

static const struct dependency_frame *frame_of(const struct dependency_place *place,
                                               const char *function) {
    for (size_t f = 0; f < place->n_frames; f++)
        if (strcmp(place->frames[f].function, function) == 0)
            return &place->frames[f];
    return NULL;
}

/* Computing counts for the functions that the next call is in. A function was entered before the
 * last call, and not left since, if that was in it, too, at no later line; or if all that the
 * thread does is in it. Otherwise its caller may have computed some or all of that. */
static bool is_surely_in(const struct changes *changes, size_t i, const struct dependencies *all,
                         uint32_t index) {
    uint32_t next = all->steps[index].place, last = changes->call_before[index];
    if (next == DEPENDENCIES_NONE)
        return true;
    const struct dependency_place *place = &all->places[next];
    const char *function = changes->scales[i].name;
    if (place->n_frames > 0 && strcmp(place->frames[place->n_frames - 1].function, function) == 0)
        return true;
    const struct dependency_frame *to = frame_of(place, function);
    const struct dependency_frame *from =
        last == DEPENDENCIES_NONE ? NULL : frame_of(&all->places[last], function);
    return to && from && from->line <= to->line;
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
        if (!is_kind(step, scale->of) || !is_met(changes, i, all, step))
            continue;
        if (changes->surely && scale->of == SCALE_COMPUTING &&
            !is_surely_in(changes, i, all, index))
            continue;
        scale->n_steps++;
        lasted_ns = times(step, lasted_ns, scale->factor);
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
    changes.surely = true;
    struct longest_path surely = longest_path_find(all, changed, &changes);
    what_if.surely_ns = limits ? NAN : surely.length_ns[surely.end];
    longest_path_free(&surely);
    changes.surely = false;
    count_steps(&changes, all);
    free(limits);
    free(changes.of_places);
    free(changes.of_objects);
    free(changes.call_before);
    return what_if;
}
