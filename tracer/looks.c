#include "tracer/looks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "debuginfo/compilations.h"
#include "debuginfo/die.h"
#include "debuginfo/files.h"
#include "tracer/layout.h"
#include "tracer/loaded.h"
#include "tracer/orders.h"

#define MOST_LOOKS 4096 /* each new call chain is held against all */

/* ---- what is wanted ---- */

/* A variable that a monitor's amount is made of. */
struct wish {
    const struct facts_monitor *monitor;
    char *variable;
    bool watched; /* it changes by what the source does not tell */
};

struct wishes {
    size_t count, capacity;
    struct wish *items;
    struct layout_pair *pairs; /* one each */
};

static void add_wish(struct wishes *wishes, const struct facts_monitor *monitor, char *variable,
                     bool watched) {
    for (size_t i = 0; i < wishes->count; i++)
        if (wishes->items[i].monitor == monitor &&
            strcmp(wishes->items[i].variable, variable) == 0) {
            free(variable);
            return;
        }
    *VECTOR_ADD(wishes) = (struct wish){monitor, variable, watched};
}

/* A counter that is waited for tells how much there is at the start. */
static bool counts_down(const struct facts_monitor *monitor) {
    return monitor->kind == MONITOR_SEMAPHORE || monitor->kind == MONITOR_TOKEN_POOL;
}

static struct wishes find_wishes(const struct facts *facts) {
    struct wishes wishes = {0};
    for (size_t m = 0; facts && m < facts->n_monitors; m++) {
        const struct facts_monitor *monitor = &facts->monitors[m];
        const struct facts_amount *amount = &monitor->amount;
        if (!monitor->mutex)
            continue;
        bool counts = monitor->count && counts_down(monitor);
        bool in_units = counts && facts_monitor_in_units(monitor);
        bool is_told = amount->constant || amount->follows_threads;
        double more;
        char *limit = is_told ? NULL : facts_amount_variable(amount, &more);
        if (limit)
            add_wish(&wishes, monitor, limit, false);
        if (in_units || (counts && !is_told))
            add_wish(&wishes, monitor, memory_strdup(monitor->count), in_units);
    }
    wishes.pairs = memory_alloc(wishes.count, sizeof *wishes.pairs);
    for (size_t i = 0; i < wishes.count; i++)
        wishes.pairs[i] = (struct layout_pair){.mutex = wishes.items[i].monitor->mutex,
                                               .variable = wishes.items[i].variable};
    return wishes;
}

static void free_wishes(struct wishes *wishes) {
    for (size_t i = 0; i < wishes->count; i++)
        free(wishes->items[i].variable);
    free(wishes->items);
    free(wishes->pairs);
}

/* ---- where the mutexes are taken ---- */

struct finder {
    struct looks *looks;
    const struct wishes *wishes;
    const char *module;
    uint32_t *name_of; /* of each wish; UINT32_MAX: none yet */
};

#define ANY_LINE (-1)

/* Folders are not compared: compilers do not always agree on how a header's is written. */
static bool is_at(const struct facts_place *place, const char *file, int line) {
    return (line == ANY_LINE || place->line == line) && place->file &&
           strcmp(path_name(place->file), path_name(file)) == 0;
}

static bool is_taken_at(const struct facts_monitor *monitor, const char *file, int line) {
    for (size_t s = 0; s < monitor->n_sections; s++)
        if (is_at(&monitor->sections[s].place, file, line))
            return true;
    for (size_t o = 0; o < monitor->n_operations; o++)
        if (is_at(&monitor->operations[o].place, file, line))
            return true;
    return false;
}

static uint32_t name_of_wish(struct finder *finder, size_t wish) {
    const struct layout_pair *pair = &finder->wishes->pairs[wish];
    if (finder->name_of[wish] == UINT32_MAX) {
        finder->name_of[wish] = (uint32_t)finder->looks->names.count;
        *VECTOR_ADD(&finder->looks->names) =
            (struct look_name){memory_strdup(pair->variable), pair->bytes, pair->is_signed};
    }
    return finder->name_of[wish];
}

/* What is to be looked at in code from this line. */
static void add_code(struct finder *finder, const char *file, int line, uint64_t low,
                     uint64_t high) {
    const struct wishes *wishes = finder->wishes;
    for (size_t i = 0; i < wishes->count && finder->looks->count < MOST_LOOKS; i++) {
        if (!wishes->pairs[i].found || !is_taken_at(wishes->items[i].monitor, file, line))
            continue;
        struct raw_look *look = VECTOR_ADD(finder->looks);
        memcpy(look->module, finder->module, strlen(finder->module) + 1); /* fits: see find_in */
        look->low = low;
        look->high = high;
        look->offset = wishes->pairs[i].offset;
        look->bytes = wishes->pairs[i].bytes;
        look->name = name_of_wish(finder, i);
        look->watched = wishes->items[i].watched;
    }
}

static void find_lines(struct finder *finder, Dwarf_Die *unit) {
    Dwarf_Lines *lines = NULL;
    size_t n = 0;
    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    for (size_t i = 0; i + 1 < n; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr low = 0, high = 0;
        int number = 0;
        bool is_end = false;
        const char *file = dwarf_linesrc(line, NULL, NULL);
        if (file && dwarf_lineno(line, &number) == 0 && dwarf_lineendsequence(line, &is_end) == 0 &&
            !is_end && dwarf_lineaddr(line, &low) == 0 &&
            dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &high) == 0 && low < high)
            add_code(finder, file, number, low, high);
    }
}

/* A wrapper around the lock that was inlined has lines of its own: the place is where it was
 * called.
 */
static void find_inlined(struct finder *finder, Dwarf_Die *parent, Dwarf_Files *files,
                         size_t n_files) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_inlined_subroutine) {
            size_t file = (size_t)die_number(&child, DW_AT_call_file);
            const char *name = file < n_files ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
            Dwarf_Addr base = 0, low = 0, high = 0;
            for (ptrdiff_t at = 0; name && (at = dwarf_ranges(&child, at, &base, &low, &high)) > 0;)
                add_code(finder, name, die_number(&child, DW_AT_call_line), low, high);
        }
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram ||
            tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
            tag == DW_TAG_structure_type)
            find_inlined(finder, &child, files, n_files);
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* Has the unit code from a file in which one of the mutexes is taken? */
static bool concerns(const struct wishes *wishes, Dwarf_Files *files, size_t n_files) {
    for (size_t f = 0; f < n_files; f++) {
        const char *name = dwarf_filesrc(files, f, NULL, NULL);
        for (size_t i = 0; name && i < wishes->count; i++)
            if (is_taken_at(wishes->items[i].monitor, name, ANY_LINE))
                return true;
    }
    return false;
}

static void find_in_debug(struct finder *finder, Dwarf *debug) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die functions, lines;
    while (compilations_next(debug, &unit, &functions, &lines)) {
        Dwarf_Files *files = NULL;
        size_t n_files = 0;
        if (dwarf_getsrcfiles(&functions, &files, &n_files) != 0 ||
            !concerns(finder->wishes, files, n_files))
            continue;
        find_lines(finder, &lines);
        find_inlined(finder, &functions, files, n_files);
    }
}

/* ---- modules ---- */

/* Debug information that lives in a file of its own is found for the program; a library that has it
 * elsewhere is the system's. */
static void find_in_module(struct finder *finder, const struct wishes *wishes, bool is_library) {
    Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = is_library ? debuginfo_find_inside : debuginfo_find,
        .section_address = dwfl_offline_section_address,
    };
    Dwarf_Addr bias = 0; /* of no interest: the file's own numbering is wanted */
    Dwfl *session = dwfl_begin(&callbacks);
    Dwfl_Module *module = session ? dwfl_report_offline(session, "", finder->module, -1) : NULL;
    if (module)
        dwfl_report_end(session, NULL, NULL);
    Dwarf *debug = module ? dwfl_module_getdwarf(module, &bias) : NULL;
    if (debug) {
        layout_find(debug, wishes->pairs, wishes->count);
        find_in_debug(finder, debug);
    }
    if (session)
        dwfl_end(session);
}

struct looks looks_find(const char *path, const struct facts *facts) {
    struct looks looks = {0};
    struct wishes wishes = find_wishes(facts);
    struct loaded modules = wishes.count > 0 ? loaded_find(path) : (struct loaded){0};
    struct finder finder = {.looks = &looks,
                            .wishes = &wishes,
                            .name_of = memory_alloc(wishes.count, sizeof(uint32_t))};
    for (size_t i = 0; i < wishes.count; i++)
        finder.name_of[i] = UINT32_MAX;
    for (size_t i = 0; i < modules.count; i++) {
        finder.module = modules.items[i];
        if (strlen(finder.module) < sizeof looks.items->module)
            find_in_module(&finder, &wishes, i > 0);
    }
    free(finder.name_of);
    free_wishes(&wishes);
    loaded_free(&modules);
    return looks;
}

void looks_free(struct looks *looks) {
    for (size_t i = 0; i < looks->names.count; i++)
        free(looks->names.items[i].variable);
    free(looks->names.items);
    free(looks->items);
    *looks = (struct looks){0};
}

/* ---- files ---- */

int looks_save(const struct looks *looks, const char *directory, struct error *error) {
    return orders_save(directory, RAW_LOOKS, looks->items, looks->count * sizeof *looks->items,
                       error);
}

bool looks_read_value(const struct looks *looks, const struct image_value *raw, const char **name,
                      int64_t *value) {
    if (raw->ticks == 0 || raw->look >= looks->count)
        return false;
    const struct look_name *look = &looks->names.items[looks->items[raw->look].name];
    uint64_t bits = raw->bits;
    unsigned unused = 64 - 8 * look->bytes;
    *name = look->variable;
    bits <<= unused;
    *value = look->is_signed ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
    return true;
}
