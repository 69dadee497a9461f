/* Requests that overlap in one thread, one after the other. An event loop may take a request before
 * it has ended the one before, as when that comes in parts. A thread of the model has one request
 * at a time: what it takes meanwhile waits until it has ended the one before. */
#ifndef PERSIK_MODELGEN_EVENTS_REQUEST_ORDER_H
#define PERSIK_MODELGEN_EVENTS_REQUEST_ORDER_H

#include <stddef.h>

#include "modelgen/events/request.h"

/* Tells each request behind which end it is taken (`behind`). Those that a thread both takes and
 * ends are ended in the order in which it took them: which of them is ended first changes single
 * response times, not their mean. O(n log n). */
void request_order_find(struct request *requests, size_t n);

#endif
