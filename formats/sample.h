/* Stage 1's result: call trie, thread pools, library functions, reached functions. */
#ifndef PERSIK_FORMATS_SAMPLE_H
#define PERSIK_FORMATS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SAMPLE_VERSION 1

/* A call-trie node: a code location reached along one chain of calls. */
struct sample_node {
    int parent; /* index; -1 for the root's children (thread start routines, main) */
    int line;   /* 0 unknown: in an inner node the line of the call, in a leaf where it was */
    char *function;
    char *file; /* NULL unknown */
    char *module;
    uint64_t running, blocked; /* samples that end here */
};

struct sample_pool {
    char *name; /* start routine */
    size_t n_threads;
    int *threads; /* indexes in order of appearance, 0 = first */
    uint64_t running, blocked;
};

struct sample {
    int version;
    int exit_status; /* as wait(2) gives it */
    double rate_hz;
    uint64_t run_ns;
    uint64_t samples, failed_unwinds;
    char *program; /* path of the file that ran, after the last exec; NULL unknown */
    size_t n_nodes, n_pools, n_threads, n_functions, n_library_functions, n_libraries;
    struct sample_node *nodes; /* parents before children */
    struct sample_pool *pools;
    char **functions;         /* all that were reached, unique, sorted, "function" */
    char **function_files;    /* same index; source file of each, NULL unknown */
    char **library_functions; /* those with more than one distinct caller, sorted */
    char **libraries; /* paths of the files with code that were mapped, besides the program's own */
};

struct sample *sample_load(const char *path, struct error *error);
int sample_save(const struct sample *sample, const char *path, struct error *error);
void sample_free(struct sample *sample);

#endif
