/* What the modules of the probe library tell each other, off the hot path. */
#ifndef PERSIK_PROBE_INSIDE_H
#define PERSIK_PROBE_INSIDE_H

#include <pthread.h>

#include "processor/x86_64/probe/unwind.h"
#include "tracer/probe/probe.h"

#define PROBE_MAX_FRAMES (RAW_MAX_DEPTH + 8) /* ours among them */

/* process.c: the process we are in. */
struct probe_process {
    bool active;             /* recording */
    uint32_t image_number;   /* of the segment */
    struct raw_image *image; /* valid while active */
    uint32_t n_chunk_words;  /* of the segment's bit sets */
    pthread_t main_thread;
    uint64_t main_stack_low, main_stack_high;
    uint64_t default_stack_bytes;
    pthread_key_t thread_key; /* its destructor tells us of threads ending */
    bool has_key;
};
extern struct probe_process probe_process;
extern unsigned probe_image; /* of this process and its forebears: +1 at each fork */

/* Counts a record that is lost. */
void process_lost(void);
/* May the calling thread have no time stamp counter? The kernel would end it for reading one. */
bool process_has_no_clock(void);
/* Finds what it stands in for itself. */
void process_resolve(void);
/* To be told of each system call that the program makes directly, with its first two arguments. */
void process_before_system_call(long number, long first, long second);
/* Notes the end of the process. Idempotent. */
void process_finish(void);

/* system_calls.c: finds what it stands in for. */
void system_calls_resolve(void);

/* interpose.c: finds the functions that ours stand in for. Idempotent. */
void interpose_resolve(void);
/* The function of this name in whatever library has it; NULL: none. */
void *interpose_find(const char *name);

/* context.c: call once. */
void context_start(void);
/* The context of what `function` does in a call made at `context`: its chain with the function's
 * first instruction in front. */
uint32_t context_within(uint32_t context, uint64_t function);

/* The chain of a context; NULL: it has none. */
const struct raw_context *context_chain(uint32_t context);

/* modules.c: which files hold the code and data of this process. Call once. */
void modules_start(void);
/* Tells the segment of the module at `address`, if it does not know it. dlopen is not interposed
 * for this: it looks at its caller to find libraries, and would see us. */
void modules_note(uint64_t address);
/* Are both in the data of one module that was there at the start? */
bool modules_share_data(uint64_t first, uint64_t last);
/* Is the loaded module of this name (of the program itself: none) the file at `path`? Allocates:
 * only at the start. */
bool module_is(const char *name, const char *path);

/* looks.c: reads DIRECTORY/looks. Call once, before recording starts. */
void looks_read(const char *directory);
/* Is there something to look at under a mutex that is taken in this chain? */
bool looks_concern(const struct raw_context *chain);

/* buffer.c: makes the calling thread one of the recorded ones. `creator` -1, `routine` 0 =
 * unknown. False: not recorded. */
bool buffer_attach(int32_t index, int32_t creator, uint32_t context, uint64_t routine,
                   uint64_t stack_bytes);
/* Starts what threads share. False: no memory. */
bool buffer_start(void);
/* How far the number that the kernel gave a thread lies from its handle; 0: not known. */
void buffer_find_tid(int offset);

/* Of a thread: the call chains that it has seen, and what finding others needs. In memory of the
 * library's own, since the thread's stack may be small. */
struct probe_cache {
    struct probe_chain chains[PROBE_CHAINS];
    uint64_t used[PROBE_CHAINS / RAW_WORD_BITS]; /* bit set of chains */
    struct unwind unwind;
    struct unwind_frame frames[PROBE_MAX_FRAMES];
    struct raw_context chain;
};
/* The calling thread's; NULL: it has none. */
struct probe_cache *buffer_cache(void);
/* Writes a mark (tracer/raw.h) among the thread's records, if it is recorded. */
void buffer_mark(enum raw_mark mark, uint64_t start, uint64_t duration, uint64_t object,
                 uint32_t context, int32_t value);
/* Number of the calling thread for the kernel, as libc knows it. */
int32_t buffer_tid(void);
/* In a forked child: forgets the parent's buffers. */
void buffer_forget(void);
/* Ends the recording of the calling thread. */
void buffer_stop(void);
void buffer_thread_ends(void *unused);
int32_t buffer_new_index(void);

/* Threads that a library makes or joins for the program: the records of pthread_create and
 * pthread_join say the library's function, where it is called, and the routine it was given. */
struct probe_behalf {
    bool active;
    enum api api;
    uint32_t context;
    uint64_t routine; /* 0: the library's own */
};
extern _Thread_local struct probe_behalf probe_behalf
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* threads.c */
void threads_forget(void);
bool threads_start(void);
void threads_register(pthread_t thread, int32_t index, bool if_newer);
/* Index of the thread with this handle, -1 = unknown. */
int32_t threads_find(pthread_t thread);

#endif
