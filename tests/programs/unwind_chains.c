/* Call chains of many kinds, each compared with libgcc's: frames of all shapes, callbacks through
 * libc, signal handlers, the instructions of prologues, epilogues and stubs one by one, threads,
 * constructors, handlers at exit. */
#include <alloca.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/unwind_compare.h"

#define APART __attribute__((noinline))

static volatile int zero;

/* Keeps calls from becoming jumps. */
static void stay(void) {
    __asm__ volatile("" ::: "memory");
}

static APART int plain(int depth) {
    if (depth > 0) {
        int below = plain(depth - 1);
        stay();
        return below + depth;
    }
    compare("plain frames");
    return zero;
}

static APART int with_alloca(int bytes) {
    char *memory = alloca((size_t)bytes);
    memset(memory, bytes, (size_t)bytes);
    compare("alloca");
    return memory[bytes / 2];
}

static APART int with_array(int bytes) {
    char array[bytes];
    memset(array, bytes, (size_t)bytes);
    compare("an array of variable length");
    return array[bytes / 2];
}

/* A realigned stack; with alloca and arguments on the stack it is found through r10. */
static APART int realigned(int a, int b, int c, int d, int e, int f, int g, int h) {
    char aligned[128] __attribute__((aligned(64)));
    char *memory = alloca((size_t)h);
    memset(aligned, g, sizeof aligned);
    memset(memory, a, (size_t)h);
    compare("a realigned stack");
    return aligned[b & 63] + memory[0] + c + d + e + f;
}

static APART __attribute__((target("avx"))) int vectors(int n) {
    typedef double vector __attribute__((vector_size(32)));
    volatile vector sums[4];
    vector ones = {1, 1, 1, 1};
    for (int i = 0; i < 4; i++)
        sums[i] = ones;
    plain(n);
    for (int i = 0; i < n; i++)
        sums[i & 3] += ones;
    return (int)sums[n & 3][0];
}

static APART int many_registers(int a, int b, int c, int d) {
    int e = a * b, f = b * c, g = c * d, h = d * a, i = a + c, j = b + d;
    plain(2);
    return a + b + c + d + e + f + g + h + i + j;
}

static int by_value(const void *a, const void *b) {
    compare("qsort, bsearch");
    return *(const int *)a - *(const int *)b;
}

static void visit_node(const void *node, VISIT visit, int depth) {
    (void)node;
    (void)visit;
    (void)depth;
    compare("twalk");
}

static void once(void) {
    compare("pthread_once");
}

static void callbacks(void) {
    int numbers[] = {5, 2, 4, 1, 3};
    qsort(numbers, 5, sizeof *numbers, by_value);
    bsearch(&numbers[2], numbers, 5, sizeof *numbers, by_value);
    static pthread_once_t control = PTHREAD_ONCE_INIT;
    pthread_once(&control, once);
    void *tree = NULL;
    for (int i = 0; i < 3; i++)
        tsearch(&numbers[i], &tree, by_value);
    twalk(tree, visit_node);
}

static void handle(int signal) {
    (void)signal;
    compare("a signal handler");
    plain(3);
}

static void signals(void) {
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    stay();
}

/* ---- every instruction of some work ---- */

#define TRAP_FLAG 0x100 /* the processor traps after each instruction */

static volatile bool stepping;

/* Sets the flag in what the signal interrupted, or takes it away. */
static void step(int signal, siginfo_t *info, void *interrupted) {
    (void)info;
    ucontext_t *context = interrupted;
    if (stepping)
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (signal != SIGTRAP)
        return;
    compared.off = false;
    compare("an interrupted instruction");
    compared.off = true;
}

static APART int leaf_frame(int a, int b) {
    int many[8];
    for (int i = 0; i < 8; i++)
        many[i] = a * i;
    stay();
    return many[b & 7];
}

static APART int work(int n) {
    char text[64], *memory = alloca((size_t)n);
    int length = snprintf(text, sizeof text, "%d %s %g", n, "text", 0.5 * n);
    memcpy(memory, text, (size_t)(length < n ? length : n));
    char *copy = strdup(text); /* the first call goes through the loader */
    int sum = leaf_frame(n, length) + (copy != NULL ? copy[0] : 0) + memory[0];
    free(copy);
    return sum + many_registers(n, 2, 3, 4);
}

/* No realigned stack: GCC's tables are wrong in its epilogue, and libgcc crashes there. */
static void instructions(void) {
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    compared.off = true; /* it is the handler that compares */
    stepping = true;
    raise(SIGUSR2);
    volatile int sum = work(32);
    stepping = false;
    compared.off = false;
    (void)sum;
}

/* ---- where chains begin ---- */

static void *thread(void *argument) {
    compare_start();
    plain(4);
    callbacks();
    return argument;
}

static void at_exit(void) {
    compare("a handler at exit");
    _exit(compare_end());
}

static __attribute__((constructor)) void at_start(void) {
    compare_start();
    compare("a constructor");
}

int main(void) {
    atexit(at_exit);
    plain(0);
    plain(20);
    plain(COMPARE_MAX + 50);
    with_alloca(100);
    with_array(100);
    realigned(1, 2, 3, 4, 5, 6, 7, 8);
    if (__builtin_cpu_supports("avx"))
        vectors(5);
    many_registers(1, 2, 3, 4);
    callbacks();
    signals();
    instructions();
    pthread_t other;
    if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0)
        return 1;
    compare_start();
    fflush(stdout);
    return 0;
}
