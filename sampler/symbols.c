#include "sampler/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/path.h"
#include "debuginfo/compilations.h"
#include "debuginfo/die.h"
#include "debuginfo/files.h"
#include "debuginfo/scopes.h"

struct symbols {
    const struct modules *modules;
    Dwfl *dwfl;
    struct compilations *compilations;
    /* Texts and locations, each stored once. The maps go from a hash to the last one that has it;
     * the `older` ones are chained. */
    struct {
        struct text {
            char *text;
            int older;
        } * items;
        size_t count, capacity;
    } texts;
    struct map texts_by_hash;
    struct {
        struct symbol *items;
        size_t count, capacity;
    } locations;
    struct {
        int *items;
        size_t count, capacity;
    } older_locations; /* by location: the next in its chain */
    struct map locations_by_hash;
    struct {
        int *items;
        size_t count, capacity;
    } found; /* of the last symbols_find() */
};

/* ---- storing once ---- */

static const char *store_text(struct symbols *symbols, const char *text) {
    if (!text)
        return NULL;
    uint64_t hash = map_mix_text(0, text);
    int last = map_get(&symbols->texts_by_hash, hash, -1);
    for (int i = last; i >= 0; i = symbols->texts.items[i].older)
        if (strcmp(symbols->texts.items[i].text, text) == 0)
            return symbols->texts.items[i].text;
    map_put(&symbols->texts_by_hash, hash, (int)symbols->texts.count);
    struct text *stored = VECTOR_ADD(&symbols->texts);
    *stored = (struct text){memory_strdup(text), last};
    return stored->text;
}

static int store_location(struct symbols *symbols, struct symbol symbol) {
    uint64_t hash = map_mix((uint64_t)symbol.line, (uintptr_t)symbol.function);
    hash = map_mix(map_mix(hash, (uintptr_t)symbol.file), (uintptr_t)symbol.module);
    int last = map_get(&symbols->locations_by_hash, hash, -1);
    for (int i = last; i >= 0; i = symbols->older_locations.items[i]) {
        const struct symbol *known = &symbols->locations.items[i];
        if (known->function == symbol.function && known->file == symbol.file &&
            known->line == symbol.line && known->module == symbol.module)
            return i;
    }
    int index = (int)symbols->locations.count;
    map_put(&symbols->locations_by_hash, hash, index);
    *VECTOR_ADD(&symbols->locations) = symbol;
    *VECTOR_ADD(&symbols->older_locations) = last;
    return index;
}

/* ---- looking up ---- */

static void report_modules(Dwfl *dwfl, const struct modules *modules) {
    dwfl_report_begin(dwfl);
    for (size_t i = 0; i < modules->modules.count; i++) {
        const struct module *module = &modules->modules.items[i];
        if (module->has_table)
            dwfl_report_elf(dwfl, path_name(module->path), module->path, -1, module->bias, true);
    }
    dwfl_report_end(dwfl, NULL, NULL);
}

struct symbols *symbols_create(const struct modules *modules) {
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = debuginfo_find,
        .section_address = dwfl_offline_section_address,
    };
    struct symbols *symbols = memory_alloc(1, sizeof *symbols);
    symbols->modules = modules;
    symbols->compilations = compilations_new();
    symbols->dwfl = dwfl_begin(&callbacks);
    if (symbols->dwfl)
        report_modules(symbols->dwfl, modules);
    return symbols;
}

static void add_found(struct symbols *symbols, struct symbol symbol) {
    *VECTOR_ADD(&symbols->found) = store_location(symbols, symbol);
}

static const char *store_name(struct symbols *symbols, Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    char *name = function_name_in_source(
        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute)));
    const char *stored = store_text(symbols, name);
    free(name);
    return stored;
}

/* The file that contains the call of an inlined function. */
static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined) {
    Dwarf_Files *files;
    size_t count;
    int number = die_number(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* Where inside the innermost function the address is. */
static const char *source_of(struct compilation *unit, uint64_t address, int *line) {
    Dwarf_Line *found = compilation_line(unit, address);
    *line = 0;
    if (!found)
        return NULL;
    dwarf_lineno(found, line);
    return dwarf_linesrc(found, NULL, NULL);
}

/* The functions around `address`, innermost first; each inlined one knows where it was called. */
static bool find_by_dwarf(struct symbols *symbols, Dwfl_Module *module, uint64_t address,
                          const char *module_name) {
    struct compilation unit;
    if (!compilations_find(symbols->compilations, module, address, &unit))
        return false;
    Dwarf_Die *scopes = NULL;
    int n = scopes_at(&unit.functions, address - unit.bias, &scopes);
    struct symbol symbol = {.module = module_name};
    symbol.file = store_text(symbols, source_of(&unit, address, &symbol.line));
    for (int i = 0; i < n; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        symbol.function = store_name(symbols, &scopes[i]);
        if (symbol.function)
            add_found(symbols, symbol);
        if (tag == DW_TAG_subprogram)
            break;
        symbol.file = store_text(symbols, call_file(&unit.functions, &scopes[i]));
        symbol.line = die_number(&scopes[i], DW_AT_call_line);
    }
    free(scopes);
    return symbols->found.count > 0;
}

static void reverse_found(struct symbols *symbols) {
    int *items = symbols->found.items;
    for (size_t i = 0, j = symbols->found.count; i + 1 < j; i++) {
        int swapped = items[i];
        items[i] = items[--j];
        items[j] = swapped;
    }
}

/* By the symbol table; without a symbol that covers the address, by the module alone. */
static void find_by_name(struct symbols *symbols, Dwfl_Module *module, uint64_t address,
                         const char *module_name) {
    GElf_Sym entry;
    GElf_Off offset;
    const char *name = NULL;
    if (module)
        name = dwfl_module_addrinfo(module, address, &offset, &entry, NULL, NULL, NULL);
    if (name && (offset < entry.st_size || entry.st_size == 0)) {
        add_found(symbols, (struct symbol){store_text(symbols, name), NULL, 0, module_name});
        return;
    }
    char *unknown =
        module_name[0] == '[' ? memory_strdup(module_name) : memory_format("[%s]", module_name);
    add_found(symbols, (struct symbol){store_text(symbols, unknown), NULL, 0, module_name});
    free(unknown);
}

size_t symbols_find(struct symbols *symbols, uint64_t address, const int **locations) {
    const struct mapping *mapping = modules_find(symbols->modules, address);
    const char *path = mapping && mapping->module >= 0
                           ? symbols->modules->modules.items[mapping->module].path
                           : "[unknown]";
    const char *module_name = store_text(symbols, path_name(path));
    Dwfl_Module *module = symbols->dwfl ? dwfl_addrmodule(symbols->dwfl, address) : NULL;
    symbols->found.count = 0;
    if (module && find_by_dwarf(symbols, module, address, module_name))
        reverse_found(symbols);
    else
        find_by_name(symbols, module, address, module_name);
    *locations = symbols->found.items;
    return symbols->found.count;
}

const struct symbol *symbols_all(const struct symbols *symbols) {
    return symbols->locations.items;
}

void symbols_free(struct symbols *symbols) {
    for (size_t i = 0; i < symbols->texts.count; i++)
        free(symbols->texts.items[i].text);
    free(symbols->texts.items);
    free(symbols->locations.items);
    free(symbols->older_locations.items);
    free(symbols->found.items);
    map_free(&symbols->texts_by_hash);
    map_free(&symbols->locations_by_hash);
    compilations_free(symbols->compilations);
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    free(symbols);
}
