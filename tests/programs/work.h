/* Computing that no compiler removes: so many thousand rounds of a generator. */
#ifndef PERSIK_TESTS_WORK_H
#define PERSIK_TESTS_WORK_H

#include <stdint.h>

static inline uint64_t work(uint64_t seed, unsigned thousands) {
    for (unsigned i = 0; i < thousands * 1000; i++)
        seed = seed * 6364136223846793005U + (seed >> 29) + 1442695040888963407U;
    return seed;
}

#endif
