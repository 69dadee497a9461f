#include "sampler/frame_pointer.h"

#include <string.h>

#include "processor/calls.h"

enum caller { CALLER_NONE, CALLER_ELSEWHERE, CALLER_INDIRECT, CALLER_DIRECT };

/* What the instruction before `address` says, if it can be a return address. */
static enum caller judge(const struct frame_search *search, uint64_t address) {
    const struct mapping *mapping = modules_find(search->modules, address);
    unsigned char code[CALL_BYTES];
    if (!mapping || !mapping->executable ||
        !modules_read(search->modules, address - sizeof code, code, sizeof code))
        return CALLER_NONE;
    uint64_t target;
    switch (call_before(code, address, &target)) {
    case CALL_DIRECT: /* of something else: it may be one of a jump stub that leads here */
        return target == search->function_start ? CALLER_DIRECT : CALLER_ELSEWHERE;
    case CALL_INDIRECT:
        return CALLER_INDIRECT;
    default:
        return CALLER_NONE;
    }
}

bool frame_pointer_find(const struct frame_search *search, uint64_t *frame_pointer) {
    enum caller best = CALLER_NONE;
    /* The ABI aligns the stack so that a pushed frame pointer lies at a multiple of 16. */
    uint64_t address = (search->stack_pointer + 15) & ~UINT64_C(15);
    for (; address >= search->stack_start; address += 16) {
        uint64_t offset = address - search->stack_start, return_address;
        if (offset + 16 > search->stack_bytes)
            break;
        memcpy(&return_address, search->stack + offset + 8, sizeof return_address);
        enum caller caller = judge(search, return_address);
        if (caller > best) {
            best = caller;
            *frame_pointer = address;
        }
        if (best == CALLER_DIRECT)
            break;
    }
    return best != CALLER_NONE;
}
