#include "debuginfo/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    (void)module, (void)data, (void)base, (void)elf;
    int descriptor = name[0] == '/' ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct stat status;
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(descriptor);
        return -1;
    }
    if (descriptor >= 0)
        *file = strdup(name);
    return descriptor;
}
