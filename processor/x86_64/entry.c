#include "processor/entry.h"

#include <capstone/capstone.h>
#include <string.h>

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

static bool is_in_group(csh decoder, const cs_insn *instruction, unsigned group) {
    return cs_insn_group(decoder, instruction, group);
}

static bool changes_flow(csh decoder, const cs_insn *instruction) {
    return is_in_group(decoder, instruction, CS_GRP_JUMP) ||
           is_in_group(decoder, instruction, CS_GRP_CALL) ||
           is_in_group(decoder, instruction, CS_GRP_RET) ||
           is_in_group(decoder, instruction, CS_GRP_IRET) ||
           is_in_group(decoder, instruction, CS_GRP_INT) ||
           is_in_group(decoder, instruction, CS_GRP_BRANCH_RELATIVE);
}

/* What may stay in front: endbr64, where indirect calls land; a profiler's hook, the only call that
 * comes before a function has aligned its stack. */
static size_t skip_front(csh decoder, const uint8_t *code, size_t size, uint64_t address) {
    size_t skipped = 0;
    if (size >= sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0)
        skipped = sizeof endbr64;
    cs_insn *first = NULL;
    if (cs_disasm(decoder, code + skipped, size - skipped, address + skipped, 1, &first) == 1) {
        if (is_in_group(decoder, first, CS_GRP_CALL))
            skipped += first->size;
        cs_free(first, 1);
    }
    return skipped;
}

/* Adds one instruction to those that move. */
static void move_one(csh decoder, const cs_insn *instruction, struct entry *entry) {
    const cs_x86 *detail = &instruction->detail->x86;
    if (changes_flow(decoder, instruction)) {
        entry->obstacle = "it is too short, or jumps at once";
        return;
    }
    for (uint8_t i = 0; i < detail->op_count; i++) {
        if (detail->operands[i].type != X86_OP_MEM || detail->operands[i].mem.base != X86_REG_RIP)
            continue;
        if (entry->n_fixups == ENTRY_MAX_FIXUPS || detail->encoding.disp_size != 4) {
            entry->obstacle = "its first instructions cannot be moved";
            return;
        }
        entry->fixups[entry->n_fixups] = entry->n_bytes + detail->encoding.disp_offset;
        entry->ends[entry->n_fixups++] = (uint8_t)(entry->n_bytes + instruction->size);
    }
    entry->n_bytes += (uint8_t)instruction->size;
}

static void note_return(struct entry *entry, uint64_t address) {
    if (entry->n_returns < ENTRY_MAX_RETURNS)
        entry->returns[entry->n_returns++] = address;
    else
        entry->all_returns = false;
}

static void note_jump(const cs_insn *instruction, uint64_t start, uint64_t end,
                      struct entry *entry) {
    const cs_x86_op *target = &instruction->detail->x86.operands[0];
    bool direct = instruction->detail->x86.op_count == 1 && target->type == X86_OP_IMM;
    uint64_t to = direct ? (uint64_t)target->imm : 0;
    if (!direct || to < start || to >= end)
        entry->all_returns = false;
    /* A jump back to the start would count as one more call. */
    if (direct && to >= start && to < entry->at + entry->n_bytes)
        entry->obstacle = "it jumps back to its start";
}

struct entry entry_read(const uint8_t *code, size_t size, uint64_t address) {
    struct entry entry = {.all_returns = true, .obstacle = "it cannot be decoded"};
    csh decoder;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK)
        return entry;
    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
    entry.obstacle = NULL;
    entry.at = address + skip_front(decoder, code, size, address);
    cs_insn *instruction = cs_malloc(decoder);
    const uint8_t *next = code;
    size_t rest = size;
    uint64_t at = address;
    while (rest > 0 && cs_disasm_iter(decoder, &next, &rest, &at, instruction)) {
        bool moves = instruction->address >= entry.at && entry.n_bytes < ENTRY_JUMP_BYTES;
        if (moves && !entry.obstacle)
            move_one(decoder, instruction, &entry);
        if (is_in_group(decoder, instruction, CS_GRP_RET))
            note_return(&entry, instruction->address);
        else if (is_in_group(decoder, instruction, CS_GRP_JUMP))
            note_jump(instruction, address, address + size, &entry);
    }
    if (rest > 0) {
        entry.obstacle = "it cannot be decoded";
        entry.all_returns = false;
    } else if (entry.n_bytes < ENTRY_JUMP_BYTES && !entry.obstacle) {
        entry.obstacle = "it is too short, or jumps at once";
    }
    cs_free(instruction, 1);
    cs_close(&decoder);
    return entry;
}
