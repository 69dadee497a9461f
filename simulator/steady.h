/* Loads that go on without an end: what the run settles to.
 *
 * Replications that start empty are biased, and their mean keeps that bias however many they are.
 * So there are few long ones here, and what each measured while it warmed up is thrown away
 * (replication/deletion: Law, Simulation Modeling and Analysis, 5th edition, 9.5.2). How long they
 * have to be follows from how much they differ after a first while (Whitt 1989, Planning queueing
 * simulations). The run's first stages are that pilot and the warm-up in one: they double until
 *
 *   - enough tasks have come and their mean response time no longer drifts,
 *   - and the length that the wanted interval needs is at most PILOT_SHARE times what has passed.
 *
 * Then follows one measured window of that length. Its figures alone count, and its length was
 * settled before: no interval is printed because it happened to be narrow.
 *
 * Quantiles are those of all replications' response times together, which have far less bias than
 * a mean of each one's own. Their intervals are the values of which the replications do not
 * contradict that so many responses are below them (steady.c): intervals from each one's own
 * quantiles, as sectioning makes them (Nakayama 2014), were too narrow by 12 to 30 % where the
 * replications are short, since the rare long responses come in few clusters.
 *
 * Above saturation nothing settles: some queue grows in all replications, and is never empty in
 * the last half of the time. That is told instead. */
#ifndef PERSIK_SIMULATOR_STEADY_H
#define PERSIK_SIMULATOR_STEADY_H

#include "simulator/replication.h"
#include "simulator/simulator.h"

struct steady {
    enum sim_regime regime;
    int n;
    struct replication *replications; /* owned, with their rows: of the measured window */
    struct estimate response_ns, response_p50_ns, response_p95_ns, response_p99_ns;
    int growing; /* queue; PLAN_NONE: none */
};

/* Of a plan that is steady. 0, or -1 and `error`. steady_free() frees what it holds. */
int steady_find(const struct plan *plan, const struct sim_config *config, struct steady *steady,
                struct error *error);
void steady_free(struct steady *steady);

#endif
