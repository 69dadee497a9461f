/* Writing one hand-made object of a model: its name, operations and parts, the evidence for and
 * against it, and how sure that makes us. */
#ifndef PERSIK_MODELGEN_MONITORS_HAND_MADE_DRAFT_H
#define PERSIK_MODELGEN_MONITORS_HAND_MADE_DRAFT_H

#include "formats/model.h"
#include "modelgen/graph/stream.h"

/* By the type or variable that the source says it is, or by what is locked; `proposal` NULL: none.
 * The caller takes the name over. */
char *hand_made_name(const struct stream_input *input, int mutex,
                     const struct facts_monitor *proposal, enum hand_made_kind kind);

/* Nothing is known of it yet, nor of its amount. */
struct hand_made hand_made_new(enum hand_made_kind kind);

/* Unless it is there already. */
void hand_made_add_operation(struct hand_made *monitor, enum hand_made_role as,
                             const char *function);

/* An object of the model, unless it is there already; negative: none. */
void hand_made_add_part(struct hand_made *monitor, int object);

__attribute__((format(printf, 2, 3))) void hand_made_add_evidence(struct hand_made *monitor,
                                                                  const char *format, ...);
void hand_made_add_contradiction(const struct stream_input *input, const struct contradiction *at,
                                 struct hand_made *monitor);

/* Every wait that had to be and every pass that could be speaks for the hypothesis, but many of one
 * kind do not make up for none of the other. What the source says halves the doubt. From 0 to 1. */
double hand_made_confidence(double replayed, double waited, double violations, bool is_proposed);

/* The copy's terms are its own. */
struct linear hand_made_copy_amount(const struct linear *from);

/* Appends it to the model, which takes it over. */
void hand_made_add(struct model *model, struct hand_made monitor);

#endif
