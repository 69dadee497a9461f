#include "tracer/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
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

struct place {
    size_t n_frames;
    struct trace_frame *frames;
};

struct symbols {
    Dwfl *dwfl;
    struct compilations *compilations;
    struct map known; /* address -> index into places */
    struct {
        size_t count, capacity;
        struct place *items;
    } places;
};

/* ---- modules ---- */

static int compare_lines(const void *left, const void *right) {
    uint64_t a = strtoull(*(char *const *)left, NULL, 16);
    uint64_t b = strtoull(*(char *const *)right, NULL, 16);
    return (a > b) - (a < b);
}

/* libdwfl wants what the kernel gives: rising addresses, each once. Lines of libraries that were
 * loaded later are appended to our copy. */
static char *sort_maps(const char *maps) {
    struct {
        size_t count, capacity;
        char **items;
    } lines = {0};
    char *copy = memory_strdup(maps);
    char *rest = copy;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        if (*line)
            *VECTOR_ADD(&lines) = line;
    VECTOR_SORT(&lines, compare_lines);
    char *sorted = memory_alloc(strlen(maps) + 2, 1);
    char *end = sorted;
    uint64_t covered = 0;
    for (size_t i = 0; i < lines.count; i++) {
        char *dash;
        uint64_t low = strtoull(lines.items[i], &dash, 16);
        uint64_t high = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
        if (low < covered || high <= low)
            continue;
        end = stpcpy(stpcpy(end, lines.items[i]), "\n");
        covered = high;
    }
    free(lines.items);
    free(copy);
    return sorted;
}

static int report_modules(Dwfl *dwfl, const char *maps) {
    char *sorted = sort_maps(maps);
    FILE *file = *sorted ? fmemopen(sorted, strlen(sorted), "r") : NULL;
    int status = -1;
    if (file) {
        dwfl_report_begin(dwfl);
        status = dwfl_linux_proc_maps_report(dwfl, file);
        if (dwfl_report_end(dwfl, NULL, NULL) != 0)
            status = -1;
        fclose(file);
    }
    free(sorted);
    return status;
}

struct symbols *symbols_open(const char *maps, struct error *error) {
    static const Dwfl_Callbacks callbacks = {.find_elf = debuginfo_find_mapped,
                                             .find_debuginfo = debuginfo_find};
    struct symbols *symbols = memory_alloc(1, sizeof *symbols);
    symbols->compilations = compilations_new();
    symbols->dwfl = dwfl_begin(&callbacks);
    if (!symbols->dwfl || report_modules(symbols->dwfl, maps) != 0) {
        error_set(error, "the program's memory map cannot be read (%s): run `persik trace` again",
                  dwfl_errmsg(-1));
        symbols_close(symbols);
        return NULL;
    }
    return symbols;
}

void symbols_close(struct symbols *symbols) {
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->places.count; i++) {
        struct place *place = &symbols->places.items[i];
        for (size_t f = 0; f < place->n_frames; f++) {
            free(place->frames[f].function);
            free(place->frames[f].file);
            free(place->frames[f].module);
        }
        free(place->frames);
    }
    free(symbols->places.items);
    map_free(&symbols->known);
    compilations_free(symbols->compilations);
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    free(symbols);
}

/* The module at `address`; NULL none. `*offset`: from its start. */
static Dwfl_Module *find_module(const struct symbols *symbols, uint64_t address, uint64_t *offset,
                                const char **name) {
    Dwarf_Addr start = 0;
    Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
    *name = "?";
    if (module) {
        const char *path = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
        if (path)
            *name = path_name(path);
    }
    *offset = address - start;
    return module;
}

/* ---- frames ---- */

/* The compiler names a file relative to where it ran. Without ../ in it, as the source analyser has
 * it. */
static char *absolute(const char *file, const char *directory) {
    if (!file)
        return NULL;
    char *path =
        *file == '/' || !directory ? memory_strdup(file) : memory_format("%s/%s", directory, file);
    path_normalise(path);
    return path;
}

static struct trace_frame *add_frame(struct place *place, const char *module, uint64_t offset) {
    place->frames = memory_resize(place->frames, place->n_frames + 1, sizeof *place->frames);
    struct trace_frame *frame = &place->frames[place->n_frames++];
    *frame = (struct trace_frame){.module = memory_strdup(module), .offset = offset};
    return frame;
}

/* Where the inlined function `die` was called: goes to the frame around it. */
static void set_call_site(struct trace_frame *frame, struct compilation *unit, Dwarf_Die *die) {
    Dwarf_Files *files = NULL;
    size_t n_files = 0;
    size_t file = (size_t)die_number(die, DW_AT_call_file);
    frame->line = die_number(die, DW_AT_call_line);
    frame->column = die_number(die, DW_AT_call_column);
    if (dwarf_getsrcfiles(&unit->functions, &files, &n_files) == 0 && file < n_files)
        frame->file = absolute(dwarf_filesrc(files, file, NULL, NULL), compilation_directory(unit));
}

static void set_line(struct trace_frame *frame, struct compilation *unit, uint64_t address) {
    Dwarf_Line *line = compilation_line(unit, address);
    if (!line)
        return;
    dwarf_lineno(line, &frame->line);
    dwarf_linecol(line, &frame->column);
    frame->file = absolute(dwarf_linesrc(line, NULL, NULL), compilation_directory(unit));
}

/* Follows the DIEs outwards from `address`: every inlined function is a frame, up to the function
 * that was really called. False when there is no debug information for the address. */
static bool add_inlined(struct place *place, struct compilation *unit, uint64_t address,
                        const char *name, uint64_t offset) {
    Dwarf_Die *scopes = NULL;
    int n_scopes = scopes_at(&unit->functions, address - unit->bias, &scopes);
    struct trace_frame *frame = NULL;
    Dwarf_Die *inner = NULL;
    for (int i = 0; i < n_scopes; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        const char *function = dwarf_diename(&scopes[i]); /* as in the source: never mangled */
        frame = add_frame(place, name, offset);
        frame->function = function_name_in_source(function ? function : "?");
        if (inner)
            set_call_site(frame, unit, inner);
        else
            set_line(frame, unit, address);
        inner = &scopes[i];
        if (tag == DW_TAG_subprogram)
            break;
    }
    free(scopes);
    return frame != NULL;
}

static char *symbol_name(Dwfl_Module *module, uint64_t address, uint64_t offset) {
    const char *symbol = module ? dwfl_module_addrname(module, address) : NULL;
    return symbol ? memory_strdup(symbol) : memory_format("0x%llx", (unsigned long long)offset);
}

const struct trace_frame *symbols_frames(struct symbols *symbols, uint64_t address, size_t *n) {
    int known = map_get(&symbols->known, address, -1);
    if (known < 0) {
        known = (int)symbols->places.count;
        map_put(&symbols->known, address, known);
        struct place *place = VECTOR_ADD(&symbols->places);
        uint64_t offset;
        const char *name;
        Dwfl_Module *module = find_module(symbols, address, &offset, &name);
        /* The return address may already belong to the next line, or to the next function after
         * a call that does not return. */
        struct compilation unit;
        bool known_unit =
            module && compilations_find(symbols->compilations, module, address - 1, &unit);
        if (!known_unit || !add_inlined(place, &unit, address - 1, name, offset)) {
            struct trace_frame *frame = add_frame(place, name, offset);
            frame->function = symbol_name(module, address - 1, offset);
            if (known_unit)
                set_line(frame, &unit, address - 1);
        }
    }
    *n = symbols->places.items[known].n_frames;
    return symbols->places.items[known].frames;
}

char *symbols_function(struct symbols *symbols, uint64_t address) {
    uint64_t offset;
    const char *name;
    Dwfl_Module *module = find_module(symbols, address, &offset, &name);
    struct compilation unit;
    Dwarf_Die *scopes = NULL;
    int n_scopes = module && compilations_find(symbols->compilations, module, address, &unit)
                       ? scopes_at(&unit.functions, address - unit.bias, &scopes)
                       : 0;
    char *function = NULL;
    for (int i = 0; i < n_scopes && !function; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            function = function_name_in_source(dwarf_diename(&scopes[i]));
    free(scopes);
    return function ? function : symbol_name(module, address, offset);
}
