/* What the fuzz targets share. Each target_NAME.c reads one kind of file as persik does; it is
 * linked with libFuzzer (coverage decides what comes next) and with mutate.c (a number of mutations
 * from a seed). bench/fuzz.sh runs both, tests/readers.sh some of the second kind.
 *
 * A reader's promise: whatever the file holds, it neither crashes nor takes longer than
 * FUZZ_MOST_S, and never holds more than FUZZ_FACTOR times the file's bytes and FUZZ_SPARE_BYTES.
 */
#ifndef PERSIK_TESTS_FUZZ_H
#define PERSIK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_MOST_S      10
#define FUZZ_FACTOR      16u
#define FUZZ_SPARE_BYTES ((size_t)64 << 20)

/* ---- by the target ---- */

/* Called for every input; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input that stands for the file at `path`, allocated; most targets: fuzz_whole(). */
uint8_t *fuzz_seed(const char *path, size_t *size);

/* ---- for the target ---- */

/* All bytes of a file, allocated; ends the process where it cannot be read. */
uint8_t *fuzz_whole(const char *path, size_t *size);

/* Path of a file in memory with these bytes, good until the next one, and begins to watch what the
 * reader holds. */
const char *fuzz_file(const void *bytes, size_t size);

/* Begins to watch what a reader of `bytes` bytes holds that reads no file. */
void fuzz_begin(size_t bytes);

/* The reader is done with it; `accepted`: it found nothing wrong. Aborts where it held too much. */
void fuzz_done(bool accepted);

/* ---- for mutate.c ---- */

struct fuzz_result {
    size_t file_bytes, peak_bytes; /* peak 0: built without AddressSanitizer */
    bool accepted;
};
extern struct fuzz_result fuzz_last;

#endif
