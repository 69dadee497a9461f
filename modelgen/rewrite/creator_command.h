/* A command that a creator carries out itself, as one of its threads: see creator_commands.h. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_COMMAND_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/rewrite/worker_functions.h"

/* Between giving the last command and waiting for it: the creator's records [first, last), maybe
 * none. */
struct creator_command {
    size_t first, last;
    uint64_t begin_ns, end_ns;
    size_t after;   /* record with which the creator goes on when it has waited: until then ... */
    uint64_t on_ns; /* ... that is */
    bool is_last;   /* all others had been carried out before */
};

/* Calls of a thread, one after the other; they belong to the trace. None: 0. */
struct command_calls {
    const struct trace_record *items;
    size_t count;
};

struct creator_commands {
    struct creator_command *items; /* none: it does nothing of their work */
    size_t count, capacity;
    uint64_t channel; /* object that commands go through; 0: they come all at once */
    struct worker_functions functions;    /* which a command is carried out by */
    struct command_calls take, done, end; /* of a thread: it takes a command, has carried it out,
                                           and finds that no more come, if it does */
    struct command_calls done_last,
        await; /* if commands come all at once: a thread was the last one
                  to have carried it out, and the creator waits for them */
};

#endif
