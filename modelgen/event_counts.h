/* What a filter changed in the trace, for the decision log: found by comparing the trace before and
 * after it, so that no filter has to count by itself. */
#ifndef PERSIK_MODELGEN_EVENT_COUNTS_H
#define PERSIK_MODELGEN_EVENT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/event_log.h"

struct event_counts {
    size_t n_threads, n_records;
    size_t of_api[API_COUNT];
    uint64_t content;      /* a hash of all records: they changed although no count did */
    const char **routines; /* per thread: its start routine */
    struct map made_up; /* objects that were never recorded (events/object_origin.h), by address */
    const struct trace_thread *threads; /* whose records were counted, ... */
    size_t n_edits;                     /* ... after so many edits of the log */
};

/* Of a trace that `log` shows, or that was made of what it shows. */
struct event_counts event_counts_of(const struct trace *trace, const struct event_log *log);
void event_counts_free(struct event_counts *counts);

/* Logs what `pass` changed since `before`, which become those of `trace`. Nothing changed: nothing
 * is logged, and where nothing can have changed, nothing is counted either. */
void event_counts_log(const char *pass, const struct trace *trace, const struct event_log *log,
                      struct event_counts *before);

#endif
