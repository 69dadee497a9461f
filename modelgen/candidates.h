/* The candidates of modelgen/candidates.def, by name: which of them are not sought. */
#ifndef PERSIK_MODELGEN_CANDIDATES_H
#define PERSIK_MODELGEN_CANDIDATES_H

#include <stdbool.h>
#include <stdio.h>

struct candidates {
#define CANDIDATE(name, what) bool name;
#include "modelgen/candidates.def"
#undef CANDIDATE
};

/* Read by all, changed by candidates_leave_out() alone. */
extern struct candidates left_out;

/* Leaves the candidate of that name out, in all builds from now on. False: there is none. */
bool candidates_leave_out(const char *name);

/* Calls `tell` with the name of each that is left out. */
void candidates_tell_left_out(void (*tell)(const char *name, void *context), void *context);

/* Two indented lines for each: its name, and what it is. */
void candidates_list(FILE *out);

#endif
