#include "processor/calls.h"

#include <string.h>

/* BL imm26, in words from the call; BLR. */
#define BL_MASK  0xfc000000u
#define BL       0x94000000u
#define BLR_MASK 0xfffffc1fu
#define BLR      0xd63f0000u

enum call_kind call_before(const unsigned char code[CALL_BYTES], uint64_t address,
                           uint64_t *target) {
    uint32_t instruction;
    memcpy(&instruction, code + CALL_BYTES - sizeof instruction, sizeof instruction);
    if ((instruction & BL_MASK) == BL) {
        int64_t distance = (int32_t)(instruction << 6) >> 4; /* signed, in bytes */
        *target = address - sizeof instruction + (uint64_t)distance;
        return CALL_DIRECT;
    }
    return (instruction & BLR_MASK) == BLR ? CALL_INDIRECT : CALL_NONE;
}
