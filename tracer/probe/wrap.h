/* Functions of the program's own, recorded like those of the catalog (formats/user_catalog.h).
 *
 * A wrapped function starts with a jump to a stub of ours, which goes on in wrap_enter
 * (processor/x86_64/probe/wrap.S). That makes a frame with the argument registers, asks
 * wrap_begin_*, calls the function on a copy of its stack arguments, asks wrap_end_*, and returns.
 * It is an ordinary frame with unwind tables: exceptions, cancellation, longjmp and backtraces pass
 * through it, and recursion needs no bookkeeping.
 *
 * wrap_begin_fast and wrap_end_fast use no vector registers, which may hold arguments and results;
 * what they leave to their slow forms runs with the whole vector state put aside. */
#ifndef PERSIK_PROBE_WRAP_H
#define PERSIK_PROBE_WRAP_H

/* Offsets of struct wrap_frame for the assembler. */
#define WRAP_ARGUMENTS   0
#define WRAP_RAX         48
#define WRAP_R10         56
#define WRAP_INDEX       64
#define WRAP_REAL        72
#define WRAP_RESULT      80
#define WRAP_STACK_BYTES 96
#define WRAP_FRAME_BYTES 176

#define WRAP_PASS   0 /* jump to the function, nothing is recorded */
#define WRAP_RECORD 1
#define WRAP_SLOW   2 /* ask the slow form */

#define WRAP_VECTOR_MASK  0xe7 /* x87, SSE, AVX, AVX-512; not AMX */
#define WRAP_VECTOR_BYTES 2752 /* of these, in the standard form of XSAVE */

#ifndef __ASSEMBLER__

#include "tracer/probe/probe.h"

/* Lies just below the saved frame pointer and the return address. */
struct wrap_frame {
    uint64_t arguments[6];
    uint64_t rax; /* number of vector registers with arguments, for variadic functions */
    uint64_t r10;
    uint64_t index; /* of the wrap */
    uint64_t real;  /* where the function goes on */
    uint64_t result[2];
    uint64_t stack_bytes; /* of arguments to copy */
    uint64_t magic;       /* tells whether the frame is still there */
    struct probe_call call;
    uint64_t started; /* ticks, where the slow form finds the duration in call.start */
    int64_t amount;
    bool quiet; /* calls made inside are not recorded */
};

struct wrap {
    uint64_t real;
    uint16_t api;
    uint8_t object_source, amount_source, fails;
    bool quiet;
    uint16_t flags; /* of the record */
    int64_t object_number, amount_number;
};

extern struct wrap *wraps __attribute__((visibility("hidden")));

/* Puts the wraps that the collector asks for in place. Call once, before recording starts. */
void wrap_install(const char *directory);

/* Has calls of the function at `address`, whose module calls our hooks, recorded (hooks.c). `raw`
 * stays mapped. */
void hooks_add(uint64_t address, uint32_t number, struct raw_wrap *raw);

/* Is the thread inside a quiet function? Notices when that was left by longjmp or an exception. */
bool wrap_is_inside(void);

/* Ends that. */
void wrap_forget(void);

/* Around what is recorded even there (the creation of threads). */
void wrap_lift(void);
void wrap_lower(void);

unsigned wrap_begin_fast(struct wrap_frame *frame);
unsigned wrap_begin_slow(struct wrap_frame *frame);
unsigned wrap_end_fast(struct wrap_frame *frame);
void wrap_end_slow(struct wrap_frame *frame);

#endif
#endif
