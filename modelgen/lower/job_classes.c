#include "modelgen/lower/job_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"

/* A step that puts or gets one item. */
struct move {
    uint64_t time_ns; /* a put's start, a get's end */
    size_t thread, step;
};

struct moves {
    struct move *items;
    size_t count, capacity;
};

/* Where items lead: how often to each step of another kind, and the CPU time until there. */
struct ways {
    struct way {
        uint64_t to;
        double count;
    } * items;
    size_t count, capacity;
    double total, cpu_ns, cpu_squares;
};

/* A place that puts items. */
struct source {
    const struct trace_context *calls;
    int kind; /* 0: not decided */
    struct ways ways;
};

struct sources {
    struct source *items;
    size_t count, capacity;
};

static int compare_moves(const void *left, const void *right) {
    const struct move *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* In order. False: some step puts several at once. */
static bool find_moves(const struct lower_input *input, const struct stream *streams, int queue,
                       struct moves *puts, struct moves *gets) {
    for (size_t t = 0; t < input->trace->n_threads; t++)
        for (size_t s = 0; s < streams[t].n_steps; s++) {
            const struct step *step = &streams[t].steps[s];
            if (step_object(step) != queue)
                continue;
            if (step->kind == NODE_PUT && step->outcome != OUTCOME_NO) {
                if (step->use.amount.count > 1)
                    return false;
                *VECTOR_ADD(puts) = (struct move){step->start_ns, t, s};
            } else if (step->kind == NODE_GET && step->outcome != OUTCOME_NO) {
                *VECTOR_ADD(gets) = (struct move){step->end_ns, t, s};
            }
        }
    if (puts->count)
        qsort(puts->items, puts->count, sizeof *puts->items, compare_moves);
    if (gets->count)
        qsort(gets->items, gets->count, sizeof *gets->items, compare_moves);
    return true;
}

static bool are_in_order(const struct moves *puts, const struct moves *gets) {
    if (gets->count == 0 || gets->count > puts->count)
        return false;
    double wrong = 0;
    for (size_t i = 0; i < gets->count; i++)
        wrong += gets->items[i].time_ns < puts->items[i].time_ns;
    return wrong <= evidence.violation_share * (double)gets->count;
}

static struct step *step_of(const struct stream *streams, const struct move *move) {
    return &streams[move->thread].steps[move->step];
}

/* Is it the same function, called from the same place? Which of its own lines puts the item may
 * depend on whether somebody waits for it. */
static bool is_same_place(const struct trace_context *a, const struct trace_context *b) {
    if (a == b)
        return true;
    if (!a || !b || a->n_frames == 0 || a->n_frames != b->n_frames ||
        strcmp(a->frames[0].function, b->frames[0].function) != 0)
        return false;
    for (size_t f = 1; f < a->n_frames; f++) {
        const struct trace_frame *x = &a->frames[f], *y = &b->frames[f];
        if (x->line != y->line || x->column != y->column || strcmp(x->function, y->function) != 0 ||
            (x->line == 0 && x->offset != y->offset))
            return false;
    }
    return true;
}

static struct source *source_of(struct sources *sources, const struct trace *trace,
                                const struct step *put) {
    const struct trace_context *calls =
        put->context == TRACE_NO_CONTEXT ? NULL : &trace->contexts[put->context];
    for (size_t i = 0; i < sources->count; i++)
        if (is_same_place(sources->items[i].calls, calls))
            return &sources->items[i];
    struct source *added = VECTOR_ADD(sources);
    added->calls = calls;
    return added;
}

static void count_way(struct ways *ways, uint64_t to, double count) {
    for (size_t i = 0; i < ways->count; i++)
        if (ways->items[i].to == to) {
            ways->items[i].count += count;
            return;
        }
    *VECTOR_ADD(ways) = (struct way){to, count};
}

static double share_of(const struct ways *ways, uint64_t to) {
    for (size_t i = 0; i < ways->count; i++)
        if (ways->items[i].to == to)
            return ways->items[i].count / ways->total;
    return 0;
}

static void add_ways(struct ways *to, const struct ways *ways) {
    for (size_t i = 0; i < ways->count; i++)
        count_way(to, ways->items[i].to, ways->items[i].count);
    to->total += ways->total;
    to->cpu_ns += ways->cpu_ns;
    to->cpu_squares += ways->cpu_squares;
}

static double distance(const struct ways *a, const struct ways *b) {
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        double more = share_of(a, a->items[i].to) - share_of(b, a->items[i].to);
        sum += more > 0 ? more : 0;
    }
    return sum;
}

static double variance_of_mean(const struct ways *ways) {
    double mean = ways->cpu_ns / ways->total;
    return fmax(0, ways->cpu_squares / ways->total - mean * mean) / (ways->total - 1);
}

/* Does one of them compute so much more that the running time shows it? */
static bool compute_alike(const struct ways *a, const struct ways *b, double noticed_ns) {
    if (a->total < evidence.times_seen || b->total < evidence.times_seen)
        return true;
    double mean_a = a->cpu_ns / a->total, mean_b = b->cpu_ns / b->total;
    double differ = fabs(mean_a - mean_b),
           standard_errors = gsl_cdf_ugaussian_Qinv(evidence.chance);
    return differ < standard_errors * sqrt(variance_of_mean(a) + variance_of_mean(b)) ||
           differ * fmin(a->total, b->total) < noticed_ns;
}

/* Two places put the same kind when it leads the same way and has its taker compute as much. What
 * was put seldom tells nothing by itself. */
static bool are_alike(const struct ways *a, const struct ways *b, double noticed_ns) {
    return distance(a, b) < evidence.ways_distance && compute_alike(a, b, noticed_ns);
}

static uint64_t way_of(const struct stream *stream, size_t get) {
    if (get + 1 >= stream->n_steps)
        return 0;
    const struct step *next = &stream->steps[get + 1];
    return map_mix(map_mix(map_mix(23, next->kind), (uint64_t)step_object(next)), next->context);
}

static double cpu_after(const struct thread_states *timeline, const struct stream *stream,
                        size_t get) {
    if (get + 1 >= stream->n_steps)
        return 0;
    return thread_states_cpu(timeline, stream->steps[get + 1].start_ns) -
           thread_states_cpu(timeline, stream->steps[get].end_ns);
}

static struct sources find_sources(const struct lower_input *input, const struct stream *streams,
                                   const struct moves *puts, const struct moves *gets) {
    struct sources sources = {0};
    for (size_t i = 0; i < gets->count; i++) {
        const struct move *get = &gets->items[i];
        const struct step *put = step_of(streams, &puts->items[i]);
        const struct stream *stream = &streams[get->thread];
        struct ways *ways = &source_of(&sources, input->trace, put)->ways;
        double cpu_ns = cpu_after(&input->timelines[get->thread], stream, get->step);
        count_way(ways, way_of(stream, get->step), 1);
        ways->total++;
        ways->cpu_ns += cpu_ns;
        ways->cpu_squares += cpu_ns * cpu_ns;
    }
    return sources;
}

static int compare_sources(const void *left, const void *right) {
    const struct source *a = left, *b = right;
    if (a->ways.total != b->ways.total)
        return a->ways.total > b->ways.total ? -1 : 1;
    return (a->calls > b->calls) - (a->calls < b->calls); /* all in one array */
}

/* Gives the sources their kinds, the busiest first, and the number of these. */
static int tell_kinds(struct sources *sources, double noticed_ns) {
    qsort(sources->items, sources->count, sizeof *sources->items, compare_sources);
    struct ways *kinds = memory_alloc(sources->count, sizeof *kinds);
    int n = 0;
    for (size_t i = 0; i < sources->count; i++) {
        struct source *source = &sources->items[i];
        int nearest = 0, alike = n;
        for (int k = 0; k < n; k++) {
            if (distance(&source->ways, &kinds[k]) < distance(&source->ways, &kinds[nearest]))
                nearest = k;
            if (alike == n && are_alike(&source->ways, &kinds[k], noticed_ns))
                alike = k;
        }
        int kind =
            alike == n && n > 0 && source->ways.total < evidence.times_seen ? nearest : alike;
        n += kind == n;
        add_ways(&kinds[kind], &source->ways);
        source->kind = kind + 1;
    }
    for (int k = 0; k < n; k++)
        free(kinds[k].items);
    free(kinds);
    return n;
}

static void find_kinds(const struct lower_input *input, struct stream *streams, int queue) {
    struct moves puts = {0}, gets = {0};
    struct sources sources = {0};
    if (find_moves(input, streams, queue, &puts, &gets) && are_in_order(&puts, &gets)) {
        sources = find_sources(input, streams, &puts, &gets);
        double noticed_ns = input->insignificant_share * (double)input->trace->meta.run_ns;
        bool differ = tell_kinds(&sources, noticed_ns) > 1;
        for (size_t i = 0; i < puts.count && differ; i++) {
            struct step *put = step_of(streams, &puts.items[i]);
            put->use.amount.item_kind = source_of(&sources, input->trace, put)->kind;
            if (i < gets.count)
                step_of(streams, &gets.items[i])->use.amount.item_kind = put->use.amount.item_kind;
        }
    }
    for (size_t i = 0; i < sources.count; i++)
        free(sources.items[i].ways.items);
    free(sources.items);
    free(puts.items);
    free(gets.items);
}

/* Of what the step takes; 0: it takes nothing of a kind. */
static int item_kind_taken(const struct step *step) {
    return step->kind == NODE_GET ? step->use.amount.item_kind : 0;
}

/* Behind each get whose item has a kind, a step for that. */
static void add_steps(struct stream *stream) {
    size_t n = 0;
    for (size_t s = 0; s < stream->n_steps; s++)
        n += item_kind_taken(&stream->steps[s]) > 0;
    if (n == 0)
        return;
    struct step *steps = memory_alloc(stream->n_steps + n, sizeof *steps);
    size_t count = 0;
    for (size_t s = 0; s < stream->n_steps; s++) {
        struct step *step = &steps[count++];
        *step = stream->steps[s];
        int item_kind = item_kind_taken(step);
        if (item_kind == 0)
            continue;
        steps[count] = step_new(NODE_STEP, step->end_ns, step->end_ns, step->context);
        steps[count++].item_kind = item_kind;
        step->use.amount.item_kind = 0; /* the get itself takes any */
    }
    free(stream->steps);
    *stream = (struct stream){count, steps};
}

void job_classes_find(const struct lower_input *input, const struct model *model,
                      struct stream *streams) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_QUEUE && model->objects[o].item_kind == 0)
            find_kinds(input, streams, (int)o);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        add_steps(&streams[t]);
}
