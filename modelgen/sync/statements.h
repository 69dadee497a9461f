/* The last resort before a flag: where no counter and no pattern explains the waits of a mutex, but
 * what the source says of its critical sections, carried out in the order of the run, decides all
 * of them, the model gets the monitor itself: its variables, conditions and statements. */
#ifndef PERSIK_MODELGEN_SYNC_STATEMENTS_H
#define PERSIK_MODELGEN_SYNC_STATEMENTS_H

#include "modelgen/sync/monitor.h"
#include "modelgen/sync/source_replay.h"

/* Of one mutex. */
struct statements {
    int mutex;
    const struct facts_monitor *proposal;
    struct tally verdict;
    int *section_of; /* per section of the trace: the proposal's; MODEL_NONE: none, or another mutex
                      */
    enum outcome *outcome; /* per section of the trace: which way its thread goes on; OUTCOME_ANY:
                            * that is not told */
    int *answer; /* per section of the proposal: the step whose guard tells it; MODEL_NONE */
    int *number; /* per section of the proposal: among those that the run came to; MODEL_NONE */
    bool *asked; /* per variable: it matters to who waits and who signals */
    int object;  /* of the model; filled by the stream */
};

/* Frees what it owns. */
void statements_end(struct statements *statements);
/* All of the monitors'. */
void statements_free(struct monitors *monitors);

/* The mutex' own; NULL when it is modelled otherwise. `mutex`: index into the objects. */
struct statements *statements_of(const struct monitors *monitors, int mutex);

/* Do more of the run's decisions contradict the statements than clocks and races make? The model is
 * alike then. */
bool statements_are_doubtful(const struct statements *statements);

/* May a thread wait in this section? */
bool statements_wait(const struct facts_section *section);

/* Does the step make a difference to who waits? Counters that nobody asks need not be kept. */
bool statements_matter(const struct statements *statements, const struct facts_step *step);

#endif
