/*
 * moldyn: molecular dynamics of argon-like atoms (Lennard-Jones potential, periodic box).
 *
 * Each time step has one parallel phase between two meetings at a barrier: every worker computes
 * the forces of its atoms i = id, id + threads, ... on all atoms j > i. By Newton's third law a
 * pair touches two atoms, so each worker adds up into a force array of its own; the main thread
 * merges the arrays and moves the atoms while the workers wait.
 *
 * All quantities are in reduced units. Forces and energies are accumulated in fixed point: integer
 * sums do not depend on the order of their terms, hence neither does the trajectory on the number
 * of threads.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_USAGE = 2, MAX_THREADS = 1024, ATOMS_PER_CELL = 4 };

static const double density = 0.8442;
static const double time_step = 0.004;
static const double cutoff = 2.5;
static const double fixed_scale = 0x1p36; /* fixed-point units per reduced unit */

/* n values per axis; arrays of their own, so that the inner loop reads contiguous memory. */
struct vectors {
    double *x, *y, *z;
};

struct fixed_vectors {
    int64_t *x, *y, *z;
};

struct worker {
    struct simulation *simulation;
    pthread_t thread;
    int id;
    struct fixed_vectors force;
    int64_t potential;
};

struct simulation {
    int threads;
    int atoms;
    int steps;
    double box; /* edge length */
    struct vectors position;
    struct vectors velocity;
    struct vectors force;
    double potential;
    pthread_barrier_t barrier; /* parties: the workers and the main thread */
    struct worker *workers;
};

static void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    if (!memory)
        err(EXIT_FAILURE, "out of memory for %zu values", count);
    return memory;
}

static struct vectors vectors_allocate(int n) {
    size_t count = (size_t)n;
    struct vectors v = {allocate(count, sizeof(double)), allocate(count, sizeof(double)),
                        allocate(count, sizeof(double))};
    return v;
}

static void vectors_free(struct vectors *v) {
    free(v->x);
    free(v->y);
    free(v->z);
}

/* ------------------------------------------------------------------------------- initial state */

static double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Atoms on a face-centred cubic lattice of cells x cells x cells. */
static void place_atoms(struct simulation *sim, int cells) {
    static const double basis[ATOMS_PER_CELL][3] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    double edge = sim->box / cells;
    for (int atom = 0; atom < sim->atoms; atom++) {
        int cell = atom / ATOMS_PER_CELL;
        const double *offset = basis[atom % ATOMS_PER_CELL];
        int row = cell / cells;
        int layer = row / cells;
        sim->position.x[atom] = edge * (cell % cells + offset[0]);
        sim->position.y[atom] = edge * (row % cells + offset[1]);
        sim->position.z[atom] = edge * (layer + offset[2]);
    }
}

/* Uniform velocities along one axis, without net momentum. */
static void agitate_axis(double *velocity, int atoms, uint64_t *seed) {
    double sum = 0.0;
    for (int i = 0; i < atoms; i++) {
        velocity[i] = 4.0 * random_unit(seed) - 2.0;
        sum += velocity[i];
    }
    for (int i = 0; i < atoms; i++)
        velocity[i] -= sum / atoms;
}

/* ------------------------------------------------------------------------------------- forces */

/* Shortest distance along one axis in a periodic box. */
static inline double wrap_distance(double d, double box, double half) {
    if (d > half)
        return d - box;
    if (d < -half)
        return d + box;
    return d;
}

/* Adds the forces between atom i and every atom j > i. */
static void add_forces_of_atom(const struct simulation *sim, struct worker *worker, int i) {
    const struct vectors *at = &sim->position;
    struct fixed_vectors *force = &worker->force;
    const double box = sim->box;
    const double half = 0.5 * box;
    for (int j = i + 1; j < sim->atoms; j++) {
        double dx = wrap_distance(at->x[i] - at->x[j], box, half);
        double dy = wrap_distance(at->y[i] - at->y[j], box, half);
        double dz = wrap_distance(at->z[i] - at->z[j], box, half);
        double square = dx * dx + dy * dy + dz * dz;
        if (square >= cutoff * cutoff)
            continue;
        double inverse = 1.0 / square;
        double sixth = inverse * inverse * inverse;
        double strength = fixed_scale * 24.0 * sixth * (2.0 * sixth - 1.0) * inverse;
        int64_t fx = (int64_t)(strength * dx);
        int64_t fy = (int64_t)(strength * dy);
        int64_t fz = (int64_t)(strength * dz);
        force->x[i] += fx;
        force->y[i] += fy;
        force->z[i] += fz;
        force->x[j] -= fx;
        force->y[j] -= fy;
        force->z[j] -= fz;
        worker->potential += (int64_t)(fixed_scale * 4.0 * sixth * (sixth - 1.0));
    }
}

static void compute_forces(struct worker *worker) {
    const struct simulation *sim = worker->simulation;
    size_t bytes = (size_t)sim->atoms * sizeof(int64_t);
    memset(worker->force.x, 0, bytes);
    memset(worker->force.y, 0, bytes);
    memset(worker->force.z, 0, bytes);
    worker->potential = 0;
    for (int i = worker->id; i < sim->atoms; i += sim->threads)
        add_forces_of_atom(sim, worker, i);
}

static void *worker_run(void *arg) {
    struct worker *worker = arg;
    struct simulation *sim = worker->simulation;
    worker->force.x = allocate((size_t)sim->atoms, sizeof(int64_t));
    worker->force.y = allocate((size_t)sim->atoms, sizeof(int64_t));
    worker->force.z = allocate((size_t)sim->atoms, sizeof(int64_t));
    for (int step = 0; step < sim->steps; step++) {
        pthread_barrier_wait(&sim->barrier); /* all atoms have moved */
        compute_forces(worker);
        pthread_barrier_wait(&sim->barrier); /* all forces are there */
    }
    return NULL;
}

/* ------------------------------------------------------------------- the main thread's own part */

/* Half a step of acceleration, a whole step of movement, back into the box. */
static void move_axis(double *position, double *velocity, const double *force, int atoms,
                      double box) {
    for (int i = 0; i < atoms; i++) {
        velocity[i] += 0.5 * time_step * force[i];
        position[i] += time_step * velocity[i];
        if (position[i] < 0.0)
            position[i] += box;
        else if (position[i] >= box)
            position[i] -= box;
    }
}

static void move_atoms(struct simulation *sim) {
    move_axis(sim->position.x, sim->velocity.x, sim->force.x, sim->atoms, sim->box);
    move_axis(sim->position.y, sim->velocity.y, sim->force.y, sim->atoms, sim->box);
    move_axis(sim->position.z, sim->velocity.z, sim->force.z, sim->atoms, sim->box);
}

static void merge_forces(struct simulation *sim) {
    int64_t potential = 0;
    for (int t = 0; t < sim->threads; t++)
        potential += sim->workers[t].potential;
    sim->potential = (double)potential / fixed_scale;
    for (int i = 0; i < sim->atoms; i++) {
        int64_t x = 0, y = 0, z = 0;
        for (int t = 0; t < sim->threads; t++) {
            x += sim->workers[t].force.x[i];
            y += sim->workers[t].force.y[i];
            z += sim->workers[t].force.z[i];
        }
        sim->force.x[i] = (double)x / fixed_scale;
        sim->force.y[i] = (double)y / fixed_scale;
        sim->force.z[i] = (double)z / fixed_scale;
    }
}

/* The second half of the acceleration; returns twice the kinetic energy along the axis. */
static double accelerate_axis(double *velocity, const double *force, int atoms) {
    double sum = 0.0;
    for (int i = 0; i < atoms; i++) {
        velocity[i] += 0.5 * time_step * force[i];
        sum += velocity[i] * velocity[i];
    }
    return sum;
}

/* Velocity Verlet. Returns the total energy after the last step. */
static double run_steps(struct simulation *sim) {
    double energy = 0.0;
    for (int step = 0; step < sim->steps; step++) {
        move_atoms(sim);
        pthread_barrier_wait(&sim->barrier);
        pthread_barrier_wait(&sim->barrier);
        merge_forces(sim);
        double kinetic = accelerate_axis(sim->velocity.x, sim->force.x, sim->atoms) +
                         accelerate_axis(sim->velocity.y, sim->force.y, sim->atoms) +
                         accelerate_axis(sim->velocity.z, sim->force.z, sim->atoms);
        energy = sim->potential + 0.5 * kinetic;
    }
    return energy;
}

static uint64_t hash_values(uint64_t hash, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t checksum_positions(const struct simulation *sim) {
    uint64_t hash = hash_values(1, sim->position.x, sim->atoms);
    hash = hash_values(hash, sim->position.y, sim->atoms);
    return hash_values(hash, sim->position.z, sim->atoms);
}

/* --------------------------------------------------------------------------- start and clean-up */

static void simulation_init(struct simulation *sim, int cells) {
    uint64_t seed = 1971;
    sim->atoms = ATOMS_PER_CELL * cells * cells * cells;
    sim->box = cbrt(sim->atoms / density);
    sim->position = vectors_allocate(sim->atoms);
    sim->velocity = vectors_allocate(sim->atoms);
    sim->force = vectors_allocate(sim->atoms);
    place_atoms(sim, cells);
    agitate_axis(sim->velocity.x, sim->atoms, &seed);
    agitate_axis(sim->velocity.y, sim->atoms, &seed);
    agitate_axis(sim->velocity.z, sim->atoms, &seed);
    pthread_barrier_init(&sim->barrier, NULL, (unsigned)sim->threads + 1);
    sim->workers = allocate((size_t)sim->threads, sizeof *sim->workers);
}

static void start_workers(struct simulation *sim) {
    for (int i = 0; i < sim->threads; i++) {
        struct worker *worker = &sim->workers[i];
        worker->simulation = sim;
        worker->id = i;
        errno = pthread_create(&worker->thread, NULL, worker_run, worker);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
}

static void join_workers(struct simulation *sim) {
    for (int i = 0; i < sim->threads; i++)
        pthread_join(sim->workers[i].thread, NULL);
}

static void simulation_destroy(struct simulation *sim) {
    for (int i = 0; i < sim->threads; i++) {
        free(sim->workers[i].force.x);
        free(sim->workers[i].force.y);
        free(sim->workers[i].force.z);
    }
    free(sim->workers);
    pthread_barrier_destroy(&sim->barrier);
    vectors_free(&sim->position);
    vectors_free(&sim->velocity);
    vectors_free(&sim->force);
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
    int steps;
};

static const char usage[] = "Usage: moldyn [options]\n"
                            "Simulates a box of Lennard-Jones atoms.\n"
                            "  --threads N   worker threads (default 4)\n"
                            "  --size N      lattice cells per edge, 4 N^3 atoms (default 11)\n"
                            "  --steps N     time steps (default 140)\n"
                            "  --help        show this text\n";

static int parse_count(const char *option, const char *text, int min, int max) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from %d to %d", option, text, min, max);
    return (int)value;
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.threads = 4, .size = 11, .steps = 140};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:n:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, 1, MAX_THREADS);
            break;
        case 's': /* fewer than 4 cells: the cut-off sphere would meet its own image */
            options.size = parse_count("size", optarg, 4, 60);
            break;
        case 'n':
            options.steps = parse_count("steps", optarg, 1, 1000000);
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
    struct simulation sim = {.threads = options.threads, .steps = options.steps};
    simulation_init(&sim, options.size);

    double start = clock_seconds();
    start_workers(&sim);
    double energy = run_steps(&sim);
    join_workers(&sim);
    double seconds = clock_seconds() - start;

    printf("moldyn: %d atoms, %d steps, %d threads, %.3f s, energy per atom %.6f\n", sim.atoms,
           sim.steps, sim.threads, seconds, energy / sim.atoms);
    printf("checksum %016llx\n", (unsigned long long)checksum_positions(&sim));
    simulation_destroy(&sim);
    return EXIT_SUCCESS;
}
