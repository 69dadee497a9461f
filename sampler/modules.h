/* What is mapped into the sampled program: its binary, its libraries, the vdso.
 *
 * Files are kept mapped here too, so that code and unwind tables are read without asking the
 * program, and can still be read after it has ended. A file that was unmapped (dlclose) is
 * remembered, unless another took its place. */
#ifndef PERSIK_SAMPLER_MODULES_H
#define PERSIK_SAMPLER_MODULES_H

#include <libunwind.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct module {
    char *path;                /* "[vdso]" for the kernel's */
    uint64_t bias;             /* address in the program minus address in the file (p_vaddr) */
    const unsigned char *file; /* the file's bytes, or a copy of the vdso; NULL: not to be read */
    size_t file_bytes;
    bool has_table;            /* `table` was found */
    unw_dyn_info_t table;      /* search table of the unwind information, for libunwind */
    unsigned char *made_table; /* built here for files without one (static programs), or NULL */
};

struct mapping {
    uint64_t start, end, offset; /* end is behind the last byte */
    bool writable, executable;
    int module; /* index; -1 anonymous */
};

struct modules {
    struct {
        struct module *items;
        size_t count, capacity;
    } modules;
    struct {
        struct mapping *items;
        size_t count, capacity;
    } mappings; /* by start, never overlapping */
};

/* Adds what /proc/PID/task/TID/maps shows now. -1 when it cannot be read (the program ended). */
int modules_refresh(struct modules *modules, pid_t pid, pid_t tid);

/* The mapping that holds `address`, or NULL. Holds until the next refresh. */
const struct mapping *modules_find(const struct modules *modules, uint64_t address);

/* Copies `bytes` of read-only file contents or of a made table; false when `address` is neither. */
bool modules_read(const struct modules *modules, uint64_t address, void *into, size_t bytes);

void modules_free(struct modules *modules);

#endif
