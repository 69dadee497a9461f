/* A thread's records.
 *
 * The file is mapped a chunk at a time, small at first (programs have many short threads), then
 * larger. Its space is reserved before it is mapped: a store can never meet a full disk. */
#include "tracer/probe/inside.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_CHUNK (64u << 10)
#define LAST_CHUNK  (1u << 20)
#define CHAIN_BYTES (PROBE_CHAINS * sizeof(struct probe_chain))

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

static void use_chunk(uint64_t address, uint64_t bytes, uint64_t offset) {
    probe_thread.chunk = address;
    probe_thread.chunk_bytes = bytes;
    probe_thread.chunk_offset = offset;
    probe_thread.cursor = address;
    probe_thread.end = address + bytes;
}

static void stop(void) {
    uint64_t chunk = probe_thread.chunk;
    uint64_t bytes = probe_thread.chunk_bytes;
    use_chunk(0, 0, 0);
    file_unmap(chunk, bytes);
    probe_thread.state = THREAD_STOPPED;
}

static bool map_chunk(int file, uint64_t offset, uint64_t bytes) {
    if (!file_reserve(file, offset + bytes))
        return false;
    void *chunk = file_map(file, offset, bytes);
    if (chunk == NULL)
        return false;
    use_chunk((uint64_t)chunk, bytes, offset);
    return true;
}

/* Goes on to the next chunk of the file, or stops recording this thread. */
static void next_chunk(void) {
    uint64_t full = probe_thread.chunk;
    uint64_t full_bytes = probe_thread.chunk_bytes;
    uint64_t offset = probe_thread.chunk_offset + full_bytes;
    uint64_t bytes = full_bytes * 2 < LAST_CHUNK ? full_bytes * 2 : LAST_CHUNK;
    probe_thread.end = 0;
    int file = open_records(O_RDWR);
    bool mapped = file >= 0 && map_chunk(file, offset, bytes);
    if (file >= 0)
        file_close(file);
    if (mapped) {
        file_unmap(full, full_bytes);
    } else {
        __atomic_fetch_or(&probe_process.header->flags, RAW_NO_SPACE, __ATOMIC_RELAXED);
        stop();
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
        next_chunk();
    probe_thread.busy = false;
    quiet_leave(quiet);
    if (probe_thread.end != 0)
        return probe_claim();
    count_lost();
    return NULL;
}

/* A call that outlived its chunk: completes its record in the file. */
void probe_end_late(const struct probe_call *call, uint64_t duration, unsigned flags,
                    int32_t value) {
    if (call->image != probe_image || probe_thread.header == NULL)
        return;
    struct file_quiet quiet = quiet_enter();
    int file = open_records(O_RDWR);
    struct raw_record record;
    if (file >= 0 &&
        syscall(SYS_pread64, file, &record, sizeof record, call->file_offset) == sizeof record) {
        record.duration = duration;
        record.flags = (uint16_t)flags;
        record.value = value;
        file_write_at(file, &record, sizeof record, call->file_offset);
    }
    if (file >= 0)
        file_close(file);
    quiet_leave(quiet);
}

/* Where the thread's stack lies. Found without pthread_getattr_np, which allocates: libc keeps the
 * thread's control block, whose address is the handle, at the high end of its stack. */
static void find_stack(uint64_t stack_bytes) {
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

/* Makes the file. Its head alone may find space: then the losses are counted there. */
static bool make_file(void) {
    int file = open_records(O_RDWR | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    if (file_reserve(file, RAW_HEADER_SIZE))
        probe_thread.header = file_map(file, 0, RAW_HEADER_SIZE);
    bool mapped = probe_thread.header != NULL && map_chunk(file, RAW_HEADER_SIZE, FIRST_CHUNK);
    file_close(file);
    return mapped;
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
    struct file_quiet quiet = quiet_enter();
    probe_thread.busy = true;
    probe_thread.index = index;
    find_stack(stack_bytes);
    probe_thread.state = THREAD_RECORDING;
    probe_thread.chains = file_memory(CHAIN_BYTES);
    bool recording = probe_thread.chains != NULL && make_file();
    if (probe_thread.header != NULL)
        fill_header(creator, context, routine);
    if (!recording) {
        __atomic_fetch_or(&probe_process.header->flags, RAW_NO_SPACE, __ATOMIC_RELAXED);
        stop();
    }
    threads_register(pthread_self(), index, false);
    pthread_setspecific(probe_process.thread_key, &probe_thread);
    probe_thread.busy = false;
    quiet_leave(quiet);
    return recording;
}

bool probe_attach(void) {
    interpose_resolve();
    if (!probe_process.active || probe_thread.busy)
        return false;
    if (probe_thread.state == THREAD_NEW)
        return buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0);
    count_lost();
    return false;
}

void buffer_forget(void) {
    file_unmap(probe_thread.chunk, probe_thread.chunk_bytes);
    file_unmap((uint64_t)probe_thread.header, RAW_HEADER_SIZE);
    file_unmap((uint64_t)probe_thread.chains, CHAIN_BYTES);
    memset(&probe_thread, 0, sizeof probe_thread);
}

/* Destructor of our thread-specific key. Those of the program may come later and make calls still
 * to be recorded, so we ask for the last round. */
void buffer_thread_ends(void *unused) {
    if (++probe_thread.key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(probe_process.thread_key, unused);
        return;
    }
    struct file_quiet quiet = quiet_enter();
    if (probe_process.active) {
        process_calibrate();
        if (probe_thread.header != NULL)
            probe_thread.header->end_ticks = clock_after();
    }
    buffer_forget();
    probe_thread.state = THREAD_STOPPED;
    quiet_leave(quiet);
}
