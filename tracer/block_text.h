/* Another source of block I/O: logs as text, a line for each event. Those of ftrace's blk tracer
 * and of its block events (block_bio_queue ...), as the files trace and trace_pipe in tracefs have
 * them, and what blkparse(1) prints by default. Their clocks may be any. */
#ifndef PERSIK_TRACER_BLOCK_TEXT_H
#define PERSIK_TRACER_BLOCK_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "tracer/requests.h"

/* Is it an event of a request? Fills `event` with it; not to be freed. */
bool block_text_parse(const char *line, struct block_event *event);

/* Adds the events of a file; lines that are none of these are passed over. -1 and `error`: cannot
 * be read, or has no such line. */
int block_text_read(struct block_events *events, const char *path, struct error *error);

#endif
