/* Functions of the user's catalog whose code cannot give way to a jump: the kernel stops at their
 * start and at their returns and notes the time (uprobes, through the ftrace instance; root only).
 *
 * Not at their returns by a uretprobe where that can be helped: it replaces return addresses, and
 * an exception thrown through such a frame ends the program. */
#ifndef PERSIK_TRACER_UPROBES_H
#define PERSIK_TRACER_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/ftrace.h"
#include "tracer/lacks.h"
#include "tracer/wraps.h"

#define UPROBE_COST_NS 4200 /* of one stop, measured */

/* A call of a watched function, the outermost of its thread. */
struct uprobe_call {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it did not return */
    int tid;
    const struct raw_wrap *wrap;
    uint64_t caller; /* return address */
    uint64_t object, amount, result;
};

struct uprobes;

/* Watches what of `wraps` is the kernel's business; NULL when that is nothing. What cannot be
 * watched goes to `lacks`. */
struct uprobes *uprobes_attach(const struct wraps *wraps, struct ftrace *ftrace,
                               struct lacks *lacks);

/* The calls seen, by thread and start; they belong to `uprobes`. Call after the last drain. */
const struct uprobe_call *uprobes_calls(struct uprobes *uprobes, size_t *n);

/* The kernel stops nowhere any more. After ftrace_close(), which switches the events off. NULL is
 * allowed, here and below. */
void uprobes_end(struct uprobes *uprobes);

void uprobes_free(struct uprobes *uprobes);

#endif
