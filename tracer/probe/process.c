/* Start, fork, exec and end of the process.
 *
 * Without PERSIK_PROBE_DIR, in a process that nobody asked about, or when there is no segment to be
 * had, the library only passes calls on. All it writes lies in a shared mapping, so a process that
 * ends without telling us (abort, SIGKILL, exit_group) loses nothing but the time of its end. */
#include "tracer/probe/elf.h"
#include "tracer/probe/interposer.h"
#include "tracer/probe/memory.h"
#include "tracer/probe/wrap.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COST_RECORDS    512
#define COST_ROUNDS     5
#define UNLIMITED_STACK (1ull << 30) /* what we take for RLIM_INFINITY */
/* From here on libc would have to allocate for a thread's value of the key. */
#define MOST_KEYS 32

struct probe_process probe_process;
unsigned probe_image;

/* What an image that this process becomes by exec needs to be recorded, too. */
static char directory_variable[sizeof RAW_DIRECTORY_VARIABLE + MEMORY_PATH_MAX];
static const char *library; /* our path */
static bool follow;

static uint64_t mono_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void process_lost(void) {
    if (probe_process.image != NULL)
        __atomic_fetch_add(&probe_process.image->lost, 1, __ATOMIC_RELAXED);
}

/* ---- start ---- */

/* Is it a segment whose tables are all there, and for this process? */
static bool is_for_us(const struct raw_segment *segment, size_t bytes) {
    size_t least = sizeof *segment - sizeof segment->chunks;
    if (bytes < least || segment->magic != RAW_MAGIC || segment->version != RAW_VERSION)
        return false;
    uint32_t room = (uint32_t)((bytes - least) / sizeof *segment->chunks);
    return segment->n_chunks <= room && segment->n_chunks <= RAW_MAX_CHUNKS &&
           (segment->follow || segment->target == (int32_t)syscall(SYS_getpid));
}

/* Core dumps are the program's, and may be large already. */
static bool open_segment(const char *directory) {
    size_t bytes;
    struct raw_segment *segment = memory_file(directory, RAW_SEGMENT, true, &bytes);
    if (segment == NULL)
        return false;
    if (!is_for_us(segment, bytes)) {
        memory_unmap(segment, bytes);
        return false;
    }
    madvise(segment, bytes, MADV_DONTDUMP);
    madvise(&probe_page, sizeof probe_page, MADV_WIPEONFORK);
    probe_segment = segment;
    probe_process.n_chunk_words = segment->n_chunks / RAW_WORD_BITS;
    follow = segment->follow;
    return true;
}

/* Makes this process one of the segment's images. False: there are too many. */
static bool new_image(uint32_t flags, int32_t pid, int32_t parent, uint32_t root) {
    uint32_t number = __atomic_fetch_add(&probe_segment->n_images, 1, __ATOMIC_RELAXED);
    if (number >= RAW_MAX_IMAGES)
        return false;
    struct raw_image *image = &probe_segment->images[number];
    image->flags = flags;
    image->pid = pid;
    image->parent = parent;
    image->root = (flags & RAW_FORKED) != 0 ? root : number;
    image->start_ticks = clock_before();
    __atomic_store_n(&image->version, RAW_VERSION, __ATOMIC_RELEASE);
    probe_process.image_number = number;
    probe_process.image = image;
    return true;
}

static void find_main_stack(void) {
    extern void *__libc_stack_end;
    struct rlimit limit;
    uint64_t bytes = UNLIMITED_STACK;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < UNLIMITED_STACK)
        bytes = limit.rlim_cur;
    probe_process.main_stack_high = (uint64_t)__libc_stack_end;
    probe_process.main_stack_low = probe_process.main_stack_high - bytes;
    pthread_attr_t attributes;
    size_t default_bytes = 0;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &default_bytes);
    pthread_attr_destroy(&attributes);
    probe_process.default_stack_bytes = default_bytes;
    probe_process.main_thread = pthread_self();
}

static const char *base_name(const char *path, size_t length) {
    const char *slash = memrchr(path, '/', length);
    return slash == NULL ? path : slash + 1;
}

/* `list` (of LD_PRELOAD) without the libraries of this base name; to be freed. */
static char *without(const char *list, const char *name) {
    char *others = calloc(1, strlen(list) + 1);
    if (others == NULL)
        return NULL;
    char *end = others;
    while (*list != '\0') {
        size_t length = strcspn(list, ": ");
        const char *base = base_name(list, length);
        size_t base_length = (size_t)(list + length - base);
        if (length > 0 && (base_length != strlen(name) || memcmp(base, name, base_length) != 0)) {
            if (end != others)
                *end++ = ':';
            end = mempcpy(end, list, length);
        }
        list += length + (list[length] != '\0');
    }
    return others;
}

/* Hides us from the programs this one starts: our library in LD_PRELOAD and our variables. */
static void clean_environment(void) {
    unsetenv(RAW_DIRECTORY_VARIABLE);
    const char *preload = getenv("LD_PRELOAD");
    if (preload == NULL)
        return;
    char *others = without(preload, base_name(library, strlen(library)));
    if (others == NULL)
        return;
    if (*others == '\0')
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", others, 1);
    free(others);
}

static uint64_t plain_round_ns(pthread_mutex_t *mutex) {
    uint64_t start_ns = mono_ns();
    for (int i = 0; i < COST_RECORDS / 2; i++) {
        real.pthread_mutex_lock(mutex);
        real.pthread_mutex_unlock(mutex);
    }
    uint64_t middle_ns = mono_ns();
    for (int i = 0; i < COST_RECORDS / 2; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    uint64_t bare_ns = middle_ns - start_ns;
    uint64_t recorded_ns = mono_ns() - middle_ns;
    return recorded_ns > bare_ns ? recorded_ns - bare_ns : 0;
}

static uint64_t timed_round_ns(void) {
    uint64_t start_ns = mono_ns();
    for (int i = 0; i < COST_RECORDS; i++) {
        struct probe_call call = probe_begin(PROBE_CONTEXT, API_read, 0, 0);
        probe_end(&call, 0, 0);
    }
    return mono_ns() - start_ns;
}

/* Cost of a record, in ns: the least of a few rounds, written over and over in scratch memory in
 * place of the thread's own chunk. */
static void measure_cost(void) {
    struct probe_thread own = probe_thread;
    uint64_t bytes = (COST_RECORDS + 1) * sizeof(struct raw_record);
    void *scratch = memory_private(bytes);
    if (scratch == NULL)
        return;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    uint64_t plain_ns = UINT64_MAX;
    uint64_t timed_ns = UINT64_MAX;
    probe_thread.end = (uint64_t)scratch + bytes;
    for (int round = 0; round < COST_ROUNDS; round++) {
        probe_thread.cursor = (uint64_t)scratch;
        uint64_t plain_round = plain_round_ns(&mutex);
        probe_thread.cursor = (uint64_t)scratch;
        uint64_t timed_round = timed_round_ns();
        plain_ns = plain_round < plain_ns ? plain_round : plain_ns;
        timed_ns = timed_round < timed_ns ? timed_round : timed_ns;
    }
    probe_thread = own;
    memory_unmap(scratch, bytes);
    probe_process.image->plain_ps = plain_ns * 1000 / COST_RECORDS;
    probe_process.image->timed_ps = timed_ns * 1000 / COST_RECORDS;
}

/* ---- fork ---- */

static void start_again_in_child(void) {
    struct raw_image parent = *probe_process.image;
    if ((parent.flags & RAW_NO_CLOCK) != 0)
        return;
    if (!new_image(RAW_FORKED, buffer_tid(), parent.pid, parent.root))
        return;
    probe_process.image->plain_ps = parent.plain_ps;
    probe_process.image->timed_ps = parent.timed_ps;
    probe_process.main_thread = pthread_self();
    threads_forget();
    __atomic_store_n(&probe_page.awake, 1, __ATOMIC_RELAXED);
    probe_process.active = true;
    buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0);
}

/* The program's own handlers run around these two, some in the child before it is told apart from
 * its parent: what they lock and unlock is recorded nowhere. */
static void before_fork(void) {
    probe_thread.end_at_fork = probe_thread.end;
    probe_thread.quiet_at_fork = probe_thread.quiet;
    probe_thread.end = 0;
    probe_thread.quiet = true;
}

static void after_fork(void) {
    probe_thread.end = probe_thread.end_at_fork;
    probe_thread.quiet = probe_thread.quiet_at_fork;
}

/* The parent may have had other threads, whose chunks and caches are its own. */
static void in_child(void) {
    probe_thread.quiet = false;
    if (!probe_process.active)
        return;
    probe_process.active = false;
    __atomic_store_n(&probe_page.awake, 0, __ATOMIC_RELAXED); /* where the kernel did not do it */
    probe_image++;
    buffer_forget();
    if (follow)
        start_again_in_child();
}

static pid_t (*real_fork)(void);

/* fork without its handlers. */
PROBE_EXPORT pid_t _Fork(void) {
    interpose_resolve();
    pid_t pid = real_fork();
    if (pid == 0)
        in_child();
    return pid;
}

/* ---- sandboxes ---- */

/* A child that was made behind our back has our memory, but its end is not ours. One of vfork
 * writes to its parent's: who reads it knows. */
static bool is_us(void) {
    return probe_process.active && probe_is_awake();
}

/* With the strict mode of seccomp, and on request, the kernel takes the time stamp counter away
 * from the thread and all that it will make: from there on these cannot be recorded. */

bool process_has_no_clock(void) {
    unsigned flags = __atomic_load_n(&probe_process.image->flags, __ATOMIC_RELAXED);
    return (flags & RAW_NO_CLOCK) != 0 && probe_thread.state != THREAD_RECORDING;
}

static void lose_clock(void) {
    if (!is_us())
        return;
    if (probe_thread.state != THREAD_NEW)
        buffer_stop();
    __atomic_fetch_or(&probe_process.image->flags, RAW_NO_CLOCK, __ATOMIC_RELAXED);
}

static bool takes_clock(long option, long argument) {
    return (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT) ||
           (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV);
}

void process_before_system_call(long number, long first, long second) {
    if ((number == SYS_prctl && takes_clock(first, second)) ||
        (number == SYS_seccomp && first == SECCOMP_SET_MODE_STRICT))
        lose_clock();
}

static int (*real_prctl)(int option, ...);

PROBE_EXPORT int prctl(int option, ...) {
    va_list list;
    long a[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    interpose_resolve();
    if (takes_clock(option, a[0]))
        lose_clock();
    return real_prctl(option, a[0], a[1], a[2], a[3]);
}

/* ---- end ---- */

void process_finish(void) {
    if (!is_us())
        return;
    if (!process_has_no_clock()) {
        uint64_t now = clock_after();
        if (!probe_is_inside(probe_thread.changing))
            buffer_mark(RAW_MARK_END, now, 0, 0, 0, 0);
        probe_process.image->end_ticks = now;
    }
    __atomic_fetch_or(&probe_process.image->flags, RAW_EXITED, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void at_exit(void) {
    process_finish();
}

PROBE_EXPORT void _exit(int status) {
    process_finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

PROBE_EXPORT void _Exit(int status) {
    _exit(status);
}

/* ---- exec ---- */

/* A process that becomes another program is recorded as that: `env X=Y prog`, a script that ends in
 * exec. Its environment gets back what we took out of ours. A child, also one of vfork, does not.
 */

static bool becomes_another(void) {
    return is_us() && (int32_t)syscall(SYS_getpid) == probe_process.image->pid;
}

static void before_exec(void) {
    probe_process.image->end_ticks = process_has_no_clock() ? 0 : clock_after();
    __atomic_fetch_or(&probe_process.image->flags, RAW_EXECED, __ATOMIC_RELAXED);
}

static void exec_failed(void) {
    probe_process.image->end_ticks = 0;
    __atomic_fetch_and(&probe_process.image->flags, ~(uint32_t)RAW_EXECED, __ATOMIC_RELAXED);
}

static const char preload_name[] = "LD_PRELOAD=";

static bool is_variable(const char *entry, const char *name, size_t length) {
    return strncmp(entry, name, length) == 0;
}

static const char *find_preload(char *const *environment) {
    for (; environment != NULL && *environment != NULL; environment++)
        if (is_variable(*environment, preload_name, sizeof preload_name - 1))
            return *environment + sizeof preload_name - 1;
    return "";
}

/* Bytes that exec_environment() needs. */
static size_t exec_bytes(char *const *environment) {
    size_t n = 0;
    while (environment != NULL && environment[n] != NULL)
        n++;
    return (n + 3) * sizeof *environment + sizeof preload_name + strlen(find_preload(environment)) +
           1 + strlen(library);
}

/* The environment with ours in it, at `room`. */
static char *const *exec_environment(void *room, char *const *environment) {
    char **made = room, **next = made;
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        if (!is_variable(environment[i], preload_name, sizeof preload_name - 1) &&
            !is_variable(environment[i], RAW_DIRECTORY_VARIABLE "=", sizeof RAW_DIRECTORY_VARIABLE))
            *next++ = environment[i];
    const char *preload = find_preload(environment);
    char *text = (char *)(next + 3);
    *next++ = directory_variable;
    *next++ = text;
    *next = NULL;
    text = mempcpy(text, preload_name, sizeof preload_name - 1);
    if (strstr(preload, library) == NULL) {
        size_t length = strlen(preload);
        text = mempcpy(text, preload, length);
        if (length > 0)
            *text++ = ':';
        preload = library;
    }
    memcpy(text, preload, strlen(preload) + 1);
    return made;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a parameter list cannot be enclosed once more */
#define EXEC(name, params, args)                                                                   \
    static int(*real_##name) params;                                                               \
    PROBE_EXPORT int name params {                                                                 \
        interpose_resolve();                                                                       \
        bool becomes = becomes_another();                                                          \
        if (becomes) {                                                                             \
            environment = exec_environment(alloca(exec_bytes(environment)), environment);          \
            before_exec();                                                                         \
        }                                                                                          \
        int result = real_##name args;                                                             \
        if (becomes)                                                                               \
            exec_failed();                                                                         \
        return result;                                                                             \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
EXEC(execve, (const char *path, char *const args[], char *const *environment),
     (path, args, environment))
EXEC(execvpe, (const char *name, char *const args[], char *const *environment),
     (name, args, environment))
EXEC(fexecve, (int program, char *const args[], char *const *environment),
     (program, args, environment))

PROBE_EXPORT int execv(const char *path, char *const args[]) {
    return execve(path, args, environ);
}

PROBE_EXPORT int execvp(const char *name, char *const args[]) {
    return execvpe(name, args, environ);
}

/* The forms with a list of arguments. */
static size_t count_args(va_list list) {
    size_t n = 0;
    while (va_arg(list, char *) != NULL)
        n++;
    return n;
}

/* `n` of the list and its NULL, after `first`. */
static void collect_args(char **args, const char *first, size_t n, va_list *list) {
    args[0] = (char *)first;
    for (size_t i = 1; i <= n + 1; i++)
        args[i] = va_arg(*list, char *);
}

#define COUNT_ARGS(n, first)                                                                       \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    size_t n = count_args(list);                                                                   \
    va_end(list);

PROBE_EXPORT int execl(const char *path, const char *first, ...) {
    COUNT_ARGS(n, first)
    char *args[n + 2];
    va_start(list, first);
    collect_args(args, first, n, &list);
    va_end(list);
    return execv(path, args);
}

PROBE_EXPORT int execlp(const char *name, const char *first, ...) {
    COUNT_ARGS(n, first)
    char *args[n + 2];
    va_start(list, first);
    collect_args(args, first, n, &list);
    va_end(list);
    return execvp(name, args);
}

PROBE_EXPORT int execle(const char *path, const char *first, ...) {
    COUNT_ARGS(n, first)
    char *args[n + 2];
    va_start(list, first);
    collect_args(args, first, n, &list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, args, environment);
}

void process_resolve(void) {
    const struct elf_wanted wanted[] = {
        {"_Fork", (void **)&real_fork},      {"prctl", (void **)&real_prctl},
        {"execve", (void **)&real_execve},   {"execvpe", (void **)&real_execvpe},
        {"fexecve", (void **)&real_fexecve},
    };
    elf_resolve(wanted, sizeof wanted / sizeof *wanted);
}

/* ---- the constructor ---- */

static bool find_library(void) {
    Dl_info us;
    if (dladdr((void *)&find_library, &us) == 0 || us.dli_fname == NULL)
        return false;
    library = us.dli_fname; /* the loader's own, which stays */
    return true;
}

static bool begin_process(const char *directory) {
    if (!find_library() || !open_segment(directory))
        return false;
    memcpy(mempcpy(directory_variable, RAW_DIRECTORY_VARIABLE "=", sizeof RAW_DIRECTORY_VARIABLE),
           directory, strlen(directory) + 1);
    int32_t pid = (int32_t)syscall(SYS_getpid);
    buffer_find_tid(elf_pthread_tid_offset());
    find_main_stack();
    if (!new_image(0, pid, (int32_t)syscall(SYS_getppid), 0) || !buffer_start() || !threads_start())
        return false;
    context_start();
    modules_start();
    probe_process.has_key =
        pthread_key_create(&probe_process.thread_key, buffer_thread_ends) == 0 &&
        probe_process.thread_key < MOST_KEYS;
    return true;
}

/* It may have been taken away from the program that became this one. */
static bool has_clock(void) {
    int how = PR_TSC_ENABLE;
    return syscall(SYS_prctl, PR_GET_TSC, &how, 0, 0, 0) < 0 || how == PR_TSC_ENABLE;
}

static void start_recording(void) {
    char directory[MEMORY_PATH_MAX];
    interpose_resolve();
    if (!has_clock())
        return;
    uint64_t from_ticks = clock_before();
    const char *where = getenv(RAW_DIRECTORY_VARIABLE);
    if (where == NULL || where[0] != '/' || strlen(where) >= sizeof directory)
        return;
    memcpy(directory, where, strlen(where) + 1);
    if (!begin_process(directory))
        return;
    if (!follow)
        clean_environment();
    pthread_atfork(before_fork, after_fork, in_child);
    at_quick_exit(process_finish);
    wrap_install(directory);
    looks_read(directory);
    probe_process.active = true;
    __atomic_store_n(&probe_page.awake, 1, __ATOMIC_RELAXED);
    if (!buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0))
        return;
    measure_cost();
    buffer_mark(RAW_MARK_ATTACH, from_ticks, clock_after() - from_ticks, 0, 0, 0);
}

/* A program finds errno 0 at its start (C17, 7.5). */
__attribute__((constructor(101))) static void start(void) {
    int before = errno;
    start_recording();
    errno = before;
}
