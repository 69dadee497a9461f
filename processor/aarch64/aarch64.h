/* aarch64, also called arm64. */
#ifndef PERSIK_PROCESSOR_AARCH64_AARCH64_H
#define PERSIK_PROCESSOR_AARCH64_AARCH64_H

#include <elf.h>
#include <stdint.h>

#define PROCESSOR_NAME       "aarch64"
#define PROCESSOR_ELF        EM_AARCH64
#define PROCESSOR_HAS_PROBES 0

/* The virtual counter, which Linux lets programs read: some 10 to 1000 MHz. */
static inline uint64_t processor_ticks(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline uint64_t processor_ticks_after_loads(void) {
    __asm__ volatile("isb" : : : "memory");
    return processor_ticks();
}

/* `dc civac`, which Linux lets programs use. */
static inline void processor_throw_out(const void *line) {
    __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}

#endif
