#include "modelgen/sync/monitor.h"

#include "modelgen/sync/evidence.h"

#define FEW_CLASSES 4 /* of sections: not much of what they could be fits by accident */

bool monitors_prove(const struct monitors *monitors, int mutex, double turns) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++)
        n += monitors->classes[c].mutex == mutex;
    return n <= FEW_CLASSES || turns >= CONVINCING_TURNS || !monitors->unproposed[mutex];
}

bool monitors_ignore(const struct monitors *monitors, int mutex) {
    return (monitors->proposal_of[mutex] && monitors->proposal_of[mutex]->ignored) ||
           (monitors->doubted && monitors->doubted[mutex]);
}

bool monitors_doubt(double against, double decisions) {
    return against >= DOUBTS && against > DOUBTFUL_SHARE * decisions;
}

bool guard_is_doubtful(const struct guard *guard) {
    return guard->unknown_units ||
           (guard->condition >= 0 && monitors_doubt(guard->violations, guard->evaluations));
}
