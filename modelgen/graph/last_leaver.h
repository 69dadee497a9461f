/* Queues that the last thread of a pool closes when it leaves.
 *
 * A stage of a pipeline counts its threads; the last one that finds no more work tells the next
 * stage. In the graph that is one way out of several, which a thread would take at random:
 * sometimes nobody, sometimes one that is not the last. */
#ifndef PERSIK_MODELGEN_GRAPH_LAST_LEAVER_H
#define PERSIK_MODELGEN_GRAPH_LAST_LEAVER_H

#include "formats/model.h"

/* Leaves it to the last thread to close what its pool puts into, where each thread came by once and
 * one of them closed it. */
void last_leaver_settle(struct model *model);

#endif
