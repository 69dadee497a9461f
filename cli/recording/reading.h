/* What the source analysis is to read, whether or not a sample fell into it: the libraries that the
 * program is linked with, and the functions in which traced calls were made. */
#ifndef PERSIK_CLI_RECORDING_READING_H
#define PERSIK_CLI_RECORDING_READING_H

#include <stdbool.h>

/* A descriptor, for the caller to hand to persik-analyze and to close, of a file in memory with the
 * keys `functions` and `libraries` of sample.json. The functions are main and those of the trace in
 * `directory`; none with neither samples nor a trace there. -1: nothing could be made. */
int reading_open(const char *program, const char *directory);

/* Do the facts in `directory` leave out a function, of a file that was analysed, in which a call
 * of the trace there was made? False where either is missing. */
bool reading_is_incomplete(const char *directory);

#endif
