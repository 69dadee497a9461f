/* What the public handles are inside. */
#ifndef PERSIK_LIBRARY_HANDLES_H
#define PERSIK_LIBRARY_HANDLES_H

#include "base/error.h"
#include "formats/model.h"
#include "library/persiksim.h"

struct persik_model {
    struct model *model;
    struct error wrong; /* the first call that could not be done; without text: none */
};

/* Passes an error on to the caller, who may not want it. Always returns -1. */
int handles_tell(const struct error *from, persik_error *to);

#endif
