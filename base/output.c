#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"

#define MOST_TRIES 100 /* to get a name that others of us give and take at the same time */

/* What a killed process of ours left under the name that files have while they are incomplete. One
 * that is locked is being written. */
static void remove_leftover(const struct output *output) {
    int old = openat(output->folder, output->partial,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (old < 0 && errno != ELOOP && errno != EACCES)
        return;
    if (old < 0 || flock(old, LOCK_EX | LOCK_NB) == 0)
        unlinkat(output->folder, output->partial, 0);
    if (old >= 0)
        close(old);
}

/* Where files cannot be nameless: FUSE, NFS and others. */
static int open_named(const struct output *output) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int descriptor = openat(output->folder, output->partial, flags, 0600);
    if (descriptor < 0 && errno == EEXIST) {
        remove_leftover(output);
        descriptor = openat(output->folder, output->partial, flags, 0600);
    }
    if (descriptor >= 0)
        flock(descriptor, LOCK_EX | LOCK_NB);
    return descriptor;
}

static int open_partial(struct output *output) {
    int descriptor = openat(output->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    output->nameless = descriptor >= 0;
    if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
        descriptor = open_named(output);
    return descriptor;
}

static void release(struct output *output) {
    int cause = errno;
    close(output->folder);
    free(output->name);
    free(output->partial);
    *output = (struct output){.folder = -1};
    errno = cause;
}

int output_begin(struct output *output, const char *path) {
    *output =
        (struct output){.folder = path_open_folder(path), .name = memory_strdup(path_name(path))};
    output->partial = memory_format(".%s.persik-new", output->name);
    int descriptor = output->folder < 0 ? -1 : open_partial(output);
    output->file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (output->file)
        return 0;
    int cause = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (descriptor >= 0 && !output->nameless)
        unlinkat(output->folder, output->partial, 0);
    errno = cause;
    release(output);
    return -1;
}

/* The name before the last is one for all: what a killed process leaves there is taken away by the
 * next that writes this file. Those who write it at the same time take each other's, all complete.
 */
static int give_name(const struct output *output) {
    char *path = memory_format("/proc/self/fd/%d", fileno(output->file));
    int status = -1;
    for (int i = 0; i < MOST_TRIES && status < 0; i++) {
        if (output->nameless &&
            linkat(AT_FDCWD, path, output->folder, output->partial, AT_SYMLINK_FOLLOW) < 0) {
            if (errno != EEXIST)
                break;
            unlinkat(output->folder, output->partial, 0);
            continue;
        }
        status = renameat(output->folder, output->partial, output->folder, output->name);
        if (status < 0 && (errno != ENOENT || !output->nameless))
            break;
    }
    int cause = errno;
    if (status < 0)
        unlinkat(output->folder, output->partial, 0);
    free(path);
    errno = cause;
    return status;
}

int output_commit(struct output *output) {
    int descriptor = fileno(output->file);
    int failed = ferror(output->file);
    if (failed && errno == 0)
        errno = EIO;
    if (failed || fflush(output->file) != 0 ||
        (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) || give_name(output) != 0) {
        output_abandon(output);
        return -1;
    }
    fclose(output->file);
    release(output);
    return 0;
}

void output_abandon(struct output *output) {
    int cause = errno;
    if (!output->nameless)
        unlinkat(output->folder, output->partial, 0);
    fclose(output->file);
    errno = cause;
    release(output);
}
