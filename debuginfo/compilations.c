#include "debuginfo/compilations.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

struct range {
    Dwarf_Addr low, high;
    size_t unit;
};

struct module_compilations {
    Dwarf_Addr bias;
    struct {
        struct {
            Dwarf_Die functions, lines;
        } * items;
        size_t count, capacity;
    } units;
    struct {
        struct range *items;
        size_t count, capacity;
    } ranges; /* by low */
};

struct compilations {
    struct map known; /* module -> index into modules */
    struct {
        struct module_compilations *items;
        size_t count, capacity;
    } modules;
};

/* ---- units ---- */

bool compilations_next(Dwarf *debug, Dwarf_CU **position, Dwarf_Die *functions, Dwarf_Die *lines) {
    uint8_t type;
    Dwarf_Die split;
    while (dwarf_get_units(debug, *position, position, NULL, &type, lines, &split) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        /* before DWARF 5 those that hold what several have in common look alike */
        if (dwarf_tag(lines) != DW_TAG_compile_unit && dwarf_tag(lines) != DW_TAG_skeleton_unit)
            continue;
        bool is_split = type == DW_UT_skeleton && split.addr;
        *functions = is_split ? split : *lines;
        return true;
    }
    return false;
}

static void add_ranges(struct module_compilations *module, Dwarf_Die *die, size_t unit) {
    Dwarf_Addr base = 0, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        if (low < high)
            *VECTOR_ADD(&module->ranges) = (struct range){low, high, unit};
}

static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    return (a->low > b->low) - (a->low < b->low);
}

static void read_module(struct module_compilations *module, Dwarf *debug) {
    Dwarf_CU *position = NULL;
    Dwarf_Die functions, lines;
    while (compilations_next(debug, &position, &functions, &lines)) {
        size_t unit = module->units.count;
        (void)VECTOR_ADD(&module->units);
        module->units.items[unit].functions = functions;
        module->units.items[unit].lines = lines;
        add_ranges(module, &lines, unit);
    }
    VECTOR_SORT(&module->ranges, compare_ranges);
}

static struct module_compilations *find_module(struct compilations *units, Dwfl_Module *module) {
    int index = map_get(&units->known, (uintptr_t)module, -1);
    if (index >= 0)
        return &units->modules.items[index];
    map_put(&units->known, (uintptr_t)module, (int)units->modules.count);
    struct module_compilations *added = VECTOR_ADD(&units->modules);
    Dwarf *debug = dwfl_module_getdwarf(module, &added->bias);
    if (debug)
        read_module(added, debug);
    return added;
}

struct compilations *compilations_new(void) {
    return memory_alloc(1, sizeof(struct compilations));
}

void compilations_free(struct compilations *units) {
    if (!units)
        return;
    for (size_t i = 0; i < units->modules.count; i++) {
        free(units->modules.items[i].units.items);
        free(units->modules.items[i].ranges.items);
    }
    free(units->modules.items);
    map_free(&units->known);
    free(units);
}

/* ---- addresses ---- */

bool compilations_find(struct compilations *units, Dwfl_Module *module, Dwarf_Addr address,
                       struct compilation *found) {
    struct module_compilations *of = find_module(units, module);
    Dwarf_Addr wanted = address - of->bias;
    size_t low = 0, high = of->ranges.count; /* of the first range behind the address */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (of->ranges.items[middle].low <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || of->ranges.items[low - 1].high <= wanted)
        return false;
    size_t unit = of->ranges.items[low - 1].unit;
    *found = (struct compilation){of->units.items[unit].functions, of->units.items[unit].lines,
                                  of->bias};
    return true;
}

Dwarf_Line *compilation_line(struct compilation *unit, Dwarf_Addr address) {
    return dwarf_getsrc_die(&unit->lines, address - unit->bias);
}

const char *compilation_directory(struct compilation *unit) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(&unit->lines, DW_AT_comp_dir, &attribute));
}
