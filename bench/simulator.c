/* How fast the simulator is: events per second on four kinds of load, one worker. An event is a
 * node visit or a clock event. Every load is simulated in several rounds; the median counts.
 *
 * usage: simulator [rounds] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gsl/gsl_sort_double.h>

#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"

#define US           1e3 /* in nanoseconds */
#define CUSTOMERS    1e6
#define TARGET_NS    100 /* per event */
#define REPLICATIONS 2   /* the fewest there are */

/* One million customers at one server, 80 % busy. */
static struct model *build_queueing(void) {
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = exponential(10 * US);
    model->objects[queue].arrivals = CUSTOMERS;
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, exponential(8 * US), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    return model;
}

/* Threads that each go 100,000 times through a hot critical section. */
static struct model *build_locking(int cores, int threads, double outside_ns, double inside_ns) {
    struct model *model = build_model(cores);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, threads, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(100000), &leave);
    int enter = build_next(model, body, exponential(outside_ns), NODE_LOCK, mutex);
    int exit = build_next(model, enter, exponential(inside_ns), NODE_UNLOCK, mutex);
    build_edge(model, exit, head);
    build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static struct model *build_contention(void) {
    return build_locking(4, 4, 2 * US, 0.6 * US);
}

/* Many more threads than cores, all of them computing. */
static struct model *build_crowd(void) {
    struct model *model = build_locking(16, 64, 50 * US, 0.01 * US);
    model->machine.quantum_ns = 100 * US;
    return model;
}

/* Barriers of 64: everyone sleeps and is woken all the time. */
static struct model *build_meetings(void) {
    struct model *model = build_model(64);
    int barrier = build_object(model, OBJECT_BARRIER, 64);
    int pool = build_pool(model, 64, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(20000), &leave);
    int meet = build_next(model, body, exponential(10 * US), NODE_BARRIER, barrier);
    build_edge(model, meet, head);
    build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static const struct load {
    const char *name;
    struct model *(*build)(void);
} loads[] = {
    {"M/M/1, a million customers", build_queueing},
    {"4 threads, hot mutex", build_contention},
    {"64 threads on 16 cores", build_crowd},
    {"64 threads at a barrier", build_meetings},
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds per replication; the number of events of one in `events`. */
static double time_once(const struct model *model, double *events) {
    struct sim_config config = {
        .seed = 1, .min_replications = REPLICATIONS, .max_replications = REPLICATIONS};
    struct sim_result result;
    struct error error;
    double start = seconds_now();
    if (sim_predict(model, &config, &result, &error) != 0) {
        fprintf(stderr, "simulator: %s\n", error.text);
        exit(1);
    }
    double seconds = (seconds_now() - start) / result.replications;
    *events = result.events / result.replications;
    sim_result_free(&result);
    return seconds;
}

/* Prints one row; returns the median ns per event. */
static double measure(const struct load *load, int rounds) {
    struct model *model = load->build();
    double *seconds = memory_alloc((size_t)rounds, sizeof *seconds);
    double events = 0;
    for (int i = 0; i < rounds; i++)
        seconds[i] = time_once(model, &events);
    gsl_sort(seconds, 1, (size_t)rounds);
    double median = seconds[rounds / 2];
    printf("%-28s %8.2f %9.3f %9.1f  (%.1f to %.1f) %9.1f\n", load->name, events * 1e-6, median,
           median * 1e9 / events, seconds[0] * 1e9 / events, seconds[rounds - 1] * 1e9 / events,
           events * 1e-6 / median);
    free(seconds);
    model_free(model);
    return median * 1e9 / events;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 7;
    if (rounds < 1) {
        fprintf(stderr, "usage: simulator [rounds]\n");
        return 2;
    }
    int slow = 0;
    printf("%-28s %8s %9s %9s  %-14s %9s\n", "load", "M events", "s", "ns/event", "(spread)",
           "M events/s");
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        slow |= measure(&loads[i], rounds) > TARGET_NS;
    return slow;
}
