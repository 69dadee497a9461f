/* The rule of a pool as the model states it: which one, how sure it is, and the words for it. */
#ifndef PERSIK_MODELGEN_SCALING_POOL_RULE_H
#define PERSIK_MODELGEN_SCALING_POOL_RULE_H

#include "formats/model.h"

/* What a pool of this rule does, in words; not of PARTITION_UNKNOWN. */
const char *pool_rule_text(enum partition rule);

/* Sets partition, confidence and rule; the rule is `text`, which is taken over, with the bounds of
 * the pool's size. */
void pool_rule_set(struct pool *pool, enum partition rule, double confidence, char *text);

/* Sets it to PARTITION_UNKNOWN, and notes in the model what the user can give. `why` is taken over.
 */
void pool_rule_set_unknown(struct model *model, int pool, char *why);

#endif
