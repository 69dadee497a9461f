#include "processor/registers.h"

#include <asm/perf_regs.h>

/* The same numbers in both. */
#define SAME(number)                                                                               \
    { number, number }
#define FOUR(first) SAME(first), SAME((first) + 1), SAME((first) + 2), SAME((first) + 3)

const struct register_pair register_map[REGISTERS_COUNT] = {
    FOUR(0),
    FOUR(4),
    FOUR(8),
    FOUR(12),
    FOUR(16),
    FOUR(20),
    FOUR(24),
    SAME(28),
    SAME(29),
    {PERF_REG_ARM64_LR, UNW_AARCH64_X30},
    {PERF_REG_ARM64_SP, UNW_AARCH64_SP},
    {PERF_REG_ARM64_PC, UNW_AARCH64_PC},
};
