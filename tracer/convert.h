/* From what the probe library and the kernel recorded to a trace. */
#ifndef PERSIK_TRACER_CONVERT_H
#define PERSIK_TRACER_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace.h"
#include "tracer/image.h"
#include "tracer/lacks.h"
#include "tracer/looks.h"
#include "tracer/requests.h"
#include "tracer/slices.h"
#include "tracer/timebase.h"
#include "tracer/uprobes.h"

struct convert_input {
    struct images *images;
    int failure; /* errno of what could not be written of their records; 0: nothing */
    const struct timebase *timebase;
    const struct sched_event *events; /* sorted; NULL without */
    size_t n_events;
    const struct block_requests *requests; /* of the whole machine; NULL without */
    const struct uprobe_call *calls;       /* that the kernel saw, by thread and start */
    size_t n_calls;
    const struct looks *looks;
    bool reclaims; /* the kernel takes file pages out of memory that is not short */
    uint64_t start_mono_ns, end_mono_ns; /* of the run */
};

/* Fills the contexts, threads, values and block requests of `trace`, and of its meta the numbers of
 * records, of records and events lost and the costs of the probes. Uses up the records of the
 * images. */
void convert(struct trace *trace, const struct convert_input *input, struct lacks *lacks);

#endif
