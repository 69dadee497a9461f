/*
 * heat: a plate of reacting powder, with OpenMP.
 *
 * Every step conducts heat (a stencil over all rows, the same cost each: static shares), then burns
 * the hot cells (their number and the work on each differ from row to row: rows are handed out in
 * chunks while they last), and then one thread moves the heaters on.
 *
 * A cell depends on the state before the step alone, and what is added up are whole numbers, so the
 * result is the same to the last digit for any number of threads.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    HEATERS = 6,
    CHUNK_ROWS = 4,
    CLASSES = 16, /* of burnt energy, in the histogram */
};

static const float ignition = 0.35F;
static const double micros = 1e6;

struct heater {
    double row, column, angle;
};

struct plate {
    int size;
    float *now, *next; /* temperature, size x size */
    float *fuel;
    struct heater heaters[HEATERS];
    int64_t energy_micros;     /* burnt so far */
    int64_t hottest;           /* in micro-units, of the last step */
    int64_t burnt_in[CLASSES]; /* cells burnt, by the energy they gave */
};

/* --------------------------------------------------------------------------------------- a step */

static float *cell(float *cells, const struct plate *plate, int row, int column) {
    return &cells[(size_t)row * (size_t)plate->size + (size_t)column];
}

/* The edges stay cold. Gives the highest temperature of the row, in micro-units. */
static int64_t conduct_row(struct plate *plate, int row) {
    const float *above = cell(plate->now, plate, row - 1, 0);
    const float *here = cell(plate->now, plate, row, 0);
    const float *below = cell(plate->now, plate, row + 1, 0);
    float *next = cell(plate->next, plate, row, 0);
    float highest = 0;
    for (int column = 1; column + 1 < plate->size; column++) {
        float flow = above[column] + below[column] + here[column - 1] + here[column + 1];
        next[column] = 0.998F * (here[column] + 0.2F * (flow - 4 * here[column]));
        highest = next[column] > highest ? next[column] : highest;
    }
    return (int64_t)(highest * micros);
}

static void conduct(struct plate *plate) {
    int64_t hottest = 0;
#pragma omp parallel for schedule(static) reduction(max : hottest)
    for (int row = 1; row < plate->size - 1; row++) {
        int64_t highest = conduct_row(plate, row);
        hottest = highest > hottest ? highest : hottest;
    }
    plate->hottest = hottest;
    float *before = plate->now;
    plate->now = plate->next;
    plate->next = before;
}

/* Integrates the reaction of one cell in small steps: the hotter, the longer. Gives the energy. */
static double burn_cell(float *temperature, float *fuel) {
    double heat = *temperature, left = *fuel, released = 0;
    int steps = 4 + (int)(20 * fmin(heat - ignition, 1));
    for (int i = 0; i < steps && left > 1e-4; i++) {
        double rate = left * exp(-1.2 / (heat + 0.05)) / steps;
        left -= rate;
        released += rate;
        heat += 0.05 * rate;
    }
    *temperature = (float)heat;
    *fuel = (float)(left + 0.002 * (1 - left)); /* new powder trickles in */
    return released;
}

static int64_t burn_row(struct plate *plate, int row, int64_t burnt_in[CLASSES]) {
    int64_t energy = 0;
    for (int column = 1; column + 1 < plate->size; column++) {
        float *temperature = cell(plate->now, plate, row, column);
        if (*temperature < ignition)
            continue;
        double released = burn_cell(temperature, cell(plate->fuel, plate, row, column));
        int class = (int)(released * 4 * CLASSES);
        burnt_in[class < CLASSES ? class : CLASSES - 1]++;
        energy += (int64_t)(released * micros);
    }
    return energy;
}

static void burn(struct plate *plate) {
#pragma omp parallel
    {
        int64_t burnt_in[CLASSES] = {0};
        int64_t energy = 0;
#pragma omp for schedule(dynamic, CHUNK_ROWS) nowait
        for (int row = 1; row < plate->size - 1; row++)
            energy += burn_row(plate, row, burnt_in);
#pragma omp critical
        {
            plate->energy_micros += energy;
            for (int i = 0; i < CLASSES; i++)
                plate->burnt_in[i] += burnt_in[i];
        }
    }
}

/* Serial: heaters wander over the plate and heat a disc around them. */
static void move_heaters(struct plate *plate, int step) {
    double radius = plate->size / 12.0;
    for (int h = 0; h < HEATERS; h++) {
        struct heater *heater = &plate->heaters[h];
        heater->angle += 0.3 * sin(0.05 * step + h);
        heater->row += 0.7 * cos(heater->angle);
        heater->column += 0.7 * sin(heater->angle);
        heater->row = fmin(fmax(heater->row, radius + 1), plate->size - radius - 2);
        heater->column = fmin(fmax(heater->column, radius + 1), plate->size - radius - 2);
        for (int row = (int)(heater->row - radius); row <= heater->row + radius; row++)
            for (int column = (int)(heater->column - radius); column <= heater->column + radius;
                 column++) {
                double distance = hypot(row - heater->row, column - heater->column);
                if (distance < radius)
                    *cell(plate->now, plate, row, column) +=
                        (float)(0.03 * (1 - distance / radius));
            }
    }
}

/* ------------------------------------------------------------------------------------- the plate
 */

static struct plate make_plate(int size) {
    size_t cells = (size_t)size * (size_t)size;
    struct plate plate = {.size = size,
                          .now = calloc(cells, sizeof(float)),
                          .next = calloc(cells, sizeof(float)),
                          .fuel = malloc(cells * sizeof(float))};
    if (!plate.now || !plate.next || !plate.fuel)
        err(EXIT_FAILURE, "out of memory for %d x %d cells", size, size);
    for (size_t i = 0; i < cells; i++)
        plate.fuel[i] = 0.5F + 0.5F * (float)((i * 2654435761U >> 8 & 255) / 255.0);
    for (int h = 0; h < HEATERS; h++)
        plate.heaters[h] =
            (struct heater){size * (0.2 + 0.12 * h), size * (0.8 - 0.11 * h), 1.3 * h};
    return plate;
}

static uint64_t checksum_of(const struct plate *plate) {
    uint64_t sum = (uint64_t)plate->energy_micros;
    for (int i = 0; i < CLASSES; i++)
        sum = sum * 0x9e3779b97f4a7c15U + (uint64_t)plate->burnt_in[i];
    for (size_t i = 0; i < (size_t)plate->size * (size_t)plate->size; i++)
        sum = sum * 0x9e3779b97f4a7c15U + (uint64_t)(plate->now[i] * micros);
    return sum;
}

/* -------------------------------------------------------------------------------------- options */

static const char usage[] = "usage: heat [--threads N] [--size CELLS] [--steps N]\n"
                            "  --threads N   members of the team (default 4)\n"
                            "  --size N      rows and columns of the plate (default 260)\n"
                            "  --steps N     of time (default 600)\n";

static int parse_count(const char *name, const char *text, int limit) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > limit)
        errx(EXIT_USAGE, "--%s must be a whole number from 1 to %d, not '%s'", name, limit, text);
    return (int)value;
}

struct options {
    int threads, size, steps;
};

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.threads = 4, .size = 260, .steps = 600};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:n:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 10000);
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
    if (options.size < 30)
        errx(EXIT_USAGE, "--size must be at least 30: the heaters need room");
    return options;
}

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    struct plate plate = make_plate(options.size);
    omp_set_num_threads(options.threads);

    double start = clock_seconds();
    for (int step = 0; step < options.steps; step++) {
        move_heaters(&plate, step);
        conduct(&plate);
        burn(&plate);
    }
    double seconds = clock_seconds() - start;

    printf("heat: %d x %d cells, %d steps, %d threads, %.3f s, energy %.6f, hottest %.6f\n",
           plate.size, plate.size, options.steps, options.threads, seconds,
           (double)plate.energy_micros / micros, (double)plate.hottest / micros);
    printf("checksum %016llx\n", (unsigned long long)checksum_of(&plate));
    free(plate.now);
    free(plate.next);
    free(plate.fuel);
    return EXIT_SUCCESS;
}
