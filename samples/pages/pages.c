/*
 * pages: a folder of files for a web server, and the list of their paths.
 *
 * Sizes of web pages vary by orders of magnitude. They are drawn from a lognormal distribution,
 * which fits most of them, or a Pareto distribution, which fits the long tail (Barford and Crovella
 * 1998), from a fixed seed. The list, on standard output, has a path and its weight a line, with a
 * tab between them, as `persik load --urls` reads it: by Zipf's law, or all the same.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    EXIT_USAGE = 2,
    FOLDER_FILES = 256, /* in a subfolder */
    LINE_BYTES = 64,
};

struct options {
    long long files, seed, typical, largest;
    bool pareto;
    double shape, zipf;
    const char *folder;
};

static const char usage[] =
    "Usage: pages [options] FOLDER >LIST\n"
    "Makes FOLDER with files for a web server; prints their paths and weights.\n"
    "  --files N       files (default 1000)\n"
    "  --sizes NAME    lognormal (default) or pareto\n"
    "  --typical N     bytes: the median (lognormal), the least (pareto); default 10000\n"
    "  --shape X       sigma (lognormal, default 1.3), alpha (pareto, default 1.1)\n"
    "  --largest N     bytes: no file is larger (default 10000000)\n"
    "  --zipf X        file k is asked for in proportion to 1 / k^X (default 0: all alike)\n"
    "  --seed N        of the sizes (default 1)\n"
    "  --help          show this text\n";

/* ------------------------------------------------------------------------------------- numbers */

static uint64_t random_next(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* Above 0, up to 1. */
static double random_unit(uint64_t *state) {
    return (double)((random_next(state) >> 11) + 1) * 0x1p-53;
}

/* Of the standard normal distribution (Box and Muller). */
static double random_normal(uint64_t *state) {
    double radius = sqrt(-2 * log(random_unit(state)));
    return radius * cos(2 * M_PI * random_unit(state));
}

static long long draw_size(const struct options *options, uint64_t *state) {
    double typical = (double)options->typical;
    double size = options->pareto ? typical * pow(random_unit(state), -1 / options->shape)
                                  : typical * exp(options->shape * random_normal(state));
    if (size > (double)options->largest)
        return options->largest;
    return size < 1 ? 1 : (long long)size;
}

/* --------------------------------------------------------------------------------------- files */

static void make_folder(const char *path) {
    if (mkdir(path, 0755) < 0)
        err(EXIT_FAILURE, "cannot make the folder %s", path);
}

/* Lines of letters that no compression makes much smaller. */
static void write_file(const char *path, long long size, uint64_t *state) {
    FILE *file = fopen(path, "wxe");
    if (!file)
        err(EXIT_FAILURE, "cannot create %s", path);
    char line[LINE_BYTES];
    for (long long at = 0; at < size; at += LINE_BYTES) {
        for (int i = 0; i < LINE_BYTES; i += 8) {
            uint64_t bits = random_next(state);
            for (int k = 0; k < 8; k++, bits >>= 8)
                line[i + k] = (char)('a' + bits % 26);
        }
        line[LINE_BYTES - 1] = '\n';
        size_t left = size - at < LINE_BYTES ? (size_t)(size - at) : LINE_BYTES;
        fwrite(line, 1, left, file);
    }
    if (ferror(file) || fclose(file) != 0)
        err(EXIT_FAILURE, "cannot write %s", path);
}

static long long make_files(const struct options *options) {
    uint64_t state = (uint64_t)options->seed;
    long long bytes = 0;
    make_folder(options->folder);
    for (long long i = 0; i < options->files; i++) {
        char path[PATH_MAX], name[64];
        long long folder = i / FOLDER_FILES;
        if (i % FOLDER_FILES == 0) {
            snprintf(path, sizeof path, "%s/%04lld", options->folder, folder);
            make_folder(path);
        }
        snprintf(name, sizeof name, "/%04lld/%06lld.html", folder, i);
        if (snprintf(path, sizeof path, "%s%s", options->folder, name) >= PATH_MAX)
            errx(EXIT_FAILURE, "the folder's name is too long");
        long long size = draw_size(options, &state);
        write_file(path, size, &state);
        bytes += size;
        printf("%s\t%.9g\n", name, pow((double)(i + 1), -options->zipf));
    }
    return bytes;
}

/* ------------------------------------------------------------------------------- command line */

static long long parse_count(const char *option, const char *text, long long max) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from 1 to %lld", option, text, max);
    return value;
}

static double parse_number(const char *option, const char *text, double min) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= min && value <= 100))
        errx(EXIT_USAGE, "--%s: '%s' is not a number from %g to 100", option, text, min);
    return value;
}

static void parse_sizes(struct options *options, const char *text) {
    options->pareto = strcmp(text, "pareto") == 0;
    if (!options->pareto && strcmp(text, "lognormal") != 0)
        errx(EXIT_USAGE, "--sizes: '%s' is neither lognormal nor pareto", text);
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"files", required_argument, NULL, 'f'},
        {"sizes", required_argument, NULL, 'd'},
        {"typical", required_argument, NULL, 't'},
        {"shape", required_argument, NULL, 's'},
        {"largest", required_argument, NULL, 'l'},
        {"zipf", required_argument, NULL, 'z'},
        {"seed", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.files = 1000, .seed = 1, .typical = 10000, .largest = 10000000};
    int c;
    while ((c = getopt_long(argc, argv, "f:d:t:s:l:z:r:h", longs, NULL)) != -1) {
        switch (c) {
        case 'f':
            options.files = parse_count("files", optarg, 2500000);
            break;
        case 'd':
            parse_sizes(&options, optarg);
            break;
        case 't':
            options.typical = parse_count("typical", optarg, 1000000000);
            break;
        case 's':
            options.shape = parse_number("shape", optarg, 0.01);
            break;
        case 'l':
            options.largest = parse_count("largest", optarg, 1000000000000);
            break;
        case 'z':
            options.zipf = parse_number("zipf", optarg, 0);
            break;
        case 'r':
            options.seed = parse_count("seed", optarg, INT_MAX);
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default:
            errx(EXIT_USAGE, "see --help");
        }
    }
    if (optind + 1 != argc)
        errx(EXIT_USAGE, "give one folder: see --help");
    options.folder = argv[optind];
    if (options.shape == 0)
        options.shape = options.pareto ? 1.1 : 1.3;
    return options;
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    long long bytes = make_files(&options);
    if (fflush(stdout) != 0)
        err(EXIT_FAILURE, "cannot write the list");
    fprintf(stderr, "pages: %lld files, %lld bytes\n", options.files, bytes);
    return EXIT_SUCCESS;
}
