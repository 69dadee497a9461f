/* x86-64, also called amd64. */
#ifndef PERSIK_PROCESSOR_X86_64_X86_64_H
#define PERSIK_PROCESSOR_X86_64_X86_64_H

#include <elf.h>
#include <stdint.h>

#define PROCESSOR_NAME       "x86-64"
#define PROCESSOR_ELF        EM_X86_64
#define PROCESSOR_HAS_PROBES 1

/* The TSC. */
static inline uint64_t processor_ticks(void) {
    return __builtin_ia32_rdtsc();
}

static inline uint64_t processor_ticks_after_loads(void) {
    unsigned core;
    return __builtin_ia32_rdtscp(&core);
}

static inline void processor_throw_out(const void *line) {
    __asm__ volatile("clflush %0" : "+m"(*(volatile char *)(uintptr_t)line));
}

#endif
