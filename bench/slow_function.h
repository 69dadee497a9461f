/* Makes a function of a real program slower by a known factor: SLOWED, first in its body, lets it
 * spin on for as long as it computes, once more or as often as $SLOWED says. Caches are as they
 * were. At the end of the run the CPU time in seconds that the function and its spinning took is
 * added to the file $SLOWED_LOG. For bench/slow-function; linked with slow_function.c.
 *
 * It spins before each call that persik records, and at the end: so each of its parts is slower. */
#ifndef PERSIK_BENCH_SLOW_FUNCTION_H
#define PERSIK_BENCH_SLOW_FUNCTION_H
#ifndef __ASSEMBLER__

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the function is the one that $SLOWED, "FUNCTION=FACTOR", names. Ended by slow_leave(). */
int slow_enter(const char *function);
void slow_leave(const int *is_slow);

#ifdef __cplusplus
}
#endif

#define SLOWED __attribute__((cleanup(slow_leave))) const int slowed_ = slow_enter(__func__);

#endif
#endif
