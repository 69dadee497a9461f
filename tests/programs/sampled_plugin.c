/* Loaded by sampled_threads while it is being sampled. */
static volatile unsigned long steps;

__attribute__((noinline)) void plugin_compute(void) {
    for (int i = 0; i < 100000; i++)
        steps += (unsigned long)i;
}
