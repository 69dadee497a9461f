/* One run with the probe library in the program and the kernel's events recorded beside it. */
#ifndef PERSIK_TRACER_TRACED_RUN_H
#define PERSIK_TRACER_TRACED_RUN_H

#include "tracer/collection.h"

/* What it leaves behind is in `collection`. -1 and `error`: there was no run. */
int traced_run_make(struct collection *collection, struct error *error);

#endif
