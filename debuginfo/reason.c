#include "debuginfo/reason.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "debuginfo/files.h"

static bool is_of_system(const char *path) {
    return strncmp(path, "/usr/lib", strlen("/usr/lib")) == 0 || strncmp(path, "/lib", 4) == 0;
}

/* There is none at all, neither in the file nor elsewhere. */
static char *explain_none(Elf *elf, const char *path) {
    GElf_Word checksum;
    const char *link = elf ? dwelf_elf_gnu_debuglink(elf, &checksum) : NULL;
    if (is_of_system(path))
        return memory_strdup("install its debug symbols, if these matter");
    if (link)
        return memory_format("it is in %s, which is not there: put that beside the program", link);
    return memory_strdup("compile it with -g");
}

/* dwz moves what several programs have in common into one file. */
static char *explain_shared(Dwarf *debug) {
    const char *name;
    const void *build_id;
    if (dwelf_dwarf_gnu_debugaltlink(debug, &name, &build_id) <= 0 || dwarf_getalt(debug))
        return NULL;
    return memory_format("a part is in %s, which is not there: put it back", name);
}

static const char *split_file(Dwarf_Die *skeleton) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(skeleton, DW_AT_dwo_name, &attribute));
    return name ? name
                : dwarf_formstring(dwarf_attr_integrate(skeleton, DW_AT_GNU_dwo_name, &attribute));
}

/* -gsplit-dwarf leaves it beside the object files. */
static char *explain_split(Dwarf *debug, const char *path) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(debug, unit, &unit, NULL, &type, &die, &split) == 0) {
        if (type != DW_UT_skeleton || split.addr)
            continue;
        char *package = memory_format("%s.dwp", path);
        bool packed = access(package, F_OK) == 0;
        const char *file = split_file(&die);
        char *reason =
            packed ? memory_format("it is packed in %s, which libdw cannot read: keep the .dwo "
                                   "files",
                                   package)
                   : memory_format("it is in %s, which is not there: keep the .dwo files where "
                                   "they were written, or compile without -gsplit-dwarf",
                                   file ? file : "a .dwo file");
        free(package);
        return reason;
    }
    return NULL;
}

char *debuginfo_reason(const char *path) {
    Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                .find_debuginfo = debuginfo_find,
                                .section_address = dwfl_offline_section_address};
    Dwfl *session = dwfl_begin(&callbacks);
    Dwfl_Module *module = session ? dwfl_report_offline(session, "", path, -1) : NULL;
    char *reason = NULL;
    if (module) {
        Dwarf_Addr bias;
        dwfl_report_end(session, NULL, NULL);
        Dwarf *debug = dwfl_module_getdwarf(module, &bias);
        reason =
            debug ? explain_shared(debug) : explain_none(dwfl_module_getelf(module, &bias), path);
        if (debug && !reason)
            reason = explain_split(debug, path);
    }
    if (session)
        dwfl_end(session);
    return reason;
}
