/* Random streams: xoshiro256++ (Blackman and Vigna, 2021), seeded by SplitMix64 from counters.
 *
 * Every thread, distribution and open arrival process owns a stream named by what it is, not by
 * when it was made: thread 3 of a pool draws the same numbers whether the pool has 4 threads or
 * 16. Configurations that share random numbers differ by what was changed, not by luck. */
#ifndef PERSIK_SIMULATOR_RANDOM_H
#define PERSIK_SIMULATOR_RANDOM_H

#include <math.h>
#include <stdint.h>

struct random_stream {
    uint64_t state[4];
};

/* SplitMix64's finaliser: every input bit reaches every output bit. */
static inline uint64_t random_mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

/* The stream named by `seed` and three counters. */
static inline struct random_stream random_open(uint64_t seed, uint64_t kind, uint64_t major,
                                               uint64_t minor) {
    uint64_t key = random_mix(random_mix(random_mix(random_mix(seed) ^ kind) ^ major) ^ minor);
    struct random_stream stream;
    for (int i = 0; i < 4; i++)
        stream.state[i] = random_mix(key + (uint64_t)i * 0xd1342543de82ef95U);
    return stream;
}

static inline uint64_t random_rotate(uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t random_next(struct random_stream *stream) {
    uint64_t *state = stream->state;
    uint64_t result = random_rotate(state[0] + state[3], 23) + state[0];
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = random_rotate(state[3], 45);
    return result;
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random_stream *stream) {
    return (double)(random_next(stream) >> 11) * 0x1p-53;
}

/* Uniform in 0 .. n - 1 (Lemire 2019, without the rejection: the bias is below n / 2^32). */
static inline uint32_t random_below(struct random_stream *stream, uint32_t n) {
    return (uint32_t)(((random_next(stream) >> 32) * n) >> 32);
}

static inline double random_exponential(struct random_stream *stream, double mean) {
    return -mean * log1p(-random_unit(stream));
}

/* `value` rounded up or down so that the mean stays: 2.3 is 3 in three cases of ten. */
static inline double random_round(struct random_stream *stream, double value) {
    double whole = floor(value);
    return whole == value ? value : whole + (random_unit(stream) < value - whole);
}

#endif
