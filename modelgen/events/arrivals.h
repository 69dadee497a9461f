/* When a server's requests came, and at which distances.
 *
 * Where a thread waited for a request, its arrival woke it. What was there already came at some
 * time since a thread last waited, in the order in which it was taken: such times are drawn, all
 * that are possible being equally likely, as they are where arrivals are random (Larson, "The queue
 * inference engine", 1990; drawn by Gibbs sampling).
 *
 * The distances of arrivals that were waited for are longer than usual. What does not depend on
 * that is how long threads waited in vain: where arrivals are random, that is exponential with the
 * mean distance of all of them. */
#ifndef PERSIK_MODELGEN_EVENTS_ARRIVALS_H
#define PERSIK_MODELGEN_EVENTS_ARRIVALS_H

#include "modelgen/events/requests.h"

struct arrivals {
    double *at_ns;   /* per request of requests->all: when it came, or may have come: of several
                        draws one that is like their mean */
    size_t n;        /* requests */
    size_t n_waited; /* for so many a thread waited: their times are known */
    double rate_hz;
    double distance;    /* of the waits in vain from exponential ones: Kolmogorov and Smirnov's D */
    bool is_random;     /* not distinguishable from random arrivals, at a level of 5 % */
    double response_ns; /* from arrival to the last byte of the answer, mean of all and of several
                           draws */
};

/* Of at least two requests. arrivals_free() ends it. */
struct arrivals arrivals_estimate(const struct trace *trace, const struct requests *requests);
void arrivals_free(struct arrivals *arrivals);

#endif
