/* Two runs, piece by piece: what threads did from one place of the program to the next. A fragment
 * is a place; each visit of it lasts until its thread comes to another place, or back, and has a
 * time for which the thread computed and one for which it did not: it waited, for others or for a
 * core. Pure. */
#ifndef PERSIK_CLI_DIFFERENCE_VISITS_H
#define PERSIK_CLI_DIFFERENCE_VISITS_H

#include "base/map.h"
#include "cli/prediction/simulated_run.h"
#include "formats/model.h"
#include "formats/trace.h"

struct samples {
    double *items; /* ns, one per visit */
    size_t count, capacity;
};

enum visit_part { VISIT_COMPUTES, VISIT_WAITS, VISIT_PARTS };

struct visited {
    char
        *place; /* "get_space (pigz.c:1449)"; "(begin)": from the thread's start to its first one */
    double first_ns; /* when a thread came there first */
    struct samples parts[VISIT_PARTS];
};

struct visits {
    struct visited *items; /* by first_ns of who came first into the list */
    size_t count, capacity;
    struct map index;  /* of hashed places */
    double run_ns;     /* the run's length ... */
    double threads_ns; /* ... and that of all threads' lives */
};

/* Of a recorded run. A call is at the innermost place of its chain that `known` has (NULL: any
 * place will do); what happens at others belongs to the place before. Computing is multiplied by
 * `cpu_factor`: what probes cost is taken out. visits_free() ends it. */
struct visits visits_of_trace(const struct trace *trace, const struct visits *known,
                              double cpu_factor);

/* Of a simulated one. */
struct visits visits_of_simulated(const struct model *model, const struct simulated_run *run);

/* The fragment of that place; NULL: there is none. */
const struct visited *visits_find(const struct visits *fragments, const char *place);

void visits_free(struct visits *fragments);

#endif
