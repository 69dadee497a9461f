/* The probe library: preloaded into the program, it stands in for the functions of the catalog and
 * writes a record of each call into memory that the collector shares (tracer/raw.h).
 *
 *   interpose.c  the interposers, made from formats/catalog.def, and variants.def
 *   special.c    those that need thought: variadic ones, threads
 *   context.c    call chains: the cached check, the table of known chains;  unwind.c  finding them
 *   buffer.c     a thread's records: attaching, chunks, what happens when there are none
 *   threads.c    who is who: pthread_t -> index
 *   process.c    start, fork, exec, end; the library's environment
 *   system_calls.c  syscall(2): futexes
 *   gomp.c       OpenMP's library;  glib.c  GLib's locks, queues and pools
 *   wrap_*.c     functions of the program's own that the user named
 *   looks.c      what variables hold under a mutex;  modules.c  which module is which file
 *   hooks.c      the same, inlined, in programs compiled with -finstrument-functions
 *   elf.c        finding functions without the loader's help;  memory.c  memory, at the start
 *
 * Rules on all that runs once the constructor has: no lock, no allocation, no system call, a few
 * hundred bytes of stack, errno untouched, and it may be interrupted by a signal handler that
 * records too. What such a handler does inside a slow path (probe_attach, probe_claim_slow,
 * probe_context_slow) that would need the same slow path is lost and counted.
 *
 * This header is the path that every recorded call takes. */
#ifndef PERSIK_PROBE_PROBE_H
#define PERSIK_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/catalog.h"
#include "formats/trace.h"
#include "processor/x86_64/probe/clock.h"
#include "tracer/raw.h"

#define PROBE_EXPORT __attribute__((visibility("default")))
#define UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define LIKELY(x)    __builtin_expect(!!(x), 1)

/* A call chain seen before, and where on the stack its return addresses lay; what they are is in
 * the table of contexts. */
struct probe_chain {
    uint64_t caller; /* return address of the interposer; 0 = empty */
    uint64_t cfa;    /* stack address just above it */
    uint32_t context;
    uint32_t n_words;                    /* outer return addresses to compare */
    uint32_t offsets[RAW_MAX_DEPTH - 1]; /* where they are: bytes above the cfa */
};

#define PROBE_CHAIN_BITS 7
#define PROBE_CHAINS     (1u << PROBE_CHAIN_BITS) /* per thread, direct-mapped */

enum probe_state {
    THREAD_NEW,
    THREAD_RECORDING,
    THREAD_WAITING, /* has no chunk: tries again with each call */
    THREAD_STOPPED
};

/* Lives in static TLS: reached in one instruction, never allocated. */
struct probe_thread {
    uint64_t cursor; /* address of the next record */
    uint64_t end;    /* of the chunk; 0 = not recording (yet, or any more, or just now) */
    struct probe_chain *chains;
    uint64_t chunk, older; /* addresses; the older one is given away when the next is full, so that
                            * whoever was interrupted while writing to it has long gone on */
    uint64_t chunk_number; /* never the same again, in a forked child neither; 0 = none */
    uint64_t stack_low, stack_high;
    /* A wrapped function that hides what it calls (wrap.h): its frame, return address, and `end`
     * for when it is left. 0 = none. An odd `inside` is a hooked one (hooks.c), which has no frame
     * of ours: the place of the return address. */
    uint64_t inside, inside_caller, inside_end;
    uint64_t end_at_fork; /* `end` and `quiet`, for when the fork is over */
    /* Frames of the slow paths that the thread is in; 0 = none. */
    uint64_t changing; /* chunks */
    uint64_t walking;  /* the stack */
    uint64_t future;   /* word that a recorded wait for one sleeps on; 0 = none */
    uint64_t look; /* context + 1 of a mutex under which there is something to look at; 0 = none */
    uint64_t start_ticks, start_routine; /* until it has been told: of the thread */
    int32_t index, creator;
    uint32_t creation;
    enum probe_state state;
    bool quiet_at_fork;
    bool has_begun; /* RAW_MARK_THREAD is written */
    bool quiet;     /* in a library function that is recorded itself: what it calls is not. `end`
                     * is 0 */
    uint8_t key_rounds;
};

extern _Thread_local struct probe_thread probe_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern struct raw_segment *probe_segment __attribute__((visibility("hidden")));

/* In a page that the kernel empties in a child, also in one that was made without fork and knows
 * nothing of handlers: it has our threads' variables, and must not write where they point. */
struct probe_page {
    _Alignas(4096) uint32_t awake;
};
extern struct probe_page probe_page __attribute__((visibility("hidden")));

static inline bool probe_is_awake(void) {
    return LIKELY(__atomic_load_n(&probe_page.awake, __ATOMIC_RELAXED) != 0);
}

/* Is the thread inside what began at this frame? siglongjmp from a signal handler leaves without a
 * word: then the stack is above it. On a stack other than the thread's own nobody can tell. */
static inline bool probe_is_inside(uint64_t frame) {
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return frame != 0 &&
           !(here >= frame && frame > probe_thread.stack_low && here < probe_thread.stack_high);
}

/* Where an interposer was called from. */
struct probe_site {
    uint64_t caller, cfa;
};

#define PROBE_SITE                                                                                 \
    ((struct probe_site){(uint64_t)__builtin_return_address(0), (uint64_t)__builtin_dwarf_cfa()})

/* False: do not record this call, just make it. The real functions are known afterwards. */
bool probe_attach(void);
struct raw_record *probe_claim_slow(void);
uint32_t probe_context_slow(struct probe_site site);
/* Looks what is to be looked at in this context, of whose mutex the thread is the owner now. */
void probe_look(uint32_t context, uint64_t mutex);

/* Is there a mutex under which a variable is looked at each time that it is given back? */
extern bool probe_watches __attribute__((visibility("hidden")));
bool probe_look_again(uint64_t mutex, int32_t *value);

/* What that variable holds, in low half, where the calling thread has this mutex. False: there is
 * none. */
static inline bool probe_watched(uint64_t mutex, int32_t *value) {
    return UNLIKELY(__atomic_load_n(&probe_watches, __ATOMIC_RELAXED)) &&
           probe_look_again(mutex, value);
}

static inline bool probe_recording(void) {
    return LIKELY(probe_thread.end != 0 && probe_is_awake()) || probe_attach();
}

/* Where a chain has its place. */
static inline uint64_t probe_home(struct probe_site site) {
    uint64_t hash = (site.caller ^ (site.cfa >> 4)) * 0x9e3779b97f4a7c15ull;
    return hash >> (64 - PROBE_CHAIN_BITS);
}

/* Do the chain's return addresses lie where they did? */
static inline bool probe_chain_stands(const struct probe_chain *chain, struct probe_site site) {
    uint32_t n = chain->n_words;
    if (n == 0)
        return true;
    const uint64_t *words = probe_segment->contexts[chain->context].addresses + 1;
    for (uint32_t i = 0; i < n; i++)
        if (UNLIKELY(*(const uint64_t *)(site.cfa + chain->offsets[i]) != words[i]))
            return false;
    return true;
}

/* The context of a call. A hit has compared every return address of the chain with the one on the
 * stack now, so two chains are never taken for each other because they share the innermost
 * call and the depth of the stack. */
static inline uint32_t probe_context(struct probe_site site) {
    const struct probe_chain *chain = &probe_thread.chains[probe_home(site)];
    if (UNLIKELY(chain->caller != site.caller || chain->cfa != site.cfa ||
                 !probe_chain_stands(chain, site)))
        return probe_context_slow(site);
    return chain->context;
}

/* In an interposer: the context of this call of it. */
#define PROBE_CONTEXT probe_context(PROBE_SITE)

/* The thread's next record, or NULL (counted as lost). One instruction moves the cursor, so that a
 * signal handler gets a record of its own wherever it comes in between; no other thread moves it,
 * so the instruction needs no lock prefix. */
static inline struct raw_record *probe_claim(void) {
    uint64_t slot = sizeof(struct raw_record);
    __asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(probe_thread.cursor) : : "cc");
    if (LIKELY(slot < probe_thread.end))
        return (struct raw_record *)slot;
    return probe_claim_slow();
}

/* A record's words are stored one by one: built field by field on the stack it would be read back
 * as a whole, which waits for the stores. */
static inline void probe_put(struct raw_record *record, uint64_t start, uint64_t duration,
                             unsigned api, uint64_t object, unsigned flags, uint32_t context,
                             int32_t value) {
    typedef uint64_t __attribute__((may_alias)) word;
    volatile word *words = (volatile word *)record;
    words[1] = (duration & RAW_NO_OBJECT) | (uint64_t)api << RAW_FIELD_BITS;
    words[2] = (object & RAW_NO_OBJECT) | (uint64_t)flags << RAW_FIELD_BITS;
    words[3] = context | (uint64_t)(uint32_t)value << 32;
    words[0] = start; /* a record counts from its start on */
}

static inline void probe_store(struct raw_record *record, uint64_t ticks, enum api api,
                               uint64_t object, unsigned flags, uint32_t context, int32_t value) {
    probe_put(record, ticks, 0, api, object, flags, context, value);
}

/* Records a call that did not wait. */
static inline void probe_stamp(uint32_t context, uint64_t ticks, enum api api, uint64_t object,
                               unsigned flags, int32_t value) {
    struct raw_record *record = probe_claim();
    if (LIKELY(record != NULL))
        probe_store(record, ticks, api, object, flags, context, value);
}

/* A timed call under way. Its record is already in place, marked unfinished, should the call never
 * return. */
struct probe_call {
    struct raw_record *record; /* NULL: lost */
    uint64_t start;
    uint64_t object;
    uint64_t chunk_number;
};

/* What is known of a call once it returns, and its record was not the thread's any more. */
void probe_end_late(const struct probe_call *call, uint64_t object, uint64_t duration,
                    unsigned flags, int32_t value);

static inline struct probe_call probe_begin(uint32_t context, enum api api, uint64_t object,
                                            unsigned flags) {
    struct probe_call call = {.record = probe_claim()};
    if (UNLIKELY(call.record == NULL))
        return call;
    call.chunk_number = probe_thread.chunk_number;
    call.object = object;
    call.start = clock_before();
    probe_store(call.record, call.start, api, object, flags | TRACE_UNFINISHED, context, 0);
    return call;
}

/* Is the record still where the call began it, and ours to write to? */
static inline bool probe_holds(const struct probe_call *call) {
    return LIKELY(call->chunk_number == probe_thread.chunk_number && probe_is_awake());
}

static inline void probe_end(const struct probe_call *call, unsigned flags, int32_t value) {
    if (UNLIKELY(call->record == NULL))
        return;
    uint64_t duration = clock_after() - call->start;
    /* Calls made meanwhile (signal handlers, a once routine) may have filled the chunk. */
    if (UNLIKELY(!probe_holds(call))) {
        probe_end_late(call, call->object, duration, flags, value);
        return;
    }
    call->record->value = value;
    call->record->duration = duration;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    call->record->flags = (uint16_t)flags;
}

#endif
