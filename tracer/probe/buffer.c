/* A thread's records.
 *
 * A thread takes a chunk of the shared segment, fills it, and gives it to the collector, all by one
 * atomic operation each. Nobody waits: where no chunk is free, records are lost and counted. A
 * thread that ends leaves a chunk with room in it to the next one. */
#include "tracer/probe/inside.h"
#include "tracer/probe/memory.h"
#include "tracer/probe/wrap.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_BYTES  sizeof(struct raw_record[RAW_CHUNK_RECORDS])
#define SPARE_CHUNKS 16
#define LEAST_SPARE  (CHUNK_BYTES / 4) /* room for which a chunk is worth keeping */
#define N_CACHES     512               /* calls of further threads have no chain */
#define CACHE_WORDS  (N_CACHES / RAW_WORD_BITS)

_Thread_local struct probe_thread probe_thread;
struct probe_page probe_page;
struct raw_segment *probe_segment;

int32_t buffer_new_index(void) {
    return (int32_t)__atomic_fetch_add(&probe_process.image->n_threads, 1, __ATOMIC_RELAXED);
}

/* ---- caches of call chains ---- */

/* What is in a cache of a thread that has ended tells of a stack that may be gone. */
static struct probe_cache *caches;
static uint64_t free_caches[CACHE_WORDS];
static struct probe_cache no_cache; /* never written to */

static void empty_cache(struct probe_cache *cache) {
    for (uint32_t word = 0; word < PROBE_CHAINS / RAW_WORD_BITS; word++) {
        for (uint64_t left = cache->used[word]; left != 0; left &= left - 1)
            cache->chains[word * RAW_WORD_BITS + (uint32_t)__builtin_ctzll(left)].caller = 0;
        cache->used[word] = 0;
    }
}

/* Index of a bit that was set and is cleared now; -1: there is none. */
static int take_bit(uint64_t *words, uint32_t n_words) {
    for (uint32_t word = 0; word < n_words; word++) {
        uint64_t seen = __atomic_load_n(&words[word], __ATOMIC_RELAXED);
        while (seen != 0) {
            uint64_t bit = seen & -seen;
            seen = __atomic_fetch_and(&words[word], ~bit, __ATOMIC_ACQUIRE);
            if ((seen & bit) != 0)
                return (int)(word * RAW_WORD_BITS) + __builtin_ctzll(bit);
        }
    }
    return -1;
}

static void set_bit(uint64_t *words, uint64_t index) {
    __atomic_fetch_or(&words[index / RAW_WORD_BITS], 1ull << index % RAW_WORD_BITS,
                      __ATOMIC_RELEASE);
}

static struct probe_cache *take_cache(void) {
    int index = take_bit(free_caches, CACHE_WORDS);
    if (index < 0)
        return &no_cache;
    empty_cache(&caches[index]);
    return &caches[index];
}

static void give_cache_back(struct probe_chain *chains) {
    struct probe_cache *cache = (struct probe_cache *)chains;
    if (cache != NULL && cache != &no_cache)
        set_bit(free_caches, (uint64_t)(cache - caches));
}

struct probe_cache *buffer_cache(void) {
    struct probe_cache *cache = (struct probe_cache *)probe_thread.chains;
    return cache == &no_cache ? NULL : cache;
}

bool buffer_start(void) {
    caches = memory_private(N_CACHES * sizeof *caches);
    memset(free_caches, 0xff, sizeof free_caches);
    return caches != NULL;
}

/* ---- chunks ---- */

/* Where to go on in chunks of threads that have ended. */
static uint64_t spare_chunks[SPARE_CHUNKS];

static void give(uint64_t chunk) {
    if (chunk != 0)
        set_bit(probe_segment->full, (chunk - (uint64_t)probe_segment->chunks) / CHUNK_BYTES);
}

static void give_away(uint64_t *chunk) {
    uint64_t given = *chunk;
    *chunk = 0;
    give(given);
}

static uint64_t take_chunk(void) {
    int index = take_bit(probe_segment->free, probe_process.n_chunk_words);
    return index < 0 ? 0 : (uint64_t)memset(probe_segment->chunks[index], 0, CHUNK_BYTES);
}

/* Where to write in a chunk that another thread has left; 0: there is none. */
static uint64_t take_spare(void) {
    for (size_t i = 0; i < SPARE_CHUNKS; i++) {
        if (__atomic_load_n(&spare_chunks[i], __ATOMIC_RELAXED) == 0)
            continue;
        uint64_t cursor = __atomic_exchange_n(&spare_chunks[i], 0, __ATOMIC_ACQ_REL);
        if (cursor != 0)
            return cursor;
    }
    return 0;
}

static void leave_chunk(uint64_t chunk, uint64_t cursor) {
    for (size_t i = 0; i < SPARE_CHUNKS && cursor + LEAST_SPARE <= chunk + CHUNK_BYTES; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&spare_chunks[i], &none, cursor, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return;
    }
    give(chunk);
}

void buffer_mark(enum raw_mark mark, uint64_t start, uint64_t duration, uint64_t object,
                 uint32_t context, int32_t value) {
    struct raw_record *record = probe_thread.end == 0 ? NULL : probe_claim();
    if (record != NULL)
        probe_put(record, start, duration, mark, object, 0, context, value);
}

/* Says whose records follow, and, once, who that is. There is room for these. Records of a signal
 * handler must not come before: nobody would know whose they are. So the thread does not record
 * until both are there. */
static void begin_chunk(uint64_t cursor) {
    struct raw_record *next = (struct raw_record *)cursor;
    probe_thread.chunk = cursor & ~(CHUNK_BYTES - 1);
    probe_thread.chunk_number++;
    probe_put(next++, clock_before(), 0, RAW_MARK_OWNER, 0, 0, probe_process.image_number,
              probe_thread.index);
    if (!probe_thread.has_begun)
        probe_put(next++, probe_thread.start_ticks, (uint32_t)buffer_tid(), RAW_MARK_THREAD,
                  probe_thread.start_routine, 0, probe_thread.creation, probe_thread.creator);
    probe_thread.has_begun = true;
    probe_thread.cursor = (uint64_t)next;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    probe_thread.end = probe_thread.chunk + CHUNK_BYTES;
}

/* In place of the full chunk; false: there is none. */
static bool next_chunk(void) {
    probe_thread.end = 0;
    give_away(&probe_thread.older);
    probe_thread.older = probe_thread.chunk;
    probe_thread.chunk = 0;
    uint64_t fresh = take_chunk();
    if (fresh != 0) {
        begin_chunk(fresh);
        return true;
    }
    give_away(&probe_thread.older);
    probe_thread.cursor = 0;
    probe_thread.chunk_number += 2; /* neither of these is ours any more */
    probe_thread.state = THREAD_WAITING;
    __atomic_fetch_or(&probe_process.image->flags, RAW_NO_CHUNK, __ATOMIC_RELAXED);
    return false;
}

struct raw_record *probe_claim_slow(void) {
    if (probe_thread.end == 0 || !probe_is_awake() || probe_is_inside(probe_thread.changing)) {
        process_lost();
        return NULL;
    }
    probe_thread.changing = (uint64_t)__builtin_frame_address(0);
    /* A signal handler may have been here before us. */
    bool has_room = probe_thread.cursor < probe_thread.end || next_chunk();
    probe_thread.changing = 0;
    if (has_room)
        return probe_claim();
    process_lost();
    return NULL;
}

/* The older chunk is still ours to write to; what is in others is said behind their back. */
void probe_end_late(const struct probe_call *call, uint64_t object, uint64_t duration,
                    unsigned flags, int32_t value) {
    bool ours = call->chunk_number >> 32 == probe_thread.chunk_number >> 32;
    if (!ours || !probe_is_awake()) /* begun by the process that forked us */
        return;
    if (call->chunk_number + 1 < probe_thread.chunk_number || probe_thread.older == 0) {
        struct raw_record *record = probe_claim();
        if (record != NULL)
            probe_put(record, call->start, duration, RAW_MARK_LATE, object, flags, 0, value);
        return;
    }
    call->record->value = value;
    call->record->object = object & RAW_NO_OBJECT;
    call->record->duration = duration;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    call->record->flags = (uint16_t)flags;
}

/* ---- beginning ---- */

/* Where libc keeps a thread's number for the kernel; 0: not found. */
static int tid_offset;

void buffer_find_tid(int offset) {
    tid_offset = offset;
}

int32_t buffer_tid(void) {
    if (tid_offset <= 0)
        return (int32_t)syscall(SYS_gettid);
    return *(const int32_t *)((uint64_t)pthread_self() + (uint64_t)tid_offset);
}

/* Where the thread's stack lies. Found without pthread_getattr_np, which allocates: libc keeps the
 * thread's control block, whose address is the handle, at the high end of its stack. */
static void find_stack(uint64_t stack_bytes) {
    if (probe_thread.stack_high != 0)
        return;
    if (pthread_self() == probe_process.main_thread) {
        probe_thread.stack_low = probe_process.main_stack_low;
        probe_thread.stack_high = probe_process.main_stack_high;
        return;
    }
    if (stack_bytes == 0)
        stack_bytes = probe_process.default_stack_bytes;
    probe_thread.stack_high = (uint64_t)pthread_self();
    probe_thread.stack_low = probe_thread.stack_high - stack_bytes;
}

/* Finds the thread a chunk, if there is one. */
static bool begin(void) {
    uint64_t cursor = take_spare();
    if (cursor == 0)
        cursor = take_chunk();
    if (cursor == 0)
        return false;
    probe_thread.state = THREAD_RECORDING;
    begin_chunk(cursor);
    return true;
}

bool buffer_attach(int32_t index, int32_t creator, uint32_t context, uint64_t routine,
                   uint64_t stack_bytes) {
    uint64_t from_ticks = clock_before();
    probe_thread.changing = (uint64_t)__builtin_frame_address(0);
    find_stack(stack_bytes);
    probe_thread.index = index;
    probe_thread.creator = creator;
    probe_thread.creation = context;
    probe_thread.start_routine = routine;
    probe_thread.start_ticks = from_ticks;
    probe_thread.chunk_number = (uint64_t)(probe_image + 1) << 32;
    probe_thread.chains = take_cache()->chains;
    probe_thread.state = THREAD_WAITING;
    bool recording = begin();
    threads_register(pthread_self(), index, false);
    if (probe_process.has_key)
        pthread_setspecific(probe_process.thread_key, &probe_thread);
    uint64_t to_ticks = clock_after();
    buffer_mark(RAW_MARK_ATTACH, from_ticks, to_ticks - from_ticks, 0, 0, 0);
    probe_thread.changing = 0;
    return recording;
}

static bool attach(void) {
    if (process_has_no_clock())
        probe_thread.state = THREAD_STOPPED;
    if (probe_thread.state == THREAD_STOPPED)
        return false;
    if (probe_thread.state == THREAD_NEW)
        return buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0);
    probe_thread.changing = (uint64_t)__builtin_frame_address(0);
    /* A signal handler may have left next_chunk() half done, by siglongjmp. */
    give_away(&probe_thread.older);
    give_away(&probe_thread.chunk);
    probe_thread.chunk_number += 2;
    bool recording = begin();
    probe_thread.changing = 0;
    return recording;
}

bool probe_attach(void) {
    interpose_resolve();
    if (!probe_process.active || !probe_is_awake() || probe_thread.quiet || wrap_is_inside())
        return false;
    if (probe_thread.end != 0) /* the thread has just left such a function by longjmp */
        return true;
    if (!probe_is_inside(probe_thread.changing) && attach())
        return true;
    if (probe_thread.state != THREAD_STOPPED)
        process_lost();
    return false;
}

/* ---- the end ---- */

/* Stacks and call chains stay as they are: a forked child goes on on the stack of the thread that
 * forked, whichever it was. */
void buffer_forget(void) {
    uint64_t stack_low = probe_thread.stack_low;
    uint64_t stack_high = probe_thread.stack_high;
    memset(free_caches, 0xff, sizeof free_caches);
    memset(spare_chunks, 0, sizeof spare_chunks);
    probe_thread = (struct probe_thread){.stack_low = stack_low, .stack_high = stack_high};
}

void buffer_stop(void) {
    probe_thread.inside = 0; /* a wrapped function that was never left must not open it again */
    buffer_mark(RAW_MARK_END, clock_after(), 0, 0, 0, 0);
    probe_thread.changing = (uint64_t)__builtin_frame_address(0);
    probe_thread.end = 0;
    probe_thread.state = THREAD_STOPPED;
    probe_thread.chunk_number += 2; /* what is under way is not completed */
    give_away(&probe_thread.older);
    if (probe_thread.chunk != 0)
        leave_chunk(probe_thread.chunk, probe_thread.cursor);
    probe_thread.chunk = 0;
    give_cache_back(probe_thread.chains);
    probe_thread.chains = no_cache.chains;
    probe_thread.changing = 0;
}

/* Destructor of our thread-specific key. Those of the program may come later and make calls still
 * to be recorded, so we ask for the last round. */
void buffer_thread_ends(void *unused) {
    if (!probe_process.active || !probe_is_awake())
        return;
    if (++probe_thread.key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(probe_process.thread_key, unused);
        return;
    }
    buffer_stop();
}
