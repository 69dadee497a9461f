/* Items that are put into a queue at once, one for each thread of a pool: a call to all of them. */
#ifndef PERSIK_MODELGEN_GRAPH_LOTS_H
#define PERSIK_MODELGEN_GRAPH_LOTS_H

#include "modelgen/graph/farewells.h"

/* Are the guard's items always put in such lots, of which each thread takes one? Then more threads
 * get more at once. */
enum lots {
    LOTS_NONE,
    LOTS_FOR_ALL,
    LOTS_FOR_OTHERS, /* than the pool's first thread, which puts them */
};

enum lots lots_of(const struct stream_input *input, const struct farewells *farewells,
                  size_t guard);

#endif
