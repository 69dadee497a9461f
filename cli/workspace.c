#include "cli/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

char *workspace_path(const char *directory, const char *name) {
    return memory_format("%s/%s", directory, name);
}

bool workspace_has(const char *directory, const char *name) {
    char *path = workspace_path(directory, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static bool is_empty(const char *directory) {
    DIR *stream = opendir(directory);
    if (!stream)
        return false;
    int entries = 0;
    const struct dirent *entry;
    while (entries == 0 && (entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            entries++;
    closedir(stream);
    return entries == 0;
}

/* A folder that is put aside or removed must be one of ours: `-o ~` is a slip of the hand. */
static int check_ours(const char *directory, struct error *error) {
    static const char *const ours[] = {WORKSPACE_TRACE, WORKSPACE_SAMPLE, WORKSPACE_FACTS,
                                       WORKSPACE_MODEL};
    struct stat status;
    if (stat(directory, &status) < 0)
        return errno == ENOENT ? 0 : error_set(error, "%s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "%s is not a folder: choose another with -o DIR", directory);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (workspace_has(directory, ours[i]))
            return 0;
    if (is_empty(directory))
        return 0;
    return error_set(error,
                     "%s holds other things than a persik recording: choose another with -o DIR",
                     directory);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_tree(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* An open descriptor that holds the folder's lock, or -1. The kernel lets go of it when the process
 * ends, however it ends. */
static int lock_folder(const char *path) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Removes what killed runs left behind: folders that nobody has locked. */
static void remove_leftovers(const char *directory) {
    char *pattern = memory_format("%s.new.??????", directory);
    glob_t found;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            int lock = lock_folder(found.gl_pathv[i]);
            if (lock >= 0) {
                remove_tree(found.gl_pathv[i]);
                close(lock);
            }
        }
        globfree(&found);
    }
    free(pattern);
}

int workspace_begin(struct workspace *workspace, const char *directory, struct error *error) {
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *clean = strndup(directory, length);
    char *old = memory_format("%s.old", clean);
    char *building = memory_format("%s.new.XXXXXX", clean);
    int status = check_ours(clean, error);
    if (status == 0)
        status = check_ours(old, error);
    if (status == 0)
        remove_leftovers(clean);
    if (status == 0 && !mkdtemp(building)) {
        building[strlen(building) - strlen(".XXXXXX")] = '\0';
        status = error_set(error, "cannot create %s: %s: choose a writable folder with -o DIR",
                           building, strerror(errno));
    }
    free(old);
    if (status < 0) {
        free(clean);
        free(building);
        return -1;
    }
    *workspace = (struct workspace){
        .directory = clean,
        .building = building,
        .lock = lock_folder(building),
    };
    return 0;
}

static void workspace_end(struct workspace *workspace) {
    if (workspace->lock >= 0)
        close(workspace->lock);
    free(workspace->directory);
    free(workspace->building);
    *workspace = (struct workspace){.lock = -1};
}

void workspace_abandon(struct workspace *workspace) {
    if (workspace->building)
        remove_tree(workspace->building);
    workspace_end(workspace);
}

/* A file is linked, so that the old folder keeps it too; a folder (the cache) can only move. */
static int carry_entry(const struct workspace *workspace, const char *name, struct error *error) {
    char *from = workspace_path(workspace->directory, name);
    char *to = workspace_path(workspace->building, name);
    int status = 0;
    if (access(from, F_OK) == 0 && access(to, F_OK) < 0 && link(from, to) < 0 &&
        rename(from, to) < 0)
        status = error_set(error, "cannot keep %s: %s", from, strerror(errno));
    free(from);
    free(to);
    return status;
}

/* The recordings of evictions are as many as there are. */
static int carry_over(const struct workspace *workspace, const char *name, struct error *error) {
    if (strcmp(name, WORKSPACE_EVICTIONS) != 0)
        return carry_entry(workspace, name, error);
    for (size_t i = 1;; i++) {
        char *numbered = memory_format(WORKSPACE_EVICTIONS, i);
        bool there = workspace_has(workspace->directory, numbered);
        int status = there ? carry_entry(workspace, numbered, error) : 0;
        free(numbered);
        if (!there || status != 0)
            return status;
    }
}

/* Puts `building` in the place of `directory`; the old one becomes `old`. */
static int swap_folders(const struct workspace *workspace, const char *old) {
    const char *directory = workspace->directory;
    if (access(directory, F_OK) < 0)
        return rename(workspace->building, directory);
    remove_tree(old);
    if (renameat2(AT_FDCWD, workspace->building, AT_FDCWD, directory, RENAME_EXCHANGE) == 0)
        return rename(workspace->building, old);
    /* Not every file system can exchange. */
    if (rename(directory, old) < 0)
        return -1;
    return rename(workspace->building, directory);
}

int workspace_commit(struct workspace *workspace, const char *const *carried, struct error *error) {
    int status = 0;
    for (size_t i = 0; carried && carried[i] && status == 0; i++)
        status = carry_over(workspace, carried[i], error);
    char *old = memory_format("%s.old", workspace->directory);
    if (status == 0 && swap_folders(workspace, old) < 0)
        status = error_set(error, "cannot rename %s to %s: %s: rename it by hand",
                           workspace->building, workspace->directory, strerror(errno));
    free(old);
    workspace_end(workspace);
    return status;
}

struct trace *workspace_load_trace(const char *directory, struct error *error) {
    if (!workspace_has(directory, WORKSPACE_TRACE)) {
        error_set(error,
                  "no trace in %s: run `persik profile PROGRAM` first, or name its folder with -i",
                  directory);
        return NULL;
    }
    char *path = workspace_path(directory, WORKSPACE_TRACE);
    struct trace *trace = trace_load(path, error);
    free(path);
    return trace;
}
