#include "tracer/core_questions.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Those whose answer is the process's affinity; others count the machine's cores. */
static const char *question_named(const char *name) {
    static const char *const questions[] = {"sched_getaffinity", "pthread_getaffinity_np",
                                            "omp_get_num_procs"};
    for (size_t i = 0; name && i < sizeof questions / sizeof *questions; i++)
        if (strcmp(name, questions[i]) == 0)
            return questions[i];
    return NULL;
}

static const char *question_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
    const char *found = NULL;
    for (size_t i = 0; i < n && i < INT_MAX && !found; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx == SHN_UNDEF)
            found = question_named(elf_strptr(elf, header->sh_link, symbol.st_name));
    }
    return found;
}

const char *core_questions_of(const char *path) {
    const char *found = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    for (Elf_Scn *section = NULL; elf && !found && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
            found = question_in(elf, section, &header);
    }
    elf_end(elf);
    close(file);
    return found;
}
