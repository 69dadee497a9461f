#include "tracer/wraps.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "tracer/loaded.h"
#include "tracer/orders.h"

/* ---- symbols and code ---- */

static bool read_symbol(Elf *elf, Elf_Scn *section, const char *name, GElf_Sym *symbol) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return false;
    Elf_Data *data = elf_getdata(section, NULL);
    for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
        if (!gelf_getsym(data, (int)i, symbol) || GELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
            symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0)
            continue;
        const char *found = elf_strptr(elf, header.sh_link, symbol->st_name);
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

static bool find_symbol(Elf *elf, const char *name, GElf_Sym *symbol) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
            read_symbol(elf, section, name, symbol))
            return true;
    }
    return false;
}

/* The function's bytes in the file; NULL: they are not there. */
static const uint8_t *find_code(Elf *elf, const GElf_Sym *symbol, uint64_t *file_shift) {
    size_t n = 0;
    size_t bytes = 0;
    const char *image = elf_rawfile(elf, &bytes);
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; image && i < n; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            symbol->st_value < segment.p_vaddr ||
            symbol->st_value + symbol->st_size > segment.p_vaddr + segment.p_filesz)
            continue;
        *file_shift = segment.p_vaddr - segment.p_offset;
        uint64_t offset = symbol->st_value - *file_shift;
        return offset + symbol->st_size <= bytes ? (const uint8_t *)image + offset : NULL;
    }
    return NULL;
}

/* Does the module call a function of this name in others? */
static bool imports(Elf *elf, const char *wanted) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
            const char *name = gelf_getsym(data, (int)i, &symbol)
                                   ? elf_strptr(elf, header.sh_link, symbol.st_name)
                                   : NULL;
            if (name && strcmp(name, wanted) == 0)
                return symbol.st_shndx == SHN_UNDEF;
        }
    }
    return false;
}

static void fill_raw(struct raw_wrap *raw, const struct user_function *function, const char *module,
                     const struct entry *entry, const uint8_t *moved) {
    snprintf(raw->name, sizeof raw->name, "%s", function->name);
    snprintf(raw->module, sizeof raw->module, "%s", module);
    raw->how = entry->obstacle ? RAW_WRAP_KERNEL : RAW_WRAP_ENTRY;
    raw->address = entry->at;
    raw->n_bytes = entry->n_bytes;
    raw->n_fixups = entry->n_fixups;
    memcpy(raw->fixups, entry->fixups, sizeof raw->fixups);
    memcpy(raw->ends, entry->ends, sizeof raw->ends);
    if (!entry->obstacle)
        memcpy(raw->bytes, moved, entry->n_bytes);
    raw->api = (uint16_t)function->api;
    raw->object_source = (uint8_t)function->object.source;
    raw->object_number = function->object.number;
    raw->amount_source = (uint8_t)function->amount.source;
    raw->amount_number = function->amount.number;
    raw->fails = (uint8_t)function->fails;
    raw->spins = function->spins;
}

/* False: not in this module. */
static bool find_in_module(struct wrap_plan *plan, const char *module,
                           const struct user_function *function) {
    int file = open(module, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    GElf_Sym symbol;
    const uint8_t *code = NULL;
    if (elf && find_symbol(elf, function->name, &symbol))
        code = find_code(elf, &symbol, &plan->file_shift);
    if (code) {
        plan->raw.function = symbol.st_value;
        plan->raw.hooked = imports(elf, "__cyg_profile_func_enter");
        plan->throws = imports(elf, "__cxa_throw") || imports(elf, "_Unwind_Resume");
        plan->entry = entry_read(code, symbol.st_size, symbol.st_value);
        fill_raw(&plan->raw, function, module, &plan->entry,
                 code + (plan->entry.at - symbol.st_value));
    }
    elf_end(elf);
    close(file);
    return code != NULL;
}

/* ---- the plan ---- */

static int find_function(struct wrap_plan *plan, const struct loaded *modules,
                         const struct user_function *function, const struct user_catalog *catalog,
                         struct error *error) {
    if (strlen(function->name) >= sizeof plan->raw.name)
        return error_set(error, "%s: a name too long to be wrapped", function->name);
    for (size_t i = 0; i < modules->count; i++)
        if (strlen(modules->items[i]) < sizeof plan->raw.module &&
            find_in_module(plan, modules->items[i], function))
            return 0;
    return error_set(error,
                     "%s:%d: %s: no such function in the program or its libraries: give the "
                     "linker's name (see nm), and compile it as a function that is not inlined",
                     catalog->path ? catalog->path : "catalog", function->line, function->name);
}

int wraps_find(struct wraps *wraps, const char *path, const struct user_catalog *catalog,
               struct error *error) {
    *wraps = (struct wraps){0};
    if (!catalog || catalog->functions.count == 0)
        return 0;
    struct loaded modules = loaded_find(path);
    wraps->items = memory_alloc(catalog->functions.count, sizeof *wraps->items);
    int status = 0;
    for (size_t i = 0; i < catalog->functions.count && status == 0; i++)
        status = find_function(&wraps->items[wraps->count++], &modules,
                               &catalog->functions.items[i], catalog, error);
    loaded_free(&modules);
    if (status != 0)
        wraps_free(wraps);
    return status;
}

void wraps_free(struct wraps *wraps) {
    free(wraps->items);
    *wraps = (struct wraps){0};
}

/* ---- the file ---- */

int wraps_save(const struct wraps *wraps, const char *directory, struct error *error) {
    struct raw_wrap *items = memory_alloc(wraps->count, sizeof *items);
    for (size_t i = 0; i < wraps->count; i++)
        items[i] = wraps->items[i].raw;
    int status = orders_save(directory, RAW_WRAPS, items, wraps->count * sizeof *items, error);
    free(items);
    return status;
}

static const char *describe_state(uint32_t state) {
    static const char *const reasons[] = {
        [RAW_WRAP_PENDING] = "its module was not loaded at the start",
        [RAW_WRAP_CHANGED] = "other code is in memory than in the file",
        [RAW_WRAP_THREADS] = "there were threads before it could be wrapped",
        [RAW_WRAP_REFUSED] = "the system does not let code be changed",
    };
    return state < sizeof reasons / sizeof *reasons ? reasons[state] : "unknown";
}

void wraps_tell(const char *directory, struct lacks *lacks) {
    char *path = memory_format("%s/%s", directory, RAW_WRAPS);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct raw_wrap raw;
    while (file >= 0 && read(file, &raw, sizeof raw) == (ssize_t)sizeof raw) {
        raw.name[sizeof raw.name - 1] = '\0'; /* the program may have written to it */
        if (raw.how == RAW_WRAP_ENTRY && raw.state != RAW_WRAP_DONE)
            lacks_add(lacks, "calls of %s: %s", raw.name, describe_state(raw.state));
        if (raw.unseen > 0)
            lacks_add(lacks,
                      "%u calls of %s: it was inlined there, and its arguments cannot be seen: "
                      "compile it with noinline",
                      raw.unseen, raw.name);
    }
    if (file >= 0)
        close(file);
    free(path);
}
