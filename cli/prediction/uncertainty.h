/* How far a real run may be from what the model predicts of it: the interval that is printed. The
 * simulation's own noise is the least of it and kept apart.
 *
 * The half-width is a share of the predicted time, SCALE * sqrt(sum of the squares of the parts
 * below), but for `moved_locks`, `one_core` and `pace`, which are not scaled. Their weights say how
 * much each is worth, SCALE makes the real running time lie inside in 90 of 100 configurations: it
 * is found by bench/intervals.sh, leaving programs out one by one, and stands in cli/judgement.def
 * with the weights, nowhere else. See "Intervals" in docs/accuracy.md. */
#ifndef PERSIK_CLI_PREDICTION_UNCERTAINTY_H
#define PERSIK_CLI_PREDICTION_UNCERTAINTY_H

#include <jansson.h>
#include <stdbool.h>

#include "formats/model.h"
#include "simulator/simulator.h"

/* All are shares: 0.02 is 2 %. */
struct uncertainty {
    double machine;    /* any run on any day */
    double self_check; /* by what the model misses its own run */
    double spread;     /* of the recorded program's runs, all alike, in their running time ... */
    double
        cpu_spread; /* ... and in their CPU time: the same where the program computes all along */
    double rules;   /* that the work follows the threads otherwise than supposed */
    double not_modelled; /* waits modelled alike or not, and time that is not explained */
    double threads;      /* other numbers of threads than recorded ... */
    double cores;        /* ... and of cores */
    double sharing;      /* what several cores cost each other, as far as one alone does not tell */
    double placement; /* ... and that it changes with where the cores are: which share memory paths
                       * and caches, a host decides anew */
    double moved_locks; /* locks that move between cores, of which the recorded run shows nothing */
    double one_core;    /* what the run with one core took otherwise, too little to be sure of it */
    double pace; /* cores that others slowed when it was recorded, and need not slow any more */
};

/* Was the program run without probes more than once? Else what runs differ by is not known, and
 * supposed to be 5 % at least. */
bool uncertainty_knows_spread(const struct model *model);

/* Of a prediction for so many threads in each pool of the model, which may have been told another
 * rule since it was built, and so many cores, of which it keeps `busy_cores` busy on average, NAN
 * where that is not known. */
struct uncertainty uncertainty_find(const struct model *model, const int *pool_threads, int cores,
                                    double busy_cores);

/* The half-width, in parts of a predicted time or rate ... */
double uncertainty_share(const struct uncertainty *uncertainty);

/* ... and of predicted CPU time over the running time, which do not mind how fast the cores are. */
double uncertainty_share_of_cpu(const struct uncertainty *uncertainty);

/* NULL where a figure with that half-width says something; else, allocated, why it does not. Only
 * what the model surely misses counts: a short run may have been disturbed unnoticed. */
char *uncertainty_refuse(const struct model *model, const struct uncertainty *uncertainty);

/* Under load. `share` is of a service time, `busy` of the capacity: throughput over the most there
 * can be. INFINITY: the real program may be above saturation, or so near that an interval says
 * nothing.
 *
 * A queue's response time is s / (1 - busy) where s is what it serves: what is longer by a share
 * is answered much later near saturation. With clients, `cycle` is the mean time from one task to
 * the next over the response time: where they think, more of an error is the response time's. */
double uncertainty_share_of_open_response(double share, double busy);
double uncertainty_share_of_closed_response(double share, double busy, double cycle);

/* Open: all that comes is done, unless that may be more than can be. */
double uncertainty_share_of_open_throughput(double share, double busy);

/* An estimate with that in place of the simulation's interval, which it includes. `share` is of the
 * mean. */
struct estimate uncertainty_widen(struct estimate estimate, double share);

/* The same of a utilisation, which hardly depends on how fast the cores are, and is at most 1. */
struct estimate uncertainty_widen_utilisation(struct estimate estimate, double share);

/* The parts by their names; the caller owns it. */
json_t *uncertainty_json(const struct uncertainty *uncertainty);

#endif
