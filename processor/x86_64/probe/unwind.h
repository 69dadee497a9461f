/* Walks the calling thread's stack by the program's unwind tables (.eh_frame) and believes nothing
 * that they or the stack say: each byte of a table is read inside the loaded segment that holds the
 * table, each word of the stack inside the stack, and a walk has an end. Wrong tables can only make
 * a chain shorter, or put in it what lies on the stack.
 *
 * No system call, lock or allocation, errno untouched, may be interrupted and used by a signal
 * handler meanwhile (with a `struct unwind` of its own). Needs glibc 2.35 or later
 * (_dl_find_object). Compare libgcc's _Unwind_Backtrace, which follows any address it is told. */
#ifndef PERSIK_PROCESSOR_X86_64_PROBE_UNWIND_H
#define PERSIK_PROCESSOR_X86_64_PROBE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#define UNWIND_BYTES 1536

/* Where the walk starts: the registers that a function must give back, at a known point of the
 * code. */
struct unwind_registers {
    uint64_t rip, rsp, rbp, rbx, r12, r13, r14, r15;
};

/* A return address, and the stack address where it lies. Of code that a signal interrupted: the
 * next instruction, and its place in what the kernel saved. */
struct unwind_frame {
    uint64_t address, place;
};

/* The walk's working memory: the stack of the program may be small. Need not be initialised, holds
 * nothing from one walk to the next. */
struct unwind {
    uint64_t memory[UNWIND_BYTES / 8];
};

/* Registers here and now, in the function that uses it: to be walked before that returns. */
#define UNWIND_HERE(registers)                                                                     \
    __asm__ volatile("leaq 0f(%%rip), %%rax\n"                                                     \
                     "0:\tmovq %%rax, 0(%1)\n\t"                                                   \
                     "movq %%rsp, 8(%1)\n\t"                                                       \
                     "movq %%rbp, 16(%1)\n\t"                                                      \
                     "movq %%rbx, 24(%1)\n\t"                                                      \
                     "movq %%r12, 32(%1)\n\t"                                                      \
                     "movq %%r13, 40(%1)\n\t"                                                      \
                     "movq %%r14, 48(%1)\n\t"                                                      \
                     "movq %%r15, 56(%1)"                                                          \
                     : "=m"(*(struct unwind_registers *)(registers))                               \
                     : "r"((struct unwind_registers *)(registers))                                 \
                     : "rax", "memory")

/* Writes at most `max` frames, innermost first, the first being the return address of the function
 * that `start` is in. Returns how many; what is beyond a frame that cannot be told is left out.
 * Reads words of the stack in [start->rsp, stack_high) only: the caller knows that start->rsp is in
 * the stack that ends at `stack_high`. */
size_t unwind_walk(struct unwind *work, const struct unwind_registers *start, uint64_t stack_high,
                   struct unwind_frame *frames, size_t max);

#endif
