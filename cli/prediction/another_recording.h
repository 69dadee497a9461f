/* What one more recording, with other numbers of threads, would tell that one does not. */
#ifndef PERSIK_CLI_PREDICTION_ANOTHER_RECORDING_H
#define PERSIK_CLI_PREDICTION_ANOTHER_RECORDING_H

#include "formats/model.h"

/* "record once more with other numbers of threads, `persik profile --also-record threads=1,2`: that
 * tells 2 of 3 unknowns", for the caller to free; NULL: it would tell nothing. */
char *another_recording_advice(const struct model *model);

#endif
