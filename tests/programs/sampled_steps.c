/* Computes in two functions in turn, one millisecond of CPU time in each: in step with whoever
 * takes a sample every two milliseconds. */
#include <stdint.h>
#include <time.h>

#define STEPS   500
#define STEP_NS 1000000u

static uint64_t cpu_time_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void step_left(uint64_t until_ns) {
    while (cpu_time_ns() < until_ns)
        ;
}

__attribute__((noinline)) static void step_right(uint64_t until_ns) {
    while (cpu_time_ns() < until_ns)
        __asm__ volatile("");
}

int main(void) {
    for (uint64_t step = 1; step <= STEPS; step++)
        (step % 2 ? step_left : step_right)(step * STEP_NS);
    return 0;
}
