/* What could not be recorded and why: a line each, shown to the user, kept in the trace. */
#ifndef PERSIK_TRACER_LACKS_H
#define PERSIK_TRACER_LACKS_H

#include <stddef.h>

struct lacks {
    size_t count, capacity;
    char **items; /* each allocated */
};

/* "what: why" */
void lacks_add(struct lacks *lacks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Leaves the first `count` of them. */
void lacks_cut(struct lacks *lacks, size_t count);

#endif
