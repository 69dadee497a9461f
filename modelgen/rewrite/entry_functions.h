/* Threads of C++'s library all begin in the same function of its own, which calls what the program
 * handed over. They are shown as beginning there: that is what tells a program's threads apart, and
 * where the source says how they share their work. */
#ifndef PERSIK_MODELGEN_REWRITE_ENTRY_FUNCTIONS_H
#define PERSIK_MODELGEN_REWRITE_ENTRY_FUNCTIONS_H

#include "formats/facts.h"
#include "modelgen/events/event_log.h"

/* A thread that makes no recorded call is taken to run what others that are created alike do; where
 * none of them does, what the source says of where it is created; where that says nothing (`facts`
 * may be NULL), it keeps the library's function. */
void entry_functions_of_program(struct event_log *log, const struct facts *facts);

/* The same of one thread by the trace alone: where it, or another one that is created alike, goes
 * from the library into the program; NULL: neither does. The text is the trace's. */
const char *entry_function_of(const struct trace *trace, size_t thread);

#endif
