/* DWARF 5, section 6.4 (call frame information) and 2.5 (expressions), as .eh_frame has them: Linux
 * Standard Base 5.0 core, section 10.6. */
#include "processor/x86_64/probe/unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

/* Called through the address that the loader filled in: the first call finds no lazy binding, which
 * takes a lock and a kilobyte of stack. */
extern int _dl_find_object(void *address, struct dl_find_object *found) __attribute__((noplt));
extern unsigned long getauxval(unsigned long type) __attribute__((noplt));

enum dwarf_register { RBX = 3, RBP = 6, RSP = 7, R12 = 12, R15 = 15, RETURN_ADDRESS = 16 };

#define CALLEE_SAVED (1u << RBX | 1u << RBP | 1u << R12 | 1u << 13 | 1u << 14 | 1u << R15)

enum rule {
    RULE_UNSET,
    RULE_UNDEFINED,
    RULE_SAME,
    RULE_OFFSET,           /* lies at the CFA + value */
    RULE_VALUE_OFFSET,     /* is the CFA + value */
    RULE_REGISTER,         /* is in register number `value`; of the CFA: + cfa_value */
    RULE_EXPRESSION,       /* lies where the expression says; of the CFA: is what it says */
    RULE_VALUE_EXPRESSION, /* is what the expression says */
};

/* Encodings of pointers. */
enum {
    PE_ABSOLUTE = 0x00,
    PE_PC_RELATIVE = 0x10,
    PE_HEADER_RELATIVE = 0x30,
    PE_FORM = 0x0f,
    PE_RELATION = 0xf0,
};

enum {
    REGISTERS = 17,   /* of DWARF: rax ... r15, the return address */
    SAVED_ROWS = 4,   /* DW_CFA_remember_state within one function */
    STACK_WORDS = 16, /* of the expressions' machine */
};

/* Steps of the walk that need stack of their own, but not at the same time. */
#define APART __attribute__((noinline))

#define MAX_INSTRUCTIONS 20000 /* for one function: a garbled length must not keep us busy */
#define PAGE_BYTES       4096

/* Where something is read from; past the end it reads 0 and sets `bad`. */
struct reader {
    uint64_t at, end;
    bool bad;
};

/* The tables of a loaded object. */
struct tables {
    uint64_t code_low, code_high; /* the object's addresses; high 0: none */
    uint64_t header;              /* its .eh_frame_hdr */
    uint64_t low, high;           /* the segment with header and tables */
};

/* A function's entry in .eh_frame. */
struct function {
    uint64_t start;
    uint64_t code_factor, data_factor;
    struct reader initial, code; /* instructions of all functions of this kind, of this one */
    unsigned encoding;           /* of pointers to code */
    bool has_extra, is_signal;
};

/* How to find the caller's registers from some address of a function's code on. */
struct row {
    int32_t values[REGISTERS]; /* offset, register, or where in the tables the expression stands */
    int32_t cfa_value;
    uint8_t kinds[REGISTERS]; /* enum rule */
    uint8_t cfa_kind, cfa_register;
};

/* What runs the instructions of a function up to some address. */
struct machine {
    struct reader code;
    uint64_t location;
    struct row row, initial, saved[SAVED_ROWS];
    unsigned n_saved;
};

/* What evaluates an expression. */
struct evaluation {
    struct reader code;
    uint64_t stack[STACK_WORDS];
    unsigned depth;
};

struct walk {
    struct dl_find_object found;
    struct tables tables;
    struct function function;
    struct machine machine;
    struct evaluation evaluation;
    uint64_t stack_low, stack_high;
    uint64_t registers[REGISTERS], outer[REGISTERS];
    uint32_t known, outer_known; /* bits: which of them */
};
_Static_assert(sizeof(struct walk) <= UNWIND_BYTES, "the memory that callers have for us");

/* ---- reading tables ---- */

static inline uint64_t take(struct reader *reader, unsigned bytes) {
    uint64_t value = 0;
    if (reader->end - reader->at < bytes) {
        reader->at = reader->end;
        reader->bad = true;
        return 0;
    }
    memcpy(&value, (const void *)reader->at, bytes);
    reader->at += bytes;
    return value;
}

static inline uint64_t take_signed(struct reader *reader, unsigned bytes) {
    unsigned unused = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(take(reader, bytes) << unused) >> unused);
}

static inline uint64_t take_leb(struct reader *reader, bool is_signed) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take(reader, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0);
    if (is_signed && (byte & 0x40) != 0 && shift < 64)
        value |= ~0ull << shift;
    return value;
}

static inline uint64_t take_uleb(struct reader *reader) {
    return take_leb(reader, false);
}
static inline uint64_t take_sleb(struct reader *reader) {
    return take_leb(reader, true);
}

static inline void pass_over(struct reader *reader, uint64_t bytes) {
    if (bytes > reader->end - reader->at) {
        reader->bad = true;
        bytes = reader->end - reader->at;
    }
    reader->at += bytes;
}

/* A pointer's value as it stands in the table. */
static uint64_t take_form(struct reader *reader, unsigned encoding) {
    switch (encoding & PE_FORM) {
    case 0x0: /* of the machine's size */
    case 0x4:
    case 0xc:
        return take(reader, 8);
    case 0x2:
        return take(reader, 2);
    case 0x3:
        return take(reader, 4);
    case 0xa:
        return take_signed(reader, 2);
    case 0xb:
        return take_signed(reader, 4);
    default:
        reader->bad = true;
        return 0;
    }
}

static uint64_t take_pointer(const struct walk *work, struct reader *reader, unsigned encoding) {
    uint64_t here = reader->at, value = take_form(reader, encoding);
    switch (encoding & PE_RELATION) {
    case PE_ABSOLUTE:
        return value;
    case PE_PC_RELATIVE:
        return here + value;
    case PE_HEADER_RELATIVE:
        return work->tables.header + value;
    default: /* indirect, aligned ...: nobody makes these for code */
        reader->bad = true;
        return 0;
    }
}

/* From `at` to the end of the segment with the tables. */
static struct reader reader_at(const struct walk *work, uint64_t at) {
    const struct tables *tables = &work->tables;
    if (at == 0 || at < tables->low || at >= tables->high)
        return (struct reader){.bad = true};
    return (struct reader){.at = at, .end = tables->high};
}

/* An entry of .eh_frame: its content after the length. */
static void open_entry(const struct walk *work, uint64_t at, struct reader *entry) {
    *entry = reader_at(work, at);
    uint64_t bytes = take(entry, 4);
    if (bytes == 0 || bytes > entry->end - entry->at) /* also: the 64-bit format */
        entry->bad = true;
    else
        entry->end = entry->at + bytes;
}

/* ---- the object that code belongs to ---- */

/* The program headers that the kernel told of, if they are the object's; they say so themselves. */
static bool are_headers_of(const struct link_map *map, const ElfW(Phdr) * headers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_PHDR)
            return map->l_addr + headers[i].p_vaddr == (uint64_t)headers;
    return false;
}

/* The program's own headers are where the kernel says; a library's behind its first bytes, which
 * are mapped. The loader has read both. NULL: not there. Of a program with holes between its
 * segments `dlfo_map_start` is where the code begins. */
static const ElfW(Phdr) * headers_of(const struct dl_find_object *object, size_t *count) {
    const ElfW(Phdr) *program = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    *count = getauxval(AT_PHNUM);
    if (object->dlfo_link_map->l_prev == NULL && program != NULL &&
        are_headers_of(object->dlfo_link_map, program, *count))
        return program;
    const ElfW(Ehdr) *file = object->dlfo_map_start;
    if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_phoff > PAGE_BYTES ||
        file->e_phoff + file->e_phnum * sizeof(ElfW(Phdr)) > PAGE_BYTES)
        return NULL;
    *count = file->e_phnum;
    return (const ElfW(Phdr) *)((uint64_t)file + file->e_phoff);
}

/* Between segments there may be holes: only the segment that has the header is read. Linkers put
 * header and tables into the same one. */
static bool find_segment(struct walk *work) {
    struct tables *tables = &work->tables;
    size_t count;
    const ElfW(Phdr) *headers = headers_of(&work->found, &count);
    for (size_t i = 0; headers != NULL && i < count; i++) {
        uint64_t low = work->found.dlfo_link_map->l_addr + headers[i].p_vaddr;
        if (headers[i].p_type != PT_LOAD || (headers[i].p_flags & PF_R) == 0 ||
            tables->header < low || tables->header - low >= headers[i].p_filesz)
            continue;
        tables->low = low;
        tables->high = low + headers[i].p_filesz;
        return true;
    }
    return false;
}

static APART bool find_tables(struct walk *work, uint64_t pc) {
    struct tables *tables = &work->tables;
    if (pc < tables->code_high && pc >= tables->code_low) /* as the frame before */
        return true;
    tables->code_high = 0;
    if (_dl_find_object((void *)pc, &work->found) != 0)
        return false;
    tables->code_low = (uint64_t)work->found.dlfo_map_start;
    tables->code_high = (uint64_t)work->found.dlfo_map_end;
    tables->header = (uint64_t)work->found.dlfo_eh_frame;
    if (find_segment(work))
        return true;
    tables->code_high = 0;
    return false;
}

/* The entry of the function at `pc`, by the sorted table of the header: pairs of where a function
 * starts and where its entry is, relative to the header. 0: none. */
static uint64_t find_entry(const struct walk *work, uint64_t pc) {
    uint64_t header = work->tables.header;
    struct reader reader = reader_at(work, header);
    uint64_t encodings = take(&reader, 4);
    pass_over(&reader, 4); /* where .eh_frame is */
    uint64_t count = take(&reader, 4);
    /* Version 1, 4-byte pointer, 4-byte count, table of 4-byte offsets from the header. */
    if (reader.bad || encodings != 0x3b031b01 || count > (reader.end - reader.at) / 8)
        return 0;
    const char *table = (const char *)reader.at;
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int32_t start;
        memcpy(&start, table + middle * 8, sizeof start);
        if ((int64_t)start <= (int64_t)(pc - header))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    int32_t entry;
    memcpy(&entry, table + (low - 1) * 8 + 4, sizeof entry);
    return header + (uint64_t)(int64_t)entry;
}

/* ---- a function's entry ---- */

/* What the letters of the augmentation announce. */
static void read_augmentation(struct function *function, struct reader *letters,
                              struct reader *reader) {
    uint64_t letter = take(letters, 1);
    if (letter == 'z') {
        function->has_extra = true;
        uint64_t bytes = take_uleb(reader);
        struct reader data = *reader;
        pass_over(reader, bytes);
        data.end = reader->at;
        while (!data.bad && (letter = take(letters, 1)) != 0) {
            if (letter == 'R')
                function->encoding = (unsigned)take(&data, 1);
            else if (letter == 'P')
                take_form(&data, (unsigned)take(&data, 1));
            else if (letter == 'L')
                take(&data, 1);
            else if (letter == 'S')
                function->is_signal = true;
            else
                data.bad = true;
        }
        reader->bad |= data.bad | letters->bad;
    } else if (letter != 0) {
        reader->bad = true;
    }
}

/* The common information entry at `at`. */
static bool read_common(struct walk *work, uint64_t at) {
    struct function *function = &work->function;
    struct reader *entry = &function->initial;
    open_entry(work, at, entry);
    uint64_t id = take(entry, 4), version = take(entry, 1);
    if (id != 0 || (version != 1 && version != 3 && version != 4))
        return false;
    struct reader letters = *entry;
    while (take(entry, 1) != 0)
        ;
    if (version == 4 && take(entry, 2) != 8) /* size of an address, and of no segment */
        return false;
    function->code_factor = take_uleb(entry);
    function->data_factor = take_sleb(entry);
    uint64_t column = version == 1 ? take(entry, 1) : take_uleb(entry);
    read_augmentation(function, &letters, entry);
    return !entry->bad && column == RETURN_ADDRESS;
}

/* Leaves the entry of the function at `pc` in work->function. */
static APART bool read_function(struct walk *work, uint64_t pc) {
    struct function *function = &work->function;
    memset(function, 0, sizeof *function);
    struct reader *entry = &function->code;
    open_entry(work, find_entry(work, pc), entry);
    uint64_t here = entry->at, back = take(entry, 4);
    if (entry->bad || back == 0 || !read_common(work, here - back))
        return false;
    function->start = take_pointer(work, entry, function->encoding);
    uint64_t bytes = take_form(entry, function->encoding);
    if (function->has_extra)
        pass_over(entry, take_uleb(entry));
    return !entry->bad && pc >= function->start && pc - function->start < bytes;
}

/* ---- instructions: what the rules are at an address ---- */

static bool set_rule(struct machine *machine, uint64_t number, enum rule kind, uint64_t value) {
    if (number >= REGISTERS) /* vectors and such: nothing hangs on them */
        return true;
    machine->row.kinds[number] = (uint8_t)kind;
    machine->row.values[number] = (int32_t)value;
    return (int64_t)value == (int32_t)value;
}

static bool set_cfa(struct machine *machine, enum rule kind, uint64_t number, uint64_t value) {
    machine->row.cfa_kind = (uint8_t)kind;
    machine->row.cfa_register = (uint8_t)number;
    machine->row.cfa_value = (int32_t)value;
    return number < REGISTERS && (int64_t)value == (int32_t)value;
}

/* Passes over an expression; returns where it is, as a rule's value. */
static uint64_t take_expression(struct walk *work) {
    struct machine *machine = &work->machine;
    uint64_t at = machine->code.at - work->tables.low;
    pass_over(&machine->code, take_uleb(&machine->code));
    return at;
}

static bool restore_rule(struct machine *machine, uint64_t number) {
    if (number < REGISTERS) {
        machine->row.kinds[number] = machine->initial.kinds[number];
        machine->row.values[number] = machine->initial.values[number];
    }
    return true;
}

static bool define_cfa(struct walk *work, unsigned instruction) {
    struct machine *machine = &work->machine;
    struct reader *code = &machine->code;
    const struct row *row = &machine->row;
    uint64_t factor = work->function.data_factor, number;
    switch (instruction) {
    case 0x0c: /* DW_CFA_def_cfa */
        number = take_uleb(code);
        return set_cfa(machine, RULE_REGISTER, number, take_uleb(code));
    case 0x12: /* DW_CFA_def_cfa_sf */
        number = take_uleb(code);
        return set_cfa(machine, RULE_REGISTER, number, take_sleb(code) * factor);
    case 0x0d: /* DW_CFA_def_cfa_register */
        return row->cfa_kind == RULE_REGISTER &&
               set_cfa(machine, RULE_REGISTER, take_uleb(code), (uint64_t)(int64_t)row->cfa_value);
    case 0x0e: /* DW_CFA_def_cfa_offset */
        return row->cfa_kind == RULE_REGISTER &&
               set_cfa(machine, RULE_REGISTER, row->cfa_register, take_uleb(code));
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        return row->cfa_kind == RULE_REGISTER &&
               set_cfa(machine, RULE_REGISTER, row->cfa_register, take_sleb(code) * factor);
    default: /* DW_CFA_def_cfa_expression */
        return set_cfa(machine, RULE_EXPRESSION, 0, take_expression(work));
    }
}

static bool define_register(struct walk *work, unsigned instruction) {
    struct machine *machine = &work->machine;
    struct reader *code = &machine->code;
    uint64_t factor = work->function.data_factor, number = take_uleb(code);
    switch (instruction) {
    case 0x05: /* DW_CFA_offset_extended */
        return set_rule(machine, number, RULE_OFFSET, take_uleb(code) * factor);
    case 0x11: /* DW_CFA_offset_extended_sf */
        return set_rule(machine, number, RULE_OFFSET, take_sleb(code) * factor);
    case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
        return set_rule(machine, number, RULE_OFFSET, -(take_uleb(code) * factor));
    case 0x14: /* DW_CFA_val_offset */
        return set_rule(machine, number, RULE_VALUE_OFFSET, take_uleb(code) * factor);
    case 0x15: /* DW_CFA_val_offset_sf */
        return set_rule(machine, number, RULE_VALUE_OFFSET, take_sleb(code) * factor);
    case 0x06: /* DW_CFA_restore_extended */
        return restore_rule(machine, number);
    case 0x07: /* DW_CFA_undefined */
        return set_rule(machine, number, RULE_UNDEFINED, 0);
    case 0x08: /* DW_CFA_same_value */
        return set_rule(machine, number, RULE_SAME, 0);
    case 0x09: /* DW_CFA_register */
        return set_rule(machine, number, RULE_REGISTER, take_uleb(code));
    case 0x10: /* DW_CFA_expression */
        return set_rule(machine, number, RULE_EXPRESSION, take_expression(work));
    default: /* DW_CFA_val_expression */
        return set_rule(machine, number, RULE_VALUE_EXPRESSION, take_expression(work));
    }
}

static bool remember_row(struct machine *machine) {
    if (machine->n_saved >= SAVED_ROWS)
        return false;
    machine->saved[machine->n_saved++] = machine->row;
    return true;
}

static bool recall_row(struct machine *machine) {
    if (machine->n_saved == 0)
        return false;
    machine->row = machine->saved[--machine->n_saved];
    return true;
}

static bool advance(struct walk *work, uint64_t steps) {
    work->machine.location += steps * work->function.code_factor;
    return true;
}

static bool run_long(struct walk *work, unsigned instruction) {
    struct machine *machine = &work->machine;
    struct reader *code = &machine->code;
    switch (instruction) {
    case 0x00: /* DW_CFA_nop */
        return true;
    case 0x01: /* DW_CFA_set_loc */
        machine->location = take_pointer(work, code, work->function.encoding);
        return true;
    case 0x02: /* DW_CFA_advance_loc1 */
        return advance(work, take(code, 1));
    case 0x03: /* DW_CFA_advance_loc2 */
        return advance(work, take(code, 2));
    case 0x04: /* DW_CFA_advance_loc4 */
        return advance(work, take(code, 4));
    case 0x0a: /* DW_CFA_remember_state */
        return remember_row(machine);
    case 0x0b: /* DW_CFA_restore_state */
        return recall_row(machine);
    case 0x2e: /* DW_CFA_GNU_args_size */
        take_uleb(code);
        return true;
    case 0x0c ... 0x0f:
    case 0x12 ... 0x13:
        return define_cfa(work, instruction);
    case 0x05 ... 0x09:
    case 0x10 ... 0x11:
    case 0x14 ... 0x16:
    case 0x2f:
        return define_register(work, instruction);
    default:
        return false;
    }
}

/* Runs the instructions that hold at `pc`. */
static bool run(struct walk *work, uint64_t pc) {
    struct machine *machine = &work->machine;
    struct reader *code = &machine->code;
    for (int i = 0; code->at < code->end && machine->location <= pc; i++) {
        unsigned byte = (unsigned)take(code, 1), low = byte & 0x3f;
        bool good;
        switch (byte >> 6) {
        case 1: /* DW_CFA_advance_loc */
            good = advance(work, low);
            break;
        case 2: /* DW_CFA_offset */
            good =
                set_rule(machine, low, RULE_OFFSET, take_uleb(code) * work->function.data_factor);
            break;
        case 3: /* DW_CFA_restore */
            good = restore_rule(machine, low);
            break;
        default:
            good = run_long(work, low);
            break;
        }
        if (!good || code->bad || i == MAX_INSTRUCTIONS)
            return false;
    }
    return true;
}

/* Leaves the rules at `pc` in work->machine.row. */
static APART bool find_row(struct walk *work, uint64_t pc) {
    struct machine *machine = &work->machine;
    memset(&machine->row, 0, sizeof machine->row);
    memset(&machine->initial, 0, sizeof machine->initial);
    machine->code = work->function.initial;
    machine->location = 0;
    machine->n_saved = 0;
    if (!run(work, 0))
        return false;
    machine->initial = machine->row;
    machine->code = work->function.code;
    machine->location = work->function.start;
    machine->n_saved = 0;
    return run(work, pc);
}

/* ---- the stack, and expressions over it ---- */

static inline bool read_stack(const struct walk *work, uint64_t address, uint64_t *word) {
    if (address < work->stack_low || address >= work->stack_high || address % sizeof *word != 0)
        return false;
    *word = *(const uint64_t *)address;
    return true;
}

static inline bool read_register(const struct walk *work, uint64_t number, uint64_t *value) {
    if (number >= REGISTERS || (work->known >> number & 1) == 0)
        return false;
    *value = work->registers[number];
    return true;
}

/* a OP b; false: not one of these. */
static bool combine(unsigned operation, uint64_t a, uint64_t b, uint64_t *result) {
    int64_t left = (int64_t)a, right = (int64_t)b;
    uint64_t r;
    switch (operation) {
    case 0x1a: /* DW_OP_and */
        r = a & b;
        break;
    case 0x1c: /* DW_OP_minus */
        r = a - b;
        break;
    case 0x1e: /* DW_OP_mul */
        r = a * b;
        break;
    case 0x21: /* DW_OP_or */
        r = a | b;
        break;
    case 0x22: /* DW_OP_plus */
        r = a + b;
        break;
    case 0x24: /* DW_OP_shl */
        r = b < 64 ? a << b : 0;
        break;
    case 0x25: /* DW_OP_shr */
        r = b < 64 ? a >> b : 0;
        break;
    case 0x26: /* DW_OP_shra */
        r = (uint64_t)(left >> (b < 64 ? b : 63));
        break;
    case 0x27: /* DW_OP_xor */
        r = a ^ b;
        break;
    case 0x29: /* DW_OP_eq */
        r = a == b;
        break;
    case 0x2a: /* DW_OP_ge */
        r = left >= right;
        break;
    case 0x2b: /* DW_OP_gt */
        r = left > right;
        break;
    case 0x2c: /* DW_OP_le */
        r = left <= right;
        break;
    case 0x2d: /* DW_OP_lt */
        r = left < right;
        break;
    case 0x2e: /* DW_OP_ne */
        r = a != b;
        break;
    default:
        return false;
    }
    *result = r;
    return true;
}

static bool push(struct evaluation *of, uint64_t value) {
    if (of->depth >= STACK_WORDS)
        return false;
    of->stack[of->depth++] = value;
    return true;
}

static bool push_register(struct walk *work, uint64_t number, uint64_t offset) {
    uint64_t value;
    return read_register(work, number, &value) && push(&work->evaluation, value + offset);
}

/* Operations that push something. False also: not one of these. */
static bool push_operand(struct walk *work, unsigned operation) {
    struct evaluation *of = &work->evaluation;
    struct reader *code = &of->code;
    uint64_t number;
    switch (operation) {
    case 0x08: /* DW_OP_const1u */
        return push(of, take(code, 1));
    case 0x09: /* DW_OP_const1s */
        return push(of, take_signed(code, 1));
    case 0x0a: /* DW_OP_const2u */
        return push(of, take(code, 2));
    case 0x0b: /* DW_OP_const2s */
        return push(of, take_signed(code, 2));
    case 0x0c: /* DW_OP_const4u */
        return push(of, take(code, 4));
    case 0x0d: /* DW_OP_const4s */
        return push(of, take_signed(code, 4));
    case 0x0e: /* DW_OP_const8u */
    case 0x0f: /* DW_OP_const8s */
        return push(of, take(code, 8));
    case 0x10: /* DW_OP_constu */
        return push(of, take_uleb(code));
    case 0x11: /* DW_OP_consts */
        return push(of, take_sleb(code));
    case 0x12: /* DW_OP_dup */
        return of->depth > 0 && push(of, of->stack[of->depth - 1]);
    case 0x14: /* DW_OP_over */
        return of->depth > 1 && push(of, of->stack[of->depth - 2]);
    case 0x30 ... 0x4f: /* DW_OP_lit0 ... */
        return push(of, operation - 0x30);
    case 0x70 ... 0x8f: /* DW_OP_breg0 ... */
        return push_register(work, operation - 0x70, take_sleb(code));
    case 0x92: /* DW_OP_bregx */
        number = take_uleb(code);
        return push_register(work, number, take_sleb(code));
    default:
        return false;
    }
}

/* Operations on what is on the machine's stack; all others push. */
static bool operate(struct walk *work, unsigned operation) {
    struct evaluation *of = &work->evaluation;
    uint64_t *top = &of->stack[of->depth > 0 ? of->depth - 1 : 0];
    switch (operation) {
    case 0x06: /* DW_OP_deref */
        return of->depth > 0 && read_stack(work, *top, top);
    case 0x13: /* DW_OP_drop */
        return of->depth > 0 && of->depth-- > 0;
    case 0x1f: /* DW_OP_neg */
    case 0x20: /* DW_OP_not */
        if (of->depth == 0)
            return false;
        *top = operation == 0x1f ? -*top : ~*top;
        return true;
    case 0x23: { /* DW_OP_plus_uconst */
        uint64_t more = take_uleb(&of->code);
        if (of->depth == 0)
            return false;
        *top += more;
        return true;
    }
    case 0x96: /* DW_OP_nop */
        return true;
    case 0x1a ... 0x1e:
    case 0x21 ... 0x22:
    case 0x24 ... 0x2e:
        if (of->depth < 2 || !combine(operation, top[-1], top[0], &top[-1]))
            return false;
        of->depth--;
        return true;
    default:
        return push_operand(work, operation);
    }
}

/* What the expression at `place` (an offset in the tables) gives. `cfa`, unless NULL, lies on the
 * machine's stack in the beginning. There are no jumps: it ends. */
static bool evaluate(struct walk *work, int32_t place, const uint64_t *cfa, uint64_t *result) {
    struct evaluation *of = &work->evaluation;
    of->depth = 0;
    of->code = reader_at(work, work->tables.low + (uint64_t)(int64_t)place);
    uint64_t bytes = take_uleb(&of->code);
    if (of->code.bad || bytes > of->code.end - of->code.at)
        return false;
    of->code.end = of->code.at + bytes;
    if (cfa != NULL)
        push(of, *cfa);
    while (of->code.at < of->code.end)
        if (!operate(work, (unsigned)take(&of->code, 1)) || of->code.bad)
            return false;
    if (of->depth == 0)
        return false;
    *result = of->stack[of->depth - 1];
    return true;
}

/* ---- from a frame to the one that called it ---- */

static bool find_cfa(struct walk *work, uint64_t *cfa) {
    const struct row *row = &work->machine.row;
    uint64_t base;
    if (row->cfa_kind == RULE_EXPRESSION)
        return evaluate(work, row->cfa_value, NULL, cfa);
    if (row->cfa_kind != RULE_REGISTER || !read_register(work, row->cfa_register, &base))
        return false;
    *cfa = base + (uint64_t)(int64_t)row->cfa_value;
    return true;
}

/* Where the caller's register lies on the stack; false: it does not. */
static bool find_place(struct walk *work, unsigned number, uint64_t cfa, uint64_t *place) {
    const struct row *row = &work->machine.row;
    *place = cfa + (uint64_t)(int64_t)row->values[number];
    return row->kinds[number] == RULE_OFFSET || (row->kinds[number] == RULE_EXPRESSION &&
                                                 evaluate(work, row->values[number], &cfa, place));
}

/* The value that the caller's register has; false: unknown. */
static bool find_value(struct walk *work, unsigned number, uint64_t cfa, uint64_t *value) {
    const struct row *row = &work->machine.row;
    uint64_t place;
    switch (row->kinds[number]) {
    case RULE_UNSET:
        if (number == RSP) {
            *value = cfa;
            return true;
        }
        return (CALLEE_SAVED >> number & 1) != 0 && read_register(work, number, value);
    case RULE_SAME:
        return read_register(work, number, value);
    case RULE_OFFSET:
    case RULE_EXPRESSION:
        return find_place(work, number, cfa, &place) && read_stack(work, place, value);
    case RULE_VALUE_OFFSET:
        *value = cfa + (uint64_t)(int64_t)row->values[number];
        return true;
    case RULE_REGISTER:
        return read_register(work, (uint32_t)row->values[number], value);
    case RULE_VALUE_EXPRESSION:
        return evaluate(work, row->values[number], &cfa, value);
    default:
        return false;
    }
}

/* Gives every register the value that it has in the caller. */
static APART void leave_frame(struct walk *work, uint64_t cfa, uint64_t return_address) {
    work->outer_known = 1u << RETURN_ADDRESS;
    for (unsigned number = 0; number < RETURN_ADDRESS; number++)
        if (find_value(work, number, cfa, &work->outer[number]))
            work->outer_known |= 1u << number;
    work->outer[RETURN_ADDRESS] = return_address;
    memcpy(work->registers, work->outer, sizeof work->registers);
    work->known = work->outer_known;
}

/* A return address may lie behind the end of a function that calls one which never returns: it is
 * looked up by the byte before. */
static bool find_function(struct walk *work, bool is_exact) {
    uint64_t pc = work->registers[RETURN_ADDRESS] - !is_exact;
    return find_tables(work, pc) && read_function(work, pc) && find_row(work, pc);
}

/* From work->registers on, by the tables in work->tables as long as the code is theirs. */
static size_t walk_on(struct walk *work, struct unwind_frame *frames, size_t max) {
    uint64_t last_cfa = work->registers[RSP], last_place = 0;
    bool is_exact = true;
    size_t n = 0;
    while (n < max) {
        struct unwind_frame frame;
        uint64_t cfa;
        if (!find_function(work, is_exact) || !find_cfa(work, &cfa) || cfa <= last_cfa ||
            cfa > work->stack_high || cfa % sizeof(uint64_t) != 0 ||
            !find_place(work, RETURN_ADDRESS, cfa, &frame.place) || frame.place <= last_place ||
            !read_stack(work, frame.place, &frame.address) || frame.address == 0)
            break;
        frames[n++] = frame;
        leave_frame(work, cfa, frame.address);
        last_cfa = cfa;
        last_place = frame.place;
        is_exact = work->function.is_signal;
    }
    return n;
}

size_t unwind_walk(struct unwind *memory, const struct unwind_registers *start, uint64_t stack_high,
                   struct unwind_frame *frames, size_t max) {
    struct walk *work = (struct walk *)memory;
    work->tables.code_high = 0;
    work->stack_low = start->rsp;
    work->stack_high = stack_high / sizeof(uint64_t) * sizeof(uint64_t);
    work->registers[RETURN_ADDRESS] = start->rip;
    work->registers[RSP] = start->rsp;
    work->registers[RBP] = start->rbp;
    work->registers[RBX] = start->rbx;
    work->registers[12] = start->r12;
    work->registers[13] = start->r13;
    work->registers[14] = start->r14;
    work->registers[R15] = start->r15;
    work->known = CALLEE_SAVED | 1u << RSP | 1u << RETURN_ADDRESS;
    return walk_on(work, frames, max);
}
