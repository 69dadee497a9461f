/* Writing one hand-made object of a model: its name, operations and parts, the evidence for and
 * against it, and how sure that makes us. */
#ifndef PERSIK_MODELGEN_REPORT_RECOGNISED_DRAFT_H
#define PERSIK_MODELGEN_REPORT_RECOGNISED_DRAFT_H

#include "formats/model.h"
#include "modelgen/lower/lower_input.h"

/* By the type or variable that the source says it is, or by what is locked; `proposal` NULL: none.
 * The caller takes the name over. */
char *recognised_name(const struct lower_input *input, int mutex,
                      const struct facts_monitor *proposal, enum hand_made_kind kind);

/* Nothing is known of it yet, nor of its amount. */
struct hand_made recognised_new(enum hand_made_kind kind);

/* Unless it is there already. */
void recognised_add_operation(struct hand_made *monitor, enum hand_made_role as,
                              const char *function);

/* An object of the model, unless it is there already; negative: none. */
void recognised_add_part(struct hand_made *monitor, int object);

__attribute__((format(printf, 2, 3))) void recognised_add_evidence(struct hand_made *monitor,
                                                                   const char *format, ...);
/* Who waited where the explanation says otherwise, or did not, and where; the caller frees. */
char *recognised_contradiction(const struct lower_input *input, const struct contradiction *at);
/* Those of the tally that were kept. */
void recognised_add_contradictions(const struct lower_input *input, const struct tally *tally,
                                   struct hand_made *monitor);

/* Every wait that had to be and every pass that could be speaks for the hypothesis, but many of one
 * kind do not make up for none of the other. What the source says halves the doubt. From 0 to 1. */
double recognised_confidence(double replayed, double waited, double violations, bool is_proposed);

/* The copy's terms are its own. */
struct linear recognised_copy_amount(const struct linear *from);

/* Appends it to the model, which takes it over. */
void recognised_add(struct model *model, struct hand_made monitor);

#endif
