/* What the source proposes for a mutex, and which of the findings in the trace (guards, patterns,
 * statements) each proposal explains best. */
#ifndef PERSIK_MODELGEN_REPORT_PROPOSAL_MATCHES_H
#define PERSIK_MODELGEN_REPORT_PROPOSAL_MATCHES_H

#include "modelgen/lower/lower_input.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/replay.h"

/* One proposal for one mutex, with what the trace found of it. */
struct proposed {
    const struct facts_monitor *proposal;
    int mutex;
    struct tally verdict;
    const struct explanation *pattern;    /* NULL: none */
    const struct explanation *statements; /* by which it is modelled; NULL */
    bool is_part;                         /* of another one: not an object of its own */
    struct {
        const struct explanation **items;
        size_t count, capacity;
    } guards;
};

struct proposed_list {
    struct proposed *items;
    size_t count, capacity;
};

/* Appends the proposals for the mutex and gives each the findings that it says best; these are
 * marked in `done` (per explanation). proposal_matches_free() ends the list. */
void proposal_matches_share(const struct lower_input *input, int mutex, struct proposed_list *list,
                            bool *done);
void proposal_matches_free(struct proposed_list *list);

/* Adds the time that the proposal's sections waited on conditions, and how much of it nothing
 * explains. */
void proposal_matches_waiting(const struct lower_input *input, const struct proposed *proposed,
                              double *waited_ns, double *unexplained_ns);

#endif
