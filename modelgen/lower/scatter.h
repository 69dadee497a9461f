/* Scatter: items that are put into a queue together, one for each thread of a pool. */
#ifndef PERSIK_MODELGEN_LOWER_SCATTER_H
#define PERSIK_MODELGEN_LOWER_SCATTER_H

#include "modelgen/lower/poison_pills.h"

/* Are the guard's items always put in such batches, of which each thread takes one? Then more
 * threads get more at once. */
enum scatter {
    SCATTER_NONE,
    SCATTER_FOR_ALL,
    SCATTER_FOR_OTHERS, /* than the pool's first thread, which puts them */
};

enum scatter scatter_of(const struct lower_input *input, const struct poison_pills *poison_pills,
                        size_t guard);

#endif
