/* What variables hold under a mutex: a limit, a counter. Whoever comes to a call chain for the
 * first time in which a mutex is taken that guards one looks at it, once he has the mutex.
 *
 * The distance between the two is the debug information's word, which may be wrong (other source
 * than that which was compiled). So a variable is read only where there is memory for certain: on
 * the mutex's own page, or in the same module's data, heap or stack. Where a counter changes by
 * what only the program knows, each unlock from then on says what it holds, if it is on the mutex's
 * page. */
#include <link.h>
#include <unistd.h>

#include "tracer/probe/inside.h"
#include "tracer/probe/memory.h"

static struct {
    struct raw_look *items; /* at the addresses at which the modules are loaded */
    size_t count;
    uint64_t heap_low; /* from here on, at least */
} looks;

#define PAGE_BYTES 4096u /* of the smallest page that there is */
#define WATCHED    1024u /* slots; a power of 2 */
#define PROBES     8u    /* slots that a mutex may be in */

/* Of each: the mutex's address, where the variable lies from it and how long it is, in one word,
 * which is stored once and never changes. 0: free. */
static uint64_t watched[WATCHED];
bool probe_watches;

#define OFFSET_BITS 14                /* from -PAGE_BYTES on */
#define PLACE_BITS  (OFFSET_BITS + 2) /* and the length, as a power of 2 */

static uint64_t *watched_slot(uint64_t mutex, unsigned probe) {
    uint64_t hash = (mutex >> 3) * 0x9e3779b97f4a7c15ull;
    return &watched[((hash >> 54) + probe) % WATCHED];
}

static uint64_t page_of(uint64_t address) {
    return address / PAGE_BYTES;
}

/* Has each unlock of the mutex say what the variable holds, if that can be read without a fear. */
static void watch(const struct raw_look *look, uint64_t mutex) {
    uint64_t first = mutex + (uint64_t)look->offset, last = first + look->bytes - 1;
    bool is_power = look->bytes == 1 || look->bytes == 2 || look->bytes == 4 || look->bytes == 8;
    if (!is_power || page_of(first) != page_of(mutex) || page_of(last) != page_of(mutex))
        return;
    uint64_t place = (uint64_t)(look->offset + (int64_t)PAGE_BYTES) << 2;
    uint64_t word = mutex << PLACE_BITS | place | (uint64_t)__builtin_ctz(look->bytes);
    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint64_t free = 0;
        if (__atomic_compare_exchange_n(watched_slot(mutex, probe), &free, word, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            free >> PLACE_BITS == mutex)
            break;
    }
    __atomic_store_n(&probe_watches, true, __ATOMIC_RELAXED);
}

bool probe_look_again(uint64_t mutex, int32_t *value) {
    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint64_t word = __atomic_load_n(watched_slot(mutex, probe), __ATOMIC_RELAXED);
        if (word == 0)
            return false;
        if (word >> PLACE_BITS != mutex)
            continue;
        int64_t offset = (int64_t)(word >> 2 & ((1u << OFFSET_BITS) - 1)) - (int64_t)PAGE_BYTES;
        uint64_t bits = 0; /* little-endian, as the whole library is */
        memcpy(&bits, (const void *)(mutex + (uint64_t)offset), (size_t)1 << (word & 3));
        *value = (int32_t)(uint32_t)bits;
        return true;
    }
    return false;
}

static int place_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const char *other = NULL; /* the last path that is not this module's: they come in groups */
    for (size_t i = 0; i < looks.count; i++) {
        struct raw_look *look = &looks.items[i];
        if (look->module[0] == '\0' || (other != NULL && strcmp(look->module, other) == 0))
            continue;
        other = look->module;
        if (!module_is(info->dlpi_name, look->module))
            continue;
        other = NULL;
        look->low += info->dlpi_addr;
        look->high += info->dlpi_addr;
        look->module[0] = '\0';
    }
    return 0;
}

/* What is in no loaded module must not be found. */
static void drop_unplaced(void) {
    for (size_t i = 0; i < looks.count; i++)
        if (looks.items[i].module[0] != '\0')
            looks.items[i].low = looks.items[i].high = 0;
}

void looks_read(const char *directory) {
    size_t bytes;
    looks.items = memory_file(directory, RAW_LOOKS, false, &bytes);
    looks.count = looks.items == NULL ? 0 : bytes / sizeof *looks.items;
    looks.heap_low = (uint64_t)sbrk(0);
    dl_iterate_phdr(place_module, NULL);
    drop_unplaced();
}

static bool is_in(const struct raw_look *look, const struct raw_context *chain) {
    for (uint32_t i = 0; i < RAW_LOOK_FRAMES && i < chain->depth; i++)
        if (chain->addresses[i] > look->low && chain->addresses[i] <= look->high)
            return true;
    return false;
}

bool looks_concern(const struct raw_context *chain) {
    for (size_t i = 0; i < looks.count; i++)
        if (is_in(&looks.items[i], chain))
            return true;
    return false;
}

/* Is all memory from the mutex to the variable there? libc's sbrk(0) only reads a variable. */
static bool is_there(uint64_t mutex, uint64_t first, uint64_t last) {
    uint64_t low = first < mutex ? first : mutex;
    uint64_t high = last > mutex ? last : mutex;
    return (page_of(low) == page_of(mutex) && page_of(high) == page_of(mutex)) ||
           modules_share_data(low, high) || (low >= looks.heap_low && high < (uint64_t)sbrk(0)) ||
           (low >= (uint64_t)__builtin_frame_address(0) && low > probe_thread.stack_low &&
            high < probe_thread.stack_high);
}

static bool tell_value(uint32_t number, uint64_t mutex) {
    const struct raw_look *look = &looks.items[number];
    uint64_t first = mutex + (uint64_t)look->offset;
    uint64_t bits = 0;
    if (look->bytes > sizeof bits || !is_there(mutex, first, first + look->bytes - 1))
        return false;
    memcpy(&bits, (const void *)first, look->bytes);
    buffer_mark(RAW_MARK_VALUE, clock_after(), bits >> 32, mutex, number, (int32_t)(uint32_t)bits);
    return true;
}

void probe_look(uint32_t context, uint64_t mutex) {
    const struct raw_context *chain = context_chain(context);
    probe_thread.look = 0;
    for (size_t i = 0; chain != NULL && i < looks.count; i++)
        if (is_in(&looks.items[i], chain) && tell_value((uint32_t)i, mutex) &&
            looks.items[i].watched)
            watch(&looks.items[i], mutex);
}
