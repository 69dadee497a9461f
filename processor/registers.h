/* A thread's registers, as far as they are known, in libunwind's numbering. */
#ifndef PERSIK_PROCESSOR_REGISTERS_H
#define PERSIK_PROCESSOR_REGISTERS_H

#include <libunwind.h>
#include <stdint.h>

#if defined(__x86_64__)
#define REGISTER_STACK_POINTER   UNW_X86_64_RSP
#define REGISTER_PROGRAM_COUNTER UNW_X86_64_RIP
#define REGISTER_FRAME_POINTER   UNW_X86_64_RBP
#define REGISTERS_COUNT          (UNW_X86_64_RIP + 1) /* the 16 general ones, RIP */
#else
#define REGISTER_STACK_POINTER   UNW_AARCH64_SP
#define REGISTER_PROGRAM_COUNTER UNW_AARCH64_PC
#define REGISTER_FRAME_POINTER   UNW_AARCH64_X29
#define REGISTERS_COUNT          (UNW_AARCH64_PC + 1) /* the 31 general ones, SP, PC */
#endif

/* perf's number of a register -> libunwind's, for those above. The kernel writes a sample's
 * registers in the order of perf's numbers. */
struct register_pair {
    int perf, unwind;
};
extern const struct register_pair register_map[REGISTERS_COUNT];

struct registers {
    uint64_t known; /* bit n: values[n] holds the register's value */
    uint64_t values[REGISTERS_COUNT];
};

static inline void registers_set(struct registers *registers, int number, uint64_t value) {
    registers->values[number] = value;
    registers->known |= UINT64_C(1) << number;
}

#endif
