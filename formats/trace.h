/* The trace: what `persik trace` writes and `build-model` reads, one file, trace.persik.
 *
 * On disk (docs/formats.md gives every byte): magic "PERSIKT1", version, a zstd-compressed JSON
 * header (meta, sites, contexts, threads), then zstd blocks of binary records per thread.
 * In memory: the structs below. All times are CLOCK_MONOTONIC nanoseconds since
 * `meta.start_mono_ns` (the program's start); probes take them from the TSC. */
#ifndef PERSIK_FORMATS_TRACE_H
#define PERSIK_FORMATS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/catalog.h"
#include "host/pace.h"

#define TRACE_VERSION    3
#define TRACE_OLDEST     1 /* that is still read */
#define TRACE_NO_CONTEXT UINT32_MAX

/* One execution of one API call, 32 bytes. Holds no data of the program's buffers. */
struct trace_record {
    uint64_t start_ns;
    uint64_t duration_ns : 48; /* 0 for an operation that did not wait and is not timed */
    uint64_t api : 16;         /* enum api */
    uint64_t object : 48;      /* address of the lock, condition, queue; descriptor of I/O */
    uint64_t flags : 16;       /* enum trace_flag */
    uint32_t context;          /* index into contexts: where it was called from */
    int32_t value; /* by the catalog: return value, bytes (clamped), parties, thread index */
};
_Static_assert(sizeof(struct trace_record) == 32, "a record is 32 bytes");

/* When the call returned. */
static inline uint64_t trace_end_ns(const struct trace_record *record) {
    return record->start_ns + record->duration_ns;
}

/* What the call does, whatever its library calls it. */
static inline enum api_op trace_op(const struct trace_record *record) {
    return api_catalog[record->api].op;
}

enum trace_flag {
    TRACE_WAITED = 1 << 0, /* the fast attempt failed: the call blocked or may have */
    TRACE_FAILED = 1 << 1, /* returned an error, EBUSY or a timeout */
    TRACE_TIMEDOUT = 1 << 2,
    TRACE_UNFINISHED = 1 << 3, /* the program ended inside the call */
    TRACE_SPINS = 1 << 4,      /* waiting in this call burns CPU */
    TRACE_ENTERS = 1 << 5,     /* a member of a team begins its part of the work */
    TRACE_LEAVES = 1 << 6,     /* a member has done it; lasts until it goes on elsewhere */
    TRACE_LOOKED = 1 << 7,     /* of an unlock: `value` is the low half of what the variable held,
                                * just before, that counts what is there under this mutex */
};

static inline bool trace_is_call(const struct trace_record *record, enum api_object object,
                                 enum api_op op) {
    return api_catalog[record->api].object == object && trace_op(record) == op;
}

/* Did it take a mutex, waiting as long as it had to? */
static inline bool trace_is_lock(const struct trace_record *record) {
    return trace_is_call(record, ON_MUTEX, OP_LOCK) && !(record->flags & TRACE_FAILED);
}

/* Was it a wait for a condition, timed or not? */
static inline bool trace_is_condition_wait(const struct trace_record *record) {
    return trace_is_call(record, ON_CONDITION, OP_WAIT) ||
           trace_is_call(record, ON_CONDITION, OP_TIMEDWAIT);
}

/* What the record of a condition wait has of its mutex: no lock lies closer to another one than 8
 * bytes, and few are 32 GB apart. Older traces have 0 there. */
static inline int32_t trace_mutex_value(uint64_t mutex) {
    return (int32_t)(uint32_t)(mutex >> 3);
}

/* Is it no call of the program's at all, but a fault between two of them (rewrite/page_faults.h)?
 */
static inline bool trace_is_page_fault(const struct trace_record *record) {
    return record->api == ROLE_page_fault;
}

/* Did it tell one or all who wait for a condition? */
static inline bool trace_is_condition_signal(const struct trace_record *record) {
    return trace_is_call(record, ON_CONDITION, OP_SIGNAL) ||
           trace_is_call(record, ON_CONDITION, OP_BROADCAST);
}

/* Lets others run for a while: who does so again and again waits for something by polling. */
static inline bool trace_is_nap(const struct trace_record *record) {
    return trace_op(record) == OP_YIELD || trace_op(record) == OP_SLEEP;
}

/* One frame of a call site. Inlined calls give several frames for one return address. */
struct trace_frame {
    char *function;  /* symbol, or "0x1234" without symbols */
    char *file;      /* as in the debug information, absolute where known; NULL unknown */
    int line;        /* 0 unknown */
    int column;      /* 0 unknown */
    char *module;    /* base name of the executable or library */
    uint64_t offset; /* of the return address in the module */
};

/* A chain of calls, innermost first: frames[0] holds the API call itself. Outermost is the thread's
 * start routine or main (or the depth limit). Contexts are unique. */
struct trace_context {
    size_t n_frames;
    struct trace_frame *frames;
};

/* A time on a core: from on_ns to off_ns. */
struct trace_slice {
    uint64_t wake_ns; /* when it became runnable; 0 = unknown, then on_ns is all we know */
    uint64_t on_ns;
    uint64_t off_ns;
    uint32_t cpu;
    uint32_t preempted : 1;    /* it was still runnable when it left the core */
    uint32_t in_interrupt : 1; /* woken in an interrupt: whose thread that came upon is no cause */
    uint32_t waker : 30;       /* 1 + index of the thread that woke it; 0: another one, not known */
};
_Static_assert(sizeof(struct trace_slice) == 32, "as documented");

/* Empty where both are 0. */
struct trace_span {
    uint64_t from_ns, to_ns;
};

struct trace_thread {
    int pid, tid;
    int index;                 /* 0 = the first thread; in order of creation */
    int creator;               /* index of the creating thread, -1 for a process's first thread */
    char *start_routine;       /* function name; "main" for the first */
    uint32_t creation_context; /* of pthread_create; TRACE_NO_CONTEXT for the first */
    bool end_seen;             /* false: the program was killed or still ran */
    uint64_t start_ns, end_ns;
    /* What the probes did in it by themselves, before its first record and after its last one. */
    struct trace_span attach, detach;
    uint64_t lost_records;
    size_t n_records;
    struct trace_record *records; /* by start_ns (a thread's calls do not overlap) */
    size_t n_slices;
    struct trace_slice *slices; /* by on_ns; empty when scheduling was not recorded */
};

enum trace_block_kind {
    BLOCK_READ,
    BLOCK_READAHEAD,
    BLOCK_METADATA,
    BLOCK_WRITE,
    BLOCK_FLUSH,
    BLOCK_DISCARD
};

/* A request at the block device. */
struct trace_block {
    uint64_t queued_ns, issued_ns, completed_ns; /* 0 = not seen */
    uint32_t device;                             /* major << 20 | minor */
    int tid; /* who queued it: one of the threads; another number: a thread of the kernel */
    uint32_t bytes;
    enum trace_block_kind kind;
    uint64_t sector; /* of 512 bytes, the first; 0: not known */
};

/* What a thread did with pages of the page cache. */
enum trace_pages_kind {
    PAGES_READ,   /* a call of its read them, or would have: it may ask beyond the file's end */
    PAGES_ADDED,  /* they were not there and came in for it; what is read ahead for it, too */
    PAGES_MAPPED, /* it touched a mapped file there, and found them not mapped */
};

#define TRACE_PAGE_BYTES 4096u

struct trace_pages {
    uint64_t time_ns; /* READ: when all were there */
    uint64_t file;    /* its inode's number */
    uint64_t first;   /* page of the file */
    uint32_t count;   /* of pages */
    uint32_t device;  /* the file system's: major << 20 | minor */
    int32_t tid;
    uint32_t kind; /* enum trace_pages_kind */
};
_Static_assert(sizeof(struct trace_pages) == 40, "as documented");

/* What persik did to the program on purpose in a run of its own: see tracer/evictor.h. */
enum trace_eviction_kind {
    EVICTION_HOLD,  /* kept a core and went through more memory than the caches of a core hold */
    EVICTION_PRIME, /* for a moment, then filled part of the core's cache with lines of its own */
    EVICTION_PROBE, /* looked how many of these lines were still there */
};

struct trace_eviction {
    uint64_t from_ns, to_ns; /* nobody else had the core */
    uint64_t planned_ns;     /* how long it was to take; all of one plan are alike */
    uint32_t cpu;
    enum trace_eviction_kind kind;
    double survived; /* PROBE: of the lines, 0..1 */
};

/* A run of the same program without probes. */
struct trace_plain_run {
    uint64_t run_ns, cpu_ns;     /* run_ns 0 = not known, but for the median */
    double piece_ns[PACE_KINDS]; /* how fast its cores were; 0 = not known */
};

/* A signal's handler that ran. */
struct trace_handler {
    char *function;
    int signal;
    uint64_t runs;
};

/* What the recorded threads do not account for, and what held them back from outside. */
struct trace_elsewhere {
    uint64_t children_cpu_ns; /* of processes that the program started and that are not recorded */
    uint64_t threads_cpu_ns;  /* of its own threads that are not recorded */
    int children;             /* how many such processes; 0: none, or not known */
    int left_running;         /* of all its processes, when the first one ended */
    char *handlers;           /* of calls that were made in signal handlers, a line; NULL: none */
    size_t n_handlers;
    struct trace_handler *handler; /* those in which calls were made */
    double quota_cores;            /* that its control groups may use; 0: as many as there are */
    uint64_t throttled_ns;         /* for which they were stopped as their quota was used up */
};

struct trace_meta {
    int version;
    int n_args;
    char **args;         /* the program and its arguments */
    char *directory;     /* its working directory */
    char *build_id;      /* hex; "" without */
    char *host;          /* "2 cores, AMD EPYC, Linux 6.18" */
    char *libc;          /* version of glibc: "2.36"; "": not known */
    char *date;          /* ISO 8601 */
    int cores;           /* the program could use */
    double tick_ns;      /* period of the kernel's timer tick; 0: not known */
    double wake_cpu_ns;  /* CPU that waking a thread on another core costs more than on one's own */
    double preempt_ns;   /* and how much longer a busy core takes to turn to it; 0: not known */
    double idle_wake_ns; /* from a wake-up until an idle core runs the thread; 0: not known */
    double sleep_cpu_ns; /* CPU of going to sleep and coming back on an idle core; 0: not known */
    int exit_status;     /* as wait(2) gives it */
    bool complete;       /* false: killed, crashed or cut off */
    uint64_t start_mono_ns;
    uint64_t start_real_ns;      /* the same moment in CLOCK_REALTIME; 0: not known */
    uint64_t run_ns;             /* from start to exit */
    uint64_t untraced_run_ns;    /* median of plain runs; 0 = not measured */
    uint64_t untraced_spread_ns; /* max - min of these */
    uint64_t cpu_ns;             /* of the traced run, user and system; 0 = not measured */
    struct trace_elsewhere elsewhere;
    struct pace_reading pace; /* how fast its cores were; the fastest pieces are of all runs */
    size_t n_untraced;
    struct trace_plain_run *untraced; /* the plain runs */
    size_t n_one_core;                /* 0: not made */
    struct trace_plain_run *one_core; /* plain runs with one core only */
    uint64_t left_cpu_ns;  /* CPU time of such a run that took much longer than it should, and got
                            * all cores back; 0: none did */
    char *asks_cores;      /* function by which the program asks for its cores; NULL: by none */
    double probe_ns;       /* cost of one untimed record, measured at start */
    double timed_probe_ns; /* cost of one timed (two clock reads) record */
    uint64_t lost_records, lost_events;
    char *loss;              /* why records were lost; NULL: not known */
    uint64_t records, bytes; /* as recorded, before compression */
    bool has_slices, has_wakes, has_blocks;
    bool has_pages;  /* what was read of the page cache is recorded, all of it */
    char *no_pages;  /* why it is not; NULL: not known */
    bool has_wakers; /* slices know who woke the thread; false: of an older version, too */
    size_t n_lacks;
    char **lacks; /* what was not recorded and why, a line each */
};

/* What a variable held: one of those on which, by the source's word, it depends who waits under a
 * mutex (a counter, a limit), seen by a thread that had just taken that mutex. */
struct trace_value {
    char *name;     /* access path, as in the facts */
    uint64_t mutex; /* address */
    int thread;     /* who looked: index into threads */
    uint64_t time_ns;
    int64_t value;
};

struct trace {
    struct trace_meta meta;
    size_t n_contexts, n_threads, n_blocks, n_pages, n_evictions, n_values;
    struct trace_context *contexts;
    struct trace_thread *threads;
    struct trace_block *blocks;       /* by queued_ns */
    struct trace_pages *pages;        /* by time_ns */
    struct trace_eviction *evictions; /* by cpu, then by time; none in an undisturbed run */
    struct trace_value *values;       /* by time */
    /* Where the frames' texts are kept, of a loaded trace: those of a frame that is in many
     * contexts are there once. NULL: each frame owns its own. */
    size_t n_texts;
    char **texts;
};

/* Did one place of the program create both, to run the same routine? A process's first thread is
 * like itself only. */
bool trace_threads_alike(const struct trace_thread *a, const struct trace_thread *b);

/* Reads a whole trace. NULL and `error` on: missing, not a trace, newer version, truncated or
 * corrupted (checksums of zstd frames). trace_free() ends it. */
struct trace *trace_load(const char *path, struct error *error);

/* The same without records, slices, block requests and pages: their numbers are there, the arrays
 * are NULL. Reads no further than the file's header. */
struct trace *trace_load_header(const char *path, struct error *error);

/* Writes atomically, mode 0600. `level`: zstd level, 0 = default. */
int trace_save(const struct trace *trace, const char *path, int level, struct error *error);

void trace_free(struct trace *trace);

/* Another name for the function of one of the trace's frames; `name` is copied. Other frames keep
 * theirs. */
void trace_rename_function(struct trace *trace, struct trace_frame *frame, const char *name);

/* "./words 2": the recorded command; the caller frees. */
char *trace_command_line(const struct trace_meta *meta);

/* Appends a line to what was not recorded. */
void trace_add_lack(struct trace_meta *meta, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which of the trace's threads it is; n_threads: none. Calls that make or join a thread have its
 * index as their value, which is one of the caller's process. */
size_t trace_thread_by_index(const struct trace *trace, int pid, int index);

/* How many of the thread's slices began at or before `time_ns`. O(log n). */
size_t trace_slices_begun(const struct trace_thread *thread, uint64_t time_ns);

/* The thread's first slice that ends after `time_ns`; n_slices: none. O(log n). */
size_t trace_slice_after(const struct trace_thread *thread, uint64_t time_ns);

/* How many of the thread's records began at or before `time_ns`. O(log n). */
size_t trace_records_begun(const struct trace_thread *thread, uint64_t time_ns);

/* The chain without its innermost `n` frames; one at least must stay. */
void trace_drop_frames(struct trace *trace, struct trace_context *context, size_t n);

#endif
