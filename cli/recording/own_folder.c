#include "cli/recording/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 16 /* folders in folders; persik's are in none */

static const char building_name[] = ".persik-building";
static const char complete_name[] = ".persik";
static const char magic[] = "This folder was made by persik, which may remove it.\n";
enum { MAGIC_BYTES = sizeof magic - 1 };

/* ---- opening ---- */

int own_folder_open(int parent, const char *name) {
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;
    if (folder >= 0 && (fstat(folder, &about) < 0 || about.st_uid != geteuid() ||
                        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        close(folder);
        errno = EPERM;
        return -1;
    }
    return folder;
}

/* Not every file system has locks; then nobody else has one. */
bool own_folder_lock(int folder) {
    return flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Another process may have taken it away since, or put something else in its place. */
static bool is_still(int parent, const char *name, int folder) {
    struct stat named, opened;
    return fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(folder, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

static int put_mark(int folder) {
    int mark =
        openat(folder, building_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (mark < 0)
        return -1;
    ssize_t written = write(mark, magic, MAGIC_BYTES);
    if (written >= 0 && written < MAGIC_BYTES)
        errno = ENOSPC;
    int cause = written == MAGIC_BYTES ? 0 : errno;
    if (close(mark) < 0 && cause == 0)
        cause = errno;
    if (cause)
        unlinkat(folder, building_name, 0);
    errno = cause;
    return cause ? -1 : 0;
}

int own_folder_create(int parent, const char *name) {
    if (mkdirat(parent, name, 0700) < 0)
        return -1;
    int folder = own_folder_open(parent, name);
    if (folder < 0)
        return -1;
    if (!own_folder_lock(folder) || !is_still(parent, name, folder)) {
        close(folder); /* it was taken for left over */
        errno = EEXIST;
        return -1;
    }
    if (put_mark(folder) == 0)
        return folder;
    int cause = errno;
    unlinkat(parent, name, AT_REMOVEDIR);
    close(folder);
    errno = cause;
    return -1;
}

/* ---- entries ---- */

bool own_folder_each(int folder, bool (*visit)(int folder, const char *name, void *context),
                     void *context) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    if (!stream) {
        if (again >= 0)
            close(again);
        return false;
    }
    bool goes_on = true;
    const struct dirent *entry;
    while (goes_on && (entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            goes_on = visit(folder, entry->d_name, context);
    closedir(stream);
    return goes_on;
}

static bool is_none(int folder, const char *name, void *context) {
    (void)folder;
    (void)context;
    return name == NULL;
}

bool own_folder_is_empty(int folder) {
    return own_folder_each(folder, is_none, NULL);
}

/* ---- marks ---- */

static bool is_first_mark(int folder, const char *name, void *context) {
    (void)folder;
    (void)context;
    return strcmp(name, building_name) == 0;
}

static bool has_mark(int folder, const char *name) {
    int mark = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat about;
    char text[MAGIC_BYTES + 1];
    ssize_t bytes = mark < 0 ? -1 : read(mark, text, sizeof text);
    bool whole = bytes == MAGIC_BYTES;
    bool ours = bytes >= 0 && bytes <= MAGIC_BYTES && memcmp(text, magic, (size_t)bytes) == 0 &&
                fstat(mark, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
    if (mark >= 0)
        close(mark);
    /* Its writer may have been killed before the first byte: then there is nothing else yet. */
    return ours && (whole || own_folder_each(folder, is_first_mark, NULL));
}

enum own_mark own_folder_mark(int folder) {
    if (has_mark(folder, complete_name))
        return MARK_COMPLETE;
    return has_mark(folder, building_name) ? MARK_BUILDING : MARK_NONE;
}

int own_folder_complete(int folder) {
    return renameat(folder, building_name, folder, complete_name);
}

bool own_folder_is_mark(const char *name) {
    return strcmp(name, building_name) == 0 || strcmp(name, complete_name) == 0;
}

/* ---- removing ---- */

struct removal {
    dev_t device;
    int depth;
};

static bool remove_entry(int folder, const char *name, void *context);

static void remove_inner(int parent, const char *name, const struct removal *above) {
    struct removal removal = {above->device, above->depth + 1};
    int folder = removal.depth > DEEPEST ? -1 : own_folder_open(parent, name);
    struct stat about;
    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_dev == removal.device)
        own_folder_each(folder, remove_entry, &removal);
    if (folder >= 0)
        close(folder);
    unlinkat(parent, name, AT_REMOVEDIR); /* only when it is empty */
}

/* The mark goes last: should this process be killed, the rest is still known to be ours. */
static bool remove_entry(int folder, const char *name, void *context) {
    const struct removal *removal = context;
    bool keep = removal->depth == 0 && own_folder_is_mark(name);
    if (!keep && unlinkat(folder, name, 0) < 0 && (errno == EISDIR || errno == EPERM))
        remove_inner(folder, name, removal);
    return true;
}

static bool is_mark(int folder, const char *name, void *context) {
    (void)folder;
    (void)context;
    return own_folder_is_mark(name);
}

int own_folder_remove(int parent, const char *name, int folder) {
    struct stat about;
    if (!is_still(parent, name, folder) || fstat(folder, &about) < 0)
        return -1;
    struct removal removal = {.device = about.st_dev};
    own_folder_each(folder, remove_entry, &removal);
    if (!own_folder_each(folder, is_mark, NULL))
        return -1;
    unlinkat(folder, building_name, 0);
    unlinkat(folder, complete_name, 0);
    return unlinkat(parent, name, AT_REMOVEDIR);
}
