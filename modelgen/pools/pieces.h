/* What a creator does of its threads' work piece by piece: it gives each of them a command, carries
 * out the last one itself, and waits for the others. */
#ifndef PERSIK_MODELGEN_POOLS_PIECES_H
#define PERSIK_MODELGEN_POOLS_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/pools/duties.h"

/* Between giving the last command and waiting for it: the creator's records [first, last), maybe
 * none. */
struct piece {
    size_t first, last;
    uint64_t begin_ns, end_ns;
};

struct pieces {
    struct piece *items; /* none: it does nothing of their work */
    size_t count, capacity;
    uint64_t commands;                            /* object that commands go through */
    struct duties duties;                         /* which a command is carried out by */
    const struct trace_record *take, *done, *end; /* of a thread: it takes a command, has carried it
                                                     out, and finds that no more come; or NULL */
};

/* `members` are created by `creator`, all alike. `sample` may be NULL. Belongs to the trace;
 * pieces_free() ends it. */
struct pieces pieces_find(const struct trace *trace, const struct sample *sample, size_t creator,
                          const size_t *members, size_t n_members);
void pieces_free(struct pieces *pieces);

#endif
