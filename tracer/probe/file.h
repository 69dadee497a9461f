/* System calls for the library's own files. Through syscall(2): the functions of libc would lead
 * back into our interposers, and are cancellation points. No descriptor stays open between calls,
 * so that the program's own descriptors keep their numbers. */
#ifndef PERSIK_PROBE_FILE_H
#define PERSIK_PROBE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_MAX 512 /* bytes; short, for it lies on the stacks of the program's threads */

/* "PREFIX.tINDEX.records", "PREFIX.process" and so on; false: too long. index < 0: left out. */
bool file_name(char path[FILE_PATH_MAX], const char *prefix, const char *separator, int64_t index,
               const char *suffix);

/* Descriptor, or -1. New files are 0600. */
int file_open(const char *path, int flags);
void file_close(int descriptor);

/* Takes disk space so that a store through a mapping never meets a full disk. False: no space, a
 * limit on file sizes, or a file system that cannot promise. */
bool file_reserve(int descriptor, uint64_t offset, uint64_t bytes);
/* Gives back what was taken, where the file system can. */
void file_punch(int descriptor, uint64_t offset, uint64_t bytes);

/* Shared mapping, or NULL. */
void *file_map(int descriptor, uint64_t offset, size_t bytes);
/* Private memory, zeroed, its pages taken when touched; or NULL. */
void *file_memory(size_t bytes);
void file_unmap(uint64_t address, size_t bytes);

void file_write(int descriptor, const char *text, size_t bytes);
/* False: not everything. */
bool file_write_at(int descriptor, const void *bytes, size_t n_bytes, uint64_t offset);
bool file_read_at(int descriptor, void *bytes, size_t n_bytes, uint64_t offset);

/* The slow paths' bracket: keeps errno, blocks every signal. */
struct file_quiet {
    int saved_errno;
    uint64_t signals;
};
struct file_quiet quiet_enter(void);
void quiet_leave(struct file_quiet quiet);

#endif
