#include "modelgen/sync/statements.h"

#include <stdlib.h>

bool statements_matter(const struct statements *statements, const struct facts_step *step) {
    return step->kind != STEP_UPDATE || statements->asked[step->variable];
}

bool statements_wait(const struct facts_section *section) {
    for (size_t i = 0; i < section->n_steps; i++)
        if (section->steps[i].kind == STEP_WAIT)
            return true;
    return false;
}

bool statements_are_doubtful(const struct statements *statements) {
    const struct tally *verdict = &statements->verdict;
    return monitors_doubt(verdict->violations + verdict->untold, verdict->decisions);
}

struct statements *statements_of(const struct monitors *monitors, int mutex) {
    for (size_t i = 0; i < monitors->n_statements; i++)
        if (monitors->statements[i].mutex == mutex)
            return &monitors->statements[i];
    return NULL;
}

void statements_end(struct statements *statements) {
    free(statements->section_of);
    free(statements->outcome);
    free(statements->answer);
    free(statements->number);
    free(statements->asked);
}

void statements_free(struct monitors *monitors) {
    for (size_t i = 0; i < monitors->n_statements; i++)
        statements_end(&monitors->statements[i]);
    free(monitors->statements);
}
