/* The smallest configuration that meets a goal: fewest cores first, then fewest threads. */
#ifndef PERSIK_CLI_SENSITIVITY_RECOMMENDATION_H
#define PERSIK_CLI_SENSITIVITY_RECOMMENDATION_H

#include "cli/sensitivity/goal.h"

struct tried {
    struct prediction prediction;
    struct saturation saturation;
    enum goal_met met;            /* all goals */
    struct goal_judgement *goals; /* one per goal */
    double margin;                /* the least of the goals'; NAN: some has no figure */
    double alike;                 /* of that, as in struct goal_judgement */
};

struct recommendation {
    struct tried *items; /* in the order of trying */
    size_t count, capacity;
    int expected, sure; /* the first that meets all goals so, or better; -1: none does */
    int nearest; /* the first that no other comes nearer than by more than noise; where no goal
                  * has a figure, what does most; -1: there are no figures at all */
};

struct recommendation_search {
    const struct model *model;
    const struct thread_sweep *threads; /* ascending */
    const struct int_list *cores;
    const struct assertion *goals;
    size_t n_goals;
    struct sim_config config; /* as for prediction_make() */
};

/* Tries configurations until one meets all goals for sure, or none is left. 0, or -1 and `error`;
 * recommendation_free() ends it in any case. */
int recommendation_find(const struct recommendation_search *search,
                        struct recommendation *recommendation, struct error *error);
/* What is best of those with so many cores: the first that meets all goals, or comes nearest. -1:
 * none was tried. */
int recommendation_best_of(const struct recommendation *recommendation, int cores);

void recommendation_free(struct recommendation *recommendation);

#endif
