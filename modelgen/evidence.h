/* The thresholds of modelgen/evidence.def, by name. */
#ifndef PERSIK_MODELGEN_EVIDENCE_H
#define PERSIK_MODELGEN_EVIDENCE_H

#include <stdio.h>

#include "base/error.h"

struct evidence {
#define EVIDENCE(name, value, what) double name;
#include "modelgen/evidence.def"
#undef EVIDENCE
};

/* Read by all, changed by evidence_set() alone. */
extern struct evidence evidence;

/* `assignment`: NAME=VALUE, for all builds from now on. -1 and `error`: no such name, or no number
 * above 0. */
int evidence_set(const char *assignment, struct error *error);

/* A line for each: name, value, what it means. */
void evidence_list(FILE *out);

#endif
