/* The passes of passes.def, in their order. */
#ifndef PERSIK_MODELGEN_PASSES_H
#define PERSIK_MODELGEN_PASSES_H

#include "modelgen/pass.h"

extern const struct pass_list passes;

/* Ends what the passes made, but for the model. */
void passes_end(struct build *build);

#endif
