#include "cli/difference/difference_tables.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/prediction/uncertainty.h"

/* ---- what is predicted ---- */

static const struct table_column figure_columns[] = {
    {"figure", ""},       {"before", "before"}, {"after", "after"},
    {"change", "change"}, {"change_low", NULL}, {"change_high", NULL},
};

static const struct figure {
    const char *key;
    size_t offset; /* of its struct estimate in struct sim_result */
    enum unit unit;
    bool is_of_end; /* says nothing of a load without an end */
} figures[] = {
    {"running time", offsetof(struct sim_result, run_ns), UNIT_TIME, true},
    {"CPU time", offsetof(struct sim_result, cpu_ns), UNIT_TIME, true},
    {"throughput", offsetof(struct sim_result, throughput_hz), UNIT_RATE, false},
    {"response mean", offsetof(struct sim_result, response_ns), UNIT_TIME, false},
    {"response p99", offsetof(struct sim_result, response_p99_ns), UNIT_TIME, false},
};

static struct estimate estimate_of(const struct version *version, const struct figure *figure) {
    struct estimate estimate;
    memcpy(&estimate, (const char *)&version->prediction.result + figure->offset, sizeof estimate);
    return estimate;
}

/* What two models of one program miss in the same way does not part them: what counts is how much
 * their runs differed by chance, and how well each reproduces its own. */
static double own_uncertainty(const struct version *version) {
    struct uncertainty parts = prediction_uncertainty(&version->prediction);
    parts.rules = parts.not_modelled = parts.threads = parts.cores = 0;
    return uncertainty_share(&parts);
}

static void add_figure(struct table *table, const struct version *before,
                       const struct version *after, const struct figure *figure) {
    double values[] = {estimate_of(before, figure).mean, estimate_of(after, figure).mean};
    bool is_endless = before->prediction.result.regime != REGIME_ENDING ||
                      after->prediction.result.regime != REGIME_ENDING;
    if (!(values[0] > 0 && values[1] > 0) || (is_endless && figure->is_of_end))
        return;
    double ratio = values[1] / values[0];
    double width = hypot(own_uncertainty(before), own_uncertainty(after)) * ratio;
    double change = ratio - 1;
    table_add_text(table, figure->key);
    table_add_number(table, values[0], figure->unit);
    table_add_number(table, values[1], figure->unit);
    table_add_share_range(table, change, change - width, change + width);
}

struct table *difference_figures(const struct version *before, const struct version *after) {
    struct table *table = table_new(figure_columns, sizeof figure_columns / sizeof *figure_columns);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(table, before, after, &figures[i]);
    return table;
}

/* ---- what makes it ---- */

static const struct table_column change_columns[] = {
    {"what", "put into the earlier model"},
    {"factor", "times"},
    {"effect", "running time"},
};

struct table *difference_causes(const struct model_changes *changes, bool is_endless) {
    static const struct table_column endless_columns[] = {
        {"what", "put into the earlier model"},
        {"factor", "times"},
        {"effect", "response mean"},
    };
    struct table *table = table_new(is_endless ? endless_columns : change_columns,
                                    sizeof change_columns / sizeof *change_columns);
    for (size_t i = 0; i < changes->count; i++) {
        table_add_text(table, changes->items[i].what);
        table_add_number(table, changes->items[i].factor, UNIT_NONE);
        table_add_signed_share(table, changes->items[i].effect);
    }
    return table;
}

/* ---- what was recorded ---- */

static const struct table_column function_columns[] = {
    {"function", "computed in"}, {"before_ns", "before"},   {"after_ns", "after"},
    {"change_ns", "change"},     {"error_ns", "+- (95 %)"},
};
static const struct table_column call_columns[] = {
    {"call", "waited in"},   {"before_ns", "before"},          {"after_ns", "after"},
    {"change_ns", "change"}, {"calls_before", "calls before"}, {"calls_after", "after"},
};

#define TWO_SIDED_95 1.96 /* standard errors */

static double cost_ns(const struct cost *cost) {
    return cost ? cost->ns : 0;
}

static long cost_count(const struct cost *cost) {
    return cost ? lround(cost->count) : 0;
}

static void add_costs(struct table *table, const struct cost_pair *pair) {
    table_add_text(table, pair->name);
    table_add_number(table, cost_ns(pair->before), UNIT_TIME);
    table_add_number(table, cost_ns(pair->after), UNIT_TIME);
    table_add_number(table, pair->change_ns, UNIT_TIME);
}

struct table *difference_functions(const struct cost_pairs *pairs, size_t limit) {
    struct table *table =
        table_new(function_columns, sizeof function_columns / sizeof *function_columns);
    for (size_t i = 0; i < pairs->count && i < limit; i++) {
        add_costs(table, &pairs->items[i]);
        table_add_number(table, TWO_SIDED_95 * pairs->items[i].error_ns, UNIT_TIME);
    }
    return table;
}

struct table *difference_calls(const struct cost_pairs *pairs, size_t limit) {
    struct table *table = table_new(call_columns, sizeof call_columns / sizeof *call_columns);
    for (size_t i = 0; i < pairs->count && i < limit; i++) {
        add_costs(table, &pairs->items[i]);
        table_add_integer(table, cost_count(pairs->items[i].before));
        table_add_integer(table, cost_count(pairs->items[i].after));
    }
    return table;
}
