/* Requests of an event loop that sleeps before it has ended them: other threads work on them, or
 * the loop waits for their rest or for another server. The time until it goes on with one is no
 * time of the loop's, which meanwhile takes others: what a thread of the model, which has one
 * request at a time, cannot do. */
#ifndef PERSIK_MODELGEN_EVENTS_UNFINISHED_REQUESTS_H
#define PERSIK_MODELGEN_EVENTS_UNFINISHED_REQUESTS_H

#include <stddef.h>

#include "formats/trace.h"
#include "modelgen/events/request.h"

/* Why these requests cannot be modelled, for the caller to free: most are ended after such a sleep,
 * and sleeping is more than a small part of their time. NULL: they can. Needs `take`, `end` and
 * `end_ns`. O(n log n) in the trace's records. */
char *unfinished_requests_refusal(const struct trace *trace, const struct request *requests,
                                  size_t n);

#endif
