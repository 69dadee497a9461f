#include "modelgen/sync/doubts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/monitor.h"

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
