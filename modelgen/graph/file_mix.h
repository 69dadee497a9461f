/* The recorded run with another mix of requests: those that read files of one kind come so many
 * times as often, beside the others, as they did.
 *
 * Requests are left out, and none comes twice. Of the kind that is to come most often, by what was
 * recorded, all stay; of the others as many as the mix has of them, evenly spread. What is left is
 * a shorter run of that mix, in which files are met for the first time, and again, as they would
 * be: in one that repeats requests they would be met for the first time too rarely. */
#ifndef PERSIK_MODELGEN_GRAPH_FILE_MIX_H
#define PERSIK_MODELGEN_GRAPH_FILE_MIX_H

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/graph/steps.h"

/* Files, and how many times as often requests that read one of them come. */
struct file_kind {
    char *name; /* as the user calls them */
    double factor;
};

struct file_mix {
    struct file_kind *kinds;
    size_t n;
    struct map kind_of; /* file_mix_key() -> index into the kinds */
};

/* `device`: as in struct trace_pages. */
uint64_t file_mix_key(uint32_t device, uint64_t inode);

/* What a thread did from the end of one request to that of the next, and that is no part of the run
 * any more. */
struct left_out {
    size_t thread;
    uint64_t from_ns, to_ns;
};

struct mixed_run {
    struct {
        struct left_out *items; /* by thread, then by time */
        size_t count, capacity;
    } left_out;
    size_t recorded, kept; /* requests */
    char *refused;         /* why there is no run with this mix; NULL: there is */
};

/* Takes the steps of the requests that are left out from the streams, of which there is one for
 * each of the trace's threads. mixed_run_free() ends it. */
struct mixed_run file_mix_apply(const struct file_mix *mix, const struct trace *trace,
                                struct stream *streams);
void mixed_run_free(struct mixed_run *run);

/* Is what the thread did then left out? O(log n). */
bool mixed_run_lacks(const struct mixed_run *run, size_t thread, uint64_t time_ns);

#endif
