/* Is a model whole? Everything that the simulator relies on, so that it need not look again. Each
 * violation is named by its place in model.json. Private to formats/: what the files of
 * model_check() share. All return 0, or -1 and `error`. */
#ifndef PERSIK_FORMATS_MODEL_CHECK_H
#define PERSIK_FORMATS_MODEL_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/json_place.h"
#include "formats/model.h"

/* -1, always: what is wrong there, and what to do. */
int model_violation(const struct place *place, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- parts (model_check_parts.c): the value of `key` in what is `above` ---- */

int model_check_amount(double value, const char *key, const struct place *above,
                       struct error *error);
int model_check_index(int index, size_t n, const char *what, const struct place *place,
                      struct error *error);
int model_check_dist(const struct dist *dist, const char *key, const struct place *above,
                     struct error *error);
int model_check_linear(const struct model *model, const struct linear *linear, const char *key,
                       const struct place *above, struct error *error);
int model_check_scaling(const struct model *model, const struct scaling *scaling, const char *key,
                        const struct place *above, struct error *error);

/* ---- things ---- */

int model_check_object(const struct model *model, size_t i, struct error *error);

/* For each object whether some node closes it, which the check of nodes needs. The caller frees. */
bool *model_find_closed(const struct model *model);
int model_check_node(const struct model *model, const bool *closed, size_t i, struct error *error);

/* Behind the nodes. */
int model_check_page_cache(const struct model *model, struct error *error);

#endif
