/* A thread's registers, as far as they are known (x86-64). */
#ifndef PERSIK_SAMPLER_REGISTERS_H
#define PERSIK_SAMPLER_REGISTERS_H

#include <libunwind-x86_64.h>
#include <stdint.h>

#define REGISTERS_COUNT (UNW_X86_64_RIP + 1) /* libunwind's numbering: the 16 general ones, RIP */

struct registers {
    uint32_t known; /* bit n: values[n] holds the register's value */
    uint64_t values[REGISTERS_COUNT];
};

static inline void registers_set(struct registers *registers, int number, uint64_t value) {
    registers->values[number] = value;
    registers->known |= 1u << number;
}

#endif
