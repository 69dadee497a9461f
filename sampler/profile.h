/* What the samples say: pools, reached functions, library functions, stacks for flame graphs. */
#ifndef PERSIK_SAMPLER_PROFILE_H
#define PERSIK_SAMPLER_PROFILE_H

#include <stddef.h>

#include "base/error.h"
#include "formats/sample.h"
#include "sampler/profile_calls.h"
#include "sampler/symbols.h"
#include "sampler/trie.h"

/* Makes the trie by source locations from the trie by addresses (`addresses[location]`): inlined
 * calls become frames, and the frames of libc before main or a thread's start routine are left
 * out, so that these are the outermost ones. */
struct trie profile_fold(const struct trie *by_address, const uint64_t *addresses,
                         struct symbols *symbols);

/* Fills nodes, pools, functions, library functions, samples and n_threads of an empty `sample`.
 *
 * Threads of different start routines are never in one pool, and a start routine of the program
 * itself makes one pool. One that belongs to a library (that of std::thread, GThread, OpenMP) says
 * nothing about the work: its threads are split by sample_pools_assign(). */
void profile_describe(const struct profile_calls *calls, struct sample *sample);

/* Writes "outer;inner count" lines, sorted; stacks of blocked threads end in " [blocked]". */
int profile_write_folded(const struct sample *sample, const char *path, struct error *error);

#endif
