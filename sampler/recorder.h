/* Collects the stacks of a running program into a trie by address. A process that becomes another
 * program by exec (a wrapper script does) is recorded from then on. */
#ifndef PERSIK_SAMPLER_RECORDER_H
#define PERSIK_SAMPLER_RECORDER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "sampler/modules.h"
#include "sampler/trie.h"

struct recorder;

/* What has been recorded; belongs to the recorder. */
struct recording {
    struct trie trie; /* locations are indexes into `addresses` */
    struct {
        uint64_t *items;
        size_t count, capacity;
    } addresses;
    struct modules modules;
    char *program;           /* path of the binary that is running; NULL: never seen */
    size_t n_threads;        /* in order of appearance; thread 0 is the first */
    uint64_t failed_unwinds; /* samples whose stack could not be followed to its start */
    uint64_t skipped; /* blocked samples not taken: the thread moved while it was looked at */
    uint64_t lost;    /* records the kernel dropped because nobody came to fetch them */
};

/* For a process that is about to exec; `rate_hz` only for the running threads, who are sampled by
 * the kernel. NULL and `error` when sampling is not permitted. */
struct recorder *sampler_recorder_create(pid_t pid, double rate_hz, struct error *error);

/* Takes in the samples of running threads since the last call, and one sample, counted `periods`
 * times, of every thread that is blocked now. */
void sampler_recorder_take(struct recorder *recorder, uint64_t periods);

const struct recording *sampler_recorder_recording(const struct recorder *recorder);

void sampler_recorder_free(struct recorder *recorder);

#endif
