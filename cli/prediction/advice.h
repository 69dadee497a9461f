/* What a table of predictions says, in sentences: with how many threads each number of cores does
 * best, where more gain nothing and what is busy there, and what the model cannot say. */
#ifndef PERSIK_CLI_PREDICTION_ADVICE_H
#define PERSIK_CLI_PREDICTION_ADVICE_H

#include <stdio.h>

#include "cli/prediction/load_table.h"

struct advice {
    char **items; /* sentences */
    size_t count, capacity;
};

/* Of predictions and, where their load has no end, their load rows (else NULL), of which the first
 * of each configuration counts. None where nothing can be said; advice_free() ends it. Differences
 * below what any two runs of one configuration differ by count as none (`machine` of struct
 * uncertainty). */
struct advice advice_of(const struct model *model, const struct prediction *predictions,
                        const struct load_row *rows, size_t n);
void advice_free(struct advice *advice);

/* Each from a new line, in lines of at most 80 letters. */
void advice_print(const struct advice *advice, FILE *out);

#endif
