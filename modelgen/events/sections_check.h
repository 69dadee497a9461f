/* The invariants of shared objects and critical sections. */
#ifndef PERSIK_MODELGEN_EVENTS_SECTIONS_CHECK_H
#define PERSIK_MODELGEN_EVENTS_SECTIONS_CHECK_H

#include "base/error.h"
#include "formats/trace.h"
#include "modelgen/events/critical_section.h"

/* Each object is of a class that stands for itself; each section begins with an event of its thread
 * that is known as its lock, ends behind it, and lists waits and signals in it; each section is one
 * of its mutex's. -1 and `error`: one of these does not hold. O(sections). */
int sections_check(const struct trace *trace, const struct sections *sections, struct error *error);

#endif
