/* Names of files. */
#ifndef PERSIK_BASE_PATH_H
#define PERSIK_BASE_PATH_H

/* What stands behind the last slash: a part of `path`, all of it when there is none. */
const char *path_name(const char *path);

/* The path made short in place, by its names alone: /a/./b//../c becomes /a/c. A `..` behind none
 * stays. */
void path_normalise(char *path);

/* The folder that `path` stands in, opened: a descriptor, or -1 and errno. */
int path_open_folder(const char *path);

#endif
