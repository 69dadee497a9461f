/* Folders that persik makes beside a recording and removes again, in places where others may write,
 * too. Everything here is relative to open folders and follows no symbolic link; nothing is removed
 * but what carries the mark that persik puts into its folders first of all. */
#ifndef PERSIK_CLI_RECORDING_OWN_FOLDER_H
#define PERSIK_CLI_RECORDING_OWN_FOLDER_H

#include <stdbool.h>

enum own_mark {
    MARK_NONE,
    MARK_BUILDING, /* being written, or left so by a killed process */
    MARK_COMPLETE, /* a recording */
};

/* Opens the folder NAME in `parent` when it belongs to this user and nobody else can write into it.
 * The descriptor, or -1. */
int own_folder_open(int parent, const char *name);

/* Makes the folder NAME in `parent`, locked until its descriptor is closed, and marked as being
 * built. The descriptor, or -1 and errno: EEXIST, try another name. */
int own_folder_create(int parent, const char *name);

/* Locks an open folder, unless a living process has it locked. */
bool own_folder_lock(int folder);

enum own_mark own_folder_mark(int folder);

/* From now on it is a recording. 0, or -1 and errno. */
int own_folder_complete(int folder);

/* Is it one of the two marks? */
bool own_folder_is_mark(const char *name);

bool own_folder_is_empty(int folder);

/* Calls `visit` with the name of each entry until it returns false. False when it did, or when the
 * folder cannot be read. */
bool own_folder_each(int folder, bool (*visit)(int folder, const char *name, void *context),
                     void *context);

/* Removes the open folder NAME of `parent` and all that is in it, but not what is in folders of
 * other users or in other file systems, nor what others could exchange meanwhile. 0, or -1 when
 * something is left. */
int own_folder_remove(int parent, const char *name, int folder);

#endif
