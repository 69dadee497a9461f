#include "processor/calls.h"

#include <string.h>

#define DIRECT_BYTES    5 /* call rel32 */
#define OPCODE_CALL     0xe8
#define OPCODE_INDIRECT 0xff /* call r/m: 2 to 7 bytes, /2 in the next byte's middle bits */

enum call_kind call_before(const unsigned char code[CALL_BYTES], uint64_t address,
                           uint64_t *target) {
    const unsigned char *end = code + CALL_BYTES;
    if (end[-DIRECT_BYTES] == OPCODE_CALL) {
        int32_t distance;
        memcpy(&distance, end - DIRECT_BYTES + 1, sizeof distance);
        *target = address + (uint64_t)(int64_t)distance;
        return CALL_DIRECT;
    }
    for (int length = 2; length <= CALL_BYTES; length++)
        if (end[-length] == OPCODE_INDIRECT && (end[1 - length] >> 3 & 7) == 2)
            return CALL_INDIRECT;
    return CALL_NONE;
}
