#include "cli/prediction/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"

/* ---- what is compared ---- */

struct point {
    const struct prediction *prediction;
    double speed;    /* runs per ns, or the most throughput: more is better */
    double distinct; /* shares that are less are no difference */
};

struct points {
    struct point *items;
    size_t count, capacity;
    bool of_throughput;
};

static bool is_same_configuration(const struct prediction *a, const struct prediction *b) {
    return a->threads == b->threads && a->cores == b->cores;
}

/* All configurations that have figures, once. */
static struct points points_of(const struct prediction *predictions, const struct load_row *rows,
                               size_t n) {
    struct points points = {.of_throughput = rows != NULL};
    for (size_t i = 0; i < n; i++) {
        const struct prediction *prediction = &predictions[i];
        double speed =
            rows ? rows[i].saturation.throughput_hz.mean : 1 / prediction->result.run_ns.mean;
        if (prediction->no_figures || !(speed > 0) || !isfinite(speed) ||
            (i > 0 && is_same_configuration(prediction, &predictions[i - 1])))
            continue;
        const struct uncertainty parts = prediction_uncertainty(prediction);
        *VECTOR_ADD(&points) = (struct point){prediction, speed, parts.machine};
    }
    return points;
}

static bool is_faster(const struct point *a, const struct point *b) {
    return a->speed > b->speed * (1 + b->distinct);
}

static int threads_of(const struct point *point) {
    return point->prediction->threads->all;
}

static int cores_of(const struct point *point) {
    return point->prediction->cores;
}

/* The least that nothing with as many cores is faster than. `cores` 0: of any number. */
static const struct point *best_of(const struct points *points, int cores) {
    const struct point *best = NULL;
    for (size_t i = 0; i < points->count; i++) {
        const struct point *point = &points->items[i];
        bool is_less = best && !is_faster(best, point) &&
                       (cores_of(point) < cores_of(best) || (cores_of(point) == cores_of(best) &&
                                                             threads_of(point) < threads_of(best)));
        if ((cores == 0 || cores_of(point) == cores) &&
            (!best || is_faster(point, best) || is_less))
            best = point;
    }
    return best;
}

/* ---- why ---- */

struct busy {
    double share;
    char *words; /* "the cores are busy", owned */
};

/* Takes the words. */
static void consider(struct busy *busiest, double share, char *words) {
    if (share > busiest->share) {
        free(busiest->words);
        *busiest = (struct busy){share, words};
    } else {
        free(words);
    }
}

static void consider_object(struct busy *busiest, const struct object *object, double share) {
    switch (object->kind) {
    case OBJECT_MUTEX:
    case OBJECT_RWLOCK:
    case OBJECT_SPIN:
        consider(busiest, share, memory_format("%s is held", object->name));
        break;
    case OBJECT_DISK:
    case OBJECT_LINK:
        consider(busiest, share, memory_format("%s is busy", object->name));
        break;
    default:
        break;
    }
}

/* Nothing can become faster than what is busy all the time. */
static struct busy busiest_of(const struct prediction *prediction) {
    const struct model *model = prediction->model;
    const struct sim_result *result = &prediction->result;
    struct busy busiest = {0, NULL};
    consider(&busiest, result->cpu_utilisation.mean,
             memory_strdup(prediction->cores == 1 ? "the core is busy" : "the cores are busy"));
    for (size_t o = 0; o < result->n_objects; o++)
        consider_object(&busiest, &model->objects[o], result->objects[o].utilisation.mean);
    for (size_t p = 0; p < result->n_pools; p++) {
        const struct sim_pool_result *pool = &result->pools[p];
        double life_ns = pool->cpu_ns.mean + pool->ready_ns.mean + pool->blocked_ns.mean;
        if (pool->threads == 1 && !model->pools[p].scales)
            consider(&busiest, pool->cpu_ns.mean / fmax(life_ns, result->run_ns.mean),
                     memory_format("%s, a single thread, computes", model->pools[p].name));
    }
    return busiest;
}

/* ": lock X is held for 97 % of the time", or where to ask. Of a load, what is busy depends on how
 * much comes. The caller frees. */
static char *reason_of(const struct points *points, const struct point *point) {
    const struct prediction *prediction = point->prediction;
    struct busy busiest = points->of_throughput ? (struct busy){0, NULL} : busiest_of(prediction);
    char *reason =
        busiest.share >= judgement.busy_enough
            ? memory_format(": %s for %.0f %% of the time", busiest.words, 100 * busiest.share)
        : prediction->threads->all > 0
            ? memory_format(" (why: persik bottleneck --threads %d --cores %d)",
                            prediction->threads->all, prediction->cores)
            : memory_strdup("");
    free(busiest.words);
    return reason;
}

/* ---- sentences ---- */

static const char *show_figure(const struct points *points, const struct point *point,
                               char text[QUANTITY_BYTES]) {
    return points->of_throughput ? quantity_show(point->speed, UNIT_RATE, text)
                                 : quantity_show(1 / point->speed, UNIT_TIME, text);
}

/* "1 core", "4 threads"; the caller frees. */
static char *number_of(int n, const char *what) {
    return memory_format("%d %s%s", n, what, n == 1 ? "" : "s");
}

static size_t count_with(const struct points *points, int cores, int *most_threads) {
    size_t n = 0;
    *most_threads = 0;
    for (size_t i = 0; i < points->count; i++)
        if (cores_of(&points->items[i]) == cores) {
            int threads = threads_of(&points->items[i]);
            *most_threads = threads > *most_threads ? threads : *most_threads;
            n++;
        }
    return n;
}

static void say_threads(struct advice *advice, const struct points *points, int cores) {
    int most;
    if (count_with(points, cores, &most) < 2)
        return;
    const struct point *best = best_of(points, cores);
    char figure[QUANTITY_BYTES];
    char *with = number_of(cores, "core");
    char *threads = number_of(threads_of(best), "thread");
    show_figure(points, best, figure);
    if (threads_of(best) == most) {
        *VECTOR_ADD(advice) = memory_format("With %s, %s are still a gain (%s): more may be, too.",
                                            with, threads, figure);
    } else {
        char *reason = reason_of(points, best);
        *VECTOR_ADD(advice) =
            memory_format("With %s, %s %s enough (%s): more gain nothing%s.", with, threads,
                          threads_of(best) == 1 ? "is" : "are", figure, reason);
        free(reason);
    }
    free(threads);
    free(with);
}

/* With each number's best number of threads. */
static void say_cores(struct advice *advice, const struct points *points) {
    const struct point *best = best_of(points, 0);
    int most = 0, least = cores_of(best);
    for (size_t i = 0; i < points->count; i++) {
        most = cores_of(&points->items[i]) > most ? cores_of(&points->items[i]) : most;
        least = cores_of(&points->items[i]) < least ? cores_of(&points->items[i]) : least;
    }
    if (most == least || cores_of(best) == most)
        return;
    char *with = number_of(cores_of(best), "core"), *reason = reason_of(points, best);
    *VECTOR_ADD(advice) = memory_format("More than %s gain nothing%s.", with, reason);
    free(reason);
    free(with);
}

static void say_unknown(struct advice *advice, const struct model *model,
                        const struct points *points) {
    for (size_t i = 0; i < points->count; i++)
        if (cores_of(&points->items[i]) > model->machine.cores) {
            char *recorded = number_of(model->machine.cores, "core");
            *VECTOR_ADD(advice) =
                memory_format("Recorded on %s: what more of them take from each other by shared "
                              "caches and memory is not in these figures.",
                              recorded);
            free(recorded);
            return;
        }
}

/* Threads given by pool have no order. */
static bool has_order(const struct points *points) {
    for (size_t i = 0; i < points->count; i++)
        if (points->items[i].prediction->threads->n_named > 0)
            return false;
    return points->count > 1;
}

/* Then a run with more threads is one of more work. NULL: there is none. */
static const struct pool *pool_with_own_work(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].scales && model->pools[p].partition == PARTITION_PERTHREAD)
            return &model->pools[p];
    return NULL;
}

static bool has_several_threads(const struct points *points) {
    for (size_t i = 1; i < points->count; i++)
        if (threads_of(&points->items[i]) != threads_of(&points->items[0]))
            return true;
    return false;
}

static void compare(struct advice *advice, const struct model *model, const struct points *points) {
    const struct pool *own = points->of_throughput ? NULL : pool_with_own_work(model);
    if (own && has_several_threads(points)) {
        *VECTOR_ADD(advice) = memory_format(
            "Each thread of %s has work of its own: with more threads more is done, and their "
            "running times do not say how many are best.",
            own->name);
        return;
    }
    for (size_t i = 0; i < points->count; i++) {
        bool is_told = false;
        for (size_t j = 0; j < i; j++)
            is_told |= cores_of(&points->items[j]) == cores_of(&points->items[i]);
        if (!is_told)
            say_threads(advice, points, cores_of(&points->items[i]));
    }
    say_cores(advice, points);
}

struct advice advice_of(const struct model *model, const struct prediction *predictions,
                        const struct load_row *rows, size_t n) {
    struct advice advice = {0};
    struct points points = points_of(predictions, rows, n);
    if (has_order(&points))
        compare(&advice, model, &points);
    say_unknown(&advice, model, &points);
    free(points.items);
    return advice;
}

void advice_free(struct advice *advice) {
    for (size_t i = 0; i < advice->count; i++)
        free(advice->items[i]);
    free(advice->items);
    *advice = (struct advice){0};
}

/* ---- printing ---- */

enum { LINE = 80 };

static void print_wrapped(const char *text, FILE *out) {
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > LINE) {
            fputs("\n  ", out);
            column = 2;
        } else if (column > 0) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

void advice_print(const struct advice *advice, FILE *out) {
    for (size_t i = 0; i < advice->count; i++) {
        if (i == 0)
            fputc('\n', out);
        print_wrapped(advice->items[i], out);
    }
}
