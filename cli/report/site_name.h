/* What places and objects of a trace are called in reports and exports. */
#ifndef PERSIK_CLI_REPORT_SITE_NAME_H
#define PERSIK_CLI_REPORT_SITE_NAME_H

#include "formats/trace.h"

/* "worker (bank.c:40)", or "worker (bank)", a module, without a line; "?" of TRACE_NO_CONTEXT. The
 * caller frees. */
char *site_name(const struct trace *trace, uint32_t context);

/* The same of one of a context's frames. */
char *site_frame_name(const struct trace_frame *frame);

/* Is its object one that threads share and wait for? Files, sockets and threads are none. */
bool site_is_shared_object(enum api api);

#endif
