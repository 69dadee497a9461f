/* Tokens that are returned by the last thread that needs them, whichever that is.
 *
 * A buffer with a count of its users comes back where that count falls to zero: with most items
 * here, with some there. In the graph that is a choice at each of those places, made by each thread
 * on its own; but of one item's choices exactly one says "give back", and where that is forgotten,
 * tokens run out for a while, or for ever. So all are given back at the place where most are. */
#ifndef PERSIK_MODELGEN_GRAPH_TOKEN_RETURNS_H
#define PERSIK_MODELGEN_GRAPH_TOKEN_RETURNS_H

#include "formats/model.h"

void token_returns_settle(struct model *model);

#endif
