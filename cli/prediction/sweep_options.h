/* The configurations that a command goes through: the LISTs of --threads and --cores. */
#ifndef PERSIK_CLI_PREDICTION_SWEEP_OPTIONS_H
#define PERSIK_CLI_PREDICTION_SWEEP_OPTIONS_H

#include <stdbool.h>

#include "cli/arguments/sweep.h"

enum { KEY_SWEEP_THREADS = 0xf000, KEY_SWEEP_CORES };

/* The two rows of a command's options: each command says itself what its lists are for. */
#define SWEEP_OPTIONS(threads_doc, cores_doc)                                                      \
    {"threads", KEY_SWEEP_THREADS, "LIST", 0, (threads_doc), 1}, {                                 \
        "cores", KEY_SWEEP_CORES, "LIST", 0, (cores_doc), 1                                        \
    }

struct sweep_options {
    const char *threads, *cores; /* as given; NULL: not */
};

/* False: the key is another option's. */
bool sweep_options_take(struct sweep_options *options, int key, const char *argument);

/* What cannot be read ends the command with its usage's status. Without --threads the model's own
 * configuration, without --cores `cores` stays empty. End them with thread_sweep_free() and
 * free(cores->items). */
void sweep_options_parse(const struct sweep_options *options, struct thread_sweep *threads,
                         struct int_list *cores);

#endif
