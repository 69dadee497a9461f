#include "tracer/probe/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t append(char *path, size_t at, const char *text) {
    while (*text != '\0' && at < FILE_PATH_MAX)
        path[at++] = *text++;
    return at;
}

bool file_name(char path[FILE_PATH_MAX], const char *prefix, const char *separator, int64_t index,
               const char *suffix) {
    size_t at = append(path, 0, prefix);
    at = append(path, at, separator);
    if (index >= 0) {
        char digits[24] = "";
        char *digit = digits + sizeof digits - 1;
        do
            *--digit = (char)('0' + index % 10);
        while ((index /= 10) > 0);
        at = append(path, at, digit);
    }
    at = append(path, at, suffix);
    if (at >= FILE_PATH_MAX)
        return false;
    path[at] = '\0';
    return true;
}

int file_open(const char *path, int flags) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || file > STDERR_FILENO)
        return file;
    /* The program has closed one of its standard files, and may write to it all the same. */
    int other = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    file_close(file);
    return other;
}

void file_close(int descriptor) {
    syscall(SYS_close, descriptor);
}

void file_punch(int descriptor, uint64_t offset, uint64_t bytes) {
    syscall(SYS_fallocate, descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}

bool file_reserve(int descriptor, uint64_t offset, uint64_t bytes) {
    /* Beyond RLIMIT_FSIZE the kernel would send the program SIGXFSZ. */
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
        offset + bytes > limit.rlim_cur)
        return false;
    return syscall(SYS_fallocate, descriptor, 0, offset, bytes) == 0;
}

static void *map(int descriptor, uint64_t offset, size_t bytes, int flags) {
    void *memory =
        (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, offset);
    return memory == MAP_FAILED ? NULL : memory;
}

void *file_map(int descriptor, uint64_t offset, size_t bytes) {
    return map(descriptor, offset, bytes, MAP_SHARED);
}

void *file_memory(size_t bytes) {
    return map(-1, 0, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

void file_unmap(uint64_t address, size_t bytes) {
    if (address != 0)
        syscall(SYS_munmap, address, bytes);
}

void file_write(int descriptor, const char *text, size_t bytes) {
    while (bytes > 0) {
        long written = syscall(SYS_write, descriptor, text, bytes);
        if (written <= 0)
            return;
        text += written;
        bytes -= (size_t)written;
    }
}

bool file_write_at(int descriptor, const void *bytes, size_t n_bytes, uint64_t offset) {
    return syscall(SYS_pwrite64, descriptor, bytes, n_bytes, offset) == (long)n_bytes;
}

bool file_read_at(int descriptor, void *bytes, size_t n_bytes, uint64_t offset) {
    return syscall(SYS_pread64, descriptor, bytes, n_bytes, offset) == (long)n_bytes;
}

struct file_quiet quiet_enter(void) {
    struct file_quiet quiet = {.saved_errno = errno};
    uint64_t all = ~0ull;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &quiet.signals, sizeof all);
    return quiet;
}

void quiet_leave(struct file_quiet quiet) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &quiet.signals, NULL, sizeof quiet.signals);
    errno = quiet.saved_errno;
}
