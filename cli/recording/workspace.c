#include "cli/recording/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "cli/arguments/sweep.h"
#include "cli/recording/own_folder.h"

#define BUILDING_INFIX ".new."
#define N_RANDOM       6  /* characters behind it */
#define LONGEST_LOCK_S 10 /* nobody keeps it for more than some files' removal */
#define MOST_TRIES     100

char *workspace_path(const char *directory, const char *name) {
    return memory_format("%s/%s", directory, name);
}

bool workspace_has(const char *directory, const char *name) {
    char *path = workspace_path(directory, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* ---- what may be put aside or removed ---- */

/* The number of threads in the name of a recording within another one; 0: it is none. */
static int number_of_other(const char *name) {
    int threads, length = 0;
    bool is = sscanf(name, WORKSPACE_OTHER "%n", &threads, &length) == 1 && length > 0 &&
              name[length] == '\0';
    return is && threads > 0 ? threads : 0;
}

/* What recordings have been made of, besides the marks. */
static bool is_entry_of_ours(const char *name) {
    static const char *const ours[] = {WORKSPACE_TRACE,     WORKSPACE_SAMPLE,  WORKSPACE_STACKS,
                                       WORKSPACE_FACTS,     WORKSPACE_MODEL,   WORKSPACE_DOT,
                                       WORKSPACE_SVG,       WORKSPACE_CATALOG, WORKSPACE_CACHE,
                                       WORKSPACE_DECISIONS, WORKSPACE_STEPS,   "raw",
                                       "raw-evictions"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return true;
    size_t number;
    int length = 0;
    return number_of_other(name) > 0 ||
           (sscanf(name, WORKSPACE_EVICTIONS "%n", &number, &length) == 1 && length > 0 &&
            name[length] == '\0');
}

/* What base/output.h calls a file that is incomplete. */
static bool is_partial(const char *name) {
    static const char suffix[] = ".persik-new";
    size_t length = strlen(name);
    return name[0] == '.' && length > sizeof suffix &&
           strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

static bool note_foreign(int folder, const char *name, void *foreign) {
    (void)folder;
    char **found = foreign;
    if (own_folder_is_mark(name) || is_entry_of_ours(name) || is_partial(name))
        return true;
    *found = memory_strdup(name);
    return false;
}

/* The name of something in the folder that is not persik's, freed by the caller; NULL: all is. */
static char *find_foreign(int folder) {
    char *foreign = NULL;
    own_folder_each(folder, note_foreign, &foreign);
    return foreign;
}

static bool is_foreign(int folder, const char *name, void *context) {
    (void)folder;
    (void)context;
    return !is_entry_of_ours(name);
}

static bool is_recording(int folder) {
    return own_folder_mark(folder) != MARK_NONE || own_folder_is_empty(folder) ||
           !own_folder_each(folder, is_foreign, NULL);
}

/* A folder that is put aside must be one of ours: `-o ~` is a slip of the hand. */
static int check_ours(int parent, const char *path, struct error *error) {
    const char *name = path_name(path);
    struct stat about;
    if (fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : error_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return error_set(error, "%s is %s: choose another with -o DIR", path,
                         S_ISLNK(about.st_mode) ? "a symbolic link" : "not a folder");
    if (about.st_uid != geteuid())
        return error_set(error, "%s belongs to another user: choose another with -o DIR", path);
    int folder = own_folder_open(parent, name);
    if (folder < 0)
        return error_set(error,
                         "%s: %s: see that only you can write to it, or choose another "
                         "with -o DIR",
                         path, strerror(errno));
    bool ours = is_recording(folder);
    close(folder);
    if (ours)
        return 0;
    return error_set(
        error, "%s holds other things than a persik recording: choose another with -o DIR", path);
}

/* One that will be removed holds nothing else. */
static int check_removable(int parent, const char *path, struct error *error) {
    int folder = own_folder_open(parent, path_name(path));
    char *foreign = folder < 0 ? NULL : find_foreign(folder);
    if (folder >= 0)
        close(folder);
    if (!foreign)
        return 0;
    error_set(error,
              "%s/%s is not persik's, and the folder would be removed: move it elsewhere, or "
              "choose another folder with -o DIR",
              path, foreign);
    free(foreign);
    return -1;
}

/* Removes the folder NAME when it is wholly ours. 0 when it is gone. */
static int remove_recording(int parent, const char *name) {
    int folder = own_folder_open(parent, name);
    if (folder < 0)
        return errno == ENOENT ? 0 : -1;
    char *foreign = find_foreign(folder);
    int status = foreign || !is_recording(folder) ? -1 : own_folder_remove(parent, name, folder);
    free(foreign);
    close(folder);
    return status;
}

/* ---- others of us ---- */

/* Of all that persik makes and removes in that folder. Anybody may lock a folder that he can read:
 * who cannot have the lock in time goes on, which is safe, too, but for recordings of the same name
 * that are ended at the same moment. */
static void lock_parent(int parent) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < LONGEST_LOCK_S * 100 && !interrupt_is_final(); i++) {
        if (flock(parent, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return;
        nanosleep(&pause, NULL);
    }
}

static void unlock_parent(int parent) {
    flock(parent, LOCK_UN);
}

static bool is_absent(int parent, const char *name) {
    return faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int rename_to_new(int parent, const char *from, const char *to) {
    if (renameat2(parent, from, parent, to, RENAME_NOREPLACE) == 0)
        return 0;
    /* Not every file system can tell. */
    if (errno != EINVAL || !is_absent(parent, to))
        return -1;
    return renameat(parent, from, parent, to);
}

/* ---- what killed runs left ---- */

static bool is_name_of_building(const char *name, const char *recording) {
    size_t length = strlen(recording), infix = strlen(BUILDING_INFIX);
    return strlen(name) == length + infix + N_RANDOM && strncmp(name, recording, length) == 0 &&
           strncmp(name + length, BUILDING_INFIX, infix) == 0;
}

/* A whole recording, new or, once the names were exchanged, the one before: its place is taken from
 * now on, or it goes. */
static void settle(int parent, const char *name, const char *recording, int folder) {
    char *old = memory_format("%s.old", recording);
    if (rename_to_new(parent, name, recording) < 0 && rename_to_new(parent, name, old) < 0) {
        char *foreign = find_foreign(folder);
        if (!foreign)
            own_folder_remove(parent, name, folder);
        free(foreign);
    }
    free(old);
}

static bool remove_leftover(int parent, const char *name, void *recording) {
    int folder = is_name_of_building(name, recording) ? own_folder_open(parent, name) : -1;
    if (folder < 0)
        return true;
    if (own_folder_lock(folder)) { /* else a living process has it */
        enum own_mark mark = own_folder_mark(folder);
        if (mark == MARK_COMPLETE)
            settle(parent, name, recording, folder);
        else if (mark == MARK_BUILDING)
            own_folder_remove(parent, name, folder);
        else
            unlinkat(parent, name, AT_REMOVEDIR); /* killed before it was marked: it is empty */
    }
    close(folder);
    return true;
}

/* ---- beginning ---- */

static void fill_in_random(char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    uint8_t bytes[N_RANDOM] = {0};
    ssize_t ignored = getrandom(bytes, sizeof bytes, 0);
    (void)ignored; /* zeros are a name, too, when it is free */
    for (int i = 0; i < N_RANDOM; i++)
        text[i] = letters[bytes[i] % (sizeof letters - 1)];
}

static int create_building(struct workspace *workspace) {
    int length = (int)strlen(workspace->building) - N_RANDOM;
    workspace->building_name =
        workspace->building + (path_name(workspace->building) - (const char *)workspace->building);
    for (int i = 0; i < MOST_TRIES; i++) {
        fill_in_random(workspace->building + length);
        workspace->folder = own_folder_create(workspace->parent, workspace->building_name);
        if (workspace->folder >= 0 || errno != EEXIST)
            break;
    }
    return workspace->folder < 0 ? -1 : 0;
}

static int check_places(const struct workspace *workspace, struct error *error) {
    char *old = memory_format("%s.old", workspace->directory);
    int status = check_ours(workspace->parent, workspace->directory, error);
    if (status == 0)
        status = check_ours(workspace->parent, old, error);
    if (status == 0)
        status = check_removable(workspace->parent, old, error);
    free(old);
    return status;
}

static int begin_locked(struct workspace *workspace, struct error *error) {
    own_folder_each(workspace->parent, remove_leftover, workspace->name);
    if (check_places(workspace, error) < 0)
        return -1;
    if (create_building(workspace) == 0)
        return 0;
    return error_set(error,
                     "cannot create %s" BUILDING_INFIX "*: %s: choose a writable folder with "
                     "-o DIR",
                     workspace->directory, strerror(errno));
}

static void end(struct workspace *workspace) {
    if (workspace->folder >= 0)
        close(workspace->folder);
    if (workspace->parent >= 0)
        close(workspace->parent);
    free(workspace->directory);
    free(workspace->building);
    *workspace = (struct workspace){.parent = -1, .folder = -1};
}

int workspace_begin(struct workspace *workspace, const char *directory, struct error *error) {
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *clean = strndup(directory, length);
    char *name = clean + (path_name(clean) - (const char *)clean);
    *workspace = (struct workspace){.directory = clean,
                                    .building = memory_format("%s" BUILDING_INFIX "XXXXXX", clean),
                                    .name = name,
                                    .parent = path_open_folder(clean),
                                    .folder = -1};
    int status = -1;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        error_set(error, "%s has no name that a new folder could take: choose another with -o DIR",
                  clean);
    } else if (workspace->parent < 0) {
        error_set(error,
                  "cannot create %s" BUILDING_INFIX "*: %s: choose a writable folder with "
                  "-o DIR",
                  clean, strerror(errno));
    } else {
        lock_parent(workspace->parent);
        status = begin_locked(workspace, error);
        unlock_parent(workspace->parent);
    }
    if (status < 0)
        end(workspace);
    return status;
}

/* ---- ending ---- */

void workspace_clean(void *context) {
    const struct workspace *workspace = context;
    for (int i = 0; i < MOST_TRIES; i++) /* something may be written meanwhile */
        if (own_folder_remove(workspace->parent, workspace->building_name, workspace->folder) == 0)
            break;
}

void workspace_abandon(struct workspace *workspace) {
    if (workspace->folder >= 0)
        own_folder_remove(workspace->parent, workspace->building_name, workspace->folder);
    end(workspace);
}

/* A file is linked, so that the old folder keeps it too; a folder (the cache) can only move. */
static int carry_entry(int from, int to, const char *name) {
    struct stat about;
    if (fstatat(from, name, &about, AT_SYMLINK_NOFOLLOW) < 0 || !is_absent(to, name) ||
        !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return 0;
    if (S_ISREG(about.st_mode) && linkat(from, name, to, name, 0) == 0)
        return 0;
    return renameat(from, name, to, name);
}

/* The recordings of evictions are as many as there are. */
static int carry_over(int from, int to, const char *name) {
    if (strcmp(name, WORKSPACE_EVICTIONS) != 0)
        return carry_entry(from, to, name);
    int status = 0;
    for (size_t i = 1; status == 0; i++) {
        char *numbered = memory_format(WORKSPACE_EVICTIONS, i);
        bool there = !is_absent(from, numbered);
        status = there ? carry_entry(from, to, numbered) : 0;
        free(numbered);
        if (!there)
            break;
    }
    return status;
}

static int carry_all(const struct workspace *workspace, const char *const *carried,
                     struct error *error) {
    int from = own_folder_open(workspace->parent, workspace->name);
    int status = 0;
    for (size_t i = 0; from >= 0 && carried && carried[i] && status == 0; i++)
        if (carry_over(from, workspace->folder, carried[i]) < 0)
            status = error_set(error, "cannot keep %s/%s: %s: move it elsewhere by hand",
                               workspace->directory, carried[i], strerror(errno));
    if (from >= 0)
        close(from);
    return status;
}

/* Puts `building` in the place of `directory`; the old one becomes `old`. 0, or -1 and errno: it is
 * not in its place. */
static int swap_folders(const struct workspace *workspace, const char *old) {
    int parent = workspace->parent;
    const char *building = workspace->building_name, *name = workspace->name;
    if (own_folder_complete(workspace->folder) < 0)
        return -1;
    if (is_absent(parent, name))
        return rename_to_new(parent, building, name);
    bool has_room = remove_recording(parent, old) == 0;
    if (renameat2(parent, building, parent, name, RENAME_EXCHANGE) == 0) {
        if (!has_room || rename_to_new(parent, building, old) < 0)
            log_warning("the recording before is in %s: %s.old is taken", workspace->building,
                        workspace->directory);
        return 0;
    }
    /* Not every file system can exchange. */
    if (rename_to_new(parent, name, old) < 0)
        return -1;
    return rename_to_new(parent, building, name);
}

int workspace_commit(struct workspace *workspace, const char *const *carried, struct error *error) {
    char *old = memory_format("%s.old", workspace->name);
    lock_parent(workspace->parent);
    int status = check_ours(workspace->parent, workspace->directory, error);
    if (status == 0)
        status = carry_all(workspace, carried, error);
    if (status == 0 && swap_folders(workspace, old) < 0)
        status = error_set(error, "cannot rename %s to %s: %s: rename it by hand",
                           workspace->building, workspace->directory, strerror(errno));
    unlock_parent(workspace->parent);
    free(old);
    end(workspace);
    return status;
}

/* ---- with other numbers of threads ---- */

char *workspace_other(const char *directory, int threads) {
    char *name = memory_format(WORKSPACE_OTHER, threads);
    char *path = workspace_path(directory, name);
    free(name);
    return path;
}

static int by_number(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

static bool note_other(int folder, const char *name, void *others) {
    char *trace = memory_format("%s/%s", name, WORKSPACE_TRACE);
    int threads = number_of_other(name);
    if (threads > 0 && !is_absent(folder, trace))
        *VECTOR_ADD((struct int_list *)others) = threads;
    free(trace);
    return true;
}

size_t workspace_others(const char *directory, int **threads) {
    struct int_list others = {0};
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        own_folder_each(folder, note_other, &others);
        close(folder);
    }
    VECTOR_SORT(&others, by_number);
    *threads = others.items;
    return others.count;
}

int workspace_make_other(const char *directory, int threads, struct error *error) {
    char *path = workspace_other(directory, threads);
    int status = mkdir(path, 0700) == 0
                     ? 0
                     : error_set(error, "cannot create %s: %s: make room", path, strerror(errno));
    free(path);
    return status;
}

void workspace_drop_other(const char *directory, int threads) {
    char *name = memory_format(WORKSPACE_OTHER, threads);
    int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int folder = parent < 0 ? -1 : own_folder_open(parent, name);
    if (folder >= 0) {
        own_folder_remove(parent, name, folder);
        close(folder);
    }
    if (parent >= 0)
        close(parent);
    free(name);
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

int workspace_load_facts(const char *directory, struct facts **facts, struct error *error) {
    *facts = NULL;
    if (!workspace_has(directory, WORKSPACE_FACTS))
        return 0;
    char *path = workspace_path(directory, WORKSPACE_FACTS);
    *facts = facts_load(path, error);
    free(path);
    return *facts ? 0 : -1;
}
