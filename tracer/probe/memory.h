/* Memory and files for the probe library's start. Through syscall(2): the functions of libc would
 * lead back into our interposers. No descriptor stays open. */
#ifndef PERSIK_PROBE_MEMORY_H
#define PERSIK_PROBE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_PATH_MAX 512 /* bytes */

/* "DIRECTORY/NAME"; false: too long. */
bool memory_path(char path[MEMORY_PATH_MAX], const char *directory, const char *name);

/* Private memory, zeroed, its pages taken when touched; or NULL. */
void *memory_private(size_t bytes);

/* The whole file at DIRECTORY/NAME, shared with others or our own copy; NULL: none, or empty. */
void *memory_file(const char *directory, const char *name, bool shared, size_t *bytes);

/* Up to `room` bytes of the file, and a '\0' behind them. */
void memory_read(const char *path, char *text, size_t room);

void memory_unmap(void *memory, size_t bytes);

#endif
