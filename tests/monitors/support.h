/* What the programs of the corpus share: two options, CPU work and the line with the result. The
 * synchronisation, which is what they are about, is each program's own. */
#ifndef PERSIK_TESTS_MONITORS_SUPPORT_H
#define PERSIK_TESTS_MONITORS_SUPPORT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int threads; /* 1 or more */
    int work;    /* percent of the usual amount */
};

/* Understands --threads N and --work PERCENT; exits with status 2 at anything else. */
static inline struct options read_options(int argc, char **argv) {
    struct options options = {2, 100};
    for (int i = 1; i < argc; i += 2) {
        long value = i + 1 < argc ? strtol(argv[i + 1], NULL, 10) : 0;
        if (value > 0 && value <= 1000 && strcmp(argv[i], "--threads") == 0) {
            options.threads = (int)value;
        } else if (value > 0 && value <= 1000 && strcmp(argv[i], "--work") == 0) {
            options.work = (int)value;
        } else {
            fprintf(stderr, "usage: %s [--threads N] [--work PERCENT]\n", argv[0]);
            exit(2);
        }
    }
    return options;
}

/* The share of `items` that --work asks for, at least 1. */
static inline int scaled(struct options options, int items) {
    int share = (int)((long)items * options.work / 100);
    return share > 0 ? share : 1;
}

/* Computes for about `us` microseconds. The same arguments give the same value. */
static inline uint64_t burn(uint64_t seed, unsigned us) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    for (unsigned i = 0; i < us * 450; i++) {
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
        x += i;
    }
    return x;
}

static inline void print_result(uint64_t sum) {
    printf("checksum %016" PRIx64 "\n", sum);
}

#endif
