/* Mutated inputs for one reader, as many as asked for, the same for the same seed. The inputs are
 * read in a child, so that a crash, a hang or an exit costs one of them and not the run.
 *
 * usage: mutate-NAME INPUTS SEED FOLDER          FOLDER: seed files of this kind
 *        mutate-NAME --seeds OUT FOLDER          the seeds as inputs, for libFuzzer's corpus
 *        mutate-NAME --one FILE                  a single input, in this process
 *
 * Prints "INPUTS ACCEPTED CRASHES HANGS SLOWEST_MS PEAK_BYTES WORST_SHARE", the last being what the
 * reader held over what it may. What fails is kept as failed-NAME-NUMBER in the working folder.
 * Exit status 1: some failed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define MOST_BYTES    ((size_t)1 << 21) /* of an input */
#define MOST_FAILURES 20                /* then the run ends: they are likely one defect */

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input *seeds;
static size_t n_seeds;

/* Shared with the child. */
static struct progress {
    size_t at, accepted;
    uint64_t slowest_ns;
    size_t peak_bytes;
    double worst_share;
} * progress;

/* ---- random ---- */

static uint64_t state;

static uint64_t random_bits(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(size_t n) {
    return n ? (size_t)(random_bits() % n) : 0;
}

/* Mostly small. */
static size_t some_length(size_t most) {
    size_t limit = (size_t)1 << below(18);
    return below((limit < most ? limit : most) + 1);
}

/* ---- mutations ---- */

/* Puts `n` bytes in the place of `removed` at `at`; nothing where that would be too long. */
static void replace(struct input *input, size_t at, size_t removed, const void *bytes, size_t n) {
    if (input->size - removed + n > MOST_BYTES)
        return;
    uint8_t *made = malloc(input->size - removed + n + 1);
    memcpy(made, input->bytes, at);
    memcpy(made + at, bytes, n);
    memcpy(made + at + n, input->bytes + at + removed, input->size - at - removed);
    free(input->bytes);
    input->bytes = made;
    input->size = input->size - removed + n;
}

static void flip_bits(struct input *input) {
    for (size_t i = below(8) + 1; i > 0 && input->size; i--)
        input->bytes[below(input->size)] ^= (uint8_t)(1u << below(8));
}

static void set_number(struct input *input) {
    static const uint64_t numbers[] = {0,          1,          INT8_MAX,   UINT8_MAX,  INT16_MAX,
                                       UINT16_MAX, INT32_MAX,  1u << 31,   UINT32_MAX, INT64_MAX,
                                       1ull << 63, UINT64_MAX, 1ull << 40, 4096,       1u << 20};
    uint64_t number = numbers[below(sizeof numbers / sizeof *numbers)] + below(3) - 1;
    size_t bytes = (size_t)1 << below(4);
    size_t at = input->size >= bytes ? below(input->size - bytes + 1) & ~(bytes - 1) : input->size;
    if (at + bytes <= input->size)
        memcpy(input->bytes + at, &number, bytes);
}

static void cut(struct input *input) {
    size_t at = below(input->size + 1);
    replace(input, at, below(4) ? some_length(input->size - at) : input->size - at, "", 0);
}

static void repeat(struct input *input) {
    size_t at = below(input->size + 1), length = some_length(input->size - at);
    size_t times = (size_t)1 << below(12);
    if (length == 0 || length * times > MOST_BYTES)
        return;
    uint8_t *copies = malloc(length * times);
    for (size_t i = 0; i < times; i++)
        memcpy(copies + i * length, input->bytes + at, length);
    replace(input, at, 0, copies, length * times);
    free(copies);
}

static void splice(struct input *input) {
    const struct input *other = &seeds[below(n_seeds)];
    size_t from = below(other->size + 1), at = below(input->size + 1);
    size_t length = some_length(other->size - from);
    replace(input, at, below(2) ? some_length(input->size - at) : 0, other->bytes + from, length);
}

/* ---- mutations of text ---- */

static bool is_in(const char *set, uint8_t byte) {
    return byte && strchr(set, byte);
}

/* Another number, where one stands. */
static void change_number(struct input *input) {
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1e308",
                                          "-0.0",
                                          "2147483648",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "1e-320",
                                          "4294967296",
                                          "null",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "true",
                                          "0.5",
                                          "65536"};
    size_t at = below(input->size + 1);
    while (at < input->size && !is_in("0123456789", input->bytes[at]))
        at++;
    size_t end = at;
    while (end < input->size && is_in("0123456789.eE+-", input->bytes[end]))
        end++;
    const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
    replace(input, at, end - at, number, strlen(number));
}

/* A list with nothing inside, many times over, or nested deeply. */
static void insert_lists(struct input *input) {
    static const char *const items[] = {"[],", "{},",    "0,",    "null,",
                                        "[",   "{\"\":", "\"\",", "[[],"};
    const char *item = items[below(sizeof items / sizeof *items)];
    size_t length = strlen(item), times = (size_t)1 << below(16), at = below(input->size + 1);
    while (at < input->size && !is_in("[,", input->bytes[at]))
        at++;
    at += at < input->size;
    char *text = malloc(length * times);
    for (size_t i = 0; i < length * times; i++)
        text[i] = item[i % length];
    replace(input, at, 0, text, length * times);
    free(text);
}

/* Another of the text's own words in its place. */
static void change_word(struct input *input) {
    size_t from = below(input->size + 1), at = below(input->size + 1), end;
    while (from < input->size && input->bytes[from] != '"')
        from++;
    for (end = from + 1; end < input->size && input->bytes[end] != '"' && end - from < 256;)
        end++;
    while (at < input->size && input->bytes[at] != '"')
        at++;
    if (end >= input->size || at >= input->size)
        return;
    size_t after = at + 1;
    while (after < input->size && input->bytes[after] != '"')
        after++;
    if (after >= input->size)
        return;
    char word[512];
    size_t length = end - from + 1; /* with its quotes; no zero behind */
    memcpy(word, input->bytes + from, length);
    replace(input, at, after - at + 1, word, length);
}

static void mutate(struct input *input) {
    static void (*const ways[])(struct input *) = {flip_bits,     set_number,  cut,
                                                   repeat,        splice,      change_number,
                                                   change_number, change_word, insert_lists};
    for (size_t i = below(4) + 1; i > 0; i--)
        ways[below(sizeof ways / sizeof *ways)](input);
}

/* Input number `index`. */
static struct input make_input(uint64_t seed, size_t index) {
    state = seed * 0x2545f4914f6cdd1du + index;
    random_bits();
    const struct input *from = &seeds[below(n_seeds)];
    struct input input = {malloc(from->size + 1), from->size};
    memcpy(input.bytes, from->bytes, from->size);
    mutate(&input);
    return input;
}

/* ---- running ---- */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_one(const struct input *input) {
    uint64_t start_ns = now_ns();
    LLVMFuzzerTestOneInput(input->bytes, input->size);
    uint64_t took_ns = now_ns() - start_ns;
    double allowed = FUZZ_FACTOR * (double)fuzz_last.file_bytes + (double)FUZZ_SPARE_BYTES;
    double share = (double)fuzz_last.peak_bytes / allowed;
    progress->accepted += fuzz_last.accepted;
    if (took_ns > progress->slowest_ns)
        progress->slowest_ns = took_ns;
    if (fuzz_last.peak_bytes > progress->peak_bytes)
        progress->peak_bytes = fuzz_last.peak_bytes;
    if (share > progress->worst_share)
        progress->worst_share = share;
}

/* The child. */
static void read_inputs(uint64_t seed, size_t n) {
    for (; progress->at < n; progress->at++) {
        struct input input = make_input(seed, progress->at);
        alarm(6 * FUZZ_MOST_S); /* on a busy machine */
        read_one(&input);
        free(input.bytes);
    }
    _exit(0);
}

static void keep_failed(const char *name, uint64_t seed) {
    struct input input = make_input(seed, progress->at);
    char path[256];
    snprintf(path, sizeof path, "failed-%s-%zu", name, progress->at);
    FILE *file = fopen(path, "wbe");
    if (file) {
        fwrite(input.bytes, 1, input.size, file);
        fclose(file);
    }
    free(input.bytes);
}

static int run(const char *name, size_t n, uint64_t seed) {
    size_t crashes = 0, hangs = 0;
    while (progress->at < n && crashes + hangs < MOST_FAILURES) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            read_inputs(seed, n);
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
        if (progress->at >= n)
            break;
        bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        crashes += !hung;
        hangs += hung;
        keep_failed(name, seed);
        progress->at++;
    }
    hangs += progress->slowest_ns > FUZZ_MOST_S * UINT64_C(1000000000);
    printf("%zu %zu %zu %zu %.1f %zu %.4f\n", progress->at, progress->accepted, crashes, hangs,
           (double)progress->slowest_ns / 1e6, progress->peak_bytes, progress->worst_share);
    return crashes + hangs > 0;
}

/* ---- seeds ---- */

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void load_seeds(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, compare_names);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            seeds = realloc(seeds, (n_seeds + 1) * sizeof *seeds);
            struct input *seed = &seeds[n_seeds++];
            seed->bytes = fuzz_seed(path, &seed->size);
        }
        free(entries[i]);
    }
    free(n > 0 ? (void *)entries : NULL);
    if (n_seeds == 0) {
        fprintf(stderr, "mutate: no seeds in %s\n", folder);
        exit(2);
    }
}

static int write_seeds(const char *folder) {
    for (size_t i = 0; i < n_seeds; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%zu", folder, i);
        FILE *file = fopen(path, "wbe");
        if (!file || fwrite(seeds[i].bytes, 1, seeds[i].size, file) != seeds[i].size ||
            fclose(file) != 0)
            return 2;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 2;
    if (argc == 3 && strcmp(argv[1], "--one") == 0) {
        struct input input;
        input.bytes = fuzz_whole(argv[2], &input.size);
        read_one(&input);
        printf("%s, %.1f ms, %zu bytes held\n", progress->accepted ? "accepted" : "refused",
               (double)progress->slowest_ns / 1e6, progress->peak_bytes);
        return 0;
    }
    if (argc != 4) {
        fprintf(stderr, "usage: %s INPUTS SEED FOLDER | --seeds OUT FOLDER | --one FILE\n",
                argv[0]);
        return 2;
    }
    load_seeds(argv[3]);
    if (strcmp(argv[1], "--seeds") == 0)
        return write_seeds(argv[2]);
    return run(slash ? slash + 1 : argv[0], strtoul(argv[1], NULL, 10),
               strtoull(argv[2], NULL, 10));
}
