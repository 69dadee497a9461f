/* The forms of passes.def as text: a person reads it, `diff` compares two of it. One thing a line;
 * times in nanoseconds since the program's start, numbers of threads as in the trace. */
#ifndef PERSIK_MODELGEN_FORM_DUMP_H
#define PERSIK_MODELGEN_FORM_DUMP_H

#include <stdio.h>

struct build;

/* The events of each thread, then all edits so far. */
void form_dump_events(const struct build *build, FILE *out);
void form_dump_teams(const struct build *build, FILE *out);
void form_dump_outside(const struct build *build, FILE *out);
void form_dump_times(const struct build *build, FILE *out);
void form_dump_machine(const struct build *build, FILE *out);
void form_dump_pools(const struct build *build, FILE *out);
void form_dump_sections(const struct build *build, FILE *out);
void form_dump_monitors(const struct build *build, FILE *out);
void form_dump_sites(const struct build *build, FILE *out);
void form_dump_disks(const struct build *build, FILE *out);
void form_dump_steps(const struct build *build, FILE *out);
void form_dump_objects(const struct build *build, FILE *out);
void form_dump_graph(const struct build *build, FILE *out);
void form_dump_report(const struct build *build, FILE *out);
void form_dump_scaling(const struct build *build, FILE *out);

#endif
