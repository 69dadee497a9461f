/* The pools of a profile: start routines first, then the paper's algorithm. Used by profile.c. */
#ifndef PERSIK_SAMPLER_GROUPING_H
#define PERSIK_SAMPLER_GROUPING_H

#include "formats/sample.h"
#include "sampler/profile_calls.h"

/* Fills the pools of `sample`, in the order of their first threads. */
void grouping_describe(const struct profile_calls *calls, struct sample *sample);

#endif
