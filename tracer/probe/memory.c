#include "tracer/probe/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

static void *map(int file, size_t bytes, int protection, int flags) {
    void *memory = (void *)syscall(SYS_mmap, NULL, bytes, protection, flags, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool memory_path(char path[MEMORY_PATH_MAX], const char *directory, const char *name) {
    size_t length = strlen(directory), name_length = strlen(name);
    if (length + 1 + name_length >= MEMORY_PATH_MAX)
        return false;
    memcpy(path, directory, length);
    path[length] = '/';
    memcpy(path + length + 1, name, name_length);
    path[length + 1 + name_length] = '\0';
    return true;
}

void *memory_private(size_t bytes) {
    return map(-1, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

void *memory_file(const char *directory, const char *name, bool shared, size_t *bytes) {
    char path[MEMORY_PATH_MAX];
    struct stat status;
    *bytes = 0;
    if (!memory_path(path, directory, name))
        return NULL;
    int file = open_file(path, shared ? O_RDWR | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW);
    if (file < 0)
        return NULL;
    void *memory = NULL;
    if (syscall(SYS_fstat, file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        memory = map(file, (size_t)status.st_size, PROT_READ | PROT_WRITE,
                     shared ? MAP_SHARED : MAP_PRIVATE);
    syscall(SYS_close, file);
    *bytes = memory == NULL ? 0 : (size_t)status.st_size;
    return memory;
}

void memory_read(const char *path, char *text, size_t room) {
    int file = open_file(path, O_RDONLY);
    long got = file < 0 ? 0 : syscall(SYS_read, file, text, room);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        syscall(SYS_close, file);
}

void memory_unmap(void *memory, size_t bytes) {
    syscall(SYS_munmap, memory, bytes);
}
