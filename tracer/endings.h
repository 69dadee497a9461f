/* What the end of the program kept from the trace. */
#ifndef PERSIK_TRACER_ENDINGS_H
#define PERSIK_TRACER_ENDINGS_H

#include "formats/trace.h"

/* The last thread of a program often tells the main one, under a mutex, that all is done, and the
 * main one ends the program before the unlock can be written down. Who was told went on because of
 * what was done in that section, so it is one like others: gives it an unlock, which never
 * returned, when the thread's records end, by the call with which such a section ended elsewhere.
 * For threads whose own end was not seen. */
void endings_unlock(struct trace *trace);

#endif
