/* Which files hold the code of this process: told to the collector, which has to find names and
 * lines when the process is gone. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/probe/inside.h"

#define MAX_NOTED 512
#define PAGE      4096ull

/* Noted ones; `high` is written last. */
static struct noted {
    uint64_t low, high;
    uint64_t data_low, data_high; /* what it may write to; 0: not known */
} noted[MAX_NOTED];
static uint32_t n_noted;

static struct noted *find(uint64_t address) {
    uint32_t n = __atomic_load_n(&n_noted, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < MAX_NOTED; i++)
        if (address >= noted[i].low && address < noted[i].high)
            return &noted[i];
    return NULL;
}

static bool note(struct noted module) {
    uint32_t mine = __atomic_fetch_add(&n_noted, 1, __ATOMIC_ACQ_REL);
    if (mine >= MAX_NOTED)
        return false;
    noted[mine].low = module.low;
    noted[mine].data_low = module.data_low;
    noted[mine].data_high = module.data_high;
    __atomic_store_n(&noted[mine].high, module.high, __ATOMIC_RELEASE);
    return true;
}

static void tell(const struct noted *module, const char *path) {
    uint32_t number = __atomic_load_n(&probe_segment->n_modules, __ATOMIC_RELAXED);
    do
        if (number >= RAW_MAX_MODULES)
            return;
    while (!__atomic_compare_exchange_n(&probe_segment->n_modules, &number, number + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    struct raw_module *entry = &probe_segment->modules[number];
    size_t length = strlen(path);
    if (length < sizeof entry->path)
        memcpy(entry->path, path, length + 1);
    entry->low = module->low;
    entry->root = probe_process.image->root;
    __atomic_store_n(&entry->high, module->high, __ATOMIC_RELEASE);
}

void modules_note(uint64_t address) {
    struct dl_find_object found;
    if (find(address) != NULL || _dl_find_object((void *)address, &found) != 0)
        return;
    struct noted module = {.low = (uint64_t)found.dlfo_map_start,
                           .high = (uint64_t)found.dlfo_map_end};
    if (note(module))
        tell(&module, found.dlfo_link_map->l_name);
}

bool modules_share_data(uint64_t first, uint64_t last) {
    for (uint32_t i = 0; i < n_noted && i < MAX_NOTED; i++)
        if (first >= noted[i].data_low && first < noted[i].data_high)
            return last >= noted[i].data_low && last < noted[i].data_high;
    return false;
}

/* ---- those that are there at the start ---- */

static void add_segment(struct noted *module, uint64_t base, const ElfW(Phdr) * segment) {
    uint64_t low = (base + segment->p_vaddr) & ~(PAGE - 1);
    uint64_t end = base + segment->p_vaddr + segment->p_memsz;
    module->low = module->low == 0 || low < module->low ? low : module->low;
    module->high = end > module->high ? end : module->high;
    if (segment->p_flags & PF_W) {
        module->data_low = base + segment->p_vaddr;
        module->data_high = end;
    }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *program) {
    (void)size;
    struct noted module = {0};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            add_segment(&module, info->dlpi_addr, &info->dlpi_phdr[i]);
    module.high = (module.high + PAGE - 1) & ~(PAGE - 1);
    const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
    if (module.high != 0 && note(module))
        tell(&module, *path == '\0' ? (const char *)program : path);
    return 0;
}

void modules_start(void) {
    char program[sizeof probe_segment->modules->path];
    long length = syscall(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    dl_iterate_phdr(add_module, program);
}

bool module_is(const char *name, const char *path) {
    char resolved[4096];
    if (name == NULL || *name == '\0')
        name = "/proc/self/exe";
    return realpath(name, resolved) != NULL && strcmp(resolved, path) == 0;
}
