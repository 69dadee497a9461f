/* How threads that wait for a guard are told that something was added: by a signal or a broadcast,
 * always or only at some changes. */
#ifndef PERSIK_MODELGEN_LOWER_WAKE_POLICY_H
#define PERSIK_MODELGEN_LOWER_WAKE_POLICY_H

#include <stdbool.h>

#include "modelgen/lower/step_writer.h"

/* What critical sections tell conditions. */
struct wake_counts {
    int broadcasts, signals;
};

/* Adds what the section tells the condition; MODEL_NONE: any. */
void wake_policy_count(const struct sections *sections, const struct section *section,
                       int condition, struct wake_counts *told);

/* Is what is added to the guard mostly told by a broadcast, so that all who wait come to look? */
bool wake_policy_is_broadcast(const struct writer *writer, const struct explanation *guard);

/* Is it a queue into which is put by broadcast where nothing was there before, and else in silence?
 */
bool wake_policy_when_empty(const struct writer *writer, const struct explanation *guard);

/* Was something added in silence while somebody waited? Then it was not yet enough, which is looked
 * at before they are told. */
bool wake_policy_when_enough(const struct writer *writer, const struct explanation *guard);

#endif
