#include "modelgen/sync/weighted_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/sync/counter_replay.h"

struct counting {
    const struct trace *trace;
    const struct sections *sections;
    const struct monitors *monitors;
    const struct explanation *guard;
    size_t n;
    size_t *order; /* the sections of the mutex and of those like it; of each one in its order */
    double *added; /* per section of the trace, with sign; NAN: not known */
};

static int weight_of(const struct counting *counting, size_t section) {
    return counting->guard->counter.weight[counting->monitors->class_of[section]];
}

/* ---- what was added ---- */

static int compare_ends(const void *a, const void *b, void *argument) {
    const struct section *sections = argument;
    const struct section *x = &sections[*(const size_t *)a], *y = &sections[*(const size_t *)b];
    if (x->mutex != y->mutex)
        return x->mutex < y->mutex ? -1 : 1;
    return (x->release_ns > y->release_ns) - (x->release_ns < y->release_ns);
}

/* What the counter held when the section began, if that was looked at. */
static const struct trace_value *look_of(const struct counting *counting,
                                         const struct section *section) {
    uint64_t address = counting->sections->objects[section->mutex].address;
    for (size_t v = 0; v < counting->trace->n_values; v++) {
        const struct trace_value *value = &counting->trace->values[v];
        if (value->mutex == address && value->thread == section->thread &&
            value->time_ns >= section->acquire_ns && value->time_ns <= section->release_ns &&
            strcmp(value->name, counting->guard->proposal->count) == 0)
            return value;
    }
    return NULL;
}

/* Both in low half: the difference of larger counters is right as well. */
static double difference(uint32_t after, uint32_t before) {
    return (double)(int32_t)(after - before);
}

/* A section that waited had changed nothing before, or it would not have waited for it. */
static void count_added(struct counting *counting) {
    uint32_t held = 0;
    bool is_known = false;
    for (size_t i = 0; i < counting->n; i++) {
        size_t s = counting->order[i];
        const struct section *section = &counting->sections->sections[s];
        bool is_first =
            i == 0 || counting->sections->sections[counting->order[i - 1]].mutex != section->mutex;
        const struct trace_record *unlock =
            section->cut
                ? NULL
                : &counting->trace->threads[section->thread].records[section->unlock_record];
        is_known = is_known && !is_first;
        if (!unlock)
            continue;
        if (!is_known) {
            const struct trace_value *look = look_of(counting, section);
            is_known = look;
            held = look ? (uint32_t)look->value : 0;
        }
        bool is_told = unlock->flags & TRACE_LOOKED;
        if (is_known && is_told)
            counting->added[s] = difference((uint32_t)unlock->value, held);
        held = (uint32_t)unlock->value;
        is_known = is_told;
    }
}

/* ---- does it fit ---- */

/* Which way takers change it; 0: none does, or not all the same. */
static int direction(const struct counting *counting) {
    double down = 0, up = 0;
    for (size_t i = 0; i < counting->n; i++) {
        double added = counting->added[counting->order[i]];
        double taken = -added * weight_of(counting, counting->order[i]);
        down += taken < 0;
        up += taken > 0;
    }
    return down > 0 && up == 0 ? -1 : up > 0 && down == 0 ? 1 : 0;
}

/* Are they known, but for few? Nothing else may change the counter. */
static bool are_known(const struct counting *counting) {
    double known = 0, unknown = 0;
    for (size_t i = 0; i < counting->n; i++) {
        size_t s = counting->order[i];
        double units = fabs(counting->added[s]);
        if (counting->sections->sections[s].cut)
            continue;
        if (weight_of(counting, s) == 0 && units > 0)
            return false;
        if (weight_of(counting, s) == 0)
            continue;
        unknown += isnan(units);
        known += !isnan(units);
    }
    return known > 0 && violations_are_few(unknown, known + unknown);
}

/* Does each thread give back what it took last? The sections of a thread are in their order. */
static bool are_given_back(const struct counting *counting) {
    double given = 0, differ = 0, taken = NAN;
    int thread = -1;
    for (size_t s = 0; s < counting->sections->n_sections; s++) {
        int weight = weight_of(counting, s);
        if (weight == 0 || isnan(counting->added[s]))
            continue;
        if (counting->sections->sections[s].thread != thread)
            taken = NAN;
        thread = counting->sections->sections[s].thread;
        if (weight < 0) {
            taken = fabs(counting->added[s]);
            continue;
        }
        given++;
        differ += !(fabs(counting->added[s]) == taken);
    }
    return given > 0 && violations_are_few(differ, given);
}

static double mean_of_takers(const struct counting *counting) {
    double n = 0, sum = 0;
    for (size_t i = 0; i < counting->n; i++) {
        size_t s = counting->order[i];
        if (weight_of(counting, s) < 0 && !isnan(counting->added[s])) {
            n++;
            sum += fabs(counting->added[s]);
        }
    }
    return n > 0 ? sum / n : 1;
}

double *weighted_units_find(const struct trace *trace, const struct sections *sections,
                            const struct monitors *monitors, const struct explanation *guard) {
    struct counting counting = {.trace = trace,
                                .sections = sections,
                                .monitors = monitors,
                                .guard = guard,
                                .added = memory_alloc(sections->n_sections, sizeof(double))};
    const size_t *of_mutex = sections_of(sections, guard->mutex, &counting.n);
    counting.order = memory_alloc(counting.n, sizeof *counting.order);
    if (counting.n > 0) {
        memcpy(counting.order, of_mutex, counting.n * sizeof *counting.order);
        qsort_r(counting.order, counting.n, sizeof *counting.order, compare_ends,
                sections->sections);
    }
    for (size_t s = 0; s < sections->n_sections; s++)
        counting.added[s] = NAN;
    count_added(&counting);
    double *units = NULL;
    if (direction(&counting) != 0 && are_known(&counting) && are_given_back(&counting)) {
        double mean = mean_of_takers(&counting);
        units = memory_alloc(sections->n_sections, sizeof *units);
        for (size_t s = 0; s < sections->n_sections; s++)
            units[s] = isnan(counting.added[s]) ? mean : fabs(counting.added[s]);
    }
    free(counting.order);
    free(counting.added);
    return units;
}
