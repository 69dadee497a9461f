/* Symbol tables of loaded objects: System V ABI, chapter 5; GNU's hash table and versions as
 * glibc's dl-lookup.c reads them. The loader itself has used these tables, so what is checked is
 * only that they are inside the object. */
#include "tracer/probe/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define VERSION_HIDDEN 0x8000 /* in DT_VERSYM: not the default one */
#define C_LIBRARY      "libc.so.6"

/* The dynamic tables of a loaded object; 0: it has none. */
struct object {
    uint64_t base, low, high;
    uint64_t dynamic;
    uint64_t symbols, strings, gnu_hash, hash, versions, definitions;
    uint64_t strings_bytes, n_definitions, own_name;
};

/* ---- objects ---- */

/* Is [address, address + bytes) the object's? */
static bool has(const struct object *object, uint64_t address, uint64_t bytes) {
    return address >= object->low && address < object->high && object->high - address >= bytes;
}

/* The loader has made addresses of the offsets in most objects' dynamic sections. Not in the
 * kernel's. 0: not in the object. */
static uint64_t address_in(const struct object *object, uint64_t value) {
    uint64_t address = value < object->base ? value + object->base : value;
    return has(object, address, 1) ? address : 0;
}

static void read_dynamic(struct object *object) {
    const ElfW(Dyn) *entry = (const ElfW(Dyn) *)object->dynamic;
    for (; has(object, (uint64_t)entry, sizeof *entry) && entry->d_tag != DT_NULL; entry++) {
        uint64_t value = entry->d_un.d_val, address = address_in(object, value);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            object->symbols = address;
            break;
        case DT_STRTAB:
            object->strings = address;
            break;
        case DT_STRSZ:
            object->strings_bytes = value;
            break;
        case DT_GNU_HASH:
            object->gnu_hash = address;
            break;
        case DT_HASH:
            object->hash = address;
            break;
        case DT_VERSYM:
            object->versions = address;
            break;
        case DT_VERDEF:
            object->definitions = address;
            break;
        case DT_VERDEFNUM:
            object->n_definitions = value;
            break;
        case DT_SONAME:
            object->own_name = value;
            break;
        default:
            break;
        }
    }
}

/* The object loaded with this dynamic section at this base. False: it is ours, the kernel's, or has
 * no symbols. */
static bool open_object(struct object *object, uint64_t base, uint64_t dynamic) {
    struct dl_find_object found;
    memset(object, 0, sizeof *object);
    if (dynamic == 0 || _dl_find_object((void *)dynamic, &found) != 0)
        return false;
    object->base = base;
    object->dynamic = dynamic;
    object->low = (uint64_t)found.dlfo_map_start;
    object->high = (uint64_t)found.dlfo_map_end;
    if (has(object, (uint64_t)&elf_resolve, 1) || has(object, getauxval(AT_SYSINFO_EHDR), 1))
        return false;
    read_dynamic(object);
    return object->symbols != 0 && object->strings != 0 &&
           has(object, object->strings, object->strings_bytes);
}

static const struct link_map *own_map(void) {
    struct dl_find_object found;
    return _dl_find_object((void *)&elf_resolve, &found) == 0 ? found.dlfo_link_map : NULL;
}

/* ---- a name in an object ---- */

struct name {
    const char *text, *version; /* version NULL: the default one */
    uint32_t gnu_hash, hash;
};

static struct name name_of(const char *text, const char *version) {
    struct name name = {.text = text, .version = version, .gnu_hash = 5381};
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        name.gnu_hash = name.gnu_hash * 33 + *c;
        name.hash = (name.hash << 4) + *c;
        uint32_t top = name.hash & 0xf0000000;
        name.hash = (name.hash ^ top >> 24) & ~top;
    }
    return name;
}

static bool is_string(const struct object *object, uint64_t offset, const char *text) {
    uint64_t bytes = strlen(text) + 1;
    return offset < object->strings_bytes && object->strings_bytes - offset >= bytes &&
           memcmp((const char *)object->strings + offset, text, bytes) == 0;
}

/* Is the definition with this number (as in DT_VERSYM) of this version? */
static bool is_version(const struct object *object, unsigned number, const char *version) {
    uint64_t at = object->definitions;
    for (uint64_t i = 0; i < object->n_definitions; i++) {
        const ElfW(Verdef) *definition = (const ElfW(Verdef) *)at;
        if (!has(object, at, sizeof *definition))
            return false;
        const ElfW(Verdaux) *names = (const ElfW(Verdaux) *)(at + definition->vd_aux);
        if (definition->vd_ndx == number)
            return has(object, (uint64_t)names, sizeof *names) &&
                   is_string(object, names->vda_name, version);
        if (definition->vd_next == 0)
            return false;
        at += definition->vd_next;
    }
    return false;
}

/* How well a symbol answers to a name: not, by a version that is not the default one (old programs
 * only), or as wanted. */
enum match { MATCH_NONE, MATCH_OLD, MATCH_GOOD };

static enum match match_version(const struct object *object, uint64_t index, const char *wanted) {
    uint64_t place = object->versions + index * sizeof(ElfW(Versym));
    if (object->versions == 0)
        return MATCH_GOOD;
    if (!has(object, place, sizeof(ElfW(Versym))))
        return MATCH_NONE;
    ElfW(Versym) version = *(const ElfW(Versym) *)place;
    unsigned number = version & ~VERSION_HIDDEN;
    if (number == VER_NDX_LOCAL)
        return MATCH_NONE;
    if (wanted != NULL)
        return is_version(object, number, wanted) ? MATCH_GOOD : MATCH_NONE;
    return (version & VERSION_HIDDEN) != 0 ? MATCH_OLD : MATCH_GOOD;
}

static bool is_definition(const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT ||
            type == STT_NOTYPE) &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE);
}

struct found {
    const ElfW(Sym) * symbol;
    enum match match;
};

/* Takes the symbol when it is the name's, and better than what was found before. */
static void consider(const struct object *object, const struct name *name, uint64_t index,
                     struct found *found) {
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)object->symbols + index;
    if (!has(object, (uint64_t)symbol, sizeof *symbol) || !is_definition(symbol) ||
        !is_string(object, symbol->st_name, name->text))
        return;
    enum match match = match_version(object, index, name->version);
    if (match > found->match)
        *found = (struct found){symbol, match};
}

/* Header: number of buckets, first symbol, words of the filter, its shift; then the filter, the
 * buckets, and a hash for each symbol from the first one on, the last of a bucket's with bit 0 set.
 */
static void look_in_gnu_hash(const struct object *object, const struct name *name,
                             struct found *found) {
    const uint32_t *header = (const uint32_t *)object->gnu_hash;
    if (!has(object, object->gnu_hash, 4 * sizeof *header) || header[0] == 0 || header[2] == 0)
        return;
    const uint64_t *filter = (const uint64_t *)(header + 4);
    const uint32_t *buckets = (const uint32_t *)(filter + header[2]);
    const uint32_t *hashes = buckets + header[0];
    if (!has(object, (uint64_t)filter, (uint64_t)hashes - (uint64_t)filter))
        return;
    uint32_t hash = name->gnu_hash;
    uint64_t word = filter[hash / 64 & (header[2] - 1)];
    if ((word >> hash % 64 & word >> (hash >> (header[3] & 31)) % 64 & 1) == 0)
        return;
    uint64_t index = buckets[hash % header[0]];
    if (index < header[1])
        return;
    for (;; index++) {
        const uint32_t *its = hashes + (index - header[1]);
        if (!has(object, (uint64_t)its, sizeof *its))
            return;
        if ((*its | 1) == (hash | 1))
            consider(object, name, index, found);
        if ((*its & 1) != 0)
            return;
    }
}

/* Numbers of buckets and of symbols; a bucket's first symbol, and a symbol's next one. */
static void look_in_hash(const struct object *object, const struct name *name,
                         struct found *found) {
    const uint32_t *header = (const uint32_t *)object->hash;
    if (!has(object, object->hash, 2 * sizeof *header) || header[0] == 0)
        return;
    const uint32_t *buckets = header + 2, *next = buckets + header[0];
    if (!has(object, (uint64_t)buckets, sizeof *header * ((uint64_t)header[0] + header[1])))
        return;
    uint32_t index = buckets[name->hash % header[0]];
    for (uint32_t i = 0; i < header[1] && index != STN_UNDEF && index < header[1]; i++) {
        consider(object, name, index, found);
        index = next[index];
    }
}

/* NULL: not defined in the object. */
static const ElfW(Sym) * find_symbol(const struct object *object, const struct name *name) {
    struct found found = {.match = MATCH_NONE};
    if (object->gnu_hash != 0)
        look_in_gnu_hash(object, name, &found);
    else if (object->hash != 0)
        look_in_hash(object, name, &found);
    return found.symbol;
}

/* The name's address in the object; NULL: not defined there. */
static void *look_in(const struct object *object, const struct name *name) {
    const ElfW(Sym) *symbol = find_symbol(object, name);
    if (symbol == NULL)
        return NULL;
    uint64_t address = object->base + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return ((void *(*)(void))address)(); /* chooses among several, by the processor */
    return (void *)address;
}

/* ---- what others ask for ---- */

void elf_resolve(const struct elf_wanted *wanted, size_t n) {
    const struct link_map *map = own_map();
    for (map = map == NULL ? NULL : map->l_next; map != NULL; map = map->l_next) {
        struct object object;
        if (!open_object(&object, map->l_addr, (uint64_t)map->l_ld))
            continue;
        for (size_t i = 0; i < n; i++) {
            if (__atomic_load_n(wanted[i].place, __ATOMIC_RELAXED) != NULL)
                continue;
            struct name name = name_of(wanted[i].name, NULL);
            __atomic_store_n(wanted[i].place, look_in(&object, &name), __ATOMIC_RELAXED);
        }
    }
}

void *elf_next(const char *name, const char *version) {
    struct name wanted = name_of(name, version);
    const struct link_map *map = own_map();
    void *found = NULL;
    for (map = map == NULL ? NULL : map->l_next; map != NULL && found == NULL; map = map->l_next) {
        struct object object;
        if (open_object(&object, map->l_addr, (uint64_t)map->l_ld))
            found = look_in(&object, &wanted);
    }
    return found;
}

/* In the C library, whoever else defines the name. */
static void *find_in_libc(const char *name) {
    struct name wanted = name_of(name, NULL);
    const struct link_map *map = own_map();
    while (map != NULL && map->l_prev != NULL)
        map = map->l_prev;
    for (; map != NULL; map = map->l_next) {
        struct object object;
        if (open_object(&object, map->l_addr, (uint64_t)map->l_ld) &&
            is_string(&object, object.own_name, C_LIBRARY))
            return look_in(&object, &wanted);
    }
    return NULL;
}

struct search {
    struct name name;
    void *found;
};

static int look_in_next(struct dl_phdr_info *loaded, size_t size, void *argument) {
    struct search *search = argument;
    struct object object;
    uint64_t dynamic = 0;
    (void)size;
    for (size_t i = 0; i < loaded->dlpi_phnum; i++)
        if (loaded->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = loaded->dlpi_addr + loaded->dlpi_phdr[i].p_vaddr;
    if (open_object(&object, loaded->dlpi_addr, dynamic))
        search->found = look_in(&object, &search->name);
    return search->found != NULL;
}

/* Not by a dl_iterate_phdr that somebody interposes, as ThreadSanitizer does. */
void *elf_anywhere(const char *name) {
    typedef int iterate(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    static iterate *each_object;
    iterate *each = __atomic_load_n(&each_object, __ATOMIC_RELAXED);
    if (each == NULL) {
        each = (iterate *)find_in_libc("dl_iterate_phdr");
        if (each == NULL)
            return NULL;
        __atomic_store_n(&each_object, each, __ATOMIC_RELAXED);
    }
    struct search search = {.name = name_of(name, NULL)};
    each(look_in_next, &search);
    return search.found;
}

/* libc tells debuggers by way of libthread_db: bits of the field, how many of them, offset. */
int elf_pthread_tid_offset(void) {
    enum { BITS, COUNT, OFFSET };
    const uint32_t *field = find_in_libc("_thread_db_pthread_tid");
    if (field == NULL || field[BITS] != 8 * sizeof(int) || field[COUNT] != 1 ||
        field[OFFSET] > UINT16_MAX)
        return -1;
    return (int)field[OFFSET];
}
