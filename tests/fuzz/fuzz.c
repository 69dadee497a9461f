#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of AddressSanitizer, sanitizer/allocator_interface.h, which Debian's gcc comes without. */
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);

struct fuzz_result fuzz_last;

static size_t held, peak;
static bool watching;

/* ---- what the reader holds ---- */

static void allocated(const volatile void *block, size_t bytes) {
    (void)block;
    if (!watching)
        return;
    held += bytes;
    peak = held > peak ? held : peak;
}

static void freed(const volatile void *block) {
    if (!watching || !block)
        return;
    size_t bytes = __sanitizer_get_allocated_size(block);
    held -= bytes < held ? bytes : held;
}

static void watch(void) {
    static bool installed;
    if (!installed)
        installed = __sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0;
    held = 0;
    peak = 0;
    watching = installed;
}

/* ---- files ---- */

static void fail(const char *what, const char *path) {
    fprintf(stderr, "fuzz: %s: ", path);
    perror(what);
    exit(2);
}

uint8_t *fuzz_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rbe");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail("open", path);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        fail("read", path);
    fclose(file);
    return bytes;
}

void fuzz_begin(size_t bytes) {
    fuzz_last = (struct fuzz_result){.file_bytes = bytes};
    watch();
}

const char *fuzz_file(const void *bytes, size_t size) {
    static int descriptor = -1;
    static char path[64];
    if (descriptor < 0) {
        descriptor = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, bytes, size, 0) != (ssize_t)size)
        fail("write", path);
    fuzz_begin(size);
    return path;
}

void fuzz_done(bool accepted) {
    watching = false;
    fuzz_last.peak_bytes = peak;
    fuzz_last.accepted = accepted;
    if (peak <= FUZZ_FACTOR * fuzz_last.file_bytes + FUZZ_SPARE_BYTES)
        return;
    fprintf(stderr, "fuzz: held %zu bytes for a file of %zu\n", peak, fuzz_last.file_bytes);
    abort();
}
