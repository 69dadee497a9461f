/* What a model says of the run that it was built from, as a whole: where it comes from, how much of
 * its time is explained, and what was outside of what was recorded. */
#ifndef PERSIK_MODELGEN_RUN_NOTES_H
#define PERSIK_MODELGEN_RUN_NOTES_H

#include "modelgen/build.h"

void run_notes_provenance(const struct build *build);

/* Of the threads' time, or of the CPU time of all that ran, whichever is less. */
void run_notes_explain_time(const struct build *build);

/* Time that went into recording threads, and threads that are bound to cores. */
void run_notes_attaching(const struct build *build);
void run_notes_binding(const struct build *build);

/* Programs that began when others had ended: no other configuration is known. */
void run_notes_programs(const struct build *build);

/* Requests to disks outside of every recorded call. */
/* What became of the requests of the kernel: commits, write-back, or neither. */
void run_notes_requests_of_kernel(const struct build *build);
void run_notes_requests_outside(const struct build *build);

#endif
