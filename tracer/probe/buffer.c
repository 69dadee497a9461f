/* A thread's records.
 *
 * A small window of the thread's file is mapped and used over and over; full, it is copied to the
 * file's end with one write. Measured against mapping the file piece by piece: a page fault for
 * every 128 records cost 17 to 50 ns a record, the copy costs 4 to 6, and the window stays in
 * the processor's cache. The space of the window is reserved before it is mapped, so a store can
 * never meet a full disk, and what is in it survives the program. */
#include "tracer/probe/inside.h"
#include "tracer/probe/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHAIN_BYTES  (PROBE_CHAINS * sizeof(struct probe_chain))
#define MAPPED_BYTES (2 * RAW_WINDOW_BYTES) /* of a thread's file: its head and the window */
#define SPARE_CHAINS 16

_Thread_local struct probe_thread probe_thread;

int32_t buffer_new_index(void) {
    return (int32_t)__atomic_fetch_add(&probe_process.header->n_threads, 1, __ATOMIC_RELAXED);
}

static void count_lost(void) {
    if (probe_thread.header != NULL)
        __atomic_fetch_add(&probe_thread.header->lost, 1, __ATOMIC_RELAXED);
    else
        process_lost();
}

static int open_records(int flags) {
    char path[FILE_PATH_MAX];
    if (!file_name(path, probe_process.prefix, ".t", probe_thread.index, ".records"))
        return -1;
    return file_open(path, flags);
}

/* Ends the recording of this thread. `cause` is an errno, or 0 where a file may not grow. */
static void stop(int cause) {
    if (cause == 0 || cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        __atomic_fetch_or(&probe_process.header->flags, RAW_NO_SPACE, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&probe_process.header->failure, cause, __ATOMIC_RELAXED);
    probe_thread.end = 0;
    probe_thread.state = THREAD_STOPPED;
}

/* Where the records of a window end up in the file. */
static uint64_t copy_offset(uint64_t window_number) {
    return ((window_number & UINT32_MAX) + 2) * RAW_WINDOW_BYTES;
}

static void begin_window(uint64_t number) {
    probe_thread.window_number = number;
    probe_thread.cursor = probe_thread.window;
    probe_thread.end = probe_thread.window + RAW_WINDOW_BYTES;
}

/* The program has no descriptor left, or has changed its user or its root: it may be able to go on
 * later. */
static void lose_window(int cause) {
    __atomic_store_n(&probe_process.header->failure, cause, __ATOMIC_RELAXED);
    __atomic_fetch_add(&probe_thread.header->lost, RAW_WINDOW_BYTES / sizeof(struct raw_record),
                       __ATOMIC_RELAXED);
}

/* Makes room in a full window: copies it to the file's end, or loses it. Where the disk is full it
 * stops recording this thread, and the window stays as it is. */
static void next_window(void) {
    uint64_t offset = copy_offset(probe_thread.window_number);
    void *window = (void *)probe_thread.window;
    probe_thread.end = 0;
    errno = 0;
    int file = open_records(O_RDWR);
    bool copied = file >= 0 && file_reserve(file, offset, RAW_WINDOW_BYTES) &&
                  file_write_at(file, window, RAW_WINDOW_BYTES, offset);
    int cause = errno;
    if (file >= 0)
        file_close(file);
    else
        lose_window(cause);
    if (copied || file < 0) {
        memset(window, 0, RAW_WINDOW_BYTES);
        begin_window(probe_thread.window_number + 1);
    } else {
        stop(cause);
    }
    process_calibrate();
}

struct raw_record *probe_claim_slow(void) {
    if (probe_thread.end == 0 || probe_thread.busy) {
        count_lost();
        return NULL;
    }
    struct file_quiet quiet = quiet_enter();
    probe_thread.busy = true;
    if (probe_thread.cursor >= probe_thread.end) /* else a signal handler was here before us */
        next_window();
    probe_thread.busy = false;
    quiet_leave(quiet);
    if (probe_thread.end != 0)
        return probe_claim();
    count_lost();
    return NULL;
}

/* A call that outlived its window: completes its record in the file. */
void probe_end_late(const struct probe_call *call, uint64_t duration, unsigned flags,
                    int32_t value) {
    bool ours = call->window_number >> 32 == probe_thread.window_number >> 32;
    if (!ours) /* begun by the process that forked us */
        return;
    struct file_quiet quiet = quiet_enter();
    uint64_t place = (uint64_t)call->record - probe_thread.window;
    uint64_t offset = copy_offset(call->window_number) + place;
    int file = open_records(O_RDWR);
    struct raw_record record;
    if (file >= 0 && file_read_at(file, &record, sizeof record, offset)) {
        record.duration = duration;
        record.flags = (uint16_t)flags;
        record.value = value;
        file_write_at(file, &record, sizeof record, offset);
    }
    if (file >= 0)
        file_close(file);
    quiet_leave(quiet);
}

/* Where the thread's stack lies. Found without pthread_getattr_np, which allocates: libc keeps the
 * thread's control block, whose address is the handle, at the high end of its stack. */
static void find_stack(uint64_t stack_bytes) {
    if (probe_thread.stack_high != 0)
        return;
    if (syscall(SYS_gettid) == probe_process.header->pid) {
        probe_thread.stack_low = probe_process.main_stack_low;
        probe_thread.stack_high = probe_process.main_stack_high;
        return;
    }
    if (stack_bytes == 0)
        stack_bytes = probe_process.default_stack_bytes;
    probe_thread.stack_high = (uint64_t)pthread_self();
    probe_thread.stack_low = probe_thread.stack_high - stack_bytes;
}

/* Memory for chains of threads that have ended: mapping it anew costs a new thread page faults. */
static struct probe_chain *spare_chains[SPARE_CHAINS];

static struct probe_chain *take_chains(void) {
    for (size_t i = 0; i < SPARE_CHAINS; i++) {
        struct probe_chain *chains = __atomic_exchange_n(&spare_chains[i], NULL, __ATOMIC_ACQ_REL);
        if (chains != NULL) /* what it says of a stack that may be gone must not be looked at */
            return memset(chains, 0, CHAIN_BYTES);
    }
    return file_memory(CHAIN_BYTES);
}

static void give_back_chains(struct probe_chain *chains) {
    for (size_t i = 0; i < SPARE_CHAINS && chains != NULL; i++) {
        struct probe_chain *none = NULL;
        if (__atomic_compare_exchange_n(&spare_chains[i], &none, chains, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return;
    }
    file_unmap((uint64_t)chains, CHAIN_BYTES);
}

/* Makes the file, or leaves in errno why not. Its head alone may find space: then the losses are
 * counted there. Head and window are one mapping, since to unmap anything interrupts the other
 * cores; what lies between is never touched. */
static bool make_file(void) {
    int file = open_records(O_RDWR | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    if (file_reserve(file, 0, RAW_HEADER_SIZE))
        probe_thread.header = file_map(file, 0, MAPPED_BYTES);
    if (probe_thread.header != NULL && file_reserve(file, RAW_WINDOW_BYTES, RAW_WINDOW_BYTES)) {
        probe_thread.window = (uint64_t)probe_thread.header + RAW_WINDOW_BYTES;
        /* The page fault is ours, not the first call's. */
        *(volatile uint64_t *)probe_thread.window = 0;
    }
    file_close(file);
    return probe_thread.window != 0;
}

static void fill_header(int32_t creator, uint32_t context, uint64_t routine) {
    struct raw_thread *header = probe_thread.header;
    header->version = RAW_VERSION;
    header->tid = (int32_t)syscall(SYS_gettid);
    header->index = probe_thread.index;
    header->creator = creator;
    header->context = context;
    header->start_routine = routine;
    header->start_ticks = clock_before();
    __atomic_signal_fence(__ATOMIC_RELEASE);
    header->magic = RAW_MAGIC;
}

bool buffer_attach(int32_t index, int32_t creator, uint32_t context, uint64_t routine,
                   uint64_t stack_bytes) {
    uint64_t from_ticks = clock_before();
    struct file_quiet quiet = quiet_enter();
    probe_thread.busy = true;
    probe_thread.index = index;
    find_stack(stack_bytes);
    probe_thread.state = THREAD_RECORDING;
    probe_thread.chains = take_chains();
    errno = 0;
    bool recording = probe_thread.chains != NULL && make_file();
    int cause = errno;
    if (probe_thread.header != NULL)
        fill_header(creator, context, routine);
    if (recording)
        begin_window((uint64_t)(probe_image + 1) << 32);
    else
        stop(cause);
    threads_register(pthread_self(), index, false);
    pthread_setspecific(probe_process.thread_key, &probe_thread);
    probe_thread.busy = false;
    quiet_leave(quiet);
    if (probe_thread.header != NULL) {
        probe_thread.header->attach_from_ticks = from_ticks;
        probe_thread.header->attach_to_ticks = clock_after();
    }
    return recording;
}

bool probe_attach(void) {
    interpose_resolve();
    if (!probe_process.active || probe_thread.busy || probe_thread.quiet || wrap_is_inside())
        return false;
    if (probe_thread.end != 0) /* the thread has just left such a function by longjmp */
        return true;
    if (probe_thread.state == THREAD_NEW)
        return buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0);
    count_lost();
    return false;
}

void buffer_forget(void) {
    uint64_t stack_low = probe_thread.stack_low;
    uint64_t stack_high = probe_thread.stack_high;
    file_unmap((uint64_t)probe_thread.header, MAPPED_BYTES);
    file_unmap((uint64_t)probe_thread.chains, CHAIN_BYTES);
    for (size_t i = 0; i < SPARE_CHAINS; i++) { /* their contexts are the parent's */
        file_unmap((uint64_t)spare_chains[i], CHAIN_BYTES);
        spare_chains[i] = NULL;
    }
    /* A forked child goes on on the stack of the thread that forked, whichever it was. */
    probe_thread = (struct probe_thread){.stack_low = stack_low, .stack_high = stack_high};
}

#define PAGE_BYTES 4096u

/* What of the window was never used: a program may have many threads, each with a few records. */
static void give_back_room(int file, uint64_t window) {
    uint64_t used = (probe_thread.cursor - window + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    if (used < RAW_WINDOW_BYTES)
        file_punch(file, RAW_WINDOW_BYTES + used, RAW_WINDOW_BYTES - used);
}

/* Ends the thread's mapping and says how long that took, which the mapping itself no longer can. */
static void detach(uint64_t from_ticks) {
    uint64_t address = (uint64_t)probe_thread.header;
    uint64_t window = probe_thread.window;
    probe_thread.window = 0;
    probe_thread.header = NULL;
    file_unmap(address, MAPPED_BYTES);
    int file = open_records(O_RDWR);
    if (file < 0)
        return;
    uint64_t span[] = {from_ticks, clock_after()};
    file_write_at(file, span, sizeof span, offsetof(struct raw_thread, detach_from_ticks));
    if (window != 0)
        give_back_room(file, window);
    file_close(file);
}

/* Destructor of our thread-specific key. Those of the program may come later and make calls still
 * to be recorded, so we ask for the last round. */
void buffer_thread_ends(void *unused) {
    if (++probe_thread.key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(probe_process.thread_key, unused);
        return;
    }
    uint64_t from_ticks = clock_before();
    struct file_quiet quiet = quiet_enter();
    give_back_chains(probe_thread.chains);
    probe_thread.chains = NULL;
    probe_thread.end = 0;
    probe_thread.inside = 0; /* a wrapped function that was never left must not open it again */
    if (probe_thread.header != NULL && probe_process.active) {
        process_calibrate();
        probe_thread.header->end_ticks = clock_after();
        detach(from_ticks);
    }
    probe_thread.state = THREAD_STOPPED;
    quiet_leave(quiet);
}
