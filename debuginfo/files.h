/* Where debug information is looked for: in the file itself, by its build id, by .gnu_debuglink,
 * and on the network only when the user asks for that with PERSIK_DEBUGINFOD=1.
 *
 * These are callbacks for libdwfl in the place of its own, which ask the servers in DEBUGINFOD_URLS
 * as soon as that is set. The variable stays as it is for the program that is recorded. */
#ifndef PERSIK_DEBUGINFO_FILES_H
#define PERSIK_DEBUGINFO_FILES_H

#include <elfutils/libdwfl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dwfl_Callbacks.find_debuginfo */
int debuginfo_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                   const char *file, const char *link, GElf_Word checksum, char **found);

/* The same, of the file itself alone. */
int debuginfo_find_inside(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **found);

/* Dwfl_Callbacks.find_elf for the memory map of a process. */
int debuginfo_find_mapped(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          char **file, Elf **elf);

#ifdef __cplusplus
}
#endif

#endif
