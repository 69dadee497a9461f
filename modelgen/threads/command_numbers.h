/* Numbers in the command that the program was started with. */
#ifndef PERSIK_MODELGEN_THREADS_COMMAND_NUMBERS_H
#define PERSIK_MODELGEN_THREADS_COMMAND_NUMBERS_H

#include <stdbool.h>

#include "formats/trace.h"

/* Is an argument the number, or does one end in it: "4", "-T4", "--threads=4", "10s"? */
bool command_names_number(const struct trace_meta *meta, int number);

/* Is one of these numbers larger? */
bool command_names_more_than(const struct trace_meta *meta, int number);

#endif
