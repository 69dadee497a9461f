/*
 * montecarlo: prices a book of Asian options by simulation.
 *
 * A fixed team of workers prices one option per round. The main thread publishes the option, the
 * workers evaluate an equal share of the paths each, all meet at a barrier, and the main thread
 * adds up the partial results while the workers wait for the next option at the same barrier.
 *
 * Every path draws from a random stream of its own, seeded by (option, path), and payoffs are added
 * as whole micro-units, so the price is the same to the last digit for any number of threads.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    STEPS = 64, /* price observations along a path */
    CACHE_LINE = 64,
};

/* An arithmetic-average call: it pays max(0, average price - strike). */
struct option_terms {
    double spot;
    double strike;
    double rate;       /* per year */
    double volatility; /* per square root of a year */
    double years;
};

/* One per worker, each on a cache line of its own. */
struct partial_sum {
    alignas(CACHE_LINE) int64_t payoff_micros;
    int64_t exercised; /* paths that ended in the money */
};

struct pricer {
    int threads;
    int paths;
    int rounds;
    pthread_barrier_t barrier; /* parties: the workers and the main thread */
    struct option_terms terms; /* written by main between two rounds */
    int round;
    struct partial_sum *partials;
};

struct worker {
    struct pricer *pricer;
    pthread_t thread;
    int id;
};

/* ------------------------------------------------------------------------------ random numbers */

/* xorshift128+ seeded through splitmix64: streams of neighbouring paths are unrelated. */
struct random_stream {
    uint64_t a, b;
};

static uint64_t mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static struct random_stream random_seed(int round, int path) {
    uint64_t key = ((uint64_t)round << 32) | (uint32_t)path;
    struct random_stream stream = {mix64(key), 0};
    stream.b = mix64(stream.a) | 1;
    return stream;
}

static double random_unit(struct random_stream *stream) {
    uint64_t x = stream->a;
    uint64_t y = stream->b;
    stream->a = y;
    x ^= x << 23;
    stream->b = x ^ y ^ (x >> 17) ^ (y >> 26);
    return (double)((stream->b + y) >> 11) * 0x1p-53;
}

/* A pair of standard normal deviates (Marsaglia's polar method). */
static void random_normal_pair(struct random_stream *stream, double pair[2]) {
    double u, v, s;
    do {
        u = 2.0 * random_unit(stream) - 1.0;
        v = 2.0 * random_unit(stream) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    double scale = sqrt(-2.0 * log(s) / s);
    pair[0] = u * scale;
    pair[1] = v * scale;
}

/* ------------------------------------------------------------------------------------- pricing */

static struct option_terms terms_of_round(int round) {
    return (struct option_terms){
        .spot = 100.0,
        .strike = 85.0 + round % 7 * 5.0,
        .rate = 0.01 + 0.005 * (round % 4),
        .volatility = 0.12 + 0.04 * (round % 5),
        .years = 0.5 + 0.25 * (round % 3),
    };
}

/* Average price along one geometric Brownian path. */
static double simulate_path(const struct option_terms *terms, struct random_stream *stream) {
    double dt = terms->years / STEPS;
    double drift = (terms->rate - 0.5 * terms->volatility * terms->volatility) * dt;
    double diffusion = terms->volatility * sqrt(dt);
    double log_price = 0.0;
    double sum = 0.0;
    for (int step = 0; step < STEPS; step += 2) {
        double normal[2];
        random_normal_pair(stream, normal);
        log_price += drift + diffusion * normal[0];
        sum += exp(log_price);
        log_price += drift + diffusion * normal[1];
        sum += exp(log_price);
    }
    return terms->spot * sum / STEPS;
}

static void price_paths(const struct pricer *pricer, int first, int last, struct partial_sum *out) {
    const struct option_terms *terms = &pricer->terms;
    double discount = exp(-terms->rate * terms->years);
    int64_t payoff_micros = 0;
    int64_t exercised = 0;
    for (int path = first; path < last; path++) {
        struct random_stream stream = random_seed(pricer->round, path);
        double payoff = simulate_path(terms, &stream) - terms->strike;
        if (payoff <= 0.0)
            continue;
        payoff_micros += llround(1e6 * discount * payoff);
        exercised++;
    }
    out->payoff_micros = payoff_micros;
    out->exercised = exercised;
}

static void *worker_run(void *arg) {
    const struct worker *worker = arg;
    struct pricer *pricer = worker->pricer;
    int share = pricer->paths / pricer->threads;
    int first = worker->id * share;
    int last = worker->id == pricer->threads - 1 ? pricer->paths : first + share;
    for (int round = 0; round < pricer->rounds; round++) {
        pthread_barrier_wait(&pricer->barrier); /* the option is published */
        price_paths(pricer, first, last, &pricer->partials[worker->id]);
        pthread_barrier_wait(&pricer->barrier); /* all partial sums are there */
    }
    return NULL;
}

static struct partial_sum reduce_partials(const struct pricer *pricer) {
    struct partial_sum total = {0};
    for (int i = 0; i < pricer->threads; i++) {
        total.payoff_micros += pricer->partials[i].payoff_micros;
        total.exercised += pricer->partials[i].exercised;
    }
    return total;
}

static uint64_t price_book(struct pricer *pricer, double *book_value) {
    uint64_t checksum = 0;
    *book_value = 0.0;
    for (int round = 0; round < pricer->rounds; round++) {
        pricer->round = round;
        pricer->terms = terms_of_round(round);
        pthread_barrier_wait(&pricer->barrier);
        pthread_barrier_wait(&pricer->barrier);
        struct partial_sum total = reduce_partials(pricer);
        *book_value += 1e-6 * (double)total.payoff_micros / pricer->paths;
        checksum = mix64(checksum ^ (uint64_t)total.payoff_micros);
        checksum = mix64(checksum ^ (uint64_t)total.exercised);
    }
    return checksum;
}

static void start_workers(struct pricer *pricer, struct worker *workers) {
    for (int i = 0; i < pricer->threads; i++) {
        workers[i].pricer = pricer;
        workers[i].id = i;
        errno = pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
    int rounds;
};

static const char usage[] =
    "Usage: montecarlo [options]\n"
    "Prices one Asian option per round, the paths shared out evenly among the threads.\n"
    "  --threads N   worker threads (default 4)\n"
    "  --size N      paths per option (default 120000)\n"
    "  --rounds N    options in the book (default 60)\n"
    "  --help        show this text\n";

static int parse_count(const char *option, const char *text, int max) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from 1 to %d", option, text, max);
    return (int)value;
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.threads = 4, .size = 120000, .rounds = 60};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:r:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 100000000);
            break;
        case 'r':
            options.rounds = parse_count("rounds", optarg, 1000000);
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default:
            errx(EXIT_USAGE, "see --help");
        }
    }
    if (optind < argc)
        errx(EXIT_USAGE, "unexpected argument '%s': see --help", argv[optind]);
    return options;
}

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    struct pricer pricer = {
        .threads = options.threads,
        .paths = options.size,
        .rounds = options.rounds,
    };
    struct worker *workers = calloc((size_t)pricer.threads, sizeof *workers);
    pricer.partials = aligned_alloc(CACHE_LINE, (size_t)pricer.threads * sizeof *pricer.partials);
    if (!workers || !pricer.partials)
        err(EXIT_FAILURE, "out of memory for %d threads", pricer.threads);
    pthread_barrier_init(&pricer.barrier, NULL, (unsigned)pricer.threads + 1);

    double start = clock_seconds();
    start_workers(&pricer, workers);
    double book_value;
    uint64_t checksum = price_book(&pricer, &book_value);
    for (int i = 0; i < pricer.threads; i++)
        pthread_join(workers[i].thread, NULL);
    double seconds = clock_seconds() - start;

    printf("montecarlo: %d options x %d paths, %d threads, %.3f s, book value %.6f\n",
           pricer.rounds, pricer.paths, pricer.threads, seconds, book_value);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    pthread_barrier_destroy(&pricer.barrier);
    free(pricer.partials);
    free(workers);
    return EXIT_SUCCESS;
}
