#include "modelgen/sync/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

bool score_is_better(const struct score *score, const struct score *than) {
    if (score_wrong(score) != score_wrong(than))
        return score_wrong(score) < score_wrong(than);
    if (score->complexity != than->complexity)
        return score->complexity < than->complexity;
    return score->is_said && !than->is_said;
}

/* ---- how well a candidate does ---- */

/* Explanations that stand beside each other, or one side of a choice. */
struct side {
    const struct explanation *items;
    size_t count;
    bool (*is_of)(const struct explanation *explanation, const void *context); /* NULL: all are */
    const void *context;
};

static bool is_of_side(const struct side *side, const struct explanation *explanation) {
    return !side->is_of || side->is_of(explanation, side->context);
}

static bool side_explains(const struct side *side, const struct monitors *monitors,
                          size_t section) {
    for (size_t i = 0; i < side->count; i++)
        if (is_of_side(side, &side->items[i]) &&
            explanation_explains(&side->items[i], monitors, section))
            return true;
    return false;
}

static bool waits_on_any(const struct sections *sections, size_t index, const bool *conditions) {
    const struct section *section = &sections->sections[index];
    for (size_t w = 0; w < section->n_waits; w++)
        if (!conditions || conditions[sections->waits[section->first_wait + w].condition])
            return true;
    return false;
}

/* Of the waits under the mutex on these conditions (NULL: any). */
static struct score score_of(const struct side *side, const struct monitors *monitors,
                             const struct sections *sections, int mutex, const bool *conditions) {
    struct score score = {.is_said = true};
    for (size_t i = 0; i < side->count; i++) {
        const struct explanation *explanation = &side->items[i];
        if (!is_of_side(side, explanation))
            continue;
        score.contradictions += explanation->tally.violations;
        score.complexity += explanation->score.complexity;
        score.is_said &= explanation->score.is_said;
    }
    size_t n;
    const size_t *of_mutex = sections_of(sections, mutex, &n);
    for (size_t i = 0; i < n; i++)
        score.unexplained += waits_on_any(sections, of_mutex[i], conditions) &&
                             !side_explains(side, monitors, of_mutex[i]);
    return score;
}

void select_reject(struct monitors *monitors, const struct explanation *explanation,
                   const struct score *score) {
    const char *name = explanation->by == BY_COUNTER ? "counter"
                       : explanation->by == BY_PATTERN
                           ? hand_made_kind_name(explanation->pattern.kind)
                           : "statements";
    *VECTOR_ADD(&monitors->rejected) = (struct rejected){.mutex = explanation->mutex,
                                                         .name = name,
                                                         .tally = explanation->tally,
                                                         .score = *score,
                                                         .is_outdone = true};
}

/* ---- one of several candidates ---- */

struct selection select_begin(struct monitors *monitors, const struct sections *sections,
                              int mutex) {
    return (struct selection){.monitors = monitors,
                              .sections = sections,
                              .mutex = mutex,
                              .first = monitors->explanations.count};
}

void select_offer(struct selection *selection) {
    struct monitors *monitors = selection->monitors;
    const struct side offered = {.items = monitors->explanations.items + selection->first,
                                 .count = monitors->explanations.count - selection->first};
    if (offered.count == 0)
        return;
    struct score score = score_of(&offered, monitors, selection->sections, selection->mutex, NULL);
    bool is_better = selection->best.count == 0 || score_is_better(&score, &selection->score);
    for (size_t i = 0; i < selection->best.count && is_better; i++) {
        select_reject(monitors, &selection->best.items[i], &selection->score);
        explanation_free(&selection->best.items[i]);
    }
    selection->best.count = is_better ? 0 : selection->best.count;
    selection->score = is_better ? score : selection->score;
    for (size_t i = 0; i < offered.count; i++) {
        struct explanation *explanation = &monitors->explanations.items[selection->first + i];
        if (is_better) {
            explanation->score = score;
            *VECTOR_ADD(&selection->best) = *explanation;
        } else {
            select_reject(monitors, explanation, &score);
            explanation_free(explanation);
        }
    }
    monitors->explanations.count = selection->first;
}

void select_end(struct selection *selection) {
    for (size_t i = 0; i < selection->best.count; i++)
        explanation_add(selection->monitors, selection->best.items[i]);
    free(selection->best.items);
}

/* ---- one side of two ---- */

/* Counters that the run contradicts, of waits that the pattern is about. */
static bool is_rival(const struct explanation *explanation, const void *pattern) {
    const struct explanation *of = pattern;
    return explanation_is_contradicted(explanation) && explanation->mutex == of->mutex &&
           of->pattern.conditions[explanation->counter.condition];
}

static bool is_that(const struct explanation *explanation, const void *that) {
    return explanation == that;
}

/* True: the pattern stays. */
static bool settle(struct monitors *monitors, const struct sections *sections, size_t index) {
    const struct explanation *all = monitors->explanations.items;
    /* what is dropped moves the others: the pattern is looked at as it was */
    const struct explanation pattern = all[index];
    const struct side patterns = {.items = &pattern, .count = 1};
    const struct side counters = {all, monitors->explanations.count, is_rival, &pattern};
    size_t n_rivals = 0;
    for (size_t i = 0; i < counters.count; i++)
        n_rivals += is_rival(&all[i], &pattern);
    if (n_rivals == 0)
        return true;
    struct score score =
        score_of(&patterns, monitors, sections, pattern.mutex, pattern.pattern.conditions);
    struct score other =
        score_of(&counters, monitors, sections, pattern.mutex, pattern.pattern.conditions);
    bool is_better = score_is_better(&score, &other);
    for (size_t i = 0; i < counters.count && is_better; i++)
        if (is_rival(&all[i], &pattern))
            select_reject(monitors, &all[i], &other);
    if (!is_better)
        select_reject(monitors, &pattern, &score);
    if (is_better)
        explanations_drop(monitors, is_rival, &pattern);
    else
        explanations_drop(monitors, is_that, &all[index]);
    return is_better;
}

void select_settle(struct monitors *monitors, const struct sections *sections, size_t first) {
    for (size_t i = first; i < monitors->explanations.count;) {
        size_t before = monitors->explanations.count;
        bool stays = settle(monitors, sections, i);
        i = stays ? i + 1 - (before - monitors->explanations.count) : i;
    }
}

/* ---- what to give up when the model stalls ---- */

struct suspect {
    int mutex;
    double waited; /* sections that tell about the object of which the fewest do; 0: none known */
};

static void hear(struct suspect *suspect, double waited) {
    if (waited > 0 && (suspect->waited <= 0 || waited < suspect->waited)) /* 0: the source told */
        suspect->waited = waited;
}

/* The source says the same, and nothing of the run contradicts. */
static bool is_beyond_doubt(const struct monitors *monitors, const struct explanation *pattern) {
    const struct facts_monitor *proposal = monitors->proposal_of[pattern->mutex];
    return pattern->by == BY_PATTERN && pattern->pattern.kind == HAND_MADE_BARRIER && proposal &&
           proposal->kind == MONITOR_BARRIER && pattern->tally.violations == 0;
}

static int compare_suspects(const void *a, const void *b) {
    const struct suspect *x = a, *y = b;
    if (x->waited != y->waited)
        return x->waited < y->waited ? -1 : 1;
    return (x->mutex > y->mutex) - (x->mutex < y->mutex);
}

void doubts_suspect(struct doubts *doubts, const struct monitors *monitors,
                    const struct sections *sections) {
    if (doubts->doubted)
        return;
    doubts->doubted = memory_alloc(sections->n_objects + 1, sizeof *doubts->doubted);
    struct suspect *all = memory_alloc(sections->n_objects + 1, sizeof *all);
    for (size_t o = 0; o < sections->n_objects; o++)
        all[o].mutex = (int)o;
    for (size_t i = 0; i < monitors->explanations.count; i++) {
        const struct explanation *explanation = &monitors->explanations.items[i];
        if (!is_beyond_doubt(monitors, explanation))
            hear(&all[explanation->mutex], explanation->tally.waited);
    }
    qsort(all, sections->n_objects, sizeof *all, compare_suspects);
    for (size_t o = 0; o < sections->n_objects && doubts->n_suspects < SUSPECTS_LIMIT; o++)
        if (all[o].waited > 0 && all[o].waited <= evidence.little)
            doubts->suspects[doubts->n_suspects++] = all[o].mutex;
    free(all);
}

void doubts_free(struct doubts *doubts) {
    free(doubts->doubted);
}
