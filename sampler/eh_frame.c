/* Dynamic programs and libraries carry .eh_frame_hdr, a table sorted by address. Statically linked
 * ones have only .eh_frame, the entries themselves in no order: the table is made from them.
 * Layouts: Linux Standard Base, "Exception Frames". */
#include "sampler/eh_frame.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/memory.h"

#define ENCODING_PCREL_S4   0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4: all that compilers write */
#define ENCODING_U4         0x03
#define ENCODING_DATAREL_S4 0x3b
#define HEADER_BYTES        12 /* version, three encodings, pointer to .eh_frame, count */

/* The .eh_frame_hdr at file `offset`, with the address `address`. */
static bool use_header(const unsigned char *file, size_t file_bytes, uint64_t offset,
                       uint64_t address, struct eh_frame_table *table) {
    if (offset > file_bytes || file_bytes - offset < HEADER_BYTES)
        return false;
    const unsigned char *header = file + offset;
    if (header[0] != 1 || header[1] != ENCODING_PCREL_S4 || header[2] != ENCODING_U4 ||
        header[3] != ENCODING_DATAREL_S4)
        return false;
    uint32_t count;
    memcpy(&count, header + 8, sizeof count);
    if ((file_bytes - offset - HEADER_BYTES) / 8 < count)
        return false;
    *table = (struct eh_frame_table){
        .origin = address, .address = address + HEADER_BYTES, .count = count};
    return true;
}

struct pair {
    int32_t start, entry;
};

struct pairs {
    struct pair *items;
    size_t count, capacity;
};

static int compare_pairs(const void *left, const void *right) {
    const struct pair *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Whether a CIE says that its entries' addresses are PC-relative 4-byte numbers. */
static bool has_usual_encoding(const Dwarf_CIE *cie) {
    const char *letters = cie->augmentation;
    if (letters[0] != 'z')
        return false;
    const unsigned char *data = cie->augmentation_data;
    for (letters++; *letters && data < cie->augmentation_data + cie->augmentation_data_size;
         letters++) {
        if (*letters == 'R')
            return *data == ENCODING_PCREL_S4;
        if (*letters == 'L')
            data++;
        else if (*letters == 'P')
            data += 1 + ((*data & 0x07) == 0x04 ? 8 : 4); /* encoding, pointer of 8 or 4 bytes */
    }
    return false;
}

/* CIEs come before the entries that use them; the last one read is nearly always meant. */
static void collect_pairs(const unsigned char *ident, Elf_Data *section, struct pairs *pairs) {
    bool usable = false;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
        Dwarf_CFI_Entry entry;
        int status = dwarf_next_cfi(ident, section, true, at, &next, &entry);
        if (status != 0 && (status > 0 || next <= at || next == (Dwarf_Off)-1))
            break;
        if (status != 0)
            continue;
        if (dwarf_cfi_cie_p(&entry)) {
            usable = has_usual_encoding(&entry.cie);
            continue;
        }
        if (!usable || entry.fde.end - entry.fde.start < 4)
            continue;
        int32_t relative;
        memcpy(&relative, entry.fde.start, sizeof relative);
        ptrdiff_t place = entry.fde.start - (const unsigned char *)section->d_buf;
        *VECTOR_ADD(pairs) = (struct pair){(int32_t)place + relative, (int32_t)at};
    }
}

static bool make_table(Elf *elf, Elf_Scn *section, uint64_t address, struct eh_frame_table *table) {
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data)
        return false;
    struct pairs pairs = {0};
    collect_pairs((const unsigned char *)elf_getident(elf, NULL), data, &pairs);
    if (pairs.count == 0)
        return false;
    VECTOR_SORT(&pairs, compare_pairs);
    *table = (struct eh_frame_table){
        .origin = address, .count = pairs.count, .made = (unsigned char *)pairs.items};
    return true;
}

static bool use_section(Elf *elf, struct eh_frame_table *table) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, ".eh_frame") == 0)
            return make_table(elf, section, header.sh_addr, table);
    }
    return false;
}

bool eh_frame_find(const unsigned char *file, size_t file_bytes, struct eh_frame_table *table) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)file, file_bytes);
    bool found = false;
    size_t n = 0;
    if (elf && elf_getphdrnum(elf, &n) == 0) {
        GElf_Phdr header;
        for (size_t i = 0; i < n && !found; i++)
            if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME)
                found = use_header(file, file_bytes, header.p_offset, header.p_vaddr, table);
        found = found || use_section(elf, table);
    }
    elf_end(elf);
    return found;
}
