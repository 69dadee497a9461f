#include "tracer/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* At full speed two threads fill all chunks in 16 ms. */
#define NAP_NS       4000000
#define SHORT_NAP_NS 500000
#define MANY         (RAW_MAX_CHUNKS / 32) /* so many at once call for a short nap */

/* Of a limit on address space, what the segment may take. */
#define SPACE_PART 16u

struct segment {
    struct raw_segment *shared;
    size_t bytes;      /* of it */
    uint32_t n_chunks; /* our own word for it */
    int records;       /* descriptor */
    uint64_t offset;   /* of the records, so far */
    int failure;       /* errno */
    uint64_t most;     /* bytes that a file of ours may have */
    void *mapped;      /* records, for reading */
    size_t mapped_bytes;
    bool running;
    bool stop;
    pthread_t thread;
};

/* ---- making it ---- */

/* The probes' own memory, some 26 MB, has to find room beside it. */
static uint32_t chunks_within_limits(void) {
    struct rlimit limit;
    uint32_t n = RAW_MAX_CHUNKS;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return n;
    while (n > RAW_WORD_BITS &&
           n * sizeof(struct raw_record[RAW_CHUNK_RECORDS]) > limit.rlim_cur / SPACE_PART)
        n /= 2;
    return n;
}

static int open_new(const char *directory, const char *name, struct error *error) {
    char *path = memory_format("%s/%s", directory, name);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        error_set(error, "%s: %s: choose a folder you may write to", path, strerror(errno));
    free(path);
    return file;
}

/* A limit on the size of files would end us by SIGXFSZ, which is not what was asked. */
static uint64_t most_bytes(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

static int allocate(int file, size_t bytes) {
    if (bytes > most_bytes())
        return EFBIG;
    return fallocate(file, 0, 0, (off_t)bytes) == 0 ? 0 : errno;
}

static struct raw_segment *map_new(const char *directory, size_t bytes, struct error *error) {
    int file = open_new(directory, RAW_SEGMENT, error);
    if (file < 0)
        return NULL;
    int cause = allocate(file, bytes);
    void *shared = MAP_FAILED;
    if (cause == 0) {
        shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        cause = shared == MAP_FAILED ? errno : 0;
    }
    close(file);
    if (cause == EOPNOTSUPP)
        error_set(error,
                  "%s: its file system cannot promise room for a file: choose a folder on "
                  "another one",
                  directory);
    else if (cause != 0)
        error_set(error, "%s: no room for %zu MB: %s: make room or choose another folder",
                  directory, bytes >> 20, strerror(cause));
    return cause == 0 ? shared : NULL;
}

struct segment *segment_create(const char *directory, bool follow, struct error *error) {
    uint32_t n = chunks_within_limits();
    size_t bytes = sizeof(struct raw_segment) -
                   (RAW_MAX_CHUNKS - n) * sizeof(struct raw_record[RAW_CHUNK_RECORDS]);
    int records = open_new(directory, RAW_RECORDS, error);
    if (records < 0)
        return NULL;
    struct raw_segment *shared = map_new(directory, bytes, error);
    if (!shared) {
        close(records);
        return NULL;
    }
    struct segment *segment = memory_alloc(1, sizeof *segment);
    *segment = (struct segment){
        .shared = shared, .bytes = bytes, .n_chunks = n, .records = records, .most = most_bytes()};
    shared->n_chunks = n;
    shared->follow = follow;
    memset(shared->free, 0xff, n / RAW_WORD_BITS * sizeof *shared->free);
    shared->version = RAW_VERSION;
    shared->magic = RAW_MAGIC;
    return segment;
}

void segment_set_target(struct segment *segment, int32_t pid) {
    segment->shared->target = pid;
}

/* ---- taking chunks out ---- */

/* Writes all of it, or counts it as lost: whoever waits for a chunk must get one. */
static void write_chunks(struct segment *segment, struct iovec *chunks, int n) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += chunks[i].iov_len;
    if (segment->failure)
        return;
    if (segment->offset + bytes > segment->most)
        segment->failure = EFBIG;
    ssize_t written =
        segment->failure ? -1 : pwritev(segment->records, chunks, n, (off_t)segment->offset);
    if (written == (ssize_t)bytes)
        segment->offset += bytes;
    else if (!segment->failure)
        segment->failure = written < 0 ? errno : ENOSPC;
}

/* Those of one word. `also`: not full, but to be taken all the same. */
static unsigned take_word(struct segment *segment, uint32_t word, uint64_t also) {
    struct raw_segment *shared = segment->shared;
    struct iovec chunks[RAW_WORD_BITS];
    uint64_t taken = __atomic_exchange_n(&shared->full[word], 0, __ATOMIC_ACQUIRE) | also;
    int n = 0;
    for (uint64_t left = taken; left; left &= left - 1) {
        uint32_t chunk = word * RAW_WORD_BITS + (uint32_t)__builtin_ctzll(left);
        chunks[n++] = (struct iovec){shared->chunks[chunk], sizeof shared->chunks[chunk]};
    }
    if (n == 0)
        return 0;
    write_chunks(segment, chunks, n);
    if (!also)
        __atomic_fetch_or(&shared->free[word], taken, __ATOMIC_RELEASE);
    return (unsigned)n;
}

static unsigned take_full(struct segment *segment) {
    unsigned n = 0;
    for (uint32_t word = 0; word < segment->n_chunks / RAW_WORD_BITS; word++)
        n += take_word(segment, word, 0);
    return n;
}

void segment_finish(struct segment *segment) {
    for (uint32_t word = 0; word < segment->n_chunks / RAW_WORD_BITS; word++)
        take_word(segment, word, ~__atomic_load_n(&segment->shared->free[word], __ATOMIC_ACQUIRE));
}

/* ---- the thread ---- */

static void *run(void *argument) {
    struct segment *segment = argument;
    /* Where the program has all cores we come late and chunks run out. Not everybody may. */
    struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    pthread_setschedparam(pthread_self(), SCHED_RR, &lowest);
    while (!__atomic_load_n(&segment->stop, __ATOMIC_ACQUIRE)) {
        bool many = take_full(segment) > MANY;
        struct timespec nap = {.tv_nsec = many ? SHORT_NAP_NS : NAP_NS};
        nanosleep(&nap, NULL);
    }
    return NULL;
}

void segment_start(struct segment *segment) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    segment->stop = false;
    segment->running = pthread_create(&segment->thread, NULL, run, segment) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void segment_stop(struct segment *segment) {
    if (!segment->running)
        return;
    __atomic_store_n(&segment->stop, true, __ATOMIC_RELEASE);
    pthread_join(segment->thread, NULL);
    segment->running = false;
}

/* ---- reading ---- */

const struct raw_segment *segment_shared(const struct segment *segment) {
    return segment->shared;
}

const struct raw_record *segment_records(struct segment *segment, size_t *n_chunks) {
    size_t bytes = segment->offset;
    *n_chunks = bytes / sizeof(struct raw_record[RAW_CHUNK_RECORDS]);
    if (bytes > 0 && !segment->mapped) {
        void *mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, segment->records, 0);
        if (mapped != MAP_FAILED) {
            segment->mapped = mapped;
            segment->mapped_bytes = bytes;
        }
    }
    if (!segment->mapped)
        *n_chunks = 0;
    return segment->mapped;
}

int segment_failure(const struct segment *segment) {
    return segment->failure;
}

void segment_free(struct segment *segment) {
    if (!segment)
        return;
    segment_stop(segment);
    if (segment->mapped)
        munmap(segment->mapped, segment->mapped_bytes);
    munmap(segment->shared, segment->bytes);
    close(segment->records);
    free(segment);
}
