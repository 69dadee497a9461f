/* The tables of `persik diff`. */
#ifndef PERSIK_CLI_DIFFERENCE_DIFFERENCE_TABLES_H
#define PERSIK_CLI_DIFFERENCE_DIFFERENCE_TABLES_H

#include <stdbool.h>

#include "cli/difference/costs.h"
#include "cli/difference/model_changes.h"
#include "cli/prediction/prediction.h"
#include "cli/text/table.h"

/* One of both. */
struct version {
    const char *path;  /* as given; not owned */
    bool is_recording; /* a folder; else a model's file */
    struct model *model;
    struct prediction prediction;
    struct costs functions, calls;
};

/* Each table is freed by the caller. What is predicted of both, where both have it, with the
 * interval of its change. */
struct table *difference_figures(const struct version *before, const struct version *after);

/* `is_endless`: the load has no end, and response times stand for the running time. */
struct table *difference_causes(const struct model_changes *changes, bool is_endless);

/* The first `limit` pairs. */
struct table *difference_functions(const struct cost_pairs *pairs, size_t limit);
struct table *difference_calls(const struct cost_pairs *pairs, size_t limit);

#endif
