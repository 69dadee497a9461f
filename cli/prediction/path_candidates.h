/* What of a recorded run should be faster: the parts by which it gains most, and what limits next
 * once they are. Rescheduled each, beside what is changed already. */
#ifndef PERSIK_CLI_PREDICTION_PATH_CANDIDATES_H
#define PERSIK_CLI_PREDICTION_PATH_CANDIDATES_H

#include <stddef.h>

#include "cli/text/table.h"
#include "critical-path/critical_path.h"

struct path_question {
    const struct dependencies *all; /* has operations */
    const struct critical_path *path;
    struct scale *made; /* changes that are made already */
    size_t n_made;
    int cores; /* 0: as many as in the run */
};

/* The `most` that gain most when they take half, each by how much when it takes 10, 25, 50 and
 * 100 % less. Of a limit: when there are so much more of it that each has that much less to wait
 * for: a half more of 2 is 3 at 33 %, twice as many at 50 %, no limit at 100 %. table_free(). */
struct table *path_candidates(const struct path_question *question, size_t most);

/* The part that gains most when it takes half is made to take `factor` of its time, then the next
 * one is looked for, and so on: `steps` times, or until nothing gains any more. table_free(). */
struct table *path_chain(const struct path_question *question, size_t steps, double factor);

#endif
