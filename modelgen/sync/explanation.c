#include "modelgen/sync/explanation.h"

#include <stdlib.h>

#include "modelgen/evidence.h"

void explanation_free(struct explanation *explanation) {
    switch (explanation->by) {
    case BY_COUNTER:
        free(explanation->counter.units);
        free(explanation->counter.weight);
        free(explanation->counter.early);
        free(explanation->counter.waits);
        free(explanation->counter.outcome);
        break;
    case BY_PATTERN:
        free(explanation->pattern.acts);
        free(explanation->pattern.conditions);
        free(explanation->pattern.led);
        break;
    case BY_STATEMENTS:
        free(explanation->statements.section_of);
        free(explanation->statements.outcome);
        free(explanation->statements.answer);
        free(explanation->statements.number);
        free(explanation->statements.asked);
        break;
    }
}

bool explanation_is_doubtful(const struct explanation *explanation) {
    const struct tally *tally = &explanation->tally;
    bool is_met = explanation->by != BY_COUNTER || explanation->counter.condition >= 0;
    return (explanation->by == BY_COUNTER && explanation->counter.unknown_units) ||
           (is_met && violations_are_doubtful(tally->violations + tally->untold, tally->decisions));
}

/* A mutex tells the order of all that happens under it: there is hardly room for contradictions. */
bool explanation_is_contradicted(const struct explanation *explanation) {
    return explanation->by == BY_COUNTER && explanation->counter.condition >= 0 &&
           explanation->tally.violations > 0;
}

bool statements_matter(const struct statements *statements, const struct facts_step *step) {
    return step->kind != STEP_UPDATE || statements->asked[step->variable];
}

bool statements_wait(const struct facts_section *section) {
    for (size_t i = 0; i < section->n_steps; i++)
        if (section->steps[i].kind == STEP_WAIT)
            return true;
    return false;
}
