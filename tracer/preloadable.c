#include "tracer/preloadable.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "processor/processor.h"

static char *hex(const unsigned char *bytes, size_t n) {
    char *text = memory_alloc(2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

/* What its program headers say. */
struct layout_of_file {
    bool damaged;          /* less of the file is there than they speak of */
    char interpreter[256]; /* its dynamic linker; "" none */
};

static void read_interpreter_name(int file, const GElf_Phdr *header, struct layout_of_file *found) {
    size_t size = sizeof found->interpreter - 1;
    if (header->p_filesz < size)
        size = header->p_filesz;
    ssize_t bytes = pread(file, found->interpreter, size, (off_t)header->p_offset);
    found->interpreter[bytes > 0 ? bytes : 0] = '\0';
}

static struct layout_of_file read_layout(Elf *elf, int file, const GElf_Ehdr *header) {
    struct layout_of_file found = {.damaged = false};
    struct stat about = {.st_size = 0};
    fstat(file, &about);
    uint64_t size = (uint64_t)about.st_size;
    uint64_t headers = (uint64_t)header->e_phnum * header->e_phentsize;
    found.damaged =
        header->e_phnum == 0 || header->e_phoff > size || headers > size - header->e_phoff;
    for (int i = 0; i < header->e_phnum && !found.damaged; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, i, &segment) || segment.p_offset > size ||
            (segment.p_type == PT_LOAD && segment.p_filesz > size - segment.p_offset)) {
            found.damaged = true;
            break;
        }
        if (segment.p_type == PT_INTERP)
            read_interpreter_name(file, &segment, &found);
    }
    return found;
}

/* The sanitizer whose symbols these are; NULL: none. */
static const char *sanitizer_of_symbol(const char *name) {
    static const char *const of[][2] = {{"__asan_init", "AddressSanitizer"},
                                        {"__tsan_init", "ThreadSanitizer"},
                                        {"__msan_init", "MemorySanitizer"},
                                        {"__hwasan_init", "HWAddressSanitizer"},
                                        {"__lsan_init", "LeakSanitizer"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (name && strcmp(name, of[i][0]) == 0)
            return of[i][1];
    return NULL;
}

static const char *sanitizer_of_library(const char *name) {
    static const char *const of[][2] = {
        {"libasan.so", "AddressSanitizer"},       {"libtsan.so", "ThreadSanitizer"},
        {"libhwasan.so", "HWAddressSanitizer"},   {"liblsan.so", "LeakSanitizer"},
        {"libclang_rt.asan", "AddressSanitizer"}, {"libclang_rt.tsan", "ThreadSanitizer"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (name && strncmp(name, of[i][0], strlen(of[i][0])) == 0)
            return of[i][1];
    return NULL;
}

static const char *sanitizer_of_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
    const char *found = NULL;
    for (size_t i = 0; i < n && i < INT_MAX && !found; i++) {
        GElf_Sym symbol;
        GElf_Dyn entry;
        if (header->sh_type == SHT_DYNAMIC) {
            if (gelf_getdyn(data, (int)i, &entry) && entry.d_tag == DT_NEEDED)
                found = sanitizer_of_library(elf_strptr(elf, header->sh_link, entry.d_un.d_val));
        } else if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF) {
            found = sanitizer_of_symbol(elf_strptr(elf, header->sh_link, symbol.st_name));
        }
    }
    return found;
}

/* Linked as a library or, clang's usual way, into the program. NULL: none. */
static const char *find_sanitizer(Elf *elf) {
    const char *found = NULL;
    for (Elf_Scn *section = NULL; !found && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_DYNAMIC || header.sh_type == SHT_DYNSYM ||
             header.sh_type == SHT_SYMTAB))
            found = sanitizer_of_section(elf, section, &header);
    }
    return found;
}

/* Would the kernel run it with other rights than ours? Then nothing is preloaded into it. */
static const char *find_other_rights(int file) {
    struct stat about;
    if (fstat(file, &about) != 0)
        return NULL;
    if ((about.st_mode & S_ISUID) && about.st_uid != getuid())
        return "set-user-id";
    if ((about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && about.st_gid != getgid())
        return "set-group-id";
    if (getuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0)
        return "given file capabilities";
    return NULL;
}

static int examine_linking(const struct layout_of_file *layout, const char *path,
                           struct error *error) {
    if (!layout->interpreter[0])
        return error_set(error, "%s: static binary, nothing can be preloaded: link it dynamically",
                         path);
    if (strncmp(path_name(layout->interpreter), "ld-musl", strlen("ld-musl")) == 0)
        return error_set(error,
                         "%s: linked with musl, and the probes need the GNU C library: build it "
                         "with that",
                         path);
    if (access(layout->interpreter, X_OK) != 0)
        return error_set(error, "%s: its dynamic linker %s: %s: install it", path,
                         layout->interpreter, strerror(errno));
    return 0;
}

static int examine_machine(const GElf_Ehdr *header, const char *path, struct error *error) {
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(error, "%s: a 32-bit program: build it for " PROCESSOR_NAME, path);
    if (header->e_machine != PROCESSOR_ELF)
        return error_set(error, "%s: no program for " PROCESSOR_NAME ": build it for this machine",
                         path);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return error_set(
            error, "%s: not a program but an object file or a core: give an executable", path);
    return 0;
}

static int examine_preloading(Elf *elf, int file, const struct layout_of_file *layout,
                              const char *path, struct error *error) {
    if (!PROCESSOR_HAS_PROBES)
        return error_set(error,
                         "%s: there are no probes for " PROCESSOR_NAME
                         ": record it on x86-64; models of such recordings are built and "
                         "asked here, too",
                         path);
    if (examine_linking(layout, path, error) != 0)
        return -1;
    const char *sanitizer = find_sanitizer(elf);
    if (sanitizer)
        return error_set(error,
                         "%s: built with %s, whose library must be loaded first, as the probes "
                         "must: build it without -fsanitize",
                         path, sanitizer);
    const char *rights = find_other_rights(file);
    if (rights)
        return error_set(error,
                         "%s: %s, so nothing can be preloaded: record a copy of it (`cp` drops "
                         "that)",
                         path, rights);
    return 0;
}

static int examine(Elf *elf, int file, const char *path, bool probed, char **build_id,
                   struct error *error) {
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return error_set(error, "%s: not a program: give an executable", path);
    if (examine_machine(&header, path, error) != 0)
        return -1;
    struct layout_of_file layout = read_layout(elf, file, &header);
    if (layout.damaged)
        return error_set(error, "%s: damaged, part of the file is missing: build it again", path);
    if (probed && examine_preloading(elf, file, &layout, path, error) != 0)
        return -1;
    const void *bits = NULL;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);
    *build_id = n > 0 ? hex(bits, (size_t)n) : memory_strdup("");
    return 0;
}

int preloadable_check(int file, const char *path, bool probed, char **build_id,
                      struct error *error) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    int status = examine(elf, file, path, probed, build_id, error);
    elf_end(elf);
    return status;
}
