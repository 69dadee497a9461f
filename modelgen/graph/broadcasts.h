/* How those who wait for a guard are told that something was added. */
#ifndef PERSIK_MODELGEN_GRAPH_BROADCASTS_H
#define PERSIK_MODELGEN_GRAPH_BROADCASTS_H

#include <stdbool.h>

#include "modelgen/graph/writer.h"

/* What critical sections tell conditions. */
struct told {
    int broadcasts, signals;
};

/* Adds what the section tells the condition; MODEL_NONE: any. */
void told_count(const struct sections *sections, const struct section *section, int condition,
                struct told *told);

/* Is what is added to the guard mostly told by a broadcast, so that all who wait come to look? */
bool broadcasts_adding(const struct writer *writer, const struct guard *guard);

/* Is it a queue into which is put by broadcast where nothing was there before, and else in silence?
 */
bool broadcasts_when_empty(const struct writer *writer, const struct guard *guard);

/* Was something added in silence while somebody waited? Then it was not yet enough, which is looked
 * at before they are told. */
bool broadcasts_enough(const struct writer *writer, const struct guard *guard);

#endif
