#include "host/rerun.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"

static struct {
    bool is_known;
    mode_t type;                  /* S_IFREG, S_IFIFO ...; 0: closed */
    off_t offset;                 /* of a file */
    int bytes;                    /* of a pipe or socket: what was waiting to be read */
    bool ended;                   /* nothing was, and nothing will come */
    char output_folder[PATH_MAX]; /* where the output goes into a file; else "" */
} first;

static mode_t type_of(int descriptor) {
    struct stat about;
    return fstat(descriptor, &about) == 0 ? about.st_mode & S_IFMT : 0;
}

static bool is_stream(void) {
    return first.type == S_IFIFO || first.type == S_IFSOCK;
}

static int waiting_bytes(void) {
    int bytes = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 ? bytes : 0;
}

static bool has_ended(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN | POLLRDHUP};
    return poll(&input, 1, 0) == 1 && input.revents & (POLLHUP | POLLRDHUP) && waiting_bytes() == 0;
}

/* A file that is gone has "(deleted)" in its name: the folder is still right. */
static void find_output_folder(void) {
    if (type_of(STDOUT_FILENO) != S_IFREG)
        return;
    char *folder = first.output_folder;
    ssize_t bytes = readlink("/proc/self/fd/1", folder, sizeof first.output_folder - 1);
    folder[bytes > 0 ? bytes : 0] = '\0';
    char *name = strrchr(folder, '/');
    if (name)
        name[name == folder] = '\0';
}

static void note_first(void) {
    first.is_known = true;
    first.type = type_of(STDIN_FILENO);
    if (first.type == S_IFREG)
        first.offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (is_stream()) {
        first.bytes = waiting_bytes();
        first.ended = has_ended();
    }
    find_output_folder();
}

#define FIRST_BYTES_MS 500 /* until a writer has begun */

/* A nameless file where others are made for a while. */
static int open_nameless(void) {
    const char *folder = getenv("TMPDIR");
    return open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* What may be written there without harm to others: half of what is free. */
static uint64_t room_of(int file) {
    struct statvfs about;
    return fstatvfs(file, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize / 2 : 0;
}

static bool write_all(int file, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(file, bytes, n);
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

/* The number of bytes, or -1 and `error`. */
static int64_t copy_input(int file, struct error *error) {
    char bytes[1 << 13];
    uint64_t n = 0, room = room_of(file);
    for (;;) {
        progress_show("reading the standard input to its end", -1);
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        poll(&input, 1, -1); /* which a signal ends, unlike read() */
        if (interrupt_check(error) < 0)
            return -1;
        if (!input.revents)
            continue;
        ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got < 0 && errno == EAGAIN)
            continue;
        if (got <= 0)
            return (int64_t)n;
        n += (uint64_t)got;
        if (n > room || !write_all(file, bytes, (size_t)got))
            return error_set(error,
                             "the standard input is a pipe, and there is no room to keep what is "
                             "in it for several runs: put it into a file and use `< FILE`, or "
                             "record with --once");
    }
}

static int keep_stream(struct error *error) {
    int file = open_nameless();
    if (file < 0)
        return error_set(error,
                         "the standard input is a pipe, and cannot be kept for several runs: %s: "
                         "name a folder in $TMPDIR, or put it into a file and use `< FILE`",
                         strerror(errno));
    int64_t n = copy_input(file, error);
    progress_end();
    if (n >= 0) {
        lseek(file, 0, SEEK_SET);
        dup2(file, STDIN_FILENO);
        log_note("the standard input is a pipe: all runs get the %lld bytes of it from a file",
                 (long long)n);
    }
    close(file);
    return n < 0 ? -1 : 0;
}

int rerun_keep_input(struct error *error) {
    first.type = type_of(STDIN_FILENO);
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN | POLLRDHUP};
    if (!is_stream() || poll(&input, 1, FIRST_BYTES_MS) < 1 || waiting_bytes() == 0)
        return 0;
    return keep_stream(error);
}

int rerun_prepare(struct error *error) {
    if (!first.is_known) {
        note_first();
        return 0;
    }
    if (first.type == S_IFREG)
        lseek(STDIN_FILENO, first.offset, SEEK_SET);
    if (is_stream() && (waiting_bytes() < first.bytes || (has_ended() && !first.ended)))
        return error_set(error,
                         "the first run has read from its standard input, a pipe, and the next "
                         "one would find less in it: put it into a file and use `< FILE`");
    return 0;
}

static void replace(int descriptor, int by) {
    if (by >= 0) {
        dup2(by, descriptor);
        close(by);
    }
}

void rerun_to_null(void) {
    if (first.type == S_IFCHR)
        replace(STDIN_FILENO, open("/dev/null", O_RDONLY));
    replace(STDOUT_FILENO, open("/dev/null", O_WRONLY));
}

void rerun_aside(void) {
    rerun_to_null();
    if (first.output_folder[0])
        replace(STDOUT_FILENO, open(first.output_folder, O_TMPFILE | O_WRONLY, 0600));
}
