#include "load/schedule.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_SECONDS 1e9 /* 30 years: in nanoseconds a double still tells them apart */

struct schedule {
    enum load_arrivals arrivals;
    gsl_rng *random;
    double mean_gap_ns; /* or think time */
    bool closed;
    double next_ns; /* open: of the next request */
    struct {
        double *items;
        size_t count, capacity;
    } recorded;            /* seconds */
    size_t position;       /* requests taken */
    double recorded_scale; /* nanoseconds per recorded second */
    /* Closed: when each thinking client will send, a heap with the earliest on top. */
    uint64_t *ready_ns;
    size_t n_ready;
};

/* ---- the clients that think ---- */

static void swap(uint64_t *a, uint64_t *b) {
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void push_ready(struct schedule *schedule, uint64_t time_ns) {
    uint64_t *heap = schedule->ready_ns;
    size_t at = schedule->n_ready++;
    heap[at] = time_ns;
    for (; at > 0 && heap[at] < heap[(at - 1) / 2]; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void pop_ready(struct schedule *schedule) {
    uint64_t *heap = schedule->ready_ns;
    size_t n = --schedule->n_ready, at = 0, child;
    heap[0] = heap[n];
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[at] <= heap[child])
            return;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

/* ---- times ---- */

static double draw_gap_ns(struct schedule *schedule) {
    if (schedule->arrivals == LOAD_POISSON)
        return gsl_ran_exponential(schedule->random, schedule->mean_gap_ns);
    return schedule->mean_gap_ns;
}

static void begin_clients(struct schedule *schedule, int clients) {
    schedule->closed = true;
    schedule->ready_ns = memory_alloc((size_t)clients, sizeof *schedule->ready_ns);
    for (int i = 0; i < clients; i++) { /* not in step, also when all think for the same time */
        double spread = gsl_rng_uniform(schedule->random);
        push_ready(schedule, (uint64_t)(spread * schedule->mean_gap_ns));
    }
}

static double recorded_ns(const struct schedule *schedule) {
    return schedule->recorded.items[schedule->position] * schedule->recorded_scale;
}

/* ---- recorded times ---- */

static int read_time(struct schedule *schedule, const char *line) {
    char *end;
    double seconds = strtod(line, &end);
    size_t n = schedule->recorded.count;
    if (end == line || end[strspn(end, " \t\r\n")] || !(seconds >= 0) || seconds > MOST_SECONDS ||
        (n > 0 && seconds < schedule->recorded.items[n - 1]))
        return -1;
    *VECTOR_ADD(&schedule->recorded) = seconds;
    return 0;
}

static int read_times(struct schedule *schedule, const char *path, struct error *error) {
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, "cannot read %s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0, number = 0;
    int status = 0;
    while (status == 0 && getline(&line, &room, file) >= 0) {
        number++;
        if (line[strspn(line, " \t\r\n")] && read_time(schedule, line) < 0)
            status =
                error_set(error, "%s:%zu: not a time in seconds that follows the one before it",
                          path, number);
    }
    free(line);
    fclose(file);
    if (status == 0 && schedule->recorded.count == 0)
        return error_set(error, "%s is empty: give one time in seconds a line", path);
    return status;
}

/* The gaps are the recorded ones, all made longer or shorter where a rate is asked for. */
static int begin_recorded(struct schedule *schedule, const struct schedule_options *options,
                          struct error *error) {
    if (read_times(schedule, options->recorded_file, error) < 0)
        return -1;
    size_t n = schedule->recorded.count;
    double first = schedule->recorded.items[0];
    double span = schedule->recorded.items[n - 1] - first;
    for (size_t i = 0; i < n; i++)
        schedule->recorded.items[i] -= first;
    schedule->recorded_scale = 1e9;
    if (options->rate_hz > 0 && span > 0)
        schedule->recorded_scale = 1e9 * (double)(n - 1) / span / options->rate_hz;
    schedule->next_ns = recorded_ns(schedule);
    return 0;
}

/* ---- all ---- */

struct schedule *schedule_new(const struct schedule_options *options, struct error *error) {
    struct schedule *schedule = memory_alloc(1, sizeof *schedule);
    schedule->arrivals = options->arrivals;
    schedule->random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(schedule->random, options->seed);
    if (options->arrivals == LOAD_RECORDED) {
        if (begin_recorded(schedule, options, error) < 0) {
            schedule_free(schedule);
            return NULL;
        }
    } else if (options->rate_hz > 0) {
        schedule->mean_gap_ns = 1e9 / options->rate_hz;
        schedule->next_ns = draw_gap_ns(schedule);
    } else {
        schedule->mean_gap_ns = options->think_ns;
        begin_clients(schedule, options->clients);
    }
    return schedule;
}

void schedule_free(struct schedule *schedule) {
    if (!schedule)
        return;
    gsl_rng_free(schedule->random);
    free(schedule->recorded.items);
    free(schedule->ready_ns);
    free(schedule);
}

bool schedule_next(const struct schedule *schedule, uint64_t *intended_ns) {
    if (schedule->closed) {
        if (schedule->n_ready > 0)
            *intended_ns = schedule->ready_ns[0];
        return schedule->n_ready > 0;
    }
    *intended_ns = (uint64_t)schedule->next_ns;
    return !schedule_is_over(schedule);
}

void schedule_take(struct schedule *schedule) {
    if (schedule->closed) {
        pop_ready(schedule);
    } else if (schedule->arrivals == LOAD_RECORDED) {
        if (++schedule->position < schedule->recorded.count)
            schedule->next_ns = recorded_ns(schedule);
    } else if (schedule->arrivals == LOAD_CONSTANT) { /* sums of gaps would drift */
        schedule->next_ns = (double)(++schedule->position + 1) * schedule->mean_gap_ns;
    } else {
        schedule->next_ns += draw_gap_ns(schedule);
    }
}

bool schedule_is_over(const struct schedule *schedule) {
    return schedule->arrivals == LOAD_RECORDED && schedule->position >= schedule->recorded.count;
}

void schedule_answered(struct schedule *schedule, uint64_t now_ns) {
    if (!schedule->closed)
        return;
    double think_ns = schedule->mean_gap_ns > 0 ? draw_gap_ns(schedule) : 0;
    push_ready(schedule, now_ns + (uint64_t)think_ns);
}
