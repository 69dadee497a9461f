#include "sampler/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

/* Deeper frames are read from the live stack: they rarely change between sample and unwinding. */
#define STACK_DUMP_BYTES 16384u
/* Of a fifth of a second, at the usual rate; what perf_event_mlock_kb grants every user per CPU by
 * default is a quarter of it, less the header page. */
#define RING_PAGES 512

struct ring {
    int descriptor;
    struct perf_event_mmap_page *page; /* the header; the ring follows it */
    size_t data_bytes;                 /* a power of two */
};

struct perf {
    struct ring *rings;
    size_t n_rings;
    uint64_t lost;
    /* Raw records of one drain, all rings; parsed only when it has stopped growing and moving. */
    unsigned char *bytes;
    size_t used, room;
    struct {
        struct perf_record *items;
        size_t count, capacity;
    } records;
};

static uint64_t register_mask(void) {
    uint64_t mask = 0;
    for (size_t i = 0; i < REGISTERS_COUNT; i++)
        mask |= UINT64_C(1) << register_map[i].perf;
    return mask;
}

static struct perf_event_attr make_attributes(double rate_hz, bool exclude_kernel) {
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = (uint64_t)fmax(1e9 / rate_hz, 10000),
        .sample_type =
            PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = register_mask(),
        .sample_stack_user = STACK_DUMP_BYTES,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = exclude_kernel,
        .exclude_hv = 1,
        .enable_on_exec = 1,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
        .sample_id_all = 1,
    };
}

/* Time inside the kernel counts too where that is allowed (root, or paranoid at most 1). */
static int open_event(pid_t pid, int cpu, double rate_hz) {
    for (int exclude_kernel = 0; exclude_kernel <= 1; exclude_kernel++) {
        struct perf_event_attr attributes = make_attributes(rate_hz, exclude_kernel);
        int descriptor =
            (int)syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (descriptor >= 0 || (errno != EACCES && errno != EPERM))
            return descriptor;
    }
    return -1;
}

/* A user's locked memory may be short: then a smaller ring, drained as often, does. */
static int map_ring(struct ring *ring) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t pages = RING_PAGES; pages >= 16; pages /= 2) {
        void *memory = mmap(NULL, (pages + 1) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            ring->descriptor, 0);
        if (memory != MAP_FAILED) {
            ring->page = memory;
            ring->data_bytes = pages * page_bytes;
            return 0;
        }
    }
    return -1;
}

static int refuse(struct error *error) {
    int cause = errno;
    char level[16] = "";
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file && fgets(level, sizeof level, file))
        level[strcspn(level, "\n")] = '\0';
    if (file)
        fclose(file);
    if ((cause == EACCES || cause == EPERM) && atoi(level) > 2)
        return error_set(error,
                         "sampling is not permitted, perf_event_paranoid is %s: run `sysctl "
                         "kernel.perf_event_paranoid=2` as root",
                         level);
    if (cause == EACCES || cause == EPERM)
        return error_set(error,
                         "sampling is not permitted (perf_event_open: %s): run as root, or "
                         "allow perf_event_open in the container's seccomp profile",
                         strerror(cause));
    return error_set(error,
                     "sampling is not possible (perf_event_open: %s): use a kernel with "
                     "perf events",
                     strerror(cause));
}

/* A CPU that is offline has no ring. */
static int open_ring(struct perf *perf, pid_t pid, int cpu, double rate_hz) {
    struct ring *ring = &perf->rings[perf->n_rings];
    ring->descriptor = open_event(pid, cpu, rate_hz);
    if (ring->descriptor < 0)
        return errno == ENODEV ? 0 : -1;
    if (map_ring(ring)) {
        int cause = errno;
        close(ring->descriptor);
        errno = cause;
        return -1;
    }
    perf->n_rings++;
    return 0;
}

struct perf *perf_open(pid_t pid, double rate_hz, struct error *error) {
    int n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
    struct perf *perf = memory_alloc(1, sizeof *perf);
    perf->rings = memory_alloc((size_t)n_cpus, sizeof *perf->rings);
    for (int cpu = 0; cpu < n_cpus; cpu++) {
        if (open_ring(perf, pid, cpu, rate_hz)) {
            refuse(error);
            perf_close(perf);
            return NULL;
        }
    }
    return perf;
}

/* ---- draining ---- */

static void append_bytes(struct perf *perf, const struct ring *ring, uint64_t from, size_t bytes) {
    if (bytes == 0)
        return;
    if (perf->used + bytes > perf->room) {
        perf->room = (perf->used + bytes) * 2;
        perf->bytes = memory_resize(perf->bytes, perf->room, 1);
    }
    const unsigned char *data = (const unsigned char *)ring->page + ring->page->data_offset;
    size_t start = from & (ring->data_bytes - 1);
    size_t first = bytes < ring->data_bytes - start ? bytes : ring->data_bytes - start;
    memcpy(perf->bytes + perf->used, data + start, first);
    memcpy(perf->bytes + perf->used + first, data, bytes - first);
    perf->used += bytes;
}

static void empty_ring(struct perf *perf, struct ring *ring) {
    uint64_t tail = ring->page->data_tail;
    /* Acquire: the kernel writes the records before it moves the head. */
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    append_bytes(perf, ring, tail, (size_t)(head - tail));
    /* Release: our copy is done before the kernel may write here again. */
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

/* Fields of a record, one after the other. Every one is a multiple of 8 bytes. */
struct cursor {
    const unsigned char *at, *end;
};

static uint64_t take_u64(struct cursor *cursor) {
    uint64_t value = 0;
    if (cursor->end - cursor->at >= (ptrdiff_t)sizeof value) {
        memcpy(&value, cursor->at, sizeof value);
        cursor->at += sizeof value;
    }
    return value;
}

static void take_ids(struct cursor *cursor, pid_t *first, pid_t *second) {
    uint64_t both = take_u64(cursor);
    *first = (pid_t)(uint32_t)both;
    *second = (pid_t)(both >> 32);
}

static void read_registers(struct cursor *cursor, struct registers *registers) {
    uint64_t abi = take_u64(cursor);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (size_t i = 0; i < 64; i++) {
        if (!(register_mask() >> i & 1))
            continue;
        uint64_t value = take_u64(cursor);
        for (size_t j = 0; j < REGISTERS_COUNT && abi == PERF_SAMPLE_REGS_ABI_64; j++)
            if (register_map[j].perf == (int)i)
                registers_set(registers, register_map[j].unwind, value);
    }
}

static void read_sample(struct perf *perf, struct cursor cursor) {
    struct perf_record record = {.kind = PERF_SAMPLE};
    take_ids(&cursor, &record.pid, &record.tid);
    record.time_ns = take_u64(&cursor);
    read_registers(&cursor, &record.registers);
    size_t room = take_u64(&cursor);
    if (room > 0 && room + sizeof(uint64_t) <= (size_t)(cursor.end - cursor.at)) {
        record.stack = cursor.at;
        cursor.at += room;
        size_t valid = take_u64(&cursor);
        record.stack_bytes = valid < room ? valid : room;
    }
    *VECTOR_ADD(&perf->records) = record;
}

static void read_birth_or_end(struct perf *perf, enum perf_kind kind, struct cursor cursor) {
    struct perf_record record = {.kind = kind};
    pid_t parent;
    take_ids(&cursor, &record.pid, &parent);
    take_ids(&cursor, &record.tid, &parent);
    record.time_ns = take_u64(&cursor);
    *VECTOR_ADD(&perf->records) = record;
}

/* A new name of a process, "pid, tid, name, (tid, time as in every record)"; one by exec is marked.
 */
static void read_name(struct perf *perf, uint16_t misc, struct cursor cursor) {
    struct perf_record record = {.kind = PERF_EXEC};
    if (!(misc & PERF_RECORD_MISC_COMM_EXEC))
        return;
    take_ids(&cursor, &record.pid, &record.tid);
    cursor.at = cursor.end - sizeof record.time_ns;
    record.time_ns = take_u64(&cursor);
    *VECTOR_ADD(&perf->records) = record;
}

static void read_record(struct perf *perf, const struct perf_event_header *header,
                        struct cursor cursor) {
    switch (header->type) {
    case PERF_RECORD_COMM:
        read_name(perf, header->misc, cursor);
        break;
    case PERF_RECORD_SAMPLE:
        read_sample(perf, cursor);
        break;
    case PERF_RECORD_FORK:
        read_birth_or_end(perf, PERF_THREAD_BORN, cursor);
        break;
    case PERF_RECORD_EXIT:
        read_birth_or_end(perf, PERF_THREAD_ENDED, cursor);
        break;
    case PERF_RECORD_LOST:
        take_u64(&cursor); /* the event's id */
        perf->lost += take_u64(&cursor);
        break;
    default: /* throttling and the like tell nothing about threads */
        break;
    }
}

static int compare_times(const void *left, const void *right) {
    const struct perf_record *a = left, *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

size_t perf_drain(struct perf *perf, const struct perf_record **records) {
    perf->used = 0;
    perf->records.count = 0;
    for (size_t i = 0; i < perf->n_rings; i++)
        empty_ring(perf, &perf->rings[i]);
    for (size_t at = 0; at + sizeof(struct perf_event_header) <= perf->used;) {
        struct perf_event_header header;
        memcpy(&header, perf->bytes + at, sizeof header);
        struct cursor cursor = {perf->bytes + at + sizeof header, perf->bytes + at + header.size};
        read_record(perf, &header, cursor);
        at += header.size;
    }
    if (perf->records.count > 1)
        VECTOR_SORT(&perf->records, compare_times);
    *records = perf->records.items;
    return perf->records.count;
}

uint64_t perf_lost(const struct perf *perf) {
    return perf->lost;
}

void perf_close(struct perf *perf) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < perf->n_rings; i++) {
        munmap(perf->rings[i].page, perf->rings[i].data_bytes + page_bytes);
        close(perf->rings[i].descriptor);
    }
    free(perf->rings);
    free(perf->bytes);
    free(perf->records.items);
    free(perf);
}
