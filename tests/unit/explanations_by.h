/* Explanations of one kind among all that were found, by number. */
#ifndef PERSIK_TESTS_EXPLANATIONS_BY_H
#define PERSIK_TESTS_EXPLANATIONS_BY_H

#include "modelgen/sync/monitor.h"

static inline size_t count_by(const struct monitors *monitors, enum explained_by by) {
    size_t n = 0;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, by, e));)
        n++;
    return n;
}

/* NULL: there are not so many. */
static inline struct explanation *number_by(const struct monitors *monitors, enum explained_by by,
                                            size_t number) {
    struct explanation *e = explanation_next(monitors, by, NULL);
    for (; e && number > 0; number--)
        e = explanation_next(monitors, by, e);
    return e;
}

#endif
