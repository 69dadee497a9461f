/* Programs with habits that an injected library must not disturb: habits NAME. Each prints what it
 * saw of itself, which must be the same with and without probes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS 4
#define LOCKS   20000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static volatile bool stop;
static int errno_of_start;

__attribute__((noinline)) static void lock_often(long n) {
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
}

static void *locker(void *n) {
    lock_often((long)(intptr_t)n);
    return n;
}

static void run_threads(long n) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, locker, (void *)(intptr_t)n) != 0)
            exit(9);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int print_sum(void) {
    printf("sum %ld\n", counter);
    return 0;
}

/* ---- sandboxes ---- */

static int strict(void) {
    run_threads(10);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    lock_often(LOCKS);
    ssize_t written = write(1, "done\n", 5);
    syscall(SYS_exit, written != 5);
    return 1;
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What the program needs and nothing else. */
static int filter(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_futex),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_madvise),
        ALLOW(SYS_clone3),
        ALLOW(SYS_clone),
        ALLOW(SYS_set_robust_list),
        ALLOW(SYS_rseq),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_brk),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_prlimit64),
        ALLOW(SYS_sched_yield),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_newfstatat),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    printf("begins\n");
    fflush(stdout);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    run_threads(LOCKS);
    char text[40];
    int bytes = snprintf(text, sizeof text, "sum %ld\n", counter);
    return write(1, text, (size_t)bytes) != bytes;
}

static int drop_user(void) {
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 1;
    run_threads(LOCKS);
    return print_sum();
}

/* A thread without the time stamp counter, one that it makes, what locks a stream does at its end,
 * and the program that it becomes. */
static int no_clock(void) {
    run_threads(10);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    run_threads(LOCKS);
    flockfile(stdout);
    funlockfile(stdout);
    print_sum();
    fflush(stdout);
    execl("/proc/self/exe", "habits", "errno_at_start", NULL);
    return 1;
}

static int own_root(void) {
    char folder[] = "/tmp/habits-XXXXXX";
    bool is_there = mkdtemp(folder) && chroot(folder) == 0 && chdir("/") == 0;
    run_threads(LOCKS);
    printf("%d\n", is_there);
    return print_sum();
}

/* ---- descriptors and memory ---- */

static int errno_at_start(void) {
    printf("errno %d\n", errno_of_start);
    return 0;
}

static int close_all(void) {
    run_threads(100);
    syscall(SYS_close_range, 3, ~0U, 0);
    close(STDERR_FILENO);
    run_threads(LOCKS);
    printf("next %d\n", open("/dev/null", O_RDONLY));
    return print_sum();
}

static int small_space(void) {
    struct rlimit limit = {400UL << 20, 400UL << 20};
    setrlimit(RLIMIT_AS, &limit);
    run_threads(LOCKS);
    void *memory = malloc(100UL << 20);
    printf("%d\n", memory != NULL);
    free(memory);
    return print_sum();
}

static void *lock_on(void *unused) {
    while (!stop)
        lock_often(2000);
    return unused;
}

/* Keeps one descriptor free, which must be what the next open gives. */
static int last_descriptor(void) {
    struct rlimit limit = {16, 16};
    setrlimit(RLIMIT_NOFILE, &limit);
    int last = -1, next;
    while ((next = open("/dev/null", O_RDONLY)) >= 0)
        last = next;
    close(last);
    pthread_t thread;
    pthread_create(&thread, NULL, lock_on, NULL);
    int wrong = 0;
    for (int i = 0; i < 30000; i++) {
        int got = open("/dev/null", O_RDONLY);
        wrong += got != last;
        close(got);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("wrong descriptors: %d\n", wrong);
    return 0;
}

static int lock_memory(void) {
    printf("mlockall %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
    run_threads(LOCKS);
    return print_sum();
}

static int small_files(void) {
    struct rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    run_threads(LOCKS);
    return print_sum();
}

static void *use_stack(void *bytes) {
    volatile char *space = __builtin_alloca((size_t)(intptr_t)bytes);
    for (long i = 0; i < (long)(intptr_t)bytes; i += 64)
        space[i] = 1;
    lock_often(3);
    return (void *)(intptr_t)space[0];
}

static int least_stack(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    if (pthread_create(&thread, &attributes, locker, (void *)LOCKS) != 0)
        return 1;
    pthread_join(thread, NULL);
    return print_sum();
}

static ucontext_t scheduler, coroutines[THREADS];
static int at;

static void coroutine(void) {
    for (;;) {
        lock_often(1);
        swapcontext(&coroutines[at], &scheduler);
    }
}

static int switch_stacks(void) {
    enum { STACK = 1 << 15 };
    for (int i = 0; i < THREADS; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack = (stack_t){.ss_sp = malloc(STACK), .ss_size = STACK};
        makecontext(&coroutines[i], coroutine, 0);
    }
    for (int round = 0; round < LOCKS / 4; round++)
        for (at = 0; at < THREADS; at++)
            swapcontext(&scheduler, &coroutines[at]);
    return print_sum();
}

static int small_stack(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    if (pthread_create(&thread, &attributes, use_stack, (void *)7500) != 0)
        return 1;
    pthread_join(thread, NULL);
    return print_sum();
}

/* ---- children ---- */

static int copy_work(void *unused) {
    (void)unused;
    run_threads(LOCKS);
    return counter == 2L * THREADS * LOCKS ? 7 : 1;
}

static int wait_for(pid_t child) {
    int status;
    lock_often(LOCKS);
    waitpid(child, &status, 0);
    printf("child %d, sum %ld\n", WEXITSTATUS(status), counter);
    return 0;
}

static int raw_fork(void) {
    run_threads(LOCKS);
    pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0)
        syscall(SYS_exit_group, copy_work(NULL));
    return wait_for(child);
}

static int raw_clone(void) {
    enum { STACK = 1 << 18 };
    run_threads(LOCKS);
    char *stack = malloc(STACK);
    return wait_for(clone(copy_work, stack + STACK, SIGCHLD, NULL));
}

/* ---- odd frames ---- */

/* A frame whose unwind table is wrong, and whose stack is misaligned, as in hand-written assembly.
 */
__attribute__((noinline, used)) void odd_lock(void) {
    lock_often(1);
}

static int wrong_table(void) {
    for (int i = 0; i < 100; i++)
        __asm__ volatile(
            "sub $128, %%rsp\n\tpush %%rbp\n\tmov $0x1234560, %%rbp\n\tcall odd_lock\n\t"
            "pop %%rbp\n\tadd $128, %%rsp" ::
                : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return print_sum();
}

static sigjmp_buf before;

static void leap(int number) {
    (void)number;
    siglongjmp(before, 1);
}

/* Leaves whatever it is in by siglongjmp, now and then. */
static int leaps(void) {
    pthread_mutex_t own[64];
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = leap}, NULL);
    for (volatile int round = 0; round < 200; round++)
        if (sigsetjmp(before, 1) == 0) {
            struct itimerval soon = {.it_value.tv_usec = 200};
            setitimer(ITIMER_REAL, &soon, NULL);
            for (unsigned i = 0;; i++) {
                pthread_mutex_init(&own[i % 64], NULL);
                pthread_mutex_lock(&own[i % 64]);
            }
        }
    printf("done\n");
    return 0;
}

/* Overwrites all that it shares with others, with numbers that mean something somewhere. */
static int scribble(const char *seed) {
    run_threads(100);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600];
    unsigned long low, high;
    unsigned random = (unsigned)strtoul(seed, NULL, 10);
    static const uint64_t words[] = {0, 1, UINT64_MAX, UINT32_MAX, 1ull << 47, 0xff00ull << 48, 20};
    printf("done\n");
    fflush(stdout);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "rw-s") && strstr(line, "/segment") &&
            sscanf(line, "%lx-%lx", &low, &high) == 2)
            for (int i = 0; i < 200000; i++) {
                uint64_t at = low + (uint64_t)rand_r(&random) % (high - low) / 8 * 8;
                *(volatile uint64_t *)at =
                    words[(unsigned)rand_r(&random) % (sizeof words / sizeof *words)];
            }
    _exit(0);
}

int main(int argc, char **argv) {
    errno_of_start = errno;
    static const struct habit {
        const char *name;
        int (*run)(void);
    } habits[] = {
        {"strict", strict},
        {"filter", filter},
        {"drop_user", drop_user},
        {"no_clock", no_clock},
        {"own_root", own_root},
        {"errno_at_start", errno_at_start},
        {"close_all", close_all},
        {"small_space", small_space},
        {"last_descriptor", last_descriptor},
        {"lock_memory", lock_memory},
        {"small_files", small_files},
        {"small_stack", small_stack},
        {"least_stack", least_stack},
        {"switch_stacks", switch_stacks},
        {"raw_fork", raw_fork},
        {"raw_clone", raw_clone},
        {"wrong_table", wrong_table},
        {"leaps", leaps},
    };
    if (argc == 3 && strcmp(argv[1], "scribble") == 0)
        return scribble(argv[2]);
    for (size_t i = 0; argc == 2 && i < sizeof habits / sizeof *habits; i++)
        if (strcmp(argv[1], habits[i].name) == 0)
            return habits[i].run();
    return 99;
}
