#include "cli/prediction/path_curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const struct table_column columns[] = {
    {"factor", "factor"},
    {"gain_share", "gain"},
    {"predicted_ns", "run takes"},
    {"as_recorded_ns", "as recorded"},
};

/* How much less the part takes: 10, 25, 50 and 100 % are those by which candidates are compared. */
static const double factors[] = {1, 0.9, 0.75, 0.5, 0.25, 0};

/* -1 and `error`: no such name. */
static int predict(const struct dependencies *all, const char *name, double factor,
                   struct what_if *predicted, struct error *error) {
    struct changes changes = {0};
    char *text = memory_format("%s=%g", name, factor);
    int status = changes_add_scale(&changes, text, error);
    if (status == 0 && changes.items[0].kind == CHANGE_SERVICE)
        status = error_set(error,
                           "'%s': a recorded run knows disks by who waits for them: "
                           "io:NAME",
                           name);
    if (status == 0) {
        struct scale scale = recorded_change(&changes.items[0]);
        *predicted = critical_path_predict(all, &scale, 1, 0);
        status = recorded_change_check(&changes.items[0], &scale, all, error);
    }
    changes_free(&changes);
    free(text);
    return status == 0 ? 0 : error_prefix(error, "--curve");
}

static double answer_of(const struct what_if *predicted) {
    return isfinite(predicted->rescheduled_ns) ? predicted->rescheduled_ns
                                               : predicted->as_recorded_ns;
}

struct table *path_curve(const struct dependencies *all, const char *name, struct error *error) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    double unchanged_ns = 0;
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        struct what_if predicted = {0};
        if (predict(all, name, factors[f], &predicted, error) != 0) {
            table_free(table);
            return NULL;
        }
        double answer_ns = answer_of(&predicted);
        unchanged_ns = f == 0 ? answer_ns : unchanged_ns;
        table_add_number(table, factors[f], UNIT_NONE);
        table_add_signed_share(table, 1 - answer_ns / unchanged_ns);
        table_add_number(table, answer_ns, UNIT_TIME);
        table_add_number(table, predicted.as_recorded_ns, UNIT_TIME);
    }
    return table;
}
