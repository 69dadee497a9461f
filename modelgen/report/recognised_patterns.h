/* What is said of a pattern: a barrier, a read-write lock, turns. */
#ifndef PERSIK_MODELGEN_REPORT_RECOGNISED_PATTERNS_H
#define PERSIK_MODELGEN_REPORT_RECOGNISED_PATTERNS_H

#include "formats/model.h"
#include "modelgen/lower/lower_input.h"
#include "modelgen/sync/monitor.h"

/* The functions that carry out its acts. */
void recognised_write_acts(const struct lower_input *input, const struct explanation *pattern,
                           struct hand_made *monitor);

/* What the replay of the pattern showed; its amount too. `is_proposed`: by the source as well. */
void recognised_write_replayed(const struct lower_input *input, const struct explanation *pattern,
                               const struct model *model, bool is_proposed,
                               struct hand_made *monitor);

/* Appends the pattern to the model, by what the trace shows alone. */
void recognised_write_pattern(const struct lower_input *input, const struct explanation *pattern,
                              struct model *model);

#endif
