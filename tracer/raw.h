/* The raw trace: what the probe library (tracer/probe) leaves in PERSIK_PROBE_DIR and the collector
 * turns into a trace. Private to the tracer, never kept, so it has no compatibility to care for.
 *
 * One program image (a process, or what it became by exec) leaves these files, all 0600, named by
 * a PREFIX: "p<PID>", and "p<PID>-1", "p<PID>-2" ... for further images of the same process. Find
 * them by listing *.process; everything before that suffix is the prefix.
 *
 *   PREFIX.process        struct raw_process
 *   PREFIX.contexts       struct raw_contexts, then its entries
 *   PREFIX.t<N>.records   struct raw_thread, then the window, then earlier windows (see below)
 *   PREFIX.values         what was looked at: an array of struct raw_value
 *   PREFIX.maps           as /proc/self/maps at the start; when a library loaded later appears in a
 *                         context, its lines are appended. Nothing is removed on dlclose.
 *
 * The program writes them through shared mappings, so everything stored survives a crash or
 * SIGKILL, and the reader must expect to find any of them cut off in the middle of an update.
 * All times are ticks of the TSC; raw_process.pairs relate them to CLOCK_MONOTONIC. */
#ifndef PERSIK_TRACER_RAW_H
#define PERSIK_TRACER_RAW_H

#include <stdint.h>

#define RAW_MAGIC        0x4b49535245505752ull
#define RAW_VERSION      1
#define RAW_MAX_DEPTH    16
#define RAW_MAX_PAIRS    64
#define RAW_HEADER_SIZE  4096 /* of PREFIX.process and of the head of PREFIX.t<N>.records */
#define RAW_WINDOW_BYTES (128u << 10)
#define RAW_FIELD_BITS   48 /* of a record's word that two fields share, the low ones */
/* I/O on a stream without a descriptor, a failed call. */
#define RAW_NO_OBJECT ((1ull << RAW_FIELD_BITS) - 1)

#define RAW_DIRECTORY_VARIABLE "PERSIK_PROBE_DIR"
#define RAW_FOLLOW_VARIABLE    "PERSIK_PROBE_FOLLOW"

enum raw_process_flag {
    RAW_EXITED = 1 << 0,   /* by exit, _exit, quick_exit or the return of main */
    RAW_EXECED = 1 << 1,   /* replaced itself by another program */
    RAW_FORKED = 1 << 2,   /* is a forked child, not the start of a program */
    RAW_NO_SPACE = 1 << 3, /* something could not be recorded: the disk is full */
    RAW_NO_CHAIN = 1 << 4  /* call chains that could not be kept */
};

/* The same moment on both clocks. */
struct raw_pair {
    uint64_t ticks; /* 0 = entry unused or being written */
    uint64_t mono_ns;
};

struct raw_process {
    uint64_t magic;
    uint32_t version;
    uint32_t flags; /* enum raw_process_flag */
    int32_t pid, parent;
    uint32_t image;     /* 0, 1 ...: as in the prefix */
    uint32_t n_threads; /* indices given out; a thread that could not be recorded has no file */
    uint64_t end_ticks; /* 0 = the end was not seen */
    int32_t failure;    /* errno of the last time that a thread's file could not be had; 0 = none */
    int32_t reserved;
    double plain_ns; /* cost of one record with one time stamp, measured at the start */
    double timed_ns; /* with two */
    uint64_t lost;   /* records lost outside the threads' own counts */
    struct raw_pair start;
    uint64_t n_pairs; /* written so far; pairs[] is a ring of the latest RAW_MAX_PAIRS */
    struct raw_pair pairs[RAW_MAX_PAIRS];
};
_Static_assert(sizeof(struct raw_process) <= RAW_HEADER_SIZE, "fits its file");

/* Return addresses, innermost (in the caller of the API function) first. Frames of the probe
 * library, and of libc below main or the start routine, are left out. An entry of depth 0 is
 * unused: two threads met at the same chain, or the program died while writing it. */
struct raw_context {
    uint32_t depth;
    uint32_t reserved;
    uint64_t addresses[RAW_MAX_DEPTH];
};

struct raw_contexts {
    uint32_t count; /* entries given out; may exceed what the file holds when the disk is full */
    uint32_t reserved[33];
    struct raw_context entries[];
};
_Static_assert(sizeof(struct raw_contexts) == sizeof(struct raw_context), "entries are aligned");

struct raw_thread {
    uint64_t magic;
    uint32_t version;
    int32_t tid;
    int32_t index;    /* within the image; 0 = its first thread */
    int32_t creator;  /* index of the creating thread; -1 = none or unknown */
    uint32_t context; /* of its creation; TRACE_NO_CONTEXT */
    uint32_t reserved;
    uint64_t start_routine; /* address; 0 = unknown (first thread, or created unseen) */
    uint64_t start_ticks;   /* before its start routine */
    uint64_t end_ticks;     /* 0 = not seen */
    /* What we did in the thread before its first record and after its last one; of a process's
     * first thread, what the library did at its start, too. 0 = nothing, or not seen. */
    uint64_t attach_from_ticks, attach_to_ticks;
    uint64_t detach_from_ticks, detach_to_ticks;
    uint64_t lost; /* records: disk full, or made while the probe was busy */
};
_Static_assert(sizeof(struct raw_thread) <= RAW_HEADER_SIZE, "fits its file's head");

/* struct trace_record in ticks. `start` is written last: a record with start == 0 is unused.
 *
 * The thread stores into the window, which is mapped: RAW_WINDOW_BYTES at offset RAW_WINDOW_BYTES.
 * A full window is copied to the next multiple of RAW_WINDOW_BYTES and emptied (aligned so, the
 * page cache takes it in one large folio). So read the file from RAW_HEADER_SIZE (zeros lie between
 * head and window) to its end as one array of records, skip those with start == 0, sort by start,
 * and drop a record equal to its predecessor (killed between copying and emptying). A last part
 * shorter than a record is to be ignored.
 *
 * A signal handler's calls may lie inside the call it interrupted; so may calls made inside
 * pthread_once. The call a thread was in when it was killed or cancelled has TRACE_UNFINISHED.
 *
 * A lock that was free has its time stamp after the acquisition and duration 0; an unlock, signal
 * or post before it takes effect. A wait starts before the mutex is released and ends after it
 * was taken again: the critical sections of one mutex do not overlap. */
struct raw_record {
    uint64_t start;
    uint64_t duration : RAW_FIELD_BITS;
    uint64_t api : 64 - RAW_FIELD_BITS;
    uint64_t object : RAW_FIELD_BITS;
    uint64_t flags : 64 - RAW_FIELD_BITS; /* enum trace_flag */
    uint32_t context;                     /* index into entries; TRACE_NO_CONTEXT */
    int32_t value;
};
_Static_assert(sizeof(struct raw_record) == 32, "a record is 32 bytes");

/* DIRECTORY/looks: an array of calls that take a mutex, each with a variable that lies at a
 * distance from this mutex which is known. Made before the program starts; whoever comes to a call
 * chain with such a call in it for the first time looks what the variable holds once the mutex is
 * his. */
#define RAW_LOOKS       "looks"
#define RAW_LOOK_FRAMES 4    /* of a chain, in which such a call is sought */
#define RAW_MOST_VALUES 1024 /* of an image */

struct raw_look {
    char module[512];
    /* A call returns to an address above `low`, `high` at most, in the file's numbering. */
    uint64_t low, high;
    int64_t offset;   /* of the variable, from the mutex */
    uint32_t bytes;   /* of it: up to 8 */
    uint32_t name;    /* whose it is: the collector's business */
    uint32_t watched; /* from then on each unlock of this mutex says what it holds: TRACE_LOOKED */
    uint32_t reserved;
};

struct raw_value {
    uint64_t ticks; /* 0 = unused */
    uint64_t mutex;
    uint32_t look;  /* its index */
    int32_t thread; /* index of who looked */
    uint8_t bytes[8];
};

/* DIRECTORY/wraps: an array of what the collector wants wrapped, made before the program starts.
 * The probe library notes in `state` what became of it. */
#define RAW_WRAPS            "wraps"
#define RAW_WRAP_BYTES       32
#define RAW_WRAP_FIXUPS      4
#define RAW_WRAP_JUMP_BYTES  5
#define RAW_WRAP_STACK_BYTES 512 /* of arguments on the stack that a wrapped function may have */

enum raw_wrap_how {
    RAW_WRAP_ENTRY, /* its first instructions move away for a jump to us */
    RAW_WRAP_KERNEL /* a uprobe: not the probe library's business */
};

enum raw_wrap_state {
    RAW_WRAP_PENDING, /* its module was never loaded at the start of a program */
    RAW_WRAP_DONE,
    RAW_WRAP_CHANGED, /* other code than in the file */
    RAW_WRAP_THREADS, /* there were other threads already */
    RAW_WRAP_REFUSED, /* the system did not let us change or place code */
};

struct raw_wrap {
    char name[128];
    char module[512];  /* path of the file */
    uint64_t function; /* its address, in the file's numbering */
    uint64_t address;  /* of the first byte to move */
    uint8_t how;       /* enum raw_wrap_how */
    uint8_t n_bytes;   /* that move: whole instructions, at least a jump's */
    uint8_t n_fixups;
    uint8_t
        fixups[RAW_WRAP_FIXUPS];   /* where in them 4-byte distances to the code's place lie ... */
    uint8_t ends[RAW_WRAP_FIXUPS]; /* ... and where the instruction ends that they count from */
    uint8_t bytes[RAW_WRAP_BYTES];
    uint16_t api; /* API_COUNT: nothing inside is recorded, nor is the call */
    uint8_t object_source, amount_source, fails, spins; /* formats/user_catalog.h */
    uint8_t hooked; /* its module was compiled with -finstrument-functions */
    int64_t object_number, amount_number;
    uint32_t state;  /* enum raw_wrap_state */
    uint32_t unseen; /* calls of inlined copies, whose arguments or result would be needed */
};

#endif
