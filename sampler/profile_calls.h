/* The calls of a program, by source location: what a profile and its pools are made of. */
#ifndef PERSIK_SAMPLER_PROFILE_CALLS_H
#define PERSIK_SAMPLER_PROFILE_CALLS_H

#include <stddef.h>

#include "sampler/symbols.h"
#include "sampler/trie.h"

struct profile_calls {
    struct trie trie; /* locations are indexes into `symbols` */
    const struct symbol *symbols;
    size_t n_threads;
    const char *program; /* module name of the program's own binary */
};

#endif
