/* Goals: bounds (cli/arguments/assertion.h) that a configuration is sought for, which must be met
 * with the model's uncertainty in mind. */
#ifndef PERSIK_CLI_SENSITIVITY_GOAL_H
#define PERSIK_CLI_SENSITIVITY_GOAL_H

#include "cli/arguments/assertion.h"
#include "cli/prediction/load_table.h"

enum goal_met {
    GOAL_MISSED,
    GOAL_EXPECTED, /* by what is predicted, but not by all of its interval */
    GOAL_SURE      /* by all of it, which holds the real run's figure in 90 of 100 cases */
};

struct goal_judgement {
    enum goal_met met;
    struct estimate figure; /* half width: the model's uncertainty, which may be INFINITY; NAN:
                             * there is no such figure */
    enum unit unit;
    double alike;  /* what any two runs of one configuration differ by, as a share of the bound */
    double margin; /* from the figure to the bound, as a share of that; negative: missed; NAN */
};

/* Of one goal and one predicted configuration (its load row: load_row_of()). */
struct goal_judgement goal_judge(const struct assertion *goal, const struct load_row *row);

#endif
