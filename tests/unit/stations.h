/* Queueing systems whose response times are known, and models of them: customers come at random to
 * one queue, and threads with a core each serve them. */
#ifndef PERSIK_TESTS_STATIONS_H
#define PERSIK_TESTS_STATIONS_H

#include "tests/unit/model_builder.h"

enum station_kind { STATION_EXPONENTIAL, STATION_CONSTANT, STATION_HYPEREXPONENTIAL };

struct station {
    enum station_kind kind;
    int servers; /* one unless exponential */
    double utilisation;
    double service_ns; /* mean */
};

/* The hyperexponential: one service in five is four times as long as the others; its squared
 * coefficient of variation is 2. */
#define STATION_LONG_SHARE 0.2
#define STATION_LONG       4

static inline double station_short_ns(const struct station *station) {
    return station->service_ns / (1 - STATION_LONG_SHARE + STATION_LONG_SHARE * STATION_LONG);
}

static inline double station_rate(const struct station *station) { /* of arrivals, per ns */
    return station->utilisation * station->servers / station->service_ns;
}

static inline struct model *station_build(const struct station *station) {
    struct model *model = build_model(station->servers);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->machine.quantum_ns = 1e18; /* nobody waits for a core */
    model->objects[queue].interarrival_ns = exponential(1 / station_rate(station));
    int pool = build_pool(model, station->servers, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_node(model, NODE_TASK_END, MODEL_NONE);
    double short_ns = station_short_ns(station);
    struct edge *serve = build_edge(model, get, done);
    switch (station->kind) {
    case STATION_EXPONENTIAL:
        serve->cpu_ns = exponential(station->service_ns);
        break;
    case STATION_CONSTANT:
        serve->cpu_ns = constant(station->service_ns);
        break;
    case STATION_HYPEREXPONENTIAL:
        serve->cpu_ns = exponential(short_ns);
        serve->probability = 1 - STATION_LONG_SHARE;
        serve = build_edge(model, get, done);
        serve->cpu_ns = exponential(STATION_LONG * short_ns);
        serve->probability = STATION_LONG_SHARE;
        break;
    }
    build_edge(model, done, get);
    return model;
}

/* ---- M/M/c ---- */

/* The probability that an arrival must wait, with offered load `erlangs`. */
static inline double erlang_c(int servers, double erlangs) {
    double term = 1, sum = 0;
    for (int i = 0; i < servers; i++) {
        sum += term;
        term *= erlangs / (i + 1);
    }
    double waiting = term * servers / (servers - erlangs);
    return waiting / (sum + waiting);
}

/* Waits are exponential with rate c mu - lambda where there are any; the service is added. */
static inline double station_tail_mmc(const struct station *station, double ns) {
    double mu = 1 / station->service_ns;
    double theta = station->servers * mu * (1 - station->utilisation);
    double waits = erlang_c(station->servers, station->utilisation * station->servers);
    if (fabs(theta - mu) < 1e-9 * mu)
        return exp(-mu * ns) * (1 + waits * mu * ns);
    return (1 - waits) * exp(-mu * ns) +
           waits * (theta * exp(-mu * ns) - mu * exp(-theta * ns)) / (theta - mu);
}

/* ---- M/D/1 ---- */

enum { STATION_MOST = 4000 }; /* customers */

/* Cumulated: at most so many in the system, from the chain embedded at moments one service apart.
 * As often as it goes from above n to n, where one is served and nobody comes, it goes up across n.
 */
static inline void station_customers_md1(double load, double *at_most) {
    double more[STATION_MOST],
        present[STATION_MOST]; /* more than so many come meanwhile: Poisson */
    double comers = exp(-load), nobody = comers;
    more[0] = 1 - comers;
    for (int i = 1; i < STATION_MOST; i++) {
        comers *= load / i;
        more[i] = fmax(0, more[i - 1] - comers);
    }
    present[0] = at_most[0] = 1 - load;
    for (int n = 0; n + 1 < STATION_MOST; n++) {
        double up = present[0] * more[n];
        for (int i = 1; i <= n; i++)
            up += present[i] * more[n + 1 - i];
        present[n + 1] = up / nobody;
        at_most[n + 1] = at_most[n] + present[n + 1];
    }
}

/* Franx 2001, for one server. */
static inline double station_tail_md1(const struct station *station, double ns,
                                      const double *at_most) {
    double wait = ns - station->service_ns;
    if (wait < 0)
        return 1;
    int k = (int)floor(wait / station->service_ns) + 1;
    double mean = station_rate(station) * (k * station->service_ns - wait);
    double weight = exp(-mean), sum = 0;
    for (int j = 0; j < k; j++) {
        /* in the queue one less; of more than that many there are none */
        sum += weight * (k - j < STATION_MOST ? at_most[k - j] : 1);
        weight *= mean / (j + 1);
    }
    return 1 - sum;
}

/* ---- M/H2/1 ---- */

/* (1 - load) s B(s) / (s - lambda + lambda B(s)) is (1 - load) N(s) / (s^2 + a s + b). */
static inline double station_tail_mh2(const struct station *station, double ns) {
    double lambda = station_rate(station), p = 1 - STATION_LONG_SHARE;
    double fast = 1 / station_short_ns(station), slow = fast / STATION_LONG;
    double both = p * fast + (1 - p) * slow;
    double a = fast + slow - lambda;
    double b = fast * slow - lambda * (fast + slow) + lambda * both;
    double root = sqrt(a * a / 4 - b);
    double rates[] = {a / 2 - root, a / 2 + root};
    double tail = 0;
    for (int i = 0; i < 2; i++) {
        double other = rates[1 - i];
        double residue =
            (1 - station->utilisation) * (fast * slow - rates[i] * both) / (other - rates[i]);
        tail += residue / rates[i] * exp(-rates[i] * ns);
    }
    return tail;
}

/* ---- all ---- */

/* Pollaczek and Khinchine; Erlang. */
static inline double station_mean_ns(const struct station *station) {
    double load = station->utilisation, service = station->service_ns;
    double p = 1 - STATION_LONG_SHARE, short_ns = station_short_ns(station);
    double square = 0; /* mean of the service's, over the mean's */
    switch (station->kind) {
    case STATION_EXPONENTIAL:
        return service + erlang_c(station->servers, load * station->servers) * service /
                             (station->servers * (1 - load));
    case STATION_CONSTANT:
        square = 1;
        break;
    case STATION_HYPEREXPONENTIAL:
        square = 2 * (p + (1 - p) * STATION_LONG * STATION_LONG) * short_ns * short_ns /
                 (service * service);
        break;
    }
    return service + load * square * service / (2 * (1 - load));
}

/* By halving. */
static inline double station_quantile_ns(const struct station *station, double share) {
    double *at_most = memory_alloc(STATION_MOST, sizeof *at_most);
    station_customers_md1(fmin(station->utilisation, 0.999), at_most);
    double low = 0, high = 1000 * station_mean_ns(station);
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        double tail = station->kind == STATION_EXPONENTIAL ? station_tail_mmc(station, middle)
                      : station->kind == STATION_CONSTANT
                          ? station_tail_md1(station, middle, at_most)
                          : station_tail_mh2(station, middle);
        if (tail > 1 - share)
            low = middle;
        else
            high = middle;
    }
    free(at_most);
    return low;
}

#endif
