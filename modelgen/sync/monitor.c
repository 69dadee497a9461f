#include "modelgen/sync/monitor.h"
#include "modelgen/evidence.h"

bool monitors_prove(const struct monitors *monitors, int mutex, double turns) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++)
        n += monitors->classes[c].mutex == mutex;
    return n <= evidence.few_classes || turns >= evidence.convincing_turns ||
           !monitors->unproposed[mutex];
}

bool monitors_ignore(const struct monitors *monitors, int mutex) {
    return (monitors->proposal_of[mutex] && monitors->proposal_of[mutex]->ignored) ||
           (monitors->doubted && monitors->doubted[mutex]);
}

bool monitors_doubt(double against, double decisions) {
    return against >= evidence.doubts && against > evidence.doubtful_share * decisions;
}

bool guard_is_doubtful(const struct guard *guard) {
    return guard->unknown_units ||
           (guard->condition >= 0 &&
            monitors_doubt(guard->tally.violations, guard->tally.decisions));
}
