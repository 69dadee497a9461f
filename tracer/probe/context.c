/* Call chains.
 *
 * A chain not in the thread's cache is unwound with libgcc's _Unwind_Backtrace. Not libunwind: from
 * GCC 12 and glibc 2.35 on libgcc finds unwind tables with _dl_find_object, which takes no lock,
 * so a call made under the loader's lock, in a signal handler or in an allocator cannot deadlock or
 * recurse. libgcc is linked statically, whatever the program has.
 *
 * It is then looked up in a table shared by all threads: open addressing, entries never change or
 * go away, a slot is taken by compare-and-swap. The chains themselves are in PREFIX.contexts. */
#include "tracer/probe/inside.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

#define MAX_CONTEXTS (1u << 16)
#define TABLE_SLOTS  (2 * MAX_CONTEXTS)
#define FIRST_BYTES  (16u << 10) /* of PREFIX.contexts */
#define MAX_BYTES    (MAX_CONTEXTS * sizeof(struct raw_context))
#define MAX_MODULES  512
#define START_BYTES  64 /* more than the size of _start */

struct module {
    uint64_t low, high; /* high is written last */
};

static struct {
    struct raw_contexts *file;
    uint64_t reserved_bytes;            /* of the file; beyond it the mapping must not be touched */
    uint32_t *table;                    /* index + 1 of entries; 0 = free */
    struct module modules[MAX_MODULES]; /* whose lines are in PREFIX.maps */
    uint32_t n_modules;
    struct module own, libc, start;
} contexts;

/* ---- the table of known chains ---- */

static bool grow(uint64_t bytes) {
    char path[FILE_PATH_MAX];
    if (bytes > MAX_BYTES || !file_name(path, probe_process.prefix, ".contexts", -1, ""))
        return false;
    int file = file_open(path, O_RDWR);
    bool reserved = file >= 0 && file_reserve(file, 0, bytes);
    if (file >= 0)
        file_close(file);
    uint64_t seen = __atomic_load_n(&contexts.reserved_bytes, __ATOMIC_ACQUIRE);
    while (reserved && seen < bytes)
        if (__atomic_compare_exchange_n(&contexts.reserved_bytes, &seen, bytes, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            break;
    return reserved;
}

/* A fresh entry of the file, or TRACE_NO_CONTEXT. */
static uint32_t new_entry(void) {
    uint32_t index = __atomic_load_n(&contexts.file->count, __ATOMIC_RELAXED);
    do {
        if (index >= MAX_CONTEXTS - 1)
            return TRACE_NO_CONTEXT;
        uint64_t end = sizeof(struct raw_context) * (uint64_t)(index + 2);
        uint64_t reserved = __atomic_load_n(&contexts.reserved_bytes, __ATOMIC_ACQUIRE);
        if (end > reserved && !grow(reserved * 2 < MAX_BYTES ? reserved * 2 : MAX_BYTES))
            return TRACE_NO_CONTEXT;
    } while (!__atomic_compare_exchange_n(&contexts.file->count, &index, index + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return index;
}

static bool same(const struct raw_context *a, const struct raw_context *b) {
    return a->depth == b->depth &&
           memcmp(a->addresses, b->addresses, a->depth * sizeof *a->addresses) == 0;
}

static uint32_t hash(const struct raw_context *chain) {
    uint64_t mixed = chain->depth;
    for (uint32_t i = 0; i < chain->depth; i++) {
        mixed = (mixed ^ chain->addresses[i]) * 0x9e3779b97f4a7c15ull;
        mixed ^= mixed >> 32;
    }
    return (uint32_t)mixed;
}

/* Index of the chain in the contexts file, added when new. */
static uint32_t intern(const struct raw_context *chain, bool *is_new) {
    uint32_t mine = TRACE_NO_CONTEXT;
    *is_new = false;
    for (uint32_t at = hash(chain);; at++) {
        uint32_t *slot = &contexts.table[at % TABLE_SLOTS];
        uint32_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (seen == 0) {
            if (mine == TRACE_NO_CONTEXT) {
                mine = new_entry();
                if (mine == TRACE_NO_CONTEXT) {
                    __atomic_fetch_or(&probe_process.header->flags, RAW_NO_CHAIN, __ATOMIC_RELAXED);
                    return mine;
                }
                struct raw_context *entry = &contexts.file->entries[mine];
                memcpy(entry->addresses, chain->addresses, sizeof entry->addresses);
                __atomic_store_n(&entry->depth, chain->depth, __ATOMIC_RELEASE);
                for (uint32_t i = 0; i < chain->depth; i++)
                    context_cover(chain->addresses[i]);
            }
            if (__atomic_compare_exchange_n(slot, &seen, mine + 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE)) {
                *is_new = true;
                return mine;
            }
        }
        if (same(&contexts.file->entries[seen - 1], chain)) {
            if (mine != TRACE_NO_CONTEXT) /* another thread was faster: ours stays unused */
                __atomic_store_n(&contexts.file->entries[mine].depth, 0, __ATOMIC_RELEASE);
            return seen - 1;
        }
    }
}

const struct raw_context *context_chain(uint32_t context) {
    return context == TRACE_NO_CONTEXT ? NULL : &contexts.file->entries[context];
}

/* ---- which code the maps file covers ---- */

static bool in(const struct module *module, uint64_t address) {
    return address >= module->low && address < module->high;
}

static struct module module_at(uint64_t address) {
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0)
        return (struct module){0, 0};
    return (struct module){(uint64_t)found.dlfo_map_start, (uint64_t)found.dlfo_map_end};
}

/* The module at `address` when it was not noted before, else one of size 0. */
static struct module note_module(uint64_t address) {
    static const struct module none;
    uint32_t n = __atomic_load_n(&contexts.n_modules, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < MAX_MODULES; i++)
        if (in(&contexts.modules[i], address))
            return none;
    struct module module = module_at(address);
    if (module.high == 0)
        return none;
    uint32_t mine = __atomic_fetch_add(&contexts.n_modules, 1, __ATOMIC_ACQ_REL);
    if (mine >= MAX_MODULES)
        return none;
    contexts.modules[mine].low = module.low;
    __atomic_store_n(&contexts.modules[mine].high, module.high, __ATOMIC_RELEASE);
    return module;
}

void context_covered(uint64_t address) {
    note_module(address);
}

/* dlopen is not interposed for this: it looks at its caller to find libraries, and would see us. */
void context_cover(uint64_t address) {
    struct module module = note_module(address);
    if (module.high != 0)
        process_append_maps(module.low, module.high);
}

/* ---- unwinding ---- */

struct walk {
    struct probe_site site;
    struct raw_context chain;
    uint64_t places[RAW_MAX_DEPTH]; /* stack addresses of chain.addresses */
    uint64_t last_cfa;
};

static void keep(struct walk *walk, uint64_t address, uint64_t place) {
    walk->places[walk->chain.depth] = place;
    walk->chain.addresses[walk->chain.depth++] = address;
}

/* Called for each frame, innermost first. libgcc reports a return address together with the CFA of
 * the frame that will return to it: on x86-64 the address lies just below that CFA. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    uint64_t address = _Unwind_GetIP(context);
    uint64_t cfa = _Unwind_GetCFA(context);
    if (cfa < walk->site.cfa || walk->chain.depth == 0) {
        if (cfa == walk->site.cfa && address == walk->site.caller)
            keep(walk, address, cfa - sizeof(uint64_t));
        walk->last_cfa = cfa;
        return _URC_NO_REASON; /* still in the probe library */
    }
    /* Stacks grow down; anything else is not a frame of this stack. */
    if (cfa <= walk->last_cfa || cfa > probe_thread.stack_high || address == 0 ||
        *(const uint64_t *)(cfa - sizeof(uint64_t)) != address)
        return _URC_END_OF_STACK;
    walk->last_cfa = cfa;
    if (!in(&contexts.own, address))
        keep(walk, address, cfa - sizeof(uint64_t));
    return walk->chain.depth < RAW_MAX_DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void unwind(struct walk *walk) {
    bool own_stack =
        walk->site.cfa > probe_thread.stack_low && walk->site.cfa <= probe_thread.stack_high;
    if (own_stack)
        _Unwind_Backtrace(visit, walk);
    /* On a stack we do not know the bounds of (sigaltstack, coroutines) no word may be read. */
    if (walk->chain.depth == 0)
        keep(walk, walk->site.caller, walk->site.cfa - sizeof(uint64_t));
    while (walk->chain.depth > 1) {
        uint64_t outermost = walk->chain.addresses[walk->chain.depth - 1];
        if (!in(&contexts.libc, outermost) && !in(&contexts.start, outermost))
            break;
        walk->chain.addresses[--walk->chain.depth] = 0;
    }
}

static uint64_t home_of(struct probe_site site) {
    return ((site.caller ^ (site.cfa >> 4)) * 0x9e3779b97f4a7c15ull) >> 56;
}

static bool is_chain_of(const struct probe_chain *chain, struct probe_site site) {
    if (chain->caller != site.caller || chain->cfa != site.cfa)
        return false;
    for (uint32_t i = 0; i < chain->n_words; i++)
        if (*(const uint64_t *)(site.cfa + chain->offsets[i]) != chain->words[i])
            return false;
    return true;
}

/* A wrapper around a lock is called from several places in turn, with the stack at the same depth:
 * chains that were pushed out of their place are kept in the places beside it. */
#define WAYS 4

static const struct probe_chain *find_beside(struct probe_site site) {
    for (uint64_t way = 1; way < WAYS; way++) {
        const struct probe_chain *chain = &probe_thread.chains[home_of(site) ^ way];
        if (is_chain_of(chain, site))
            return chain;
    }
    return NULL;
}

static void remember(const struct walk *walk, uint32_t context) {
    uint64_t home = home_of(walk->site);
    struct probe_chain *chain = &probe_thread.chains[home];
    if (chain->caller == walk->site.caller && chain->cfa == walk->site.cfa)
        probe_thread.chains[home ^ (1 + chain->context % (WAYS - 1))] = *chain;
    chain->caller = walk->site.caller;
    chain->cfa = walk->site.cfa;
    chain->context = context;
    chain->n_words = walk->chain.depth - 1;
    for (uint32_t i = 0; i < chain->n_words; i++) {
        chain->words[i] = walk->chain.addresses[i + 1];
        chain->offsets[i] = (uint32_t)(walk->places[i + 1] - walk->site.cfa);
    }
}

uint32_t probe_context_slow(struct probe_site site) {
    const struct probe_chain *known = find_beside(site);
    if (known != NULL)
        return known->context;
    struct file_quiet quiet = quiet_enter();
    uint64_t end = probe_thread.end;
    probe_thread.busy = true;
    probe_thread.end = 0; /* libgcc calls pthread_once: not for us to record */
    struct walk walk = {.site = site};
    unwind(&walk);
    bool is_new;
    uint32_t context = intern(&walk.chain, &is_new);
    if (is_new && looks_concern(&walk.chain))
        probe_thread.look = (uint64_t)context + 1;
    remember(&walk, context);
    probe_thread.end = end;
    probe_thread.busy = false;
    quiet_leave(quiet);
    return context;
}

/* Where a return address would stand: readers look one byte before it. */
uint32_t context_within(uint32_t context, uint64_t function) {
    static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
        uint64_t function;
        uint32_t context, within;
    } last;
    if (last.function == function && last.context == context)
        return last.within;
    struct file_quiet quiet = quiet_enter();
    struct raw_context chain = {.depth = 1, .addresses = {function + 1}};
    if (context != TRACE_NO_CONTEXT) {
        const struct raw_context *outer = &contexts.file->entries[context];
        while (chain.depth < RAW_MAX_DEPTH && chain.depth <= outer->depth) {
            chain.addresses[chain.depth] = outer->addresses[chain.depth - 1];
            chain.depth++;
        }
    }
    bool is_new;
    last.within = intern(&chain, &is_new);
    last.context = context;
    last.function = function;
    quiet_leave(quiet);
    return last.within;
}

/* ---- start ---- */

static void find_landmarks(void) {
    contexts.own = module_at((uint64_t)&probe_context_slow);
    contexts.libc = module_at((uint64_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    contexts.start.low = getauxval(AT_ENTRY);
    contexts.start.high = contexts.start.low + START_BYTES;
}

bool context_start(void) {
    if (contexts.file != NULL) { /* we are a forked child; the file is the parent's */
        file_unmap((uint64_t)contexts.file, MAX_BYTES);
        file_unmap((uint64_t)contexts.table, TABLE_SLOTS * sizeof *contexts.table);
    }
    memset(&contexts, 0, sizeof contexts);
    find_landmarks();
    contexts.table = file_memory(TABLE_SLOTS * sizeof *contexts.table);
    char path[FILE_PATH_MAX];
    if (contexts.table == NULL || !file_name(path, probe_process.prefix, ".contexts", -1, ""))
        return false;
    int file = file_open(path, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    if (file_reserve(file, 0, FIRST_BYTES)) {
        contexts.reserved_bytes = FIRST_BYTES;
        contexts.file = file_map(file, 0, MAX_BYTES);
    }
    file_close(file);
    return contexts.file != NULL;
}
