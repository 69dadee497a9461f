/*
 * pipeline: one reader, many compressors, one writer, as in a parallel archiver.
 *
 * The reader produces blocks of 64 KiB (prose, tables, noise and runs, all made up from a fixed
 * seed), the compressors pack them, the writer unpacks every block again to verify it and, if
 * asked, writes it to a file. Two bounded queues join the stages. A table takes a compressor about
 * four times as long as runs.
 *
 * Blocks reach the writer in any order; the checksum is a sum over blocks and does not mind.
 */
#define _GNU_SOURCE
#include "lz.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    WORDS = 1024,
    WORD_BYTES_MAX = 12,
};

struct block {
    int index;
    uint64_t hash; /* of raw */
    size_t packed_bytes;
    uint8_t raw[LZ_BLOCK_BYTES_MAX];
    uint8_t packed[LZ_PACKED_BYTES_MAX];
};

/* --------------------------------------------------------------------------------------- queue */

/* First in, first out, at most capacity blocks. */
struct block_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    struct block **slots;
    int capacity;
    int first; /* slot of the oldest block */
    int count;
    bool closed;
};

static void queue_init(struct block_queue *queue, int capacity) {
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    queue->slots = calloc((size_t)capacity, sizeof(struct block *));
    if (!queue->slots)
        err(EXIT_FAILURE, "out of memory for a queue of %d blocks", capacity);
    queue->capacity = capacity;
    queue->first = 0;
    queue->count = 0;
    queue->closed = false;
}

/* Waits for room. The queue owns the block until it is taken. */
static void queue_put(struct block_queue *queue, struct block *block) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity)
        pthread_cond_wait(&queue->not_full, &queue->mutex);
    queue->slots[(queue->first + queue->count) % queue->capacity] = block;
    queue->count++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

/* Waits for a block, which the caller owns then. NULL: the queue is closed and empty. */
static struct block *queue_take(struct block_queue *queue) {
    struct block *block = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    if (queue->count > 0) {
        block = queue->slots[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->mutex);
    return block;
}

/* No block will be put any more: those who wait for one need not. */
static void queue_close(struct block_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

static void queue_destroy(struct block_queue *queue) {
    free(queue->slots);
    pthread_cond_destroy(&queue->not_full);
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->mutex);
}

/* ------------------------------------------------------------------------------ block contents */

struct vocabulary {
    char words[WORDS][WORD_BYTES_MAX]; /* each ends in a space */
    uint8_t bytes[WORDS];
};

static uint64_t random_next(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static void vocabulary_init(struct vocabulary *vocabulary) {
    uint64_t seed = 1977;
    for (int i = 0; i < WORDS; i++) {
        int letters = 2 + (int)(random_next(&seed) % (WORD_BYTES_MAX - 3));
        for (int k = 0; k < letters; k++)
            vocabulary->words[i][k] = (char)('a' + random_next(&seed) % 26);
        vocabulary->words[i][letters] = ' ';
        vocabulary->bytes[i] = (uint8_t)(letters + 1);
    }
}

/* Frequent words are far more frequent: the index is a product of three uniform numbers. */
static void fill_with_prose(const struct vocabulary *vocabulary, uint8_t *raw, uint64_t *seed) {
    size_t at = 0;
    while (at < LZ_BLOCK_BYTES_MAX) {
        uint64_t bits = random_next(seed);
        size_t word =
            (bits % WORDS) * ((bits >> 20) % WORDS) / WORDS * ((bits >> 40) % WORDS) / WORDS;
        size_t bytes = vocabulary->bytes[word];
        if (bytes > LZ_BLOCK_BYTES_MAX - at)
            bytes = LZ_BLOCK_BYTES_MAX - at;
        memcpy(raw + at, vocabulary->words[word], bytes);
        at += bytes;
    }
}

/* Lines of eight decimal fields, each a slow random walk. */
static void fill_with_table(uint8_t *raw, uint64_t *seed) {
    uint32_t field[8] = {0};
    for (size_t at = 0; at < LZ_BLOCK_BYTES_MAX; at += 8) {
        size_t column = at / 8 % 8;
        field[column] += (uint32_t)(random_next(seed) % 100);
        uint32_t value = field[column];
        for (int digit = 6; digit >= 0; digit--) {
            raw[at + digit] = (uint8_t)('0' + value % 10);
            value /= 10;
        }
        raw[at + 7] = column == 7 ? '\n' : ',';
    }
}

static void fill_with_noise(uint8_t *raw, uint64_t *seed) {
    for (size_t at = 0; at < LZ_BLOCK_BYTES_MAX; at += sizeof(uint64_t)) {
        uint64_t bits = random_next(seed);
        memcpy(raw + at, &bits, sizeof bits);
    }
}

static void fill_with_runs(uint8_t *raw, uint64_t *seed) {
    size_t at = 0;
    while (at < LZ_BLOCK_BYTES_MAX) {
        uint64_t bits = random_next(seed);
        size_t run = 1 + (bits >> 8) % 200;
        if (run > LZ_BLOCK_BYTES_MAX - at)
            run = LZ_BLOCK_BYTES_MAX - at;
        memset(raw + at, (int)(bits & 0xff), run);
        at += run;
    }
}

static void fill_block(const struct vocabulary *vocabulary, struct block *block) {
    uint64_t seed = (uint64_t)block->index << 32;
    uint64_t kind = random_next(&seed) % 10;
    if (kind < 5)
        fill_with_prose(vocabulary, block->raw, &seed);
    else if (kind < 8)
        fill_with_table(block->raw, &seed);
    else if (kind < 9)
        fill_with_noise(block->raw, &seed);
    else
        fill_with_runs(block->raw, &seed);
}

/* Multiply and fold, eight bytes at a time. */
static uint64_t hash_block(const uint8_t *raw) {
    uint64_t hash = 0x243f6a8885a308d3U;
    for (size_t at = 0; at < LZ_BLOCK_BYTES_MAX; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, raw + at, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    return hash;
}

/* -------------------------------------------------------------------------------------- stages */

struct pipeline {
    int blocks;
    struct vocabulary vocabulary;
    struct block_queue to_pack;
    struct block_queue to_write;
    FILE *output; /* NULL: verify only */
    /* results, the writer's until it is joined */
    uint64_t checksum;
    uint64_t packed_bytes;
};

static void *reader_run(void *arg) {
    struct pipeline *pipeline = arg;
    for (int i = 0; i < pipeline->blocks; i++) {
        struct block *block = malloc(sizeof *block);
        if (!block)
            err(EXIT_FAILURE, "out of memory for a block");
        block->index = i;
        fill_block(&pipeline->vocabulary, block);
        block->hash = hash_block(block->raw);
        queue_put(&pipeline->to_pack, block);
    }
    queue_close(&pipeline->to_pack);
    return NULL;
}

static void *compressor_run(void *arg) {
    struct pipeline *pipeline = arg;
    struct lz_tables *tables = malloc(sizeof *tables);
    if (!tables)
        err(EXIT_FAILURE, "out of memory for a compressor");
    struct block *block;
    while ((block = queue_take(&pipeline->to_pack))) {
        block->packed_bytes = lz_pack(tables, block->raw, sizeof block->raw, block->packed);
        queue_put(&pipeline->to_write, block);
    }
    free(tables);
    return NULL;
}

/* Unpacks over the raw data, which nobody needs any more, and compares with the reader's hash. */
static void verify_block(struct block *block) {
    if (!lz_unpack(block->packed, block->packed_bytes, block->raw, sizeof block->raw) ||
        hash_block(block->raw) != block->hash)
        errx(EXIT_FAILURE, "block %d does not unpack to what was read", block->index);
}

/* Index and packed size, four bytes each in the machine's order, then the packed data. */
static void write_block(FILE *output, const struct block *block) {
    uint32_t header[2] = {(uint32_t)block->index, (uint32_t)block->packed_bytes};
    if (fwrite(header, sizeof header, 1, output) != 1 ||
        fwrite(block->packed, block->packed_bytes, 1, output) != 1)
        err(EXIT_FAILURE, "cannot write block %d", block->index);
}

static void *writer_run(void *arg) {
    struct pipeline *pipeline = arg;
    struct block *block;
    while ((block = queue_take(&pipeline->to_write))) {
        verify_block(block);
        if (pipeline->output)
            write_block(pipeline->output, block);
        uint64_t state = block->hash ^ ((uint64_t)block->index << 32) ^ block->packed_bytes;
        pipeline->checksum += random_next(&state);
        pipeline->packed_bytes += block->packed_bytes;
        free(block);
    }
    return NULL;
}

static pthread_t start_thread(void *(*run)(void *), struct pipeline *pipeline) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, run, pipeline);
    if (errno)
        err(EXIT_FAILURE, "cannot create a thread");
    return thread;
}

static void run_pipeline(struct pipeline *pipeline, int threads) {
    pthread_t *compressors = calloc((size_t)threads, sizeof *compressors);
    if (!compressors)
        err(EXIT_FAILURE, "out of memory for %d threads", threads);
    pthread_t writer = start_thread(writer_run, pipeline);
    for (int i = 0; i < threads; i++)
        compressors[i] = start_thread(compressor_run, pipeline);
    pthread_t reader = start_thread(reader_run, pipeline);

    pthread_join(reader, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(compressors[i], NULL);
    queue_close(&pipeline->to_write);
    pthread_join(writer, NULL);
    free(compressors);
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
    int capacity;
    const char *output;
};

static const char usage[] = "Usage: pipeline [options]\n"
                            "Packs blocks of 64 KiB: one reader, N compressors, one writer.\n"
                            "  --threads N     compressor threads (default 4)\n"
                            "  --size N        blocks (default 2500)\n"
                            "  --capacity N    blocks a queue holds (default 8)\n"
                            "  --output FILE   write the packed blocks\n"
                            "  --help          show this text\n";

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
        {"threads", required_argument, NULL, 't'},  {"size", required_argument, NULL, 's'},
        {"capacity", required_argument, NULL, 'c'}, {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},           {0},
    };
    struct options options = {.threads = 4, .size = 2500, .capacity = 8};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:c:o:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 10000000);
            break;
        case 'c':
            options.capacity = parse_count("capacity", optarg, 10000);
            break;
        case 'o':
            options.output = optarg;
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
    static struct pipeline pipeline;
    pipeline.blocks = options.size;
    vocabulary_init(&pipeline.vocabulary);
    queue_init(&pipeline.to_pack, options.capacity);
    queue_init(&pipeline.to_write, options.capacity);
    if (options.output) {
        pipeline.output = fopen(options.output, "wb");
        if (!pipeline.output)
            err(EXIT_FAILURE, "cannot create %s", options.output);
    }

    double start = clock_seconds();
    run_pipeline(&pipeline, options.threads);
    double seconds = clock_seconds() - start;

    if (pipeline.output && fclose(pipeline.output) != 0)
        err(EXIT_FAILURE, "cannot write %s", options.output);
    printf("pipeline: %d blocks, %d threads, %.3f s, packed to %.1f %%\n", pipeline.blocks,
           options.threads, seconds,
           100.0 * (double)pipeline.packed_bytes / LZ_BLOCK_BYTES_MAX / pipeline.blocks);
    printf("checksum %016llx\n", (unsigned long long)pipeline.checksum);
    queue_destroy(&pipeline.to_write);
    queue_destroy(&pipeline.to_pack);
    return EXIT_SUCCESS;
}
