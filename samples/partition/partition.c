/*
 * partition: one computation, shared out among threads in the ways that programs do it by hand.
 *
 * A picture's rows are filtered; which rows a thread gets is settled before it starts:
 *   blocks     rows * id / threads and so on: blocks that differ by one row at most
 *   chunks     rounded up, so that the last threads get less or nothing
 *   strided    every threads-th row
 *   remainder  rounded down, and the last thread takes what is left over
 *   init       as blocks, but each thread first makes a table of its own
 * A row takes some 20 ms, so the uneven rests show. When a row is done its sum is added to the
 * total under a mutex or, with --merge end, to the thread's own sum, which the main thread adds up.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    CACHE_LINE = 64,
    ROW_ROUNDS = 7000000, /* of the filter's hash */
    TABLE_ENTRIES = 4096,
    TABLE_ROUNDS = 20000, /* per entry */
};

struct filter {
    int threads;
    int rows;
    bool merge_each;       /* else at the end */
    pthread_mutex_t mutex; /* guards the two fields below */
    uint64_t total;
    int rows_done;
    uint32_t *tables; /* init only: of all workers */
};

struct worker {
    alignas(CACHE_LINE) struct filter *filter;
    pthread_t thread;
    int id;
    uint64_t sum;
    int rows;
    uint32_t *table; /* init only: its own */
};

static uint64_t mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static uint64_t filter_row(int row) {
    uint64_t value = (uint64_t)row;
    for (int i = 0; i < ROW_ROUNDS; i++)
        value = mix64(value);
    return value;
}

static void finish_row(struct worker *worker, uint64_t value) {
    struct filter *filter = worker->filter;
    if (!filter->merge_each) {
        worker->sum += value;
        worker->rows++;
        return;
    }
    pthread_mutex_lock(&filter->mutex);
    filter->total += value;
    filter->rows_done++;
    pthread_mutex_unlock(&filter->mutex);
}

static void filter_rows(struct worker *worker, int first, int last) {
    for (int row = first; row < last; row++)
        finish_row(worker, filter_row(row));
}

/* -------------------------------------------------------------------------- who gets which rows */

static void *blocks_run(void *arg) {
    struct worker *worker = arg;
    struct filter *filter = worker->filter;
    int first = filter->rows * worker->id / filter->threads;
    int last = filter->rows * (worker->id + 1) / filter->threads;
    filter_rows(worker, first, last);
    return NULL;
}

static void *chunks_run(void *arg) {
    struct worker *worker = arg;
    struct filter *filter = worker->filter;
    int chunk = (filter->rows + filter->threads - 1) / filter->threads;
    int first = worker->id * chunk;
    int last = first + chunk;
    if (last > filter->rows)
        last = filter->rows;
    filter_rows(worker, first, last);
    return NULL;
}

static void *strided_run(void *arg) {
    struct worker *worker = arg;
    struct filter *filter = worker->filter;
    for (int row = worker->id; row < filter->rows; row += filter->threads)
        finish_row(worker, filter_row(row));
    return NULL;
}

static void *remainder_run(void *arg) {
    struct worker *worker = arg;
    struct filter *filter = worker->filter;
    int share = filter->rows / filter->threads;
    int first = worker->id * share;
    int last = first + share;
    if (worker->id == filter->threads - 1)
        last = filter->rows;
    filter_rows(worker, first, last);
    return NULL;
}

/* The same in every thread: it depends on no thread and no picture. */
static void make_table(uint32_t *table) {
    for (int i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t value = (uint64_t)i;
        for (int round = 0; round < TABLE_ROUNDS; round++)
            value = mix64(value);
        table[i] = (uint32_t)value;
    }
}

static void *init_run(void *arg) {
    struct worker *worker = arg;
    struct filter *filter = worker->filter;
    int first = filter->rows * worker->id / filter->threads;
    int last = filter->rows * (worker->id + 1) / filter->threads;
    make_table(worker->table);
    for (int row = first; row < last; row++)
        finish_row(worker, filter_row(row) ^ worker->table[row % TABLE_ENTRIES]);
    return NULL;
}

/* ---------------------------------------------------------------------------------- the threads */

static void run_workers(struct filter *filter, struct worker *workers, void *(*run)(void *)) {
    for (int i = 0; i < filter->threads; i++) {
        errno = pthread_create(&workers[i].thread, NULL, run, &workers[i]);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
    for (int i = 0; i < filter->threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < filter->threads; i++) {
        filter->total += workers[i].sum;
        filter->rows_done += workers[i].rows;
    }
}

static struct worker *make_workers(struct filter *filter, bool with_tables) {
    size_t n = (size_t)filter->threads;
    struct worker *workers = aligned_alloc(CACHE_LINE, n * sizeof *workers);
    filter->tables = with_tables ? calloc(n * TABLE_ENTRIES, sizeof *filter->tables) : NULL;
    if (!workers || (with_tables && !filter->tables))
        err(EXIT_FAILURE, "out of memory for %d threads", filter->threads);
    memset(workers, 0, n * sizeof *workers);
    for (size_t i = 0; i < n; i++) {
        workers[i].filter = filter;
        workers[i].id = (int)i;
        workers[i].table = with_tables ? filter->tables + i * TABLE_ENTRIES : NULL;
    }
    return workers;
}

/* ------------------------------------------------------------------------------- command line */

static const struct scheme {
    const char *name;
    void *(*run)(void *);
} schemes[] = {
    {"blocks", blocks_run},       {"chunks", chunks_run}, {"strided", strided_run},
    {"remainder", remainder_run}, {"init", init_run},
};

struct options {
    int threads;
    int size;
    bool merge_each;
    const struct scheme *scheme;
};

static const char usage[] =
    "Usage: partition [options]\n"
    "Filters the rows of a picture, shared out among the threads beforehand.\n"
    "  --scheme S    blocks, chunks, strided, remainder or init (default blocks)\n"
    "  --threads N   worker threads (default 4)\n"
    "  --size N      rows (default 95)\n"
    "  --merge WHEN  add up after each row or at the end (default each)\n"
    "  --help        show this text\n";

static int parse_count(const char *option, const char *text, int max) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from 1 to %d", option, text, max);
    return (int)value;
}

static const struct scheme *parse_scheme(const char *text) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strcmp(schemes[i].name, text) == 0)
            return &schemes[i];
    errx(EXIT_USAGE, "--scheme: '%s' is none: see --help", text);
}

static bool parse_merge(const char *text) {
    if (strcmp(text, "each") != 0 && strcmp(text, "end") != 0)
        errx(EXIT_USAGE, "--merge: '%s' is neither each nor end", text);
    return strcmp(text, "each") == 0;
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"scheme", required_argument, NULL, 'p'}, {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},   {"merge", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    struct options options = {.threads = 4, .size = 95, .merge_each = true, .scheme = &schemes[0]};
    int c;
    while ((c = getopt_long(argc, argv, "p:t:s:m:h", longs, NULL)) != -1) {
        switch (c) {
        case 'p':
            options.scheme = parse_scheme(optarg);
            break;
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 1000000);
            break;
        case 'm':
            options.merge_each = parse_merge(optarg);
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
    struct filter filter = {
        .threads = options.threads,
        .rows = options.size,
        .merge_each = options.merge_each,
    };
    pthread_mutex_init(&filter.mutex, NULL);
    struct worker *workers = make_workers(&filter, options.scheme->run == init_run);

    double start = clock_seconds();
    run_workers(&filter, workers, options.scheme->run);
    double seconds = clock_seconds() - start;

    if (filter.rows_done != filter.rows)
        errx(EXIT_FAILURE, "%d rows were done instead of %d", filter.rows_done, filter.rows);
    printf("partition: %s, %d rows, %d threads, %.3f s\n", options.scheme->name, filter.rows,
           filter.threads, seconds);
    printf("checksum %016llx\n", (unsigned long long)filter.total);
    free(workers);
    free(filter.tables);
    pthread_mutex_destroy(&filter.mutex);
    return EXIT_SUCCESS;
}
