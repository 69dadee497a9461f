#include "base/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int path_open_folder(const char *path) {
    size_t length = (size_t)(path_name(path) - path);
    char *folder = length ? strndup(path, length) : memory_strdup(".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return descriptor;
}
