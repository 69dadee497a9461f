#include "sampler/unwind.h"

#include <libunwind.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sampler/frame_pointer.h"
#include "sampler/procfs.h"

/* The binary search of a table of unwind information. Exported by libunwind for remote unwinders
 * such as this one, but in no header of it. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table,
                                       unw_proc_info_t *procedure, int need_unwind_info, void *arg);

struct unwinder {
    const struct modules *modules;
    unw_addr_space_t space;
    /* Of the stack being unwound: */
    const struct unwind_input *input;
    uint64_t stack_start;
    uint64_t frame_ip, frame_sp; /* of the frame being stepped out of */
};

/* ---- what libunwind asks ---- */

static int find_procedure(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *procedure,
                          int need_unwind_info, void *arg) {
    const struct unwinder *unwinder = arg;
    const struct mapping *mapping = modules_find(unwinder->modules, ip);
    if (!mapping || mapping->module < 0)
        return -UNW_ENOINFO;
    struct module *module = &unwinder->modules->modules.items[mapping->module];
    if (!module->has_table)
        return -UNW_ENOINFO;
    return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &module->table, procedure,
                                              need_unwind_info, arg);
}

/* libunwind keeps what it took in a pool of its own. */
static void put_procedure(unw_addr_space_t space, unw_proc_info_t *procedure, void *arg) {
    (void)space;
    (void)procedure;
    (void)arg;
}

static int read_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                       void *arg) {
    (void)space;
    const struct unwinder *unwinder = arg;
    const struct unwind_input *input = unwinder->input;
    uint64_t offset = address - unwinder->stack_start;
    if (write)
        return -UNW_EINVAL;
    if (address >= unwinder->stack_start && offset + sizeof *value <= input->stack_bytes) {
        memcpy(value, input->stack + offset, sizeof *value);
        return 0;
    }
    if (modules_read(unwinder->modules, address, value, sizeof *value))
        return 0;
    return procfs_read(input->tid, address, value, sizeof *value) == sizeof *value ? 0
                                                                                   : -UNW_EINVAL;
}

/* Asked for only while no inner frame has saved RBP: so it is still the one of this frame. */
static int guess_frame_pointer(struct unwinder *unwinder, unw_word_t *value) {
    unw_proc_info_t procedure;
    int status = find_procedure(unwinder->space, unwinder->frame_ip, &procedure, 0, unwinder);
    const struct frame_search search = {
        .modules = unwinder->modules,
        .stack = unwinder->input->stack,
        .stack_bytes = unwinder->input->stack_bytes,
        .stack_start = unwinder->stack_start,
        .stack_pointer = unwinder->frame_sp,
        .function_start = status == 0 ? procedure.start_ip : 0,
    };
    return frame_pointer_find(&search, value) ? 0 : -UNW_EBADREG;
}

static int read_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                         void *arg) {
    (void)space;
    struct unwinder *unwinder = arg;
    const struct registers *registers = &unwinder->input->registers;
    if (write || number < 0 || number >= REGISTERS_COUNT)
        return -UNW_EBADREG;
    if (registers->known >> number & 1) {
        *value = registers->values[number];
        return 0;
    }
    return number == REGISTER_FRAME_POINTER ? guess_frame_pointer(unwinder, value) : -UNW_EBADREG;
}

static int no_dynamic_list(unw_addr_space_t space, unw_word_t *list, void *arg) {
    (void)space;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

static int no_float_register(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
                             int write, void *arg) {
    (void)space;
    (void)number;
    (void)value;
    (void)write;
    (void)arg;
    return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg) {
    (void)space;
    (void)cursor;
    (void)arg;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t bytes,
                   unw_word_t *offset, void *arg) {
    (void)space;
    (void)ip;
    (void)name;
    (void)bytes;
    (void)offset;
    (void)arg;
    return -UNW_ENOINFO;
}

/* ---- the walk ---- */

struct unwinder *unwinder_create(const struct modules *modules) {
    static unw_accessors_t accessors = {
        .find_proc_info = find_procedure,
        .put_unwind_info = put_procedure,
        .get_dyn_info_list_addr = no_dynamic_list,
        .access_mem = read_memory,
        .access_reg = read_register,
        .access_fpreg = no_float_register,
        .resume = no_resume,
        .get_proc_name = no_name,
    };
    struct unwinder *unwinder = memory_alloc(1, sizeof *unwinder);
    unwinder->modules = modules;
    unwinder->space = unw_create_addr_space(&accessors, 0);
    unw_set_caching_policy(unwinder->space, UNW_CACHE_GLOBAL);
    return unwinder;
}

size_t unwinder_run(struct unwinder *unwinder, const struct unwind_input *input,
                    uint64_t addresses[UNWIND_MAX_FRAMES]) {
    unw_cursor_t cursor;
    unwinder->input = input;
    unwinder->stack_start = input->registers.values[REGISTER_STACK_POINTER];
    if (unw_init_remote(&cursor, unwinder->space, unwinder) < 0)
        return 0;
    /* A return address points behind its call; where a signal struck is no return address. */
    bool exact = true;
    for (size_t depth = 0; depth < UNWIND_MAX_FRAMES; depth++) {
        unw_word_t ip, sp;
        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0)
            return 0;
        if (ip == 0 && depth > 0)
            return depth;
        bool trampoline = unw_is_signal_frame(&cursor) > 0;
        const struct mapping *mapping = modules_find(unwinder->modules, ip);
        if (!mapping || !mapping->executable)
            return 0;
        addresses[depth] = exact || trampoline ? ip : ip - 1;
        exact = trampoline;
        unwinder->frame_ip = addresses[depth];
        unwinder->frame_sp = sp;
        int status = unw_step(&cursor);
        if (status <= 0)
            return status == 0 ? depth + 1 : 0;
    }
    return 0;
}

void unwinder_forget(struct unwinder *unwinder) {
    unw_flush_cache(unwinder->space, 0, 0); /* all of it */
}

void unwinder_free(struct unwinder *unwinder) {
    unw_destroy_addr_space(unwinder->space);
    free(unwinder);
}
