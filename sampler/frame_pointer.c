#include "sampler/frame_pointer.h"

#include <string.h>

#define CALL_BYTES      5 /* call rel32 */
#define OPCODE_CALL     0xe8
#define OPCODE_INDIRECT 0xff /* call r/m: 2 to 7 bytes, /2 in the next byte's middle bits */

enum caller { CALLER_NONE, CALLER_ELSEWHERE, CALLER_INDIRECT, CALLER_DIRECT };

static bool calls_directly(const struct modules *modules, uint64_t address, uint64_t *target) {
    unsigned char code[CALL_BYTES];
    int32_t distance;
    if (!modules_read(modules, address - sizeof code, code, sizeof code) || code[0] != OPCODE_CALL)
        return false;
    memcpy(&distance, code + 1, sizeof distance);
    *target = address + (uint64_t)(int64_t)distance;
    return true;
}

static bool calls_indirectly(const struct modules *modules, uint64_t address) {
    for (uint64_t length = 2; length <= 7; length++) {
        unsigned char code[2];
        if (modules_read(modules, address - length, code, sizeof code) &&
            code[0] == OPCODE_INDIRECT && (code[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* What the instruction before `address` says, if it can be a return address. */
static enum caller judge(const struct frame_search *search, uint64_t address) {
    const struct mapping *mapping = modules_find(search->modules, address);
    if (!mapping || !mapping->executable)
        return CALLER_NONE;
    uint64_t target;
    /* A call of something else may be one of a jump stub that leads here. */
    if (calls_directly(search->modules, address, &target))
        return target == search->function_start ? CALLER_DIRECT : CALLER_ELSEWHERE;
    return calls_indirectly(search->modules, address) ? CALLER_INDIRECT : CALLER_NONE;
}

bool frame_pointer_find(const struct frame_search *search, uint64_t *frame_pointer) {
    enum caller best = CALLER_NONE;
    /* The ABI aligns the stack so that a pushed RBP lies at a multiple of 16. */
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
