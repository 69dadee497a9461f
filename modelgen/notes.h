/* Notes in a model for who reads its predictions: what it does not describe exactly. */
#ifndef PERSIK_MODELGEN_NOTES_H
#define PERSIK_MODELGEN_NOTES_H

#include "formats/model.h"

/* Appends to the "not modelled exactly" list; a line already there is not repeated. */
void notes_add(struct model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what ran, or brought the work, where the model does not look. */
void notes_add_outside(struct model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
