/* Putting wraps in place. */
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tracer/probe/inside.h"
#include "tracer/probe/memory.h"
#include "tracer/probe/wrap_record.h"

#define STUB_BYTES  96
#define PAGE        4096ull
#define REACH       (1ull << 30) /* where stubs may be, seen from the module: well within a jump */
#define SEARCH_STEP (1ull << 20)

struct wrap *wraps;

/* The entry points that the stubs lead to. */
extern void wrap_enter(void) __attribute__((visibility("hidden")));

/* ---- reading what to wrap ---- */

struct plan {
    struct raw_wrap *items; /* shared with the collector */
    size_t count;
};

static struct plan open_plan(const char *directory) {
    size_t bytes;
    struct plan plan = {.items = memory_file(directory, RAW_WRAPS, true, &bytes)};
    plan.count = bytes / sizeof *plan.items;
    return plan;
}

static struct wrap make_wrap(const struct raw_wrap *raw) {
    return (struct wrap){.api = raw->api,
                         .object_source = raw->object_source,
                         .object_number = raw->object_number,
                         .amount_source = raw->amount_source,
                         .amount_number = raw->amount_number,
                         .fails = raw->fails,
                         .quiet = user_role_hides((enum api)raw->api),
                         .flags = (uint16_t)user_role_flags((enum api)raw->api, raw->spins)};
}

/* ---- modules ---- */

struct module {
    const char *path;
    uint64_t base, low, high;
    char *stubs; /* room for this module's, within reach of it */
    size_t n_stubs;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct module *module = context;
    if (!module_is(info->dlpi_name, module->path))
        return 0;
    module->base = info->dlpi_addr;
    module->low = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uint64_t low = (module->base + segment->p_vaddr) & ~(PAGE - 1);
        uint64_t high = module->base + segment->p_vaddr + segment->p_memsz;
        module->low = low < module->low ? low : module->low;
        module->high = high > module->high ? high : module->high;
    }
    return 1;
}

static char *map_at(uint64_t address, size_t bytes) {
    void *place = mmap((void *)address, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED)
        return NULL;
    if ((uint64_t)place == address)
        return place;
    munmap(place, bytes); /* an old kernel took the address for a wish */
    return NULL;
}

/* Memory for code within a jump's reach of the module. */
static bool place_stubs(struct module *module, size_t n) {
    size_t bytes = (n * STUB_BYTES + PAGE - 1) & ~(PAGE - 1);
    for (uint64_t distance = SEARCH_STEP; !module->stubs && distance < REACH;
         distance += SEARCH_STEP) {
        if (module->low > distance + bytes)
            module->stubs = map_at((module->low - distance - bytes) & ~(PAGE - 1), bytes);
        if (!module->stubs)
            module->stubs = map_at((module->high + distance) & ~(PAGE - 1), bytes);
    }
    return module->stubs != NULL;
}

/* ---- code ---- */

static char *put_bytes(char *at, const void *bytes, size_t n) {
    return (char *)memcpy(at, bytes, n) + n;
}

/* jmp *0(%rip), and the address behind it */
static char *put_jump(char *at, uint64_t target) {
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    return put_bytes(put_bytes(at, jump, sizeof jump), &target, sizeof target);
}

/* Number into r11, on to wrap_enter; behind it the function's own start and the way back. False:
 * something it refers to is out of reach from here. */
static bool write_stub(char *stub, uint32_t number, const struct raw_wrap *raw, uint64_t address,
                       uint64_t *real) {
    static const uint8_t load_r11[] = {0x41, 0xbb};
    char *at = put_bytes(put_bytes(stub, load_r11, sizeof load_r11), &number, sizeof number);
    at = put_jump(at, (uint64_t)&wrap_enter);
    char *moved = at;
    at = put_bytes(at, raw->bytes, raw->n_bytes);
    for (int i = 0; i < raw->n_fixups; i++) {
        int32_t distance;
        memcpy(&distance, raw->bytes + raw->fixups[i], sizeof distance);
        int64_t target = (int64_t)(address + raw->ends[i]) + distance;
        int64_t anew = target - (int64_t)((uint64_t)moved + raw->ends[i]);
        if (anew != (int32_t)anew)
            return false;
        distance = (int32_t)anew;
        memcpy(moved + raw->fixups[i], &distance, sizeof distance);
    }
    put_jump(at, address + raw->n_bytes);
    *real = (uint64_t)moved;
    return true;
}

/* Puts a jump to `stub` in the place of the function's first instructions. */
static bool write_entry(uint64_t address, const char *stub, const struct raw_wrap *raw) {
    uint64_t first = address & ~(PAGE - 1);
    size_t bytes = ((address + raw->n_bytes + PAGE - 1) & ~(PAGE - 1)) - first;
    uint8_t jump[RAW_WRAP_BYTES];
    memset(jump, 0xcc, sizeof jump);
    int32_t distance = (int32_t)((uint64_t)stub - (address + RAW_WRAP_JUMP_BYTES));
    jump[0] = 0xe9;
    memcpy(jump + 1, &distance, sizeof distance);
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    memcpy((void *)address, jump, raw->n_bytes);
    mprotect((void *)first, bytes, PROT_READ | PROT_EXEC);
    return true;
}

static enum raw_wrap_state wrap_entry(struct module *module, uint32_t number,
                                      const struct raw_wrap *raw) {
    uint64_t address = module->base + raw->address;
    if (address < module->low || address + raw->n_bytes > module->high ||
        memcmp((const void *)address, raw->bytes, raw->n_bytes) != 0)
        return RAW_WRAP_CHANGED;
    if (module->stubs == NULL && !place_stubs(module, module->n_stubs))
        return RAW_WRAP_REFUSED;
    char *stub = module->stubs + STUB_BYTES * --module->n_stubs;
    if (!write_stub(stub, number, raw, address, &wraps[number].real))
        return RAW_WRAP_REFUSED;
    return RAW_WRAP_DONE;
}

/* Modules compiled with -finstrument-functions tell us also of the copies that were inlined. */
static int visit_hooked(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const struct plan *plan = context;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].hooked && module_is(info->dlpi_name, plan->items[i].module))
            hooks_add(info->dlpi_addr + plan->items[i].function, (uint32_t)i, &plan->items[i]);
    return 0;
}

static size_t count_in_module(const struct plan *plan, const char *path) {
    size_t n = 0;
    for (size_t i = 0; i < plan->count; i++)
        n += plan->items[i].how == RAW_WRAP_ENTRY && strcmp(plan->items[i].module, path) == 0;
    return n;
}

/* All stubs of a module are made, and made executable, before the first jump leads to one. */
static void wrap_module(const struct plan *plan, const char *path) {
    struct module module = {.path = path, .n_stubs = count_in_module(plan, path)};
    size_t bytes = (module.n_stubs * STUB_BYTES + PAGE - 1) & ~(PAGE - 1);
    char *stub_of[plan->count];
    if (dl_iterate_phdr(visit_module, &module) == 0)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        struct raw_wrap *raw = &plan->items[i];
        stub_of[i] = NULL;
        if (raw->how != RAW_WRAP_ENTRY || strcmp(raw->module, path) != 0)
            continue;
        raw->state = wrap_entry(&module, (uint32_t)i, raw);
        if (raw->state == RAW_WRAP_DONE)
            stub_of[i] = module.stubs + STUB_BYTES * module.n_stubs;
    }
    bool executable =
        module.stubs != NULL && mprotect(module.stubs, bytes, PROT_READ | PROT_EXEC) == 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct raw_wrap *raw = &plan->items[i];
        if (stub_of[i] != NULL &&
            (!executable || !write_entry(module.base + raw->address, stub_of[i], raw)))
            raw->state = RAW_WRAP_REFUSED;
    }
}

/* Code must not change under a thread that runs it. */
static bool are_alone(void) {
    char text[4096];
    memory_read("/proc/self/status", text, sizeof text - 1);
    const char *threads = strstr(text, "Threads:");
    return threads != NULL && strtol(threads + strlen("Threads:"), NULL, 10) == 1;
}

void wrap_install(const char *directory) {
    struct plan plan = open_plan(directory);
    if (plan.count == 0)
        return;
    wraps = memory_private(plan.count * sizeof *wraps);
    bool alone = are_alone();
    for (size_t i = 0; wraps != NULL && i < plan.count; i++)
        wraps[i] = make_wrap(&plan.items[i]);
    for (size_t i = 0; wraps != NULL && i < plan.count; i++) {
        struct raw_wrap *raw = &plan.items[i];
        if (raw->how != RAW_WRAP_ENTRY || raw->state != RAW_WRAP_PENDING)
            continue;
        if (alone)
            wrap_module(&plan, raw->module);
        else
            raw->state = RAW_WRAP_THREADS;
    }
    if (wraps != NULL)
        dl_iterate_phdr(visit_hooked, &plan);
}
