#include "modelgen/sync/monitor.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

/* ---- the array ---- */

struct explanation *explanation_next(const struct monitors *monitors, enum explained_by by,
                                     const struct explanation *last) {
    size_t i = last ? explanation_index(monitors, last) + 1 : 0;
    while (i < monitors->explanations.count && monitors->explanations.items[i].by != by)
        i++;
    return i < monitors->explanations.count ? &monitors->explanations.items[i] : NULL;
}

size_t explanation_index(const struct monitors *monitors, const struct explanation *explanation) {
    return (size_t)(explanation - monitors->explanations.items);
}

void explanation_add(struct monitors *monitors, struct explanation explanation) {
    *VECTOR_ADD(&monitors->explanations) = explanation;
}

void explanations_drop(struct monitors *monitors,
                       bool (*drops)(const struct explanation *explanation, const void *context),
                       const void *context) {
    size_t kept = 0;
    for (size_t i = 0; i < monitors->explanations.count; i++) {
        struct explanation *explanation = &monitors->explanations.items[i];
        if (drops(explanation, context))
            explanation_free(explanation);
        else
            monitors->explanations.items[kept++] = *explanation;
    }
    monitors->explanations.count = kept;
}

/* ---- is this explained? ---- */

bool monitors_guard(const struct monitors *monitors, size_t class_index) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.waits[class_index])
            return true;
    return false;
}

bool explanation_explains(const struct explanation *explanation, const struct monitors *monitors,
                          size_t section) {
    switch (explanation->by) {
    case BY_COUNTER:
        return explanation->counter.waits[monitors->class_of[section]];
    case BY_PATTERN:
        return explanation->pattern.acts[section] != 0;
    case BY_STATEMENTS:
        return explanation->statements.section_of[section] != MODEL_NONE;
    }
    return false;
}

bool monitors_explain(const struct monitors *monitors, size_t section) {
    for (size_t i = 0; i < monitors->explanations.count; i++)
        if (explanation_explains(&monitors->explanations.items[i], monitors, section))
            return true;
    return false;
}

struct explanation *monitors_pattern_at(const struct monitors *monitors, int condition) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (e->pattern.conditions[condition])
            return e;
    return NULL;
}

bool monitors_explain_condition(const struct monitors *monitors, const struct sections *sections,
                                int condition, bool beyond_doubt) {
    if (monitors_pattern_at(monitors, condition))
        return true;
    int like = sections_first_like(sections, condition);
    for (struct explanation *e = NULL;
         beyond_doubt && (e = explanation_next(monitors, BY_COUNTER, e));)
        if (explanation_is_contradicted(e) &&
            sections_first_like(sections, e->counter.condition) == like)
            return false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->waits > 0 && sections_first_like(sections, class->waits_on) == like &&
            !monitors_guard(monitors, c))
            return false;
    }
    return true;
}

struct explanation *statements_of(const struct monitors *monitors, int mutex) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_STATEMENTS, e));)
        if (e->mutex == mutex)
            return e;
    return NULL;
}

size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act) {
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++)
        if (pattern->acts[s] & act)
            return s;
    return PATTERN_NO_SECTION;
}

/* ---- what the monitors say of all ---- */

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
