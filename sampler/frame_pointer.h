/* The frame pointer of a sleeping thread, which /proc does not tell. */
#ifndef PERSIK_SAMPLER_FRAME_POINTER_H
#define PERSIK_SAMPLER_FRAME_POINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/modules.h"

struct frame_search {
    const struct modules *modules;
    const unsigned char *stack; /* copy, from `stack_start` upwards */
    size_t stack_bytes;
    uint64_t stack_start;
    uint64_t stack_pointer;  /* of the frame whose function has a frame pointer */
    uint64_t function_start; /* of that function, 0 unknown */
};

/* In such a function the frame pointer P is the address of a pair: [P] is the caller's P, [P + 8]
 * the return address. Looks upwards from
 * the stack pointer for a return address behind a direct call of this very function; failing
 * that, for the first one behind an indirect call or a call through a linkage table. False when
 * there is none. */
bool frame_pointer_find(const struct frame_search *search, uint64_t *frame_pointer);

#endif
