/* Unwinds one thread of the sampled program from its registers and a copy of its stack.
 *
 * libunwind interprets the call frame information of the program's files, so binaries without
 * frame pointers work. The thread is never touched; where the copy of its stack ends, the live
 * memory is read. */
#ifndef PERSIK_SAMPLER_UNWIND_H
#define PERSIK_SAMPLER_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "processor/registers.h"
#include "sampler/modules.h"

#define UNWIND_MAX_FRAMES 256

struct unwind_input {
    pid_t tid;                  /* whose memory is read where `stack` does not reach */
    struct registers registers; /* at least RSP and RIP; an unknown RBP is looked for */
    const unsigned char *stack; /* from RSP upwards */
    size_t stack_bytes;
};

struct unwinder;

struct unwinder *unwinder_create(const struct modules *modules);

/* Fills `addresses` innermost first: where the thread is, then the call instructions (return
 * address - 1) that led there. Returns their number; 0 when the chain breaks off before the
 * thread's start, or is deeper than UNWIND_MAX_FRAMES. */
size_t unwinder_run(struct unwinder *unwinder, const struct unwind_input *input,
                    uint64_t addresses[UNWIND_MAX_FRAMES]);

/* To be called when the modules are others now: drops what was learnt about addresses. */
void unwinder_forget(struct unwinder *unwinder);

void unwinder_free(struct unwinder *unwinder);

#endif
