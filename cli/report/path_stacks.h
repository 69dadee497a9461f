/* The critical path by what was called: the input of a flame graph. */
#ifndef PERSIK_CLI_REPORT_PATH_STACKS_H
#define PERSIK_CLI_REPORT_PATH_STACKS_H

#include <stdint.h>
#include <stdio.h>

#include "critical-path/critical_path.h"

/* Frames, outermost first, and behind them in brackets what was done there. */
struct path_stack {
    size_t n_frames;
    char **frames;
    uint64_t path_ns;
};

struct path_stacks {
    size_t count;
    struct path_stack *items; /* each once, in the order of their frames */
};

struct path_stacks path_stacks_of(const struct dependencies *all);
void path_stacks_free(struct path_stacks *stacks);

/* A line for each: "main;parse;[computing] 1200", ns on the path. */
void path_stacks_print(const struct path_stacks *stacks, FILE *out);

#endif
