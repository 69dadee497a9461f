/* What a traced run has left behind, put together and saved as a trace. */
#ifndef PERSIK_TRACER_COLLECTED_TRACE_H
#define PERSIK_TRACER_COLLECTED_TRACE_H

#include "tracer/collection.h"

/* trace.persik, or evictions-N.persik of a run with emptied caches. */
int collected_trace_save(struct collection *collection, struct error *error);

#endif
