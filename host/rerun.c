#include "host/rerun.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

int rerun_check_input(struct error *error) {
    first.type = type_of(STDIN_FILENO);
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN | POLLRDHUP};
    if (!is_stream() || poll(&input, 1, FIRST_BYTES_MS) < 1 || waiting_bytes() == 0)
        return 0;
    return error_set(error, "the standard input is a pipe, what is in it could be read by one run "
                            "only, and there will be several: put it into a file and use `< FILE`, "
                            "or `< /dev/null`");
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
