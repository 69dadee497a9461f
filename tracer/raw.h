/* The raw trace: what the probe library (tracer/probe) and the collector share while the program
 * runs. Private to the tracer, never kept, so it has no compatibility to care for.
 *
 * One file, DIRECTORY/segment, made and allocated by the collector before the program starts, and
 * mapped once by each program image that is recorded. All that the probes write lies in it, so that
 * they need no system call, no descriptor and no rights once they have started, and what was stored
 * survives a crash or SIGKILL. Its room is promised beforehand: no store can meet a full disk.
 *
 * Threads take chunks of records from it, and give full ones to the collector, which appends them
 * to DIRECTORY/records as they are and frees them (segment.h). A chunk that nobody freed in time is
 * lost and counted, never waited for.
 *
 * The program can write anything into the segment, by accident or on purpose. The collector
 * believes nothing of it: every index and length is checked, and may be found in the middle of an
 * update. All times are ticks of the TSC. */
#ifndef PERSIK_TRACER_RAW_H
#define PERSIK_TRACER_RAW_H

#include <stdint.h>

#include "processor/entry.h"

#define RAW_MAGIC      0x4b49535245505752ull
#define RAW_VERSION    3
#define RAW_SEGMENT    "segment"
#define RAW_RECORDS    "records"
#define RAW_MAX_DEPTH  16
#define RAW_FIELD_BITS 48 /* of a record's word that two fields share, the low ones */
/* I/O on a stream without a descriptor, a failed call. */
#define RAW_NO_OBJECT ((1ull << RAW_FIELD_BITS) - 1)

#define RAW_DIRECTORY_VARIABLE "PERSIK_PROBE_DIR"

/* Sizes of the segment's tables. The chunks hold a hundredth of a second at full speed on two
 * cores; many small ones rather than few large ones, for a program may have thousands of threads.
 */
#define RAW_MAX_IMAGES    1024u
#define RAW_MAX_MODULES   4096u
#define RAW_MAX_CONTEXTS  (1u << 15)
#define RAW_CONTEXT_SLOTS (2 * RAW_MAX_CONTEXTS)
#define RAW_MAX_CHUNKS    3072u
#define RAW_CHUNK_RECORDS 128u       /* one page */
#define RAW_MAX_THREADS   (1u << 20) /* of an image; further ones are lost */
#define RAW_WORD_BITS     64u

enum raw_image_flag {
    RAW_EXITED = 1 << 0,   /* by exit, _exit, quick_exit or the return of main */
    RAW_EXECED = 1 << 1,   /* replaced itself by another program */
    RAW_FORKED = 1 << 2,   /* is a forked child, not the start of a program */
    RAW_NO_CHAIN = 1 << 3, /* call chains that could not be kept */
    RAW_NO_CLOCK = 1 << 5, /* a thread gave up its time stamp counter */
    RAW_NO_CHUNK = 1 << 4, /* records were lost: all chunks were in use */
};

/* A program image: a process, or what it became by exec. */
struct raw_image {
    uint32_t version; /* RAW_VERSION, written last; 0 = unused or being filled */
    uint32_t flags;   /* enum raw_image_flag */
    int32_t pid, parent;
    uint32_t root;      /* the image that loaded the program: itself, or a forebear by fork */
    uint32_t n_threads; /* indices given out */
    uint64_t start_ticks;
    uint64_t end_ticks; /* 0, or with records behind it = the end was not seen */
    uint64_t lost;      /* records */
    uint64_t plain_ps;  /* cost of one record with one time stamp, measured at the start */
    uint64_t timed_ps;  /* with two */
};

/* A file with code in it, of the images with this root. Nothing is removed on dlclose. */
struct raw_module {
    uint64_t low, high; /* `high` is written last; 0 = unused */
    uint32_t root;
    uint32_t reserved;
    char path[488]; /* as the loader has it; of the program itself, absolute; "" = too long */
};

/* Return addresses, innermost (in the caller of the API function) first. Frames of the probe
 * library, and of libc below main or the start routine, are left out. An entry of depth 0 is
 * unused: two threads met at the same chain, or the program died while writing it. */
struct raw_context {
    uint32_t depth;
    uint32_t root;
    uint64_t addresses[RAW_MAX_DEPTH];
};

/* struct trace_record in ticks. `start` is written last: a record with start == 0 is unused.
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
    uint64_t api : 64 - RAW_FIELD_BITS; /* or enum raw_mark */
    uint64_t object : RAW_FIELD_BITS;
    uint64_t flags : 64 - RAW_FIELD_BITS; /* enum trace_flag */
    uint32_t context;                     /* index into contexts; TRACE_NO_CONTEXT */
    int32_t value;
};
_Static_assert(sizeof(struct raw_record) == 32, "a record is 32 bytes");

/* Records that say something else than a call, in the place of `api`. */
enum raw_mark {
    /* What follows in this chunk is this thread's. context: image, value: index in it. */
    RAW_MARK_OWNER = 0xff00,
    /* It begins. duration: tid, object: start routine (0 = unknown: the first thread, or created
     * unseen), context: of its creation, value: index of the creating thread or -1. */
    RAW_MARK_THREAD,
    /* What we did in it before its first record; of a process's first thread, what the library did
     * at its start, too. start, duration. */
    RAW_MARK_ATTACH,
    RAW_MARK_END, /* it ends: start */
    /* A call whose chunk was given away before it returned: start is that of its record; duration,
     * object, flags, value are the missing ones. */
    RAW_MARK_LATE,
    /* What a variable held that was looked at. object: the mutex, context: index of the look, value
     * and duration: low and high half of the bytes. */
    RAW_MARK_VALUE,
};

struct raw_segment {
    uint64_t magic;
    uint32_t version;
    uint32_t n_chunks; /* that the file has room for: a multiple of RAW_WORD_BITS */
    int32_t target;    /* the process to be recorded */
    uint32_t follow;   /* 1: and its children */
    /* Entries given out, which may exceed what there is. */
    uint32_t n_images, n_modules, n_contexts;
    uint32_t reserved;
    /* Bit sets of chunks. A thread that clears a free bit owns the chunk, empties it and writes
     * RAW_MARK_OWNER first. Neither free nor full: owned, or its owner is gone. */
    uint64_t free[RAW_MAX_CHUNKS / RAW_WORD_BITS];
    uint64_t full[RAW_MAX_CHUNKS / RAW_WORD_BITS];
    struct raw_image images[RAW_MAX_IMAGES];
    struct raw_module modules[RAW_MAX_MODULES];
    uint32_t context_slots[RAW_CONTEXT_SLOTS]; /* hash table: index + 1 of contexts; 0 = free */
    struct raw_context contexts[RAW_MAX_CONTEXTS];
    _Alignas(4096) struct raw_record chunks[RAW_MAX_CHUNKS][RAW_CHUNK_RECORDS];
};
_Static_assert(sizeof(struct raw_record[RAW_CHUNK_RECORDS]) == 4096, "a chunk is a page");

/* DIRECTORY/looks: an array of calls that take a mutex, each with a variable that lies at a
 * distance from this mutex which is known. Made before the program starts; whoever comes to a call
 * chain with such a call in it for the first time looks what the variable holds once the mutex is
 * his. */
#define RAW_LOOKS       "looks"
#define RAW_LOOK_FRAMES 4 /* of a chain, in which such a call is sought */

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

/* DIRECTORY/wraps: an array of what the collector wants wrapped, made before the program starts.
 * The probe library notes in `state` what became of it. */
#define RAW_WRAPS            "wraps"
#define RAW_WRAP_BYTES       32
#define RAW_WRAP_FIXUPS      ENTRY_MAX_FIXUPS
#define RAW_WRAP_JUMP_BYTES  ENTRY_JUMP_BYTES
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
