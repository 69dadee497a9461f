/* Predictions of loads that go on without an end: what they settle to, where they do, and the most
 * that each configuration can do. */
#ifndef PERSIK_CLI_PREDICTION_LOAD_TABLE_H
#define PERSIK_CLI_PREDICTION_LOAD_TABLE_H

#include "cli/prediction/prediction.h"
#include "cli/text/table.h"

/* The most throughput of a configuration: saturated by clients who do not think. */
struct saturation {
    struct estimate throughput_hz; /* NAN: the model marks no tasks, or there are no figures */
    double share;                  /* the model's uncertainty of it */
    const struct object *full;     /* the network's link that it comes from; NULL: it does not */
};

struct load_row {
    const struct prediction *prediction;
    struct saturation saturation;
};

/* Are these of a load without an end? */
bool load_is_endless(const struct prediction *predictions, size_t n);

/* Simulates it. `base` as for prediction_make(). 0, or -1 and `error`. */
int load_find_saturation(const struct model *model, const struct prediction *prediction,
                         const struct sim_config *base, struct saturation *saturation,
                         struct error *error);

/* How far a real response time or throughput may be from what is predicted of the load, in parts of
 * it, where `share` is the model's uncertainty. INFINITY: so near to saturation that nothing is
 * known of it. */
double load_share_of_response(const struct load_row *row, double share);
double load_share_of_throughput(const struct load_row *row, double share);

/* The caller frees it: table_free(). */
struct table *load_table(const struct model *model, const struct load_row *rows, size_t n);

/* Below the table: the saturation of each configuration, which loads are above it, and what then
 * grows. */
void load_print_saturation(const struct model *model, const struct load_row *rows, size_t n,
                           FILE *out);

#endif
