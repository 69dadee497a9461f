/* Which configurations are worth a look when nobody has named any: those around the recorded one.
 */
#ifndef PERSIK_CLI_PREDICTION_AROUND_RECORDED_H
#define PERSIK_CLI_PREDICTION_AROUND_RECORDED_H

#include <stdbool.h>

#include "formats/model.h"

/* For --threads and --cores: "1,2,3,4". From 1 to twice the recorded threads, and to the recorded
 * cores; of many numbers powers of two, and the recorded one. NULL: there is no such number, so
 * that the model's own stands. The caller frees. */
char *around_recorded_threads(const struct model *model);
char *around_recorded_cores(const struct model *model);

/* For --arrivals: rates up to nine tenths of the saturation. The caller frees. */
char *around_recorded_rates(double saturation_hz);

/* Do the program's tasks come from outside? */
bool around_recorded_is_served(const struct model *model);

#endif
