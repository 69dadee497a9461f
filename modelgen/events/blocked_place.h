/* Where the stack samples found threads blocked that were in no call of the catalog: in calls that
 * it does not have, and in page faults. */
#ifndef PERSIK_MODELGEN_EVENTS_BLOCKED_PLACE_H
#define PERSIK_MODELGEN_EVENTS_BLOCKED_PLACE_H

#include "formats/sample.h"

struct blocked_place {
    const struct sample_node *frame; /* of the program's own source; NULL: nowhere, or hardly */
    const char *called;              /* the function that it had called; NULL: none */
};

/* Where most were, of the threads that begin with `root`; NULL: of all. What it points at is the
 * sample's. */
struct blocked_place blocked_place_find(const struct sample *sample, const char *root);

#endif
