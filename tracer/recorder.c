#include "tracer/recorder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define NAP_MS           200
#define TIMEBASE_PERIOD  5 /* naps */
#define MAX_RECORD_BYTES (1u << 16)
#define MIN_RING_BYTES   (64u << 10)
#define WRITING_NS       1000000 /* at most, from an event's stamp until it is in the ring */

struct ring {
    int event;
    struct perf_event_mmap_page *page; /* control page, then `bytes` of records */
    size_t bytes;
    recorder_handler *handler;
    void *context;
};

struct recorder {
    struct {
        size_t count, capacity;
        struct ring *items;
    } rings;
    recorder_drain *drain; /* NULL: no other source */
    void *drain_context;
    struct timebase *timebase;
    pthread_t thread;
    bool running;
    int stop;    /* an eventfd */
    char *whole; /* a record that wrapped around the end of its ring */
};

void recorder_attributes(struct perf_event_attr *attributes) {
    memset(attributes, 0, sizeof *attributes);
    attributes->size = sizeof *attributes;
    attributes->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attributes->sample_id_all = 1;
    attributes->use_clockid = 1;
    attributes->clockid = CLOCK_MONOTONIC;
    attributes->watermark = 1;
}

struct recorder_stamp recorder_stamp(const struct perf_event_header *record) {
    struct recorder_stamp stamp;
    memcpy(&stamp, (const char *)record + record->size - sizeof stamp, sizeof stamp);
    return stamp;
}

uint64_t recorder_lost(const struct perf_event_header *record) {
    struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } body;
    if (record->type != PERF_RECORD_LOST)
        return 0;
    memcpy(&body, record, sizeof body);
    return body.lost;
}

struct recorder *recorder_new(struct timebase *timebase) {
    struct recorder *recorder = memory_alloc(1, sizeof *recorder);
    recorder->timebase = timebase;
    recorder->stop = -1;
    recorder->whole = memory_alloc(MAX_RECORD_BYTES, 1);
    return recorder;
}

/* ---- rings ---- */

static void close_ring(struct ring *ring) {
    if (ring->page)
        munmap(ring->page, ring->bytes + (size_t)getpagesize());
    if (ring->event >= 0)
        close(ring->event);
}

/* Unprivileged users may lock little memory, so smaller rings are tried before giving up. */
static int open_ring(struct ring *ring, struct perf_event_attr *attributes, pid_t pid, int cpu) {
    ring->event = (int)syscall(SYS_perf_event_open, attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (ring->event < 0)
        return errno;
    for (;;) {
        void *page = mmap(NULL, ring->bytes + (size_t)getpagesize(), PROT_READ | PROT_WRITE,
                          MAP_SHARED, ring->event, 0);
        if (page != MAP_FAILED) {
            ring->page = page;
            return 0;
        }
        int cause = errno;
        if (cause != EPERM || ring->bytes / 2 < MIN_RING_BYTES) {
            close_ring(ring);
            return cause;
        }
        ring->bytes /= 2;
    }
}

int recorder_add(struct recorder *recorder, struct perf_event_attr attributes, pid_t pid,
                 size_t ring_bytes, recorder_handler *handler, void *context) {
    attributes.wakeup_watermark = (uint32_t)ring_bytes / 4;
    size_t before = recorder->rings.count;
    int cause = 0;
    int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && !cause; cpu++) {
        struct ring ring = {.bytes = ring_bytes, .handler = handler, .context = context};
        cause = open_ring(&ring, &attributes, pid, cpu);
        if (cause == ENODEV) /* the CPU is offline */
            cause = 0;
        else if (!cause)
            *VECTOR_ADD(&recorder->rings) = ring;
    }
    if (!cause && recorder->rings.count == before)
        cause = ENODEV;
    while (cause && recorder->rings.count > before)
        close_ring(&recorder->rings.items[--recorder->rings.count]);
    return cause;
}

static void empty_ring(struct recorder *recorder, struct ring *ring) {
    const char *start = (const char *)ring->page + getpagesize();
    /* What the kernel wrote before it moved the head is ours to see. */
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail;
    while (tail < head) {
        size_t at = tail & (ring->bytes - 1);
        const struct perf_event_header *record = (const void *)(start + at);
        size_t size = record->size; /* records are 8-byte aligned, so a header never wraps */
        if (at + size > ring->bytes) {
            size_t first = ring->bytes - at;
            memcpy(recorder->whole, start + at, first);
            memcpy(recorder->whole + first, start, size - first);
            record = (const void *)recorder->whole;
        }
        ring->handler(record, ring->context);
        tail += size;
    }
    /* Our reads are over before the kernel may overwrite. */
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static void empty_rings(struct recorder *recorder) {
    uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < recorder->rings.count; i++)
        empty_ring(recorder, &recorder->rings.items[i]);
    if (recorder->drain)
        recorder->drain(recorder->drain_context, begin_ns - WRITING_NS);
}

void recorder_add_source(struct recorder *recorder, recorder_drain *drain, void *context) {
    recorder->drain = drain;
    recorder->drain_context = context;
}

/* ---- thread ---- */

static void *record(void *argument) {
    struct recorder *recorder = argument;
    size_t n = recorder->rings.count;
    struct pollfd *polled = memory_alloc(n + 1, sizeof *polled);
    for (size_t i = 0; i < n; i++)
        polled[i] = (struct pollfd){.fd = recorder->rings.items[i].event, .events = POLLIN};
    polled[n] = (struct pollfd){.fd = recorder->stop, .events = POLLIN};
    for (unsigned naps = 1; !(polled[n].revents & POLLIN); naps++) {
        poll(polled, n + 1, NAP_MS);
        /* An event whose task has ended would make every poll return at once. */
        for (size_t i = 0; i < n; i++)
            if (polled[i].revents & (POLLHUP | POLLERR))
                polled[i].fd = -1;
        empty_rings(recorder);
        if (naps % TIMEBASE_PERIOD == 0)
            timebase_sample(recorder->timebase);
    }
    free(polled);
    return NULL;
}

void recorder_start(struct recorder *recorder) {
    timebase_sample(recorder->timebase);
    recorder->stop = eventfd(0, EFD_CLOEXEC);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    recorder->running =
        recorder->stop >= 0 && pthread_create(&recorder->thread, NULL, record, recorder) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void recorder_stop(struct recorder *recorder) {
    if (recorder->running) {
        eventfd_write(recorder->stop, 1);
        pthread_join(recorder->thread, NULL);
        recorder->running = false;
    }
    empty_rings(recorder);
    timebase_sample(recorder->timebase);
}

void recorder_free(struct recorder *recorder) {
    if (!recorder)
        return;
    if (recorder->running)
        recorder_stop(recorder);
    for (size_t i = 0; i < recorder->rings.count; i++)
        close_ring(&recorder->rings.items[i]);
    free(recorder->rings.items);
    if (recorder->stop >= 0)
        close(recorder->stop);
    free(recorder->whole);
    free(recorder);
}
