#include "modelgen/doubts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/patterns.h"

struct suspect {
    int mutex;
    double waited; /* sections that tell */
};

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
        all[o] = (struct suspect){.mutex = (int)o, .waited = -1};
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct suspect *suspect = &all[monitors->guards[g].mutex];
        suspect->waited = (suspect->waited < 0 ? 0 : suspect->waited) + monitors->guards[g].waited;
    }
    for (size_t p = 0; p < monitors->n_patterns; p++) {
        struct suspect *suspect = &all[monitors->patterns[p].mutex];
        suspect->waited =
            (suspect->waited < 0 ? 0 : suspect->waited) + monitors->patterns[p].tally.waited;
    }
    qsort(all, sections->n_objects, sizeof *all, compare_suspects);
    for (size_t o = 0; o < sections->n_objects && doubts->n_suspects < SUSPECTS_LIMIT; o++)
        if (all[o].waited > 0) /* what nobody waited for came from the source */
            doubts->suspects[doubts->n_suspects++] = all[o].mutex;
    free(all);
}

void doubts_free(struct doubts *doubts) {
    free(doubts->doubted);
}
