#include "sampler/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "sampler/eh_frame.h"
#include "sampler/procfs.h"

/* Made tables are shown to libunwind at addresses no program can have (not canonical). */
#define MADE_TABLES  UINT64_C(0x4000000000000000)
#define MADE_SPACING UINT64_C(0x0000000100000000)

/* ---- modules ---- */

static void map_file(struct module *module) {
    int descriptor = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes != MAP_FAILED) {
            module->file = bytes;
            module->file_bytes = (size_t)status.st_size;
        }
    }
    close(descriptor);
}

/* The kernel's own code is in no file: what the program sees of it is copied. */
static void copy_vdso(struct module *module, const struct mapping *mapping, pid_t tid) {
    size_t bytes = mapping->end - mapping->start;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    if (procfs_read(tid, mapping->start, copy, bytes) < bytes) {
        munmap(copy, bytes);
        return;
    }
    module->file = copy;
    module->file_bytes = bytes;
}

static bool is_elf64(const struct module *module) {
    return module->file_bytes >= sizeof(Elf64_Ehdr) && memcmp(module->file, ELFMAG, SELFMAG) == 0 &&
           module->file[EI_CLASS] == ELFCLASS64;
}

/* Load address minus the address the file itself states, if segment number `index` is (part of)
 * what was mapped. One page of a file may belong to two segments. */
static bool segment_bias(const struct module *module, size_t index, const struct mapping *mapping,
                         uint64_t *bias) {
    uint64_t page_mask = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    memcpy(&header, module->file, sizeof header);
    size_t at = header.e_phoff + index * sizeof segment;
    if (at > module->file_bytes || module->file_bytes - at < sizeof segment)
        return false;
    memcpy(&segment, module->file + at, sizeof segment);
    *bias = mapping->start - mapping->offset + segment.p_offset - segment.p_vaddr;
    return segment.p_type == PT_LOAD && mapping->offset >= (segment.p_offset & page_mask) &&
           mapping->offset < segment.p_offset + segment.p_filesz;
}

static size_t count_segments(const struct module *module) {
    Elf64_Ehdr header = {.e_phnum = 0};
    if (is_elf64(module))
        memcpy(&header, module->file, sizeof header);
    return header.e_phnum;
}

static uint64_t find_bias(const struct module *module, const struct mapping *mapping) {
    uint64_t bias;
    for (size_t i = 0; i < count_segments(module); i++)
        if (segment_bias(module, i, mapping, &bias))
            return bias;
    return mapping->start - mapping->offset;
}

/* Whether the mapping is part of what is already known to be loaded at the module's place. */
static bool belongs_to(const struct module *module, const struct mapping *mapping) {
    uint64_t bias;
    for (size_t i = 0; i < count_segments(module); i++)
        if (segment_bias(module, i, mapping, &bias) && bias == module->bias)
            return true;
    return module->bias == mapping->start - mapping->offset;
}

static void find_table(struct module *module, int index) {
    struct eh_frame_table table;
    if (!is_elf64(module) || !eh_frame_find(module->file, module->file_bytes, &table))
        return;
    module->made_table = table.made;
    module->table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    module->table.end_ip = ~UINT64_C(0); /* the caller has found the module by its mapping */
    module->table.u.rti.segbase = module->bias + table.origin;
    module->table.u.rti.table_len = table.count * 8 / sizeof(unw_word_t);
    module->table.u.rti.table_data =
        table.made ? MADE_TABLES + (uint64_t)index * MADE_SPACING : module->bias + table.address;
    module->has_table = true;
}

/* A file may be mapped several times (dlclose, dlopen), each time elsewhere. */
static int add_module(struct modules *modules, const char *path, const struct mapping *mapping,
                      pid_t tid) {
    for (size_t i = 0; i < modules->modules.count; i++) {
        struct module *known = &modules->modules.items[i];
        if (strcmp(known->path, path) == 0 && belongs_to(known, mapping))
            return (int)i;
    }
    struct module *module = VECTOR_ADD(&modules->modules);
    int index = (int)modules->modules.count - 1;
    module->path = memory_strdup(path);
    if (path[0] == '/')
        map_file(module);
    else
        copy_vdso(module, mapping, tid);
    module->bias = find_bias(module, mapping);
    find_table(module, index);
    return index;
}

/* ---- mappings ---- */

/* Index of the first mapping that ends above `address`. */
static size_t find_slot(const struct modules *modules, uint64_t address) {
    size_t low = 0, high = modules->mappings.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (modules->mappings.items[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Puts `mapping` in the place of all that it overlaps. */
static void put_mapping(struct modules *modules, struct mapping mapping) {
    size_t first = find_slot(modules, mapping.start), behind = first;
    while (behind < modules->mappings.count && modules->mappings.items[behind].start < mapping.end)
        behind++;
    if (behind == first) {
        VECTOR_ADD(&modules->mappings);
        behind = first + 1;
        memmove(modules->mappings.items + behind, modules->mappings.items + first,
                (modules->mappings.count - behind) * sizeof mapping);
    } else {
        memmove(modules->mappings.items + first + 1, modules->mappings.items + behind,
                (modules->mappings.count - behind) * sizeof mapping);
        modules->mappings.count -= behind - first - 1;
    }
    modules->mappings.items[first] = mapping;
}

/* One line of maps: "start-end rwxp offset device inode  path". */
static void read_line(struct modules *modules, char *line, pid_t tid) {
    struct mapping mapping = {.module = -1};
    char access[5] = "", *rest = line;
    mapping.start = strtoull(rest, &rest, 16);
    mapping.end = *rest == '-' ? strtoull(rest + 1, &rest, 16) : 0;
    int path_at = 0;
    char offset[20] = "";
    if (mapping.end <= mapping.start ||
        sscanf(rest, " %4s %19s %*s %*s %n", access, offset, &path_at) < 2)
        return;
    mapping.offset = strtoull(offset, NULL, 16);
    mapping.writable = access[1] == 'w';
    mapping.executable = access[2] == 'x';
    char *path = path_at ? rest + path_at : "";
    path[strcspn(path, "\n")] = '\0';
    if (path[0] == '/' || strcmp(path, "[vdso]") == 0)
        mapping.module = add_module(modules, path, &mapping, tid);
    put_mapping(modules, mapping);
}

int modules_refresh(struct modules *modules, pid_t pid, pid_t tid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/maps", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0)
        read_line(modules, line, tid);
    free(line);
    fclose(file);
    return 0;
}

const struct mapping *modules_find(const struct modules *modules, uint64_t address) {
    size_t slot = find_slot(modules, address);
    if (slot == modules->mappings.count || modules->mappings.items[slot].start > address)
        return NULL;
    return &modules->mappings.items[slot];
}

static bool read_made_table(const struct modules *modules, uint64_t address, void *into,
                            size_t bytes) {
    uint64_t index = (address - MADE_TABLES) / MADE_SPACING;
    uint64_t offset = (address - MADE_TABLES) % MADE_SPACING;
    if (index >= modules->modules.count)
        return false;
    const struct module *module = &modules->modules.items[index];
    size_t table_bytes = module->table.u.rti.table_len * sizeof(unw_word_t);
    if (!module->made_table || offset > table_bytes || table_bytes - offset < bytes)
        return false;
    memcpy(into, module->made_table + offset, bytes);
    return true;
}

bool modules_read(const struct modules *modules, uint64_t address, void *into, size_t bytes) {
    if (address >= MADE_TABLES)
        return read_made_table(modules, address, into, bytes);
    const struct mapping *mapping = modules_find(modules, address);
    if (!mapping || mapping->writable || mapping->module < 0 || mapping->end - address < bytes)
        return false;
    const struct module *module = &modules->modules.items[mapping->module];
    uint64_t offset = address - mapping->start + mapping->offset;
    if (!module->file || offset > module->file_bytes || module->file_bytes - offset < bytes)
        return false;
    memcpy(into, module->file + offset, bytes);
    return true;
}

void modules_free(struct modules *modules) {
    for (size_t i = 0; i < modules->modules.count; i++) {
        struct module *module = &modules->modules.items[i];
        if (module->file)
            munmap((void *)module->file, module->file_bytes);
        free(module->made_table);
        free(module->path);
    }
    free(modules->modules.items);
    free(modules->mappings.items);
    *modules = (struct modules){0};
}
