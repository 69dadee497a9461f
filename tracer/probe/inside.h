/* What the modules of the probe library tell each other, off the hot path. */
#ifndef PERSIK_PROBE_INSIDE_H
#define PERSIK_PROBE_INSIDE_H

#include <pthread.h>

#include "tracer/probe/file.h"
#include "tracer/probe/probe.h"

/* process.c: the process we are in. */
struct probe_process {
    bool active; /* recording */
    char prefix[FILE_PATH_MAX];
    struct raw_process *header; /* shared with PREFIX.process; valid while active */
    uint64_t main_stack_low, main_stack_high;
    uint64_t default_stack_bytes;
    pthread_key_t thread_key; /* its destructor tells us of threads ending */
};
extern struct probe_process probe_process;
extern unsigned probe_image; /* of this process and its forebears: +1 at each fork */

/* Takes both clocks and files the pair. */
void process_calibrate(void);
void process_lost(void);
/* Notes the end of the process. Idempotent. */
void process_finish(void);
/* Appends the lines of /proc/self/maps that lie in [low, high) to PREFIX.maps. */
void process_append_maps(uint64_t low, uint64_t high);

/* interpose.c: finds the functions that ours stand in for. Idempotent. */
void interpose_resolve(void);
/* The function of this name in whatever library has it; NULL: none. */
void *interpose_find(const char *name);

/* context.c. False: no space for PREFIX.contexts. Call again in a forked child. */
bool context_start(void);
/* The context of what `function` does in a call made at `context`: its chain with the function's
 * first instruction in front. */
uint32_t context_within(uint32_t context, uint64_t function);
/* Makes sure the maps file covers the code at `address`; and notes that it does. */
void context_cover(uint64_t address);
void context_covered(uint64_t address);

/* The chain of a context; NULL: it has none. */
const struct raw_context *context_chain(uint32_t context);

/* looks.c: reads DIRECTORY/looks. Call once, before recording starts. */
void looks_read(const char *directory);
/* Is there something to look at under a mutex that is taken in this chain? */
bool looks_concern(const struct raw_context *chain);

/* module.c: is the loaded module of this name (of the program itself: none) the file at `path`? */
bool module_is(const char *name, const char *path);

/* buffer.c: makes the calling thread one of the recorded ones. `creator` -1, `routine` 0 =
 * unknown. False: not recorded. */
bool buffer_attach(int32_t index, int32_t creator, uint32_t context, uint64_t routine,
                   uint64_t stack_bytes);
/* In a forked child: forgets the parent's buffer. */
void buffer_forget(void);
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
