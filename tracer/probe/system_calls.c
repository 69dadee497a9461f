/* System calls that the program, or its libraries, make directly: futexes.
 *
 * What waits by std::atomic, std::latch, std::barrier and the C++ semaphores, and many a lock of a
 * library (TBB, Abseil, liburcu), comes to syscall(2) only if it has to wait, or if somebody may be
 * waiting. libc's own locks do not come here: they stand in the catalog themselves. */
#include "formats/futex_use.h"
#include "tracer/probe/elf.h"
#include "tracer/probe/interposer.h"

#include <stdarg.h>
#include <sys/syscall.h>

#define ARGUMENTS 6

static long (*real_syscall)(long number, ...);

void system_calls_resolve(void) {
    const struct elf_wanted wanted[] = {{"syscall", (void **)&real_syscall}};
    elf_resolve(wanted, sizeof wanted / sizeof *wanted);
}

static inline long pass_on(long number, const long a[ARGUMENTS]) {
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long futex(struct probe_site site, const long a[ARGUMENTS]) {
    enum futex_use use = futex_use_of((int)a[1]);
    if (use == FUTEX_ELSE || (uint64_t)a[0] == probe_thread.future || !probe_recording())
        return pass_on(SYS_futex, a);
    bool waits = use == FUTEX_WAITS;
    unsigned flags = waits ? TRACE_WAITED : 0;
    struct probe_call call =
        probe_begin(probe_context(site), waits ? API_syscall_futex_wait : API_syscall_futex_wake,
                    (uint64_t)a[0], flags);
    long result = pass_on(SYS_futex, a);
    probe_end(&call, flags | outcome_errno(result), clamp(waits ? result : (int)a[2]));
    return result;
}

/* As libc's does, it passes on six arguments, however many there are. */
PROBE_EXPORT long syscall(long number, ...) {
    va_list list;
    long a[ARGUMENTS];
    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    interpose_resolve();
    if (number == SYS_futex)
        return futex(PROBE_SITE, a);
    process_before_system_call(number, a[0], a[1]);
    return pass_on(number, a);
}
