#include "cli/sensitivity/goal.h"

#include <math.h>

/* With what is known of the figure's kind. */
static struct estimate widen(const struct assertion *goal, const struct load_row *row,
                             struct estimate figure) {
    const struct uncertainty parts = prediction_uncertainty(row->prediction);
    double share = uncertainty_share(&parts);
    bool is_endless = row->prediction->result.regime != REGIME_ENDING;
    switch (assertion_figure(goal)) {
    case FIGURE_RUN:
        return uncertainty_widen(figure, share);
    case FIGURE_RESPONSE:
        return uncertainty_widen(figure, is_endless ? load_share_of_response(row, share)
                                                    : row->prediction->response_share);
    case FIGURE_THROUGHPUT:
        return uncertainty_widen(figure, is_endless ? load_share_of_throughput(row, share) : share);
    case FIGURE_CPU:
        return uncertainty_widen_utilisation(figure, uncertainty_share_of_cpu(&parts));
    case FIGURE_DISK:
        return uncertainty_widen_utilisation(figure, share);
    case FIGURE_TASKS:
        break;
    }
    return figure;
}

static bool keeps(const struct assertion *goal, double value) {
    if (goal->or_equal && value == goal->bound)
        return true;
    return goal->relation == '<' ? value < goal->bound : value > goal->bound;
}

struct goal_judgement goal_judge(const struct assertion *goal, const struct load_row *row) {
    const struct sim_result *result = &row->prediction->result;
    struct goal_judgement judgement = {GOAL_MISSED, {NAN, NAN}, UNIT_NONE, 0, NAN};
    double value;
    if (row->prediction->no_figures || assertion_lacks(goal, result))
        return judgement;
    bool holds = assertion_holds(goal, result, &value, &judgement.unit);
    double sign = goal->relation == '<' ? 1 : -1;
    judgement.figure = widen(goal, row, assertion_estimate(goal, result));
    judgement.alike = prediction_uncertainty(row->prediction).machine * value / goal->bound;
    judgement.margin = sign * (goal->bound - value) / goal->bound;
    if (holds)
        judgement.met =
            keeps(goal, value + sign * judgement.figure.half_width) ? GOAL_SURE : GOAL_EXPECTED;
    return judgement;
}
