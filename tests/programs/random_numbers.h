/* Random numbers of programs whose work must be the same in each run (splitmix64, Vigna 2015). */
#ifndef PERSIK_TESTS_PROGRAMS_RANDOM_NUMBERS_H
#define PERSIK_TESTS_PROGRAMS_RANDOM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Puts the numbers below n into `places`, in an order that the first random number decides. */
static inline void shuffle(size_t *places, size_t n, uint64_t random) {
    for (size_t i = 0; i < n; i++) {
        size_t other = next_random(&random) % (i + 1);
        places[i] = places[other];
        places[other] = i;
    }
}

#endif
