#include "debuginfo/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SERVERS "DEBUGINFOD_URLS"

/* What is to be given to show_servers(). NULL: there was nothing to hide. */
static char *hide_servers(void) {
    const char *asked = getenv("PERSIK_DEBUGINFOD");
    const char *servers = getenv(SERVERS);
    if (!servers || (asked && *asked && strcmp(asked, "0") != 0))
        return NULL;
    char *hidden = memory_strdup(servers);
    unsetenv(SERVERS);
    return hidden;
}

static void show_servers(char *hidden) {
    if (hidden)
        setenv(SERVERS, hidden, 1);
    free(hidden);
}

int debuginfo_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                   const char *file, const char *link, GElf_Word checksum, char **found) {
    char *hidden = hide_servers();
    int descriptor =
        dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
    show_servers(hidden);
    return descriptor;
}

int debuginfo_find_inside(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **found) {
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)checksum;
    (void)found;
    return -1;
}

int debuginfo_find_mapped(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          char **file, Elf **elf) {
    char *hidden = hide_servers();
    int descriptor = dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
    show_servers(hidden);
    return descriptor;
}
