#include "tracer/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "tracer/preloadable.h"

#define MAX_INTERPRETERS 4 /* the kernel's limit for scripts run by scripts */

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* As execvp searches. NULL when there is none. */
static char *search_path(const char *name) {
    if (strchr(name, '/'))
        return memory_strdup(name);
    const char *list = getenv("PATH");
    char *copy = memory_strdup(list ? list : "/usr/bin:/bin");
    char *rest = copy;
    char *found = NULL;
    for (char *folder = strsep(&rest, ":"); folder && !found; folder = strsep(&rest, ":")) {
        char *path = memory_format("%s/%s", *folder ? folder : ".", name);
        if (access(path, X_OK) == 0 && is_file(path))
            found = path;
        else
            free(path);
    }
    free(copy);
    return found;
}

/* Puts the interpreter of a "#!" line into `interpreter`; false for anything but a script. */
static bool read_interpreter(int file, char *interpreter, size_t size) {
    char line[256];
    ssize_t bytes = pread(file, line, sizeof line - 1, 0);
    if (bytes < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[bytes] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(start, " \t\n");
    if (length == 0 || length >= size)
        return false;
    memcpy(interpreter, start, length);
    interpreter[length] = '\0';
    return true;
}

/* A file we may run but not read cannot be examined; the run will show. */
static int examine(struct program *program, const char *path, int depth, bool probed,
                   struct error *error) {
    char interpreter[256];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        program->build_id = memory_strdup("");
        return 0;
    }
    int status;
    if (depth < MAX_INTERPRETERS && read_interpreter(file, interpreter, sizeof interpreter)) {
        status = examine(program, interpreter, depth + 1, probed, error);
    } else {
        status = preloadable_check(file, path, probed, &program->build_id, error);
    }
    close(file);
    return status;
}

int program_find(struct program *program, const char *name, bool probed, struct error *error) {
    *program = (struct program){.path = search_path(name)};
    if (!program->path)
        return error_set(error, "%s: no such program: check its name and your PATH", name);
    if (access(program->path, F_OK) != 0)
        error_set(error, "%s: %s: check the program's path", name, strerror(errno));
    else if (!is_file(program->path))
        error_set(error, "%s: not a program: give an executable", name);
    else if (access(program->path, X_OK) != 0)
        error_set(error, "%s: not executable: chmod +x it, or give another program", name);
    else if (examine(program, program->path, 0, probed, error) == 0)
        return 0;
    program_free(program);
    return -1;
}

void program_free(struct program *program) {
    free(program->path);
    free(program->build_id);
    *program = (struct program){0};
}
