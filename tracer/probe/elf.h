/* Finds functions in the loaded objects without dlsym, which allocates, and so may come back to us
 * through an allocator that locks. No allocation; may be called before our constructor, from the
 * constructor of another library. */
#ifndef PERSIK_PROBE_ELF_H
#define PERSIK_PROBE_ELF_H

#include <stddef.h>

/* What is looked for, and where its address goes. */
struct elf_wanted {
    const char *name;
    void **place;
};

/* Fills in, for each place that is NULL, the definition in the first object after ours (in the
 * order of loading) that has one: what RTLD_NEXT means, by default version. Leaves NULL what nobody
 * defines. Many in one go are cheaper. Takes no lock: not while another thread may unload an
 * object, so at the start of the program. */
void elf_resolve(const struct elf_wanted *wanted, size_t n);

/* The same for one. `version` such as "GLIBC_2.3.2"; NULL: the default one. NULL: nobody has it. */
void *elf_next(const char *name, const char *version);

/* The first definition in any loaded object but ours, also in one that was loaded for its loader
 * alone. At any time: takes the loader's lock, which its owner may take again. */
void *elf_anywhere(const char *name);

/* Where a thread's control block, at its pthread_t, has its kernel thread id (pid_t). -1: this C
 * library does not say. */
int elf_pthread_tid_offset(void);

#endif
