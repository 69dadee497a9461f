/* What is said of a pattern: a barrier, a read-write lock, turns. */
#ifndef PERSIK_MODELGEN_MONITORS_HAND_MADE_PATTERNS_H
#define PERSIK_MODELGEN_MONITORS_HAND_MADE_PATTERNS_H

#include "formats/model.h"
#include "modelgen/graph/stream.h"
#include "modelgen/monitors/patterns.h"

/* The functions that carry out its acts. */
void hand_made_write_acts(const struct stream_input *input, const struct pattern *pattern,
                          struct hand_made *monitor);

/* What the replay of the pattern showed; its amount too. `is_proposed`: by the source as well. */
void hand_made_write_replayed(const struct stream_input *input, const struct pattern *pattern,
                              const struct model *model, bool is_proposed,
                              struct hand_made *monitor);

/* Appends the pattern to the model, by what the trace shows alone. */
void hand_made_write_pattern(const struct stream_input *input, const struct pattern *pattern,
                             struct model *model);

#endif
