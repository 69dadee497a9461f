#include "modelgen/sync/tally.h"
#include "modelgen/evidence.h"

static void note(struct tally *tally, const struct contradiction *wrong) {
    tally->violations++;
    if (tally->n_contradictions < CONTRADICTIONS_SHOWN)
        tally->contradictions[tally->n_contradictions++] = *wrong;
}

void tally_add(struct tally *tally, bool waited, const struct contradiction *wrong) {
    tally->decisions++;
    tally->waited += waited;
    if (!wrong)
        return;
    tally->wrong_waits += waited;
    note(tally, wrong);
}

void tally_add_violation(struct tally *tally, const struct contradiction *wrong) {
    tally->wrong_waits += wrong->waited;
    note(tally, wrong);
}

bool violations_are_few(double violations, double decisions) {
    return violations <= evidence.violation_share * decisions + 0.5;
}

bool violations_are_doubtful(double violations, double decisions) {
    return violations >= evidence.several && violations > evidence.doubtful_share * decisions;
}

bool tally_is_acceptable(const struct tally *tally) {
    return violations_are_few(tally->violations, tally->decisions) &&
           tally->wrong_waits <= (1 - evidence.recall) * tally->waited;
}
