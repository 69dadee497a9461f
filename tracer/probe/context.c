/* Call chains.
 *
 * A chain not in the thread's cache is found by walking the stack (unwind.c) and looked up in a
 * table in the shared segment: open addressing, entries never change or go away, a slot is taken by
 * compare-and-swap. The program can write there, so nothing in it is believed but by comparison. */
#include "tracer/probe/inside.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#define START_BYTES 64 /* more than the size of _start */
/* Bytes: with less the program may end where without us it would not. The control block and thread
 * variables, some 3 KB, count among them. */
#define LEAST_STACK 4096

struct range {
    uint64_t low, high;
};

static struct {
    uint32_t root; /* of the contexts: the image that loaded this program */
    struct range own, libc, start;
} contexts;

/* ---- the table of known chains ---- */

static bool same(const struct raw_context *a, const struct raw_context *b) {
    return a->depth == b->depth && a->root == b->root &&
           memcmp(a->addresses, b->addresses, a->depth * sizeof *a->addresses) == 0;
}

static uint32_t hash(const struct raw_context *chain) {
    uint64_t mixed = chain->depth ^ (uint64_t)chain->root << 32;
    for (uint32_t i = 0; i < chain->depth; i++) {
        mixed = (mixed ^ chain->addresses[i]) * 0x9e3779b97f4a7c15ull;
        mixed ^= mixed >> 32;
    }
    return (uint32_t)mixed;
}

/* A fresh entry with this chain, or TRACE_NO_CONTEXT. */
static uint32_t new_entry(const struct raw_context *chain) {
    uint32_t index = __atomic_load_n(&probe_segment->n_contexts, __ATOMIC_RELAXED);
    do
        if (index >= RAW_MAX_CONTEXTS)
            return TRACE_NO_CONTEXT;
    while (!__atomic_compare_exchange_n(&probe_segment->n_contexts, &index, index + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    struct raw_context *entry = &probe_segment->contexts[index];
    entry->root = chain->root;
    memcpy(entry->addresses, chain->addresses, sizeof entry->addresses);
    __atomic_store_n(&entry->depth, chain->depth, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < chain->depth; i++)
        modules_note(chain->addresses[i]);
    return index;
}

/* Index of the chain in the table, added when new. */
static uint32_t intern(const struct raw_context *chain, bool *is_new) {
    uint32_t mine = TRACE_NO_CONTEXT;
    uint32_t at = hash(chain);
    *is_new = false;
    for (uint32_t tries = 0; tries < RAW_CONTEXT_SLOTS; tries++, at++) {
        uint32_t *slot = &probe_segment->context_slots[at % RAW_CONTEXT_SLOTS];
        uint32_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (seen == 0) {
            if (mine == TRACE_NO_CONTEXT)
                mine = new_entry(chain);
            if (mine == TRACE_NO_CONTEXT)
                break;
            if (__atomic_compare_exchange_n(slot, &seen, mine + 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE)) {
                *is_new = true;
                return mine;
            }
        }
        if (seen <= RAW_MAX_CONTEXTS && same(&probe_segment->contexts[seen - 1], chain)) {
            if (mine != TRACE_NO_CONTEXT) /* another thread was faster: ours stays unused */
                __atomic_store_n(&probe_segment->contexts[mine].depth, 0, __ATOMIC_RELEASE);
            return seen - 1;
        }
    }
    __atomic_fetch_or(&probe_process.image->flags, RAW_NO_CHAIN, __ATOMIC_RELAXED);
    return TRACE_NO_CONTEXT;
}

const struct raw_context *context_chain(uint32_t context) {
    return context < RAW_MAX_CONTEXTS ? &probe_segment->contexts[context] : NULL;
}

/* ---- unwinding ---- */

static bool in(const struct range *range, uint64_t address) {
    return address >= range->low && address < range->high;
}

/* Keeps of the frames those from the call on, but for ours. Returns how many, moved to the front.
 */
static size_t keep_frames(struct unwind_frame *frames, size_t n, struct probe_site site) {
    size_t first = 0, kept = 0;
    while (first < n && frames[first].place != site.cfa - sizeof(uint64_t))
        first++;
    for (size_t i = first; i < n && kept < RAW_MAX_DEPTH; i++)
        if (i == first || !in(&contexts.own, frames[i].address))
            frames[kept++] = frames[i];
    return kept;
}

/* What lies below main and the start routine is the same for all. */
static size_t cut_start(const struct unwind_frame *frames, size_t n) {
    while (n > 1 && (in(&contexts.libc, frames[n - 1].address) ||
                     in(&contexts.start, frames[n - 1].address)))
        n--;
    return n;
}

/* On a stack that we do not know the bounds of (sigaltstack, coroutines) no word may be read. */
static size_t walk(struct probe_cache *cache, struct probe_site site) {
    struct unwind_registers here;
    size_t n = 0;
    if (site.cfa > probe_thread.stack_low && site.cfa <= probe_thread.stack_high) {
        UNWIND_HERE(&here);
        n = unwind_walk(&cache->unwind, &here, probe_thread.stack_high, cache->frames,
                        PROBE_MAX_FRAMES);
        n = cut_start(cache->frames, keep_frames(cache->frames, n, site));
    }
    if (n == 0 || cache->frames[0].address != site.caller) {
        cache->frames[0] = (struct unwind_frame){site.caller, site.cfa - sizeof(uint64_t)};
        n = 1;
    }
    return n;
}

/* A wrapper around a lock is called from several places in turn, with the stack at the same depth:
 * chains that were pushed out of their place are kept in the places beside it. */
#define WAYS 4

static const struct probe_chain *find_beside(struct probe_site site) {
    for (uint64_t way = 1; way < WAYS; way++) {
        const struct probe_chain *chain = &probe_thread.chains[probe_home(site) ^ way];
        if (chain->caller == site.caller && chain->cfa == site.cfa &&
            probe_chain_stands(chain, site))
            return chain;
    }
    return NULL;
}

static struct probe_chain *use_chain(struct probe_cache *cache, uint64_t place) {
    cache->used[place / RAW_WORD_BITS] |= 1ull << place % RAW_WORD_BITS;
    return &cache->chains[place];
}

/* Without a place in the table there is nothing to compare with, and the chain is taken for another
 * one that is called from the same place at the same depth and has none either. */
static void remember(struct probe_cache *cache, struct probe_site site, size_t n,
                     uint32_t context) {
    uint64_t home = probe_home(site);
    struct probe_chain *chain = use_chain(cache, home);
    if (chain->caller == site.caller && chain->cfa == site.cfa)
        *use_chain(cache, home ^ (1 + chain->context % (WAYS - 1))) = *chain;
    chain->caller = 0; /* a signal handler must not take half of it for a chain */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    chain->cfa = site.cfa;
    chain->context = context;
    chain->n_words = context == TRACE_NO_CONTEXT ? 0 : (uint32_t)n - 1;
    for (uint32_t i = 0; i < chain->n_words; i++)
        chain->offsets[i] = (uint32_t)(cache->frames[i + 1].place - site.cfa);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    chain->caller = site.caller;
}

static uint32_t find(struct probe_cache *cache, struct probe_site site) {
    size_t n = walk(cache, site);
    struct raw_context *chain = &cache->chain;
    *chain = (struct raw_context){.depth = (uint32_t)n, .root = contexts.root};
    for (size_t i = 0; i < n; i++)
        chain->addresses[i] = cache->frames[i].address;
    bool is_new;
    uint32_t context = intern(chain, &is_new);
    if (is_new && looks_concern(chain))
        probe_thread.look = (uint64_t)context + 1;
    remember(cache, site, n, context);
    return context;
}

uint32_t probe_context_slow(struct probe_site site) {
    const struct probe_chain *known = find_beside(site);
    if (known != NULL)
        return known->context;
    struct probe_cache *cache = buffer_cache();
    uint64_t stack_left = (uint64_t)__builtin_frame_address(0) - probe_thread.stack_low;
    if (cache == NULL || !probe_is_awake() || probe_is_inside(probe_thread.walking) ||
        stack_left < LEAST_STACK)
        return TRACE_NO_CONTEXT;
    probe_thread.walking = (uint64_t)__builtin_frame_address(0);
    uint32_t context = find(cache, site);
    probe_thread.walking = 0;
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
    struct raw_context chain = {.depth = 1, .root = contexts.root, .addresses = {function + 1}};
    const struct raw_context *outer = context_chain(context);
    while (outer != NULL && chain.depth < RAW_MAX_DEPTH && chain.depth <= outer->depth) {
        chain.addresses[chain.depth] = outer->addresses[chain.depth - 1];
        chain.depth++;
    }
    bool is_new;
    last.within = intern(&chain, &is_new);
    last.context = context;
    last.function = function;
    return last.within;
}

/* ---- start ---- */

static struct range object_at(uint64_t address) {
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0)
        return (struct range){0, 0};
    return (struct range){(uint64_t)found.dlfo_map_start, (uint64_t)found.dlfo_map_end};
}

void context_start(void) {
    contexts.root = probe_process.image_number;
    contexts.own = object_at((uint64_t)&probe_context_slow);
    contexts.libc = object_at((uint64_t)&getauxval); /* it comes from nowhere else */
    contexts.start.low = getauxval(AT_ENTRY);
    contexts.start.high = contexts.start.low + START_BYTES;
}
