/* Queues that the last thread of a pool closes on its way out.
 *
 * A stage of a pipeline counts its threads; the last one that finds no more work tells the next
 * stage. In the graph that is one way out of several, which a thread would take at random:
 * sometimes nobody, sometimes one who is not the last. */
#ifndef PERSIK_MODELGEN_GRAPH_CLOSINGS_H
#define PERSIK_MODELGEN_GRAPH_CLOSINGS_H

#include "formats/model.h"

/* Leaves it to the last thread to close what its pool puts into, where each thread came by once and
 * one of them closed it. */
void closings_settle(struct model *model);

#endif
