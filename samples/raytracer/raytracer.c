/*
 * raytracer: spheres over a chequered plane, with shadows and reflections.
 *
 * The main thread puts one task per image row into an unbounded queue while the workers are already
 * taking rows from it, closes the queue, and waits for the workers to drain it. Rows differ widely
 * in cost: sky is cheap, rows full of mirrors are not. A row belongs to one worker, so the frame
 * needs no lock, and a pixel depends on its coordinates alone, so the picture is the same for any
 * number of threads.
 */
#define _GNU_SOURCE
#include "scene.h"

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
};

/* ---------------------------------------------------------------------------------- row queue */

struct row_task {
    int row;
    struct row_task *next;
};

/* First in, first out, without a bound; the producer closes it when no more rows will come. */
struct row_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    struct row_task *head;
    struct row_task *tail;
    bool closed;
};

static void queue_init(struct row_queue *queue) {
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    queue->head = NULL;
    queue->tail = NULL;
    queue->closed = false;
}

static void queue_put(struct row_queue *queue, int row) {
    struct row_task *task = malloc(sizeof *task);
    if (!task)
        err(EXIT_FAILURE, "out of memory for a row task");
    task->row = row;
    task->next = NULL;
    pthread_mutex_lock(&queue->mutex);
    if (queue->tail)
        queue->tail->next = task;
    else
        queue->head = task;
    queue->tail = task;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

static void queue_close(struct row_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

/* Waits for a row. False: the queue is closed and empty. */
static bool queue_take(struct row_queue *queue, int *row) {
    pthread_mutex_lock(&queue->mutex);
    while (!queue->head && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    struct row_task *task = queue->head;
    if (task) {
        queue->head = task->next;
        if (!queue->head)
            queue->tail = NULL;
    }
    pthread_mutex_unlock(&queue->mutex);
    if (!task)
        return false;
    *row = task->row;
    free(task);
    return true;
}

static void queue_destroy(struct row_queue *queue) {
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->mutex);
}

/* ---------------------------------------------------------------------------------- rendering */

struct frame {
    int width;
    int height;
    int grid;        /* grid x grid rays per pixel */
    uint8_t *pixels; /* height x width x RGB */
};

struct render {
    struct scene scene;
    struct frame frame;
    struct row_queue queue;
};

static uint8_t colour_to_byte(double value) {
    return (uint8_t)(255.0 * sqrt(fmin(1.0, fmax(0.0, value))) + 0.5);
}

static void render_row(const struct scene *scene, const struct frame *frame, int row) {
    uint8_t *out = frame->pixels + (size_t)row * frame->width * 3;
    double scale = 1.0 / frame->height;
    for (int column = 0; column < frame->width; column++) {
        vec3 sum = {0.0, 0.0, 0.0};
        for (int i = 0; i < frame->grid * frame->grid; i++) {
            int sub_row = i / frame->grid;
            int sub_column = i % frame->grid;
            double dx = (sub_column + 0.5) / frame->grid;
            double dy = (sub_row + 0.5) / frame->grid;
            vec3 direction = {(column + dx - 0.5 * frame->width) * scale,
                              (0.5 * frame->height - row - dy) * scale - 0.1, 1.0};
            vec3 colour = scene_look(scene, direction);
            sum.x += colour.x;
            sum.y += colour.y;
            sum.z += colour.z;
        }
        double rays = frame->grid * frame->grid;
        *out++ = colour_to_byte(sum.x / rays);
        *out++ = colour_to_byte(sum.y / rays);
        *out++ = colour_to_byte(sum.z / rays);
    }
}

static void *render_worker(void *arg) {
    struct render *render = arg;
    int row;
    while (queue_take(&render->queue, &row))
        render_row(&render->scene, &render->frame, row);
    return NULL;
}

static void render_frame(struct render *render, int threads) {
    pthread_t *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers)
        err(EXIT_FAILURE, "out of memory for %d threads", threads);
    for (int i = 0; i < threads; i++) {
        errno = pthread_create(&workers[i], NULL, render_worker, render);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
    for (int row = 0; row < render->frame.height; row++)
        queue_put(&render->queue, row);
    queue_close(&render->queue);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    free(workers);
}

/* FNV-1a over the picture. */
static uint64_t frame_checksum(const struct frame *frame) {
    uint64_t hash = 14695981039346656037U;
    size_t bytes = (size_t)frame->width * frame->height * 3;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ frame->pixels[i]) * 1099511628211U;
    return hash;
}

static void frame_write_ppm(const struct frame *frame, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file)
        err(EXIT_FAILURE, "cannot create %s", path);
    fprintf(file, "P6\n%d %d\n255\n", frame->width, frame->height);
    fwrite(frame->pixels, 3, (size_t)frame->width * frame->height, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        err(EXIT_FAILURE, "cannot write %s", path);
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
    int samples;
    const char *output;
};

static const char usage[] = "Usage: raytracer [options]\n"
                            "Traces a fixed scene of spheres, one task per image row.\n"
                            "  --threads N     worker threads (default 4)\n"
                            "  --size N        image height in rows, width is 4/3 of it "
                            "(default 800)\n"
                            "  --samples N     N x N rays per pixel (default 4)\n"
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
        {"threads", required_argument, NULL, 't'}, {"size", required_argument, NULL, 's'},
        {"samples", required_argument, NULL, 'a'}, {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    struct options options = {.threads = 4, .size = 800, .samples = 4};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:o:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 10000);
            break;
        case 'a':
            options.samples = parse_count("samples", optarg, 16);
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
    struct render render = {
        .frame = {.width = (options.size * 4 + 2) / 3,
                  .height = options.size,
                  .grid = options.samples},
    };
    render.frame.pixels = calloc((size_t)render.frame.width * render.frame.height, 3);
    if (!render.frame.pixels)
        err(EXIT_FAILURE, "out of memory for %dx%d pixels", render.frame.width,
            render.frame.height);
    scene_init(&render.scene);
    queue_init(&render.queue);

    double start = clock_seconds();
    render_frame(&render, options.threads);
    double seconds = clock_seconds() - start;

    printf("raytracer: %dx%d pixels, %d threads, %.3f s\n", render.frame.width, render.frame.height,
           options.threads, seconds);
    printf("checksum %016llx\n", (unsigned long long)frame_checksum(&render.frame));
    if (options.output)
        frame_write_ppm(&render.frame, options.output);
    queue_destroy(&render.queue);
    free(render.frame.pixels);
    return EXIT_SUCCESS;
}
