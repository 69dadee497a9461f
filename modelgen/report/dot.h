/* The drawing: tier 1 (objects) as boxes in the middle, tier 2 (a cluster of nodes per pool) around
 * them, tier 3 (the machine) as a legend. */
#ifndef PERSIK_MODELGEN_REPORT_DOT_H
#define PERSIK_MODELGEN_REPORT_DOT_H

#include <stdio.h>

#include "formats/model.h"

/* Graphviz source. */
int dot_write(const struct model *model, FILE *out);

#endif
