#include "tracer/program.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

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

static char *hex(const unsigned char *bytes, size_t n) {
    char *text = memory_alloc(2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

static bool has_interpreter(Elf *elf) {
    size_t n = 0;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static int examine_elf(struct program *program, Elf *elf, const char *path, struct error *error) {
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return error_set(error, "%s: not a program: give an executable", path);
    if (header.e_machine != EM_X86_64)
        return error_set(error, "%s: not an x86-64 program: build it for this machine", path);
    if (!has_interpreter(elf))
        return error_set(error, "%s: static binary, nothing can be preloaded: link it dynamically",
                         path);
    const void *bits = NULL;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);
    program->build_id = n > 0 ? hex(bits, (size_t)n) : memory_strdup("");
    return 0;
}

/* A file we may run but not read cannot be examined; the run will show. */
static int examine(struct program *program, const char *path, int depth, struct error *error) {
    char interpreter[256];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        program->build_id = memory_strdup("");
        return 0;
    }
    int status;
    if (depth < MAX_INTERPRETERS && read_interpreter(file, interpreter, sizeof interpreter)) {
        status = examine(program, interpreter, depth + 1, error);
    } else {
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(file, ELF_C_READ, NULL);
        status = examine_elf(program, elf, path, error);
        elf_end(elf);
    }
    close(file);
    return status;
}

int program_find(struct program *program, const char *name, struct error *error) {
    *program = (struct program){.path = search_path(name)};
    if (!program->path)
        return error_set(error, "%s: no such program: check its name and your PATH", name);
    if (access(program->path, F_OK) != 0)
        error_set(error, "%s: %s: check the program's path", name, strerror(errno));
    else if (!is_file(program->path))
        error_set(error, "%s: not a program: give an executable", name);
    else if (access(program->path, X_OK) != 0)
        error_set(error, "%s: not executable: chmod +x it, or give another program", name);
    else if (examine(program, program->path, 0, error) == 0)
        return 0;
    program_free(program);
    return -1;
}

void program_free(struct program *program) {
    free(program->path);
    free(program->build_id);
    *program = (struct program){0};
}
