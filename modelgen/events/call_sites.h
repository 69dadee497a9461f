/* Programs hide their locks and sleeps in functions of their own (safe_lock(), a macro's inline
 * function). What says where a call is, and what the source says about it, is then the function
 * around it.
 *
 * A wrapper makes one such call, at one line, for callers at several places: it locks but never
 * unlocks. Where no symbol tells the functions, all that is called from one place is one function.
 * All of the C++ standard library is a wrapper: std::mutex::lock() and what it is made of. */
#ifndef PERSIK_MODELGEN_EVENTS_CALL_SITES_H
#define PERSIK_MODELGEN_EVENTS_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/trace.h"

/* The trace's contexts without the wrappers' frames; to be freed with free(). The frames stay the
 * trace's own. */
struct trace_context *call_sites_without_wrappers(const struct trace *trace);

/* How many of the calls are left without the C++ standard library's in which a thread begins; 0:
 * all are its. */
size_t call_sites_own_frames(const struct trace_context *calls);

/* Is it a function of that library? `file` and `module` may be NULL: unknown. Linked statically
 * (-static-libstdc++) it is in the program's own module, without debug information. */
bool call_sites_is_of_standard_library(const char *function, const char *file, const char *module);

#endif
