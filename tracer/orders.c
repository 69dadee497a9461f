#include "tracer/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

int orders_save(const char *directory, const char *name, const void *items, size_t n_bytes,
                struct error *error) {
    if (n_bytes == 0)
        return 0;
    char *path = memory_format("%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = file >= 0 && write(file, items, n_bytes) == (ssize_t)n_bytes;
    int cause = errno;
    if (file >= 0 && close(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (!written)
        error_set(error, "%s: %s: make room or choose another folder", path, strerror(cause));
    free(path);
    return written ? 0 : -1;
}
