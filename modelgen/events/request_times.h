/* When requests came, as far as a recording tells: who was woken for one, and who waited in vain.
 */
#ifndef PERSIK_MODELGEN_EVENTS_REQUEST_TIMES_H
#define PERSIK_MODELGEN_EVENTS_REQUEST_TIMES_H

#include <stddef.h>

#include "formats/trace.h"
#include "modelgen/events/helped_requests.h"
#include "modelgen/events/request.h"

/* Sets `from_ns` and `to_ns` of the requests, takes `wait` from those that were there when a thread
 * asked, and sorts them by source and time. `wait` must be told of all of them. O(n log n). */
void request_times_find(const struct trace *trace, struct request *requests, size_t n,
                        const struct helped_requests *helped);

#endif
