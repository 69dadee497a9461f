/* What the threads of a recording spent, by names that stay the same where lines are added to the
 * source: CPU time by function, waiting by call. */
#ifndef PERSIK_CLI_DIFFERENCE_COSTS_H
#define PERSIK_CLI_DIFFERENCE_COSTS_H

#include <stddef.h>

#include "formats/sample.h"
#include "formats/trace.h"

struct cost {
    char *name;
    double ns;       /* of all threads */
    double error_ns; /* its standard error; 0: none is known */
    double count;    /* samples, or calls */
};

struct costs {
    struct cost *items; /* each name once */
    size_t count, capacity;
};

/* CPU time by function, without those that it calls. Samples are counted: n of them are known to
 * within sqrt(n). */
struct costs costs_of_functions(const struct sample *sample);

/* Waiting by call, "ring_put: pthread_cond_wait". */
struct costs costs_of_calls(const struct trace *trace);

void costs_free(struct costs *costs);

/* The costs of one name in two recordings; NULL: one of them has none. */
struct cost_pair {
    const char *name;
    const struct cost *before, *after;
    double change_ns;
    double error_ns; /* of that change */
};

struct cost_pairs {
    struct cost_pair *items;
    size_t count, capacity;
};

/* The largest change first, whichever way; ties by name. They hold pointers into both. The caller
 * frees the items. */
struct cost_pairs costs_pair(const struct costs *before, const struct costs *after);

#endif
