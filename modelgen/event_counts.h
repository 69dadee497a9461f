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
    size_t n_edits;     /* of the log by then */
};

/* By which the decision log knows an object of the trace. The caller frees. */
char *event_counts_object_name(uint64_t address);

struct event_counts event_counts_of(const struct event_log *log);
void event_counts_free(struct event_counts *counts);

/* Logs what `pass` changed since `before`, which become those of the log. Nothing changed: nothing
 * is logged, and where nothing can have changed, nothing is counted either. */
void event_counts_log(const char *pass, const struct event_log *log, struct event_counts *before);

#endif
