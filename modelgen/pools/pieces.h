/* What a creator does of its threads' work piece by piece: it gives each of them a command, by
 * slots (slots.h) or all at once (forks.h), carries out the last one itself, and waits for the
 * others. */
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
    size_t after;   /* record with which the creator goes on when it has waited: until then ... */
    uint64_t on_ns; /* ... that is */
    bool is_last;   /* all others had been carried out before */
};

/* Calls of a thread, one after the other; they belong to the trace. None: 0. */
struct piece_calls {
    const struct trace_record *items;
    size_t count;
};

struct pieces {
    struct piece *items; /* none: it does nothing of their work */
    size_t count, capacity;
    uint64_t commands;    /* object that commands go through; 0: they come all at once */
    struct duties duties; /* which a command is carried out by */
    struct piece_calls take, done, end; /* of a thread: it takes a command, has carried it out, and
                                           finds that no more come, if it does */
    struct piece_calls done_last,
        await; /* if commands come all at once: a thread was the last one
                  to have carried it out, and the creator waits for them */
};

/* `members` are created by `creator`, all alike. `sample` may be NULL. Belongs to the trace;
 * pieces_free() ends it. */
struct pieces pieces_find(const struct trace *trace, const struct sample *sample, size_t creator,
                          const size_t *members, size_t n_members);
void pieces_free(struct pieces *pieces);

#endif
