/*
 * renderer: a Julia set, supersampled and filtered, rendered tile by tile.
 *
 * The workers help themselves to tiles through one shared counter, as bucket renderers do. Before
 * the first tile each worker prepares a scratch area of its own: the jittered positions of the
 * subsamples, their filter weights, and a patch of high-precision colour. Tiles differ in cost by a
 * factor of a hundred: points that escape at once against points that never do.
 *
 * A pixel depends on its coordinates alone, so the picture is the same for any number of threads.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    TILE_EDGE = 32, /* pixels */
    SUBSAMPLE_EDGE = 4,
    SUBSAMPLES = SUBSAMPLE_EDGE * SUBSAMPLE_EDGE,
    MAX_ITERATIONS = 400,
};

struct colour {
    float red, green, blue;
};

struct subsample {
    double dx, dy; /* offset within the pixel, 0..1 */
    float weight;  /* the weights of a pixel add up to 1 */
};

/* What a worker needs and shares with nobody. */
struct scratch {
    struct subsample subsamples[SUBSAMPLES];
    struct colour tile[TILE_EDGE * TILE_EDGE];
    uint64_t iterations; /* of all the worker's tiles */
};

struct tile {
    int left, top, right, bottom; /* right and bottom are exclusive */
};

struct renderer {
    int size; /* pixels per edge */
    int tiles_per_edge;
    uint8_t *pixels; /* size x size x RGB */

    pthread_mutex_t mutex; /* guards the fields below */
    int next_tile;
    uint64_t iterations; /* of all workers that have finished */
};

/* ------------------------------------------------------------------------------------- scratch */

static double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Stratified positions, the same for every worker, under a Gaussian about the pixel's centre. */
static void scratch_init(struct scratch *scratch) {
    uint64_t seed = 2007;
    float sum = 0.0F;
    for (int i = 0; i < SUBSAMPLES; i++) {
        struct subsample *s = &scratch->subsamples[i];
        int row = i / SUBSAMPLE_EDGE;
        int column = i % SUBSAMPLE_EDGE;
        s->dx = (column + random_unit(&seed)) / SUBSAMPLE_EDGE;
        s->dy = (row + random_unit(&seed)) / SUBSAMPLE_EDGE;
        double square = (s->dx - 0.5) * (s->dx - 0.5) + (s->dy - 0.5) * (s->dy - 0.5);
        s->weight = (float)exp(-4.0 * square);
        sum += s->weight;
    }
    for (int i = 0; i < SUBSAMPLES; i++)
        scratch->subsamples[i].weight /= sum;
    scratch->iterations = 0;
}

static struct scratch *scratch_create(void) {
    struct scratch *scratch = malloc(sizeof *scratch);
    if (!scratch)
        err(EXIT_FAILURE, "out of memory for a scratch area");
    scratch_init(scratch);
    return scratch;
}

/* ----------------------------------------------------------------------------------- rendering */

/* Iterates z -> z^2 + c. Returns the smoothed number of steps to escape, or -1 if it never does. */
static double escape_time(double x, double y, uint64_t *iterations) {
    static const double cx = -0.7269, cy = 0.1889;
    double xx = x * x, yy = y * y;
    int n = 0;
    while (n < MAX_ITERATIONS && xx + yy < 256.0) {
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        n++;
    }
    *iterations += (uint64_t)n;
    return n == MAX_ITERATIONS ? -1.0 : n + 1.0 - log2(0.5 * log(xx + yy) / log(16.0));
}

static struct colour colour_of_escape(double time) {
    if (time < 0.0)
        return (struct colour){0.02F, 0.02F, 0.05F};
    float t = (float)(0.35 * sqrt(fmax(0.0, time)));
    return (struct colour){0.5F + 0.5F * cosf(t + 3.0F), 0.5F + 0.5F * cosf(1.3F * t + 2.2F),
                           0.5F + 0.5F * cosf(1.7F * t + 1.4F)};
}

static struct colour render_pixel(const struct renderer *renderer, struct scratch *scratch, int px,
                                  int py) {
    struct colour sum = {0.0F, 0.0F, 0.0F};
    double scale = 3.0 / renderer->size;
    for (int i = 0; i < SUBSAMPLES; i++) {
        const struct subsample *s = &scratch->subsamples[i];
        double x = (px + s->dx) * scale - 1.5;
        double y = (py + s->dy) * scale - 1.5;
        struct colour c = colour_of_escape(escape_time(x, y, &scratch->iterations));
        sum.red += s->weight * c.red;
        sum.green += s->weight * c.green;
        sum.blue += s->weight * c.blue;
    }
    return sum;
}

static uint8_t colour_to_byte(float value) {
    return (uint8_t)(255.0F * sqrtf(fminf(1.0F, fmaxf(0.0F, value))) + 0.5F);
}

static struct tile tile_of_index(const struct renderer *renderer, int index) {
    struct tile tile;
    tile.left = index % renderer->tiles_per_edge * TILE_EDGE;
    tile.top = index / renderer->tiles_per_edge * TILE_EDGE;
    tile.right = tile.left + TILE_EDGE < renderer->size ? tile.left + TILE_EDGE : renderer->size;
    tile.bottom = tile.top + TILE_EDGE < renderer->size ? tile.top + TILE_EDGE : renderer->size;
    return tile;
}

static void render_tile(const struct renderer *renderer, struct scratch *scratch, int index) {
    struct tile tile = tile_of_index(renderer, index);
    struct colour *colour = scratch->tile;
    for (int y = tile.top; y < tile.bottom; y++)
        for (int x = tile.left; x < tile.right; x++)
            *colour++ = render_pixel(renderer, scratch, x, y);

    colour = scratch->tile;
    for (int y = tile.top; y < tile.bottom; y++) {
        uint8_t *out = renderer->pixels + 3 * ((size_t)y * renderer->size + tile.left);
        for (int x = tile.left; x < tile.right; x++, colour++) {
            *out++ = colour_to_byte(colour->red);
            *out++ = colour_to_byte(colour->green);
            *out++ = colour_to_byte(colour->blue);
        }
    }
}

/* Hands out the next tile; false when there is none left. */
static bool take_tile(struct renderer *renderer, int *index) {
    int tiles = renderer->tiles_per_edge * renderer->tiles_per_edge;
    pthread_mutex_lock(&renderer->mutex);
    bool found = renderer->next_tile < tiles;
    if (found)
        *index = renderer->next_tile++;
    pthread_mutex_unlock(&renderer->mutex);
    return found;
}

static void *render_worker(void *arg) {
    struct renderer *renderer = arg;
    struct scratch *scratch = scratch_create();
    int index;
    while (take_tile(renderer, &index))
        render_tile(renderer, scratch, index);
    pthread_mutex_lock(&renderer->mutex);
    renderer->iterations += scratch->iterations;
    pthread_mutex_unlock(&renderer->mutex);
    free(scratch);
    return NULL;
}

static void render_image(struct renderer *renderer, int threads) {
    pthread_t *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers)
        err(EXIT_FAILURE, "out of memory for %d threads", threads);
    for (int i = 0; i < threads; i++) {
        errno = pthread_create(&workers[i], NULL, render_worker, renderer);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    free(workers);
}

/* FNV-1a over the picture. */
static uint64_t image_checksum(const struct renderer *renderer) {
    uint64_t hash = 14695981039346656037U;
    size_t bytes = (size_t)renderer->size * renderer->size * 3;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ renderer->pixels[i]) * 1099511628211U;
    return hash;
}

static void image_write_ppm(const struct renderer *renderer, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file)
        err(EXIT_FAILURE, "cannot create %s", path);
    fprintf(file, "P6\n%d %d\n255\n", renderer->size, renderer->size);
    fwrite(renderer->pixels, 3, (size_t)renderer->size * renderer->size, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        err(EXIT_FAILURE, "cannot write %s", path);
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
    const char *output;
};

static const char usage[] = "Usage: renderer [options]\n"
                            "Renders a Julia set in tiles handed out by a shared counter.\n"
                            "  --threads N     worker threads (default 4)\n"
                            "  --size N        pixels per edge (default 1400)\n"
                            "  --output FILE   write the picture as PPM\n"
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
        {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.threads = 4, .size = 1400};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:o:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 20000);
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
    struct renderer renderer = {
        .size = options.size,
        .tiles_per_edge = (options.size + TILE_EDGE - 1) / TILE_EDGE,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };
    renderer.pixels = calloc((size_t)renderer.size * renderer.size, 3);
    if (!renderer.pixels)
        err(EXIT_FAILURE, "out of memory for %dx%d pixels", renderer.size, renderer.size);

    double start = clock_seconds();
    render_image(&renderer, options.threads);
    double seconds = clock_seconds() - start;

    printf("renderer: %dx%d pixels, %d threads, %.3f s, %.0f million iterations\n", renderer.size,
           renderer.size, options.threads, seconds, 1e-6 * (double)renderer.iterations);
    printf("checksum %016llx\n", (unsigned long long)image_checksum(&renderer));
    if (options.output)
        image_write_ppm(&renderer, options.output);
    free(renderer.pixels);
    return EXIT_SUCCESS;
}
