/*
 * galaxy: two discs of stars collide within a dark halo (Barnes-Hut in the plane).
 *
 * Each time step has three phases, one after the other: the main thread builds the quadtree alone;
 * the force pool computes the stars' pull on one another; the move pool integrates the orbits. For
 * the two parallel phases the main thread cuts the stars into chunks, puts them into the pool's
 * bounded queue, and waits until the pool has counted down the last chunk.
 *
 * A star's acceleration depends on the tree and its own place only, so the orbits are the same for
 * any number of threads in either pool.
 */
#define _GNU_SOURCE
#include "tree.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    CHUNK_BODIES = 100,
    QUEUE_CAPACITY = 16,
    SUBSTEPS = 160, /* of an orbit within one time step */
};

static const double opening = 0.2;
static const double time_step = 0.01;
static const double halo_speed = 0.8; /* orbital speed far out */
static const double halo_core = 0.5;
static const double bulge_mass = 0.3;
static const double bulge_core = 0.1;

/* ---------------------------------------------------------------------------------- chunk queue */

struct chunk {
    int first;
    int last; /* exclusive */
};

/* First in, first out, bounded; closed when the simulation is over. */
struct chunk_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    struct chunk slots[QUEUE_CAPACITY];
    int first;
    int count;
    bool closed;
};

static void queue_init(struct chunk_queue *queue) {
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    queue->first = 0;
    queue->count = 0;
    queue->closed = false;
}

static void queue_put(struct chunk_queue *queue, struct chunk chunk) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == QUEUE_CAPACITY)
        pthread_cond_wait(&queue->not_full, &queue->mutex);
    queue->slots[(queue->first + queue->count) % QUEUE_CAPACITY] = chunk;
    queue->count++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

/* Waits for a chunk. False: the queue is closed and empty. */
static bool queue_take(struct chunk_queue *queue, struct chunk *chunk) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    bool found = queue->count > 0;
    if (found) {
        *chunk = queue->slots[queue->first];
        queue->first = (queue->first + 1) % QUEUE_CAPACITY;
        queue->count--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->mutex);
    return found;
}

static void queue_close(struct chunk_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

static void queue_destroy(struct chunk_queue *queue) {
    pthread_cond_destroy(&queue->not_full);
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->mutex);
}

/* ------------------------------------------------------------------------------------ countdown */

/* How many chunks of the current phase are unfinished. */
struct countdown {
    pthread_mutex_t mutex;
    pthread_cond_t zero;
    int remaining;
};

static void countdown_init(struct countdown *countdown) {
    pthread_mutex_init(&countdown->mutex, NULL);
    pthread_cond_init(&countdown->zero, NULL);
    countdown->remaining = 0;
}

static void countdown_set(struct countdown *countdown, int count) {
    pthread_mutex_lock(&countdown->mutex);
    countdown->remaining = count;
    pthread_mutex_unlock(&countdown->mutex);
}

static void countdown_decrement(struct countdown *countdown) {
    pthread_mutex_lock(&countdown->mutex);
    if (--countdown->remaining == 0)
        pthread_cond_signal(&countdown->zero);
    pthread_mutex_unlock(&countdown->mutex);
}

static void countdown_wait(struct countdown *countdown) {
    pthread_mutex_lock(&countdown->mutex);
    while (countdown->remaining > 0)
        pthread_cond_wait(&countdown->zero, &countdown->mutex);
    pthread_mutex_unlock(&countdown->mutex);
}

static void countdown_destroy(struct countdown *countdown) {
    pthread_cond_destroy(&countdown->zero);
    pthread_mutex_destroy(&countdown->mutex);
}

/* ---------------------------------------------------------------------------------------- pools */

struct galaxy {
    struct body *bodies;
    int count;
    struct tree tree;
};

struct pool {
    struct galaxy *galaxy;
    struct chunk_queue queue;
    struct countdown unfinished;
    pthread_t *threads;
    int thread_count;
};

static void *force_worker_run(void *arg) {
    struct pool *pool = arg;
    struct galaxy *galaxy = pool->galaxy;
    struct chunk chunk;
    while (queue_take(&pool->queue, &chunk)) {
        for (int i = chunk.first; i < chunk.last; i++)
            tree_accelerate(&galaxy->tree, &galaxy->bodies[i], opening);
        countdown_decrement(&pool->unfinished);
    }
    return NULL;
}

/* Leapfrog in the halo and the bulge, whose pull changes within the step; that of the other stars
 * is taken as constant. */
static void move_body(struct body *body) {
    const double dt = time_step / SUBSTEPS;
    for (int i = 0; i < SUBSTEPS; i++) {
        body->x += 0.5 * dt * body->vx;
        body->y += 0.5 * dt * body->vy;
        double square = body->x * body->x + body->y * body->y;
        double core = square + bulge_core * bulge_core;
        double pull = halo_speed * halo_speed / (square + halo_core * halo_core) +
                      bulge_mass / (core * sqrt(core));
        body->vx += dt * (body->ax - pull * body->x);
        body->vy += dt * (body->ay - pull * body->y);
        body->x += 0.5 * dt * body->vx;
        body->y += 0.5 * dt * body->vy;
    }
}

static void *move_worker_run(void *arg) {
    struct pool *pool = arg;
    struct chunk chunk;
    while (queue_take(&pool->queue, &chunk)) {
        for (int i = chunk.first; i < chunk.last; i++)
            move_body(&pool->galaxy->bodies[i]);
        countdown_decrement(&pool->unfinished);
    }
    return NULL;
}

static void pool_start(struct pool *pool, struct galaxy *galaxy, int threads,
                       void *(*run)(void *)) {
    pool->galaxy = galaxy;
    pool->thread_count = threads;
    queue_init(&pool->queue);
    countdown_init(&pool->unfinished);
    pool->threads = calloc((size_t)threads, sizeof *pool->threads);
    if (!pool->threads)
        err(EXIT_FAILURE, "out of memory for %d threads", threads);
    for (int i = 0; i < threads; i++) {
        errno = pthread_create(&pool->threads[i], NULL, run, pool);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
}

/* Has the pool work on all bodies and waits until it has. */
static void pool_run_phase(struct pool *pool) {
    int bodies = pool->galaxy->count;
    countdown_set(&pool->unfinished, (bodies + CHUNK_BODIES - 1) / CHUNK_BODIES);
    for (int first = 0; first < bodies; first += CHUNK_BODIES) {
        int last = first + CHUNK_BODIES < bodies ? first + CHUNK_BODIES : bodies;
        queue_put(&pool->queue, (struct chunk){first, last});
    }
    countdown_wait(&pool->unfinished);
}

static void pool_stop(struct pool *pool) {
    queue_close(&pool->queue);
    for (int i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    countdown_destroy(&pool->unfinished);
    queue_destroy(&pool->queue);
}

/* --------------------------------------------------------------------------------- the galaxies */

static double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Every other star belongs to the disc on the left; the discs spin and fly past each other. */
static void place_bodies(struct galaxy *galaxy) {
    uint64_t seed = 1986;
    for (int i = 0; i < galaxy->count; i++) {
        struct body *body = &galaxy->bodies[i];
        double side = i % 2 ? 1.0 : -1.0;
        double radius = 0.05 + 0.8 * sqrt(random_unit(&seed));
        double angle = 2.0 * M_PI * random_unit(&seed);
        double speed = 0.6 * sqrt(radius);
        body->x = side * 1.2 + radius * cos(angle);
        body->y = side * 0.4 + radius * sin(angle);
        body->vx = -side * 0.3 - speed * sin(angle);
        body->vy = side * 0.4 + speed * cos(angle);
        body->ax = 0.0;
        body->ay = 0.0;
        body->mass = (0.5 + random_unit(&seed)) / galaxy->count;
    }
}

static void run_steps(struct galaxy *galaxy, struct pool *force, struct pool *move, int steps) {
    for (int step = 0; step < steps; step++) {
        tree_build(&galaxy->tree, galaxy->bodies, galaxy->count);
        pool_run_phase(force);
        pool_run_phase(move);
    }
}

static uint64_t galaxy_checksum(const struct galaxy *galaxy) {
    uint64_t hash = 1;
    for (int i = 0; i < galaxy->count; i++) {
        uint64_t words[2];
        memcpy(&words[0], &galaxy->bodies[i].x, sizeof words[0]);
        memcpy(&words[1], &galaxy->bodies[i].y, sizeof words[1]);
        hash = (hash ^ words[0] ^ (words[1] >> 7)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash;
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int force_threads;
    int move_threads;
    int size;
    int steps;
};

static const char usage[] = "Usage: galaxy [options]\n"
                            "Simulates two colliding galaxies with a force pool and a move pool.\n"
                            "  --threads N         threads in each pool (default 4)\n"
                            "  --force-threads N   threads in the force pool\n"
                            "  --move-threads N    threads in the move pool\n"
                            "  --size N            stars (default 6000)\n"
                            "  --steps N           time steps (default 110)\n"
                            "  --help              show this text\n";

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
        {"force-threads", required_argument, NULL, 'f'},
        {"move-threads", required_argument, NULL, 'm'},
        {"size", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.size = 6000, .steps = 110};
    int threads = 4;
    int c;
    while ((c = getopt_long(argc, argv, "t:f:m:s:n:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 'f':
            options.force_threads = parse_count("force-threads", optarg, MAX_THREADS);
            break;
        case 'm':
            options.move_threads = parse_count("move-threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 10000000);
            break;
        case 'n':
            options.steps = parse_count("steps", optarg, 1000000);
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
    if (!options.force_threads)
        options.force_threads = threads;
    if (!options.move_threads)
        options.move_threads = threads;
    return options;
}

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    struct galaxy galaxy = {.count = options.size};
    galaxy.bodies = calloc((size_t)galaxy.count, sizeof *galaxy.bodies);
    if (!galaxy.bodies)
        err(EXIT_FAILURE, "out of memory for %d stars", galaxy.count);
    tree_init(&galaxy.tree);
    place_bodies(&galaxy);

    double start = clock_seconds();
    struct pool force, move;
    pool_start(&force, &galaxy, options.force_threads, force_worker_run);
    pool_start(&move, &galaxy, options.move_threads, move_worker_run);
    run_steps(&galaxy, &force, &move, options.steps);
    pool_stop(&force);
    pool_stop(&move);
    double seconds = clock_seconds() - start;

    printf("galaxy: %d stars, %d steps, %d + %d threads, %.3f s\n", galaxy.count, options.steps,
           options.force_threads, options.move_threads, seconds);
    printf("checksum %016llx\n", (unsigned long long)galaxy_checksum(&galaxy));
    tree_free(&galaxy.tree);
    free(galaxy.bodies);
    return EXIT_SUCCESS;
}
