/* Compares a chain found by processor/x86_64/probe/unwind.c with the one that libgcc finds. */
#ifndef UNWIND_COMPARE_H
#define UNWIND_COMPARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unwind.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "processor/x86_64/probe/unwind.h"
#ifdef __cplusplus
}
#endif

enum { COMPARE_MAX = 100 };

static struct {
    uint64_t stack_high;
    struct unwind work;
    struct unwind_frame frames[COMPARE_MAX];
    uint64_t theirs[COMPARE_MAX + 1], cfas[COMPARE_MAX + 1];
    size_t n_theirs;
    long same, different, depth;
    bool off;
} compared;

static _Unwind_Reason_Code compare_visit(struct _Unwind_Context *context, void *unused) {
    (void)unused;
    if (compared.n_theirs > COMPARE_MAX)
        return _URC_END_OF_STACK;
    compared.cfas[compared.n_theirs] = _Unwind_GetCFA(context);
    compared.theirs[compared.n_theirs++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* To be called once by each thread that compares; not by two at a time. */
static void compare_start(void) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    compared.stack_high = (uint64_t)low + bytes;
}

/* The chain of who calls it. Says where it differs. */
static __attribute__((noinline)) void compare(const char *where) {
    struct unwind_registers here;
    if (compared.off)
        return;
    UNWIND_HERE(&here);
    size_t n =
        unwind_walk(&compared.work, &here, compared.stack_high, compared.frames, COMPARE_MAX);
    compared.n_theirs = 0;
    _Unwind_Backtrace(compare_visit, NULL);
    size_t n_theirs = compared.n_theirs - 1; /* without the one in this function */
    while (n_theirs > 0 && compared.theirs[n_theirs] == 0)
        n_theirs--;
    size_t i = 0;
    while (i < n && i < n_theirs && compared.frames[i].address == compared.theirs[i + 1] &&
           *(const uint64_t *)compared.frames[i].place == compared.frames[i].address)
        i++;
    compared.depth += (long)n;
    if (i == n && i == n_theirs) {
        compared.same++;
        return;
    }
    if (compared.different++ < 5)
        printf("# %s: frame %zu of %zu is %#lx, libgcc's of %zu %#lx; the one before %#lx\n", where,
               i, n, i < n ? compared.frames[i].address : 0, n_theirs,
               i < n_theirs ? compared.theirs[i + 1] : 0, compared.theirs[i]);
}

/* How it went, for tests/unwind.sh. */
static int compare_end(void) {
    printf("%ld chains, %ld frames, %ld chains differ\n", compared.same + compared.different,
           compared.depth, compared.different);
    fflush(stdout);
    return compared.different != 0 || compared.same == 0;
}

#endif
