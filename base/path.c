#include "base/path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void path_normalise(char *path) {
    char *least = path + (*path == '/'); /* what a `..` cannot take away ends here */
    char *end = least;
    for (const char *from = least; *from;) {
        size_t length = strcspn(from, "/");
        const char *next = from + length + (from[length] == '/');
        bool up = length == 2 && strncmp(from, "..", 2) == 0;
        if (up && end > least) {
            for (end--; end > least && end[-1] != '/';)
                end--;
        } else if (length > 0 && !(length == 1 && *from == '.') && !(up && *path == '/')) {
            memmove(end, from, (size_t)(next - from));
            end += next - from;
            least = up ? end : least;
        }
        from = next;
    }
    *end = '\0';
}

int path_open_folder(const char *path) {
    size_t length = (size_t)(path_name(path) - path);
    char *folder = length ? strndup(path, length) : memory_strdup(".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return descriptor;
}
