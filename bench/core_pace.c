/* How fast a core is, again and again, for code of two kinds: built and run by bench/core-pace.sh.
 *
 * usage: core_pace chain|text SECONDS
 *
 * `chain` multiplies, each time what came out of the time before: one instruction waits for the
 * other, and who shares the core's units hardly shows. `text` prints numbers into a buffer and adds
 * up its bytes and those of a table of 1 MB, as programs do. Prints rounds per millisecond of CPU
 * time: mean, least and most of pieces of 50 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE_MS = 50, TABLE_BYTES = 1 << 20 };

static volatile unsigned long sink;

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void chain(void) {
    unsigned long x = sink;
    for (int i = 0; i < 4000; i++)
        x = x * 6364136223846793005UL + 1442695040888963407UL;
    sink = x;
}

static void text(void) {
    static unsigned char table[TABLE_BYTES];
    char buffer[256];
    for (int i = 0; i < 20; i++) {
        int n = snprintf(buffer, sizeof buffer, "%d:%s:%lx", i, "hello world", sink);
        unsigned hash = 0;
        for (int k = 0; k < n; k++)
            hash = hash * 31 + (unsigned char)buffer[k];
        sink += table[hash * 64 % TABLE_BYTES] + strlen(buffer);
    }
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    void (*piece)(void) = strcmp(argv[1], "chain") == 0 ? chain : text;
    double end = seconds(CLOCK_MONOTONIC) + atof(argv[2]);
    double sum = 0, least = 1e9, most = 0;
    int n = 0;
    while (seconds(CLOCK_MONOTONIC) < end) {
        double from = seconds(CLOCK_PROCESS_CPUTIME_ID), took;
        long rounds = 0;
        do {
            piece();
            rounds++;
            took = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
        } while (took < 1e-3 * PIECE_MS);
        double rate = (double)rounds / took / 1e3;
        sum += rate;
        n++;
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
    }
    printf("%.0f (%.0f .. %.0f)\n", n ? sum / n : 0, least, most);
    return 0;
}
