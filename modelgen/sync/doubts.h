/* What to give up believing when a model stalls in the run that it was built from.
 *
 * What a hand-made object is, is concluded from how its waits went. Where threads waited a few
 * times only, a wrong conclusion can fit those by accident, and its simulated threads then wait
 * where the real ones never did. */
#ifndef PERSIK_MODELGEN_SYNC_DOUBTS_H
#define PERSIK_MODELGEN_SYNC_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>

#include "modelgen/sync/monitor.h"

#define SUSPECTS_LIMIT 8 /* each costs a model and a simulation */

/* Indices are those of the sync objects in `sections`, the same whenever the same trace is read. */
struct doubts {
    bool *doubted; /* per sync object: what was found about this mutex does not count; NULL: none */
    int suspects[SUSPECTS_LIMIT]; /* mutexes; those about which the fewest waits tell come first */
    size_t n_suspects;
};

/* Fills in the suspects, unless that was done before. End it with doubts_free(). */
void doubts_suspect(struct doubts *doubts, const struct monitors *monitors,
                    const struct sections *sections);
void doubts_free(struct doubts *doubts);

#endif
