/* Start, fork, exec and end of the process.
 *
 * Without PERSIK_PROBE_DIR, or when nothing can be written there, the library only passes calls on.
 * All it writes lies in shared mappings, so a process that ends without telling us (abort, SIGKILL,
 * exit_group) loses nothing but the time of its end. */
#include "tracer/probe/interposer.h"
#include "tracer/probe/wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_IMAGES      1000
#define COST_RECORDS    512
#define COST_ROUNDS     5
#define UNLIMITED_STACK (1ull << 30) /* what we take for RLIM_INFINITY */

struct probe_process probe_process;
unsigned probe_image;

static char directory[FILE_PATH_MAX];
static bool follow;

/* ---- clocks ---- */

static struct raw_pair take_pair(void) {
    struct timespec now;
    uint64_t before = clock_before();
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t after = clock_after();
    return (struct raw_pair){.ticks = before + (after - before) / 2,
                             .mono_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
}

void process_calibrate(void) {
    struct raw_process *header = probe_process.header;
    uint64_t number = __atomic_fetch_add(&header->n_pairs, 1, __ATOMIC_RELAXED);
    volatile struct raw_pair *pair = &header->pairs[number % RAW_MAX_PAIRS];
    struct raw_pair now = take_pair();
    pair->ticks = 0; /* a reader must not see half a pair */
    pair->mono_ns = now.mono_ns;
    pair->ticks = now.ticks;
}

void process_lost(void) {
    __atomic_fetch_add(&probe_process.header->lost, 1, __ATOMIC_RELAXED);
}

/* ---- PREFIX.maps ---- */

/* Copies the lines that overlap [low, high). */
static void copy_lines(int to, const char *text, size_t bytes, uint64_t low, uint64_t high) {
    while (bytes > 0) {
        const char *newline = memchr(text, '\n', bytes);
        size_t line = newline == NULL ? bytes : (size_t)(newline - text) + 1;
        char *rest;
        uint64_t first = strtoull(text, &rest, 16);
        uint64_t last = strtoull(rest + 1, NULL, 16);
        if (first < high && last > low) {
            file_write(to, text, line);
            context_covered(first);
        }
        text += line;
        bytes -= line;
    }
}

void process_append_maps(uint64_t low, uint64_t high) {
    enum { CAPACITY = 1 << 20 }; /* some 10,000 mappings; address space, not memory */
    char path[FILE_PATH_MAX];
    char *text = file_memory(CAPACITY);
    int from = file_open("/proc/self/maps", O_RDONLY);
    if (text != NULL && from >= 0 && file_name(path, probe_process.prefix, ".maps", -1, "")) {
        size_t bytes = 0;
        long got;
        while (bytes < CAPACITY - 1 &&
               (got = syscall(SYS_read, from, text + bytes, CAPACITY - 1 - bytes)) > 0)
            bytes += (size_t)got;
        int to = file_open(path, O_WRONLY | O_CREAT | O_APPEND);
        if (to >= 0) {
            copy_lines(to, text, bytes, low, high);
            file_close(to);
        }
    }
    if (from >= 0)
        file_close(from);
    file_unmap((uint64_t)text, CAPACITY);
}

/* ---- start ---- */

/* `*taken`: the prefix is another image's. */
static struct raw_process *create_header(const char *prefix, bool *taken) {
    char path[FILE_PATH_MAX];
    struct raw_process *header = NULL;
    *taken = false;
    if (!file_name(path, prefix, ".process", -1, ""))
        return NULL;
    int file = file_open(path, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0) {
        *taken = errno == EEXIST;
        return NULL;
    }
    if (file_reserve(file, 0, RAW_HEADER_SIZE))
        header = file_map(file, 0, RAW_HEADER_SIZE);
    file_close(file);
    return header;
}

/* Opens this image's files under a prefix not yet taken. */
static bool open_files(uint32_t flags) {
    pid_t pid = (pid_t)syscall(SYS_getpid);
    char start[FILE_PATH_MAX];
    if (!file_name(start, directory, "/p", pid, ""))
        return false;
    struct raw_process *header = NULL;
    uint32_t image = 0;
    for (bool taken = true; taken && image < MAX_IMAGES; image++) {
        int64_t suffix = image > 0 ? (int64_t)image : -1;
        if (!file_name(probe_process.prefix, start, image > 0 ? "-" : "", suffix, ""))
            return false;
        header = create_header(probe_process.prefix, &taken);
    }
    if (header == NULL)
        return false;
    header->version = RAW_VERSION;
    header->flags = flags;
    header->pid = pid;
    header->parent = (int32_t)syscall(SYS_getppid);
    header->image = image - 1;
    header->start = take_pair();
    header->magic = RAW_MAGIC;
    probe_process.header = header;
    if (!context_start() || !threads_start())
        return false;
    process_append_maps(0, UINT64_MAX);
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
    unsetenv(RAW_FOLLOW_VARIABLE);
    const char *preload = getenv("LD_PRELOAD");
    Dl_info us;
    if (preload == NULL || dladdr((void *)&clean_environment, &us) == 0)
        return;
    char *others = without(preload, base_name(us.dli_fname, strlen(us.dli_fname)));
    if (others == NULL)
        return;
    if (*others == '\0')
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", others, 1);
    free(others);
}

static uint64_t plain_round_ns(pthread_mutex_t *mutex) {
    uint64_t start_ns = take_pair().mono_ns;
    for (int i = 0; i < COST_RECORDS / 2; i++) {
        real.pthread_mutex_lock(mutex);
        real.pthread_mutex_unlock(mutex);
    }
    uint64_t middle_ns = take_pair().mono_ns;
    for (int i = 0; i < COST_RECORDS / 2; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    uint64_t bare_ns = middle_ns - start_ns;
    uint64_t recorded_ns = take_pair().mono_ns - middle_ns;
    return recorded_ns > bare_ns ? recorded_ns - bare_ns : 0;
}

static uint64_t timed_round_ns(void) {
    uint64_t start_ns = take_pair().mono_ns;
    for (int i = 0; i < COST_RECORDS; i++) {
        struct probe_call call = probe_begin(PROBE_CONTEXT, API_read, 0, 0);
        probe_end(&call, 0, 0);
    }
    return take_pair().mono_ns - start_ns;
}

/* Cost of a record, in ns: the least of a few rounds, written over and over in scratch memory in
 * place of the thread's own window. */
static void measure_cost(void) {
    struct probe_thread own = probe_thread;
    uint64_t bytes = (COST_RECORDS + 1) * sizeof(struct raw_record);
    void *scratch = file_memory(bytes);
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
    file_unmap((uint64_t)scratch, bytes);
    probe_process.header->plain_ns = (double)plain_ns / COST_RECORDS;
    probe_process.header->timed_ns = (double)timed_ns / COST_RECORDS;
}

/* ---- fork ---- */

static void start_again_in_child(void) {
    double plain_ns = probe_process.header->plain_ns;
    double timed_ns = probe_process.header->timed_ns;
    buffer_forget();
    threads_forget();
    file_unmap((uint64_t)probe_process.header, RAW_HEADER_SIZE);
    probe_process.header = NULL;
    if (!open_files(RAW_FORKED))
        return;
    probe_process.header->plain_ns = plain_ns;
    probe_process.header->timed_ns = timed_ns;
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

/* Only async-signal-safe steps: the parent may have had other threads. The parent's files are still
 * mapped; nothing may be stored through them. */
static void in_child(void) {
    probe_thread.quiet = false;
    if (!probe_process.active)
        return;
    struct file_quiet quiet = quiet_enter();
    probe_process.active = false;
    probe_image++;
    if (follow)
        start_again_in_child();
    else
        buffer_forget();
    quiet_leave(quiet);
}

static pid_t (*real_fork)(void);

/* fork without its handlers. */
PROBE_EXPORT pid_t _Fork(void) {
    if (real_fork == NULL)
        *(void **)&real_fork = dlsym(RTLD_NEXT, "_Fork");
    pid_t pid = real_fork();
    if (pid == 0)
        in_child();
    return pid;
}

/* ---- end ---- */

/* A child of vfork runs in our memory: its end is not ours. */
static bool is_us(void) {
    return probe_process.active && syscall(SYS_getpid) == probe_process.header->pid;
}

void process_finish(void) {
    if (!is_us())
        return;
    struct raw_process *header = probe_process.header;
    process_calibrate();
    header->end_ticks = clock_after();
    if (probe_thread.header != NULL)
        probe_thread.header->end_ticks = header->end_ticks;
    __atomic_fetch_or(&header->flags, RAW_EXITED, __ATOMIC_RELAXED);
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

static void before_exec(void) {
    if (!is_us())
        return;
    process_calibrate();
    probe_process.header->end_ticks = clock_after();
    __atomic_fetch_or(&probe_process.header->flags, RAW_EXECED, __ATOMIC_RELAXED);
}

static void exec_failed(void) {
    if (!is_us())
        return;
    probe_process.header->end_ticks = 0;
    __atomic_fetch_and(&probe_process.header->flags, ~(uint32_t)RAW_EXECED, __ATOMIC_RELAXED);
}

static void find_exec(const char *name, void **function) {
    *function = dlsym(RTLD_NEXT, name);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a parameter list cannot be enclosed once more */
#define EXEC(name, params, args)                                                                   \
    static int(*real_##name) params;                                                               \
    PROBE_EXPORT int name params {                                                                 \
        if (real_##name == NULL)                                                                   \
            find_exec(#name, (void **)&real_##name);                                               \
        before_exec();                                                                             \
        int result = real_##name args;                                                             \
        exec_failed();                                                                             \
        return result;                                                                             \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
EXEC(execve, (const char *path, char *const args[], char *const environment[]),
     (path, args, environment))
EXEC(execv, (const char *path, char *const args[]), (path, args))
EXEC(execvp, (const char *name, char *const args[]), (name, args))
EXEC(execvpe, (const char *name, char *const args[], char *const environment[]),
     (name, args, environment))
EXEC(fexecve, (int program, char *const args[], char *const environment[]),
     (program, args, environment))

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

/* In a child of a threaded program dlsym might wait for a lock that nobody will release. */
static void find_execs(void) {
    find_exec("_Fork", (void **)&real_fork);
    find_exec("execve", (void **)&real_execve);
    find_exec("execv", (void **)&real_execv);
    find_exec("execvp", (void **)&real_execvp);
    find_exec("execvpe", (void **)&real_execvpe);
    find_exec("fexecve", (void **)&real_fexecve);
}

/* ---- the constructor ---- */

__attribute__((constructor(101))) static void start(void) {
    uint64_t from_ticks = clock_before();
    interpose_resolve();
    find_execs();
    const char *where = getenv(RAW_DIRECTORY_VARIABLE);
    if (where == NULL || where[0] != '/' || !file_name(directory, where, "", -1, ""))
        return;
    const char *following = getenv(RAW_FOLLOW_VARIABLE);
    follow = following != NULL && strcmp(following, "1") == 0;
    if (!follow)
        clean_environment();
    find_main_stack();
    if (pthread_key_create(&probe_process.thread_key, buffer_thread_ends) != 0 || !open_files(0))
        return;
    pthread_atfork(before_fork, after_fork, in_child);
    at_quick_exit(process_finish);
    wrap_install(directory);
    looks_read(directory);
    probe_process.active = true;
    if (!buffer_attach(buffer_new_index(), -1, TRACE_NO_CONTEXT, 0, 0))
        return;
    measure_cost();
    probe_thread.header->attach_from_ticks = from_ticks;
    probe_thread.header->attach_to_ticks = clock_after();
}
