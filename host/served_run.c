#include "host/served_run.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/run_end.h"
#include "host/guard.h"
#include "host/listening.h"
#include "host/orphans.h"
#include "host/process_tree.h"
#include "host/shell_command.h"

enum {
    STOP_S = 10,        /* for a server that is told to end; then it is killed */
    LOOK_MS = 100,      /* between two looks at a signal or a command at most */
    FIRST_LOOK_MS = 5,  /* at the server's sockets; then more and more rarely */
    SETTLED_MS = 20,    /* its sockets are all there when none is added for so long */
    IDLE_LOOK_MS = 500, /* at those of a program that may be none */
    LOOK_SHARE = 100,   /* a look takes one part in so many of the time at most */
    ALONE_MS = 1000,    /* who talks to itself does so at once: after this nobody will unasked */
    BUSY_MS = 100,      /* of these: so much computing is work that nobody asked for */
    FOLLOW_MS = 2000,   /* for a load whose server has ended */
    BLAME_MS = 300,     /* for the end of a server because of which its load has failed */
    TERMINAL_MS = 1000, /* for a server that has got the terminal's signal */
};

static struct {
    bool is_set;
    struct served_plan plan;
    bool no_server; /* the program that may be any has been seen to end by itself */
    enum served_outcome outcome;
    double load_cpu_ns;
} runs;

enum phase { STARTING, SERVING };

struct served_run {
    struct served_plan plan;
    double load_cpu_ns;
    const char *name; /* of the program */
    pid_t program;
    int handle;
    bool may_leave;
    pthread_t director;
    bool directed; /* there is one */
    /* The director's until it has ended. */
    enum phase phase;
    struct listening at;
    struct guard guard;
    bool is_ours;        /* to end: it is a server */
    bool told;           /* it has been told to end, when it had not ended by itself */
    bool killed;         /* it did not obey */
    pid_t in_background; /* a process that went on when the program had ended; 0 none */
    enum served_outcome outcome;
    bool failed;
    struct error failure;
    struct orphans orphans;
};

/* May it be any program? Else it is known to be a server. */
static bool is_any(const struct served_plan *plan) {
    return !plan->load && !plan->ready && !(plan->duration_s > 0);
}

void served_run_set(const struct served_plan *plan) {
    memset(&runs, 0, sizeof runs);
    runs.is_set = plan != NULL;
    if (plan)
        runs.plan = *plan;
}

enum served_outcome served_run_outcome(void) {
    return runs.outcome;
}

double served_run_load_cpu_ns(void) {
    return runs.load_cpu_ns;
}

/* ---- waiting ---- */

static uint64_t now_ms(void) {
    return clock_now_ns(CLOCK_MONOTONIC) / 1000000;
}

static bool has_ended(const struct served_run *run) {
    return process_has_ended(run->handle);
}

static bool goes_on(const struct served_run *run) {
    return !has_ended(run) && !interrupt_signal();
}

/* Sleeps, but not on when the program ends. */
static void nap(const struct served_run *run, int ms) {
    struct pollfd watched = {.fd = run->handle, .events = POLLIN};
    poll(&watched, 1, ms);
}

/* Until the program has ended or a signal comes, `until_ms` at most. */
static void wait_while_it_goes_on(const struct served_run *run, uint64_t until_ms) {
    while (goes_on(run) && now_ms() < until_ms)
        nap(run, LOOK_MS);
}

__attribute__((format(printf, 2, 3))) static void fail(struct served_run *run, const char *format,
                                                       ...) {
    char text[sizeof run->failure.text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    run->failed = true;
    error_set(&run->failure, "%s", text);
}

/* ---- until it is ready ---- */

/* True when a look finds the sockets that the one before found. */
static bool wait_until_it_listens(struct served_run *run, uint64_t until_ms, int longest_ms) {
    uint64_t before = 0;
    for (int pause_ms = FIRST_LOOK_MS; goes_on(run) && now_ms() < until_ms;) {
        uint64_t began_ms = now_ms();
        run->at = listening_find(run->program);
        if (run->at.pid && run->at.sockets == before)
            return true;
        before = run->at.sockets;
        int took_ms = (int)(now_ms() - began_ms);
        pause_ms = pause_ms * 3 / 2 < longest_ms ? pause_ms * 3 / 2 : longest_ms;
        int least_ms = LOOK_SHARE * took_ms;
        nap(run, run->at.pid ? SETTLED_MS : pause_ms > least_ms ? pause_ms : least_ms);
    }
    return false;
}

/* False: it exits with something else, or not until then. */
static bool says_ready(struct served_run *run, uint64_t until_ms) {
    struct shell_command command;
    if (shell_command_start(&command, run->plan.ready, NULL, SHELL_TO_NULL, &run->failure) != 0) {
        run->failed = true;
        return false;
    }
    guard_load(&run->guard, command.pid);
    while (!process_has_ended(command.handle) && goes_on(run) && now_ms() < until_ms) {
        struct pollfd watched = {.fd = command.handle, .events = POLLIN};
        poll(&watched, 1, LOOK_MS);
    }
    guard_load(&run->guard, 0);
    return shell_command_end(&command, NULL) == 0;
}

static bool wait_until_told_ready(struct served_run *run, uint64_t until_ms) {
    while (goes_on(run) && !run->failed && now_ms() < until_ms) {
        if (says_ready(run, until_ms)) {
            run->at = listening_find(run->program);
            return true;
        }
        nap(run, LOOK_MS);
    }
    return false;
}

/* Which of the user's options says that it is a server. */
static const char *server_option(const struct served_run *run) {
    if (run->plan.load)
        return "load";
    return run->plan.duration_s > 0 ? "duration" : "ready";
}

static void say_never_ready(struct served_run *run) {
    double limit_s = run->plan.ready_s;
    if (run->plan.ready)
        fail(run,
             "%s is not ready after %g s: '%s' has not exited with 0: correct it, or use "
             "--ready-timeout",
             run->name, limit_s, run->plan.ready);
    else if (run->at.hidden)
        fail(run,
             "%s is not ready after %g s as far as can be seen, for it runs with other "
             "rights: say with --ready 'CMD' when it is",
             run->name, limit_s);
    else
        fail(run,
             "%s is not ready after %g s: it listens on no TCP or UDP port; say with --ready "
             "'CMD' when it is, or use --ready-timeout; record what is no server without --%s",
             run->name, limit_s, server_option(run));
}

static bool wait_until_ready(struct served_run *run) {
    uint64_t until_ms = now_ms() + (uint64_t)(run->plan.ready_s * 1e3);
    bool ready = run->plan.ready ? wait_until_told_ready(run, until_ms)
                                 : wait_until_it_listens(run, until_ms, LOOK_MS);
    if (!ready && goes_on(run) && !run->failed)
        say_never_ready(run);
    return ready;
}

static void warn_of_children(const struct served_run *run) {
    if (run->plan.recorded && run->at.n_processes > 1)
        log_warning("%zu child processes of %s listen as well and are not recorded: use --follow",
                    run->at.n_processes - 1, run->name);
}

/* Is it the process that is recorded which serves? */
static bool is_right_process(const struct served_run *run, struct error *error) {
    char name[32];
    if (!run->plan.recorded || !run->at.pid || run->at.pid == run->program)
        return true;
    error_set(error,
              "process %d (%s), which %s has started, listens, and only %s itself would be "
              "recorded: start the server by `exec` in the script, or use --follow",
              (int)run->at.pid, process_name(run->at.pid, name), run->name, run->name);
    return false;
}

/* ---- while it serves ---- */

static const char *address(const struct served_run *run) {
    return run->at.pid ? run->at.address : "ports of its own";
}

enum load_end { LOAD_ENDED, LOAD_TOO_LONG, LOAD_CUT };

/* Until the load has ended; for some time only, when the server has. */
static enum load_end wait_for_load(const struct served_run *run, const struct shell_command *load) {
    uint64_t until_ms = now_ms() + (uint64_t)(run->plan.load_s * 1e3);
    bool alone = false;
    struct pollfd watched[] = {{.fd = load->handle, .events = POLLIN},
                               {.fd = run->handle, .events = POLLIN}};
    while (!process_has_ended(load->handle)) {
        if (interrupt_signal())
            return LOAD_CUT;
        if (now_ms() >= until_ms)
            return alone ? LOAD_CUT : LOAD_TOO_LONG;
        if (!alone && has_ended(run)) {
            alone = true;
            until_ms = now_ms() + FOLLOW_MS;
        }
        poll(watched, alone ? 1 : 2, LOOK_MS);
    }
    return LOAD_ENDED;
}

static void judge_load(struct served_run *run, enum load_end end, int status) {
    char text[128];
    run_end_describe(status, text, sizeof text);
    if (end == LOAD_TOO_LONG) {
        fail(run, "--load '%s' did not end within %g s: make it shorter, or use --load-timeout",
             run->plan.load, run->plan.load_s);
    } else if (end == LOAD_ENDED && status == 0) {
        run->outcome = SERVED_PLANNED;
    } else if (end == LOAD_ENDED) {
        nap(run, BLAME_MS);
        if (!has_ended(run))
            fail(run, "--load '%s' failed: %s: correct the command", run->plan.load, text);
    }
}

static void serve_load(struct served_run *run) {
    struct shell_command load;
    char *variable =
        run->plan.result ? memory_format("PERSIK_LOAD_RESULT=%s", run->plan.result) : NULL;
    int status =
        shell_command_start(&load, run->plan.load, variable, SHELL_TO_STDERR, &run->failure);
    free(variable);
    if (status != 0) {
        run->failed = true;
        return;
    }
    log_debug("listening on %s: the load begins", address(run));
    guard_load(&run->guard, load.pid);
    enum load_end end = wait_for_load(run, &load);
    status = shell_command_end(&load, &run->load_cpu_ns);
    guard_load(&run->guard, 0);
    judge_load(run, end, status);
}

static void serve_for_a_time(struct served_run *run) {
    uint64_t until_ms = now_ms() + (uint64_t)(run->plan.duration_s * 1e3);
    log_note("listening on %s: send requests now; the run ends in %g s", address(run),
             run->plan.duration_s);
    wait_while_it_goes_on(run, until_ms);
    if (goes_on(run))
        run->outcome = SERVED_PLANNED;
}

static void serve_by_hand(struct served_run *run) {
    log_note("listening on %s: send requests now; Ctrl-C ends the run%s", address(run),
             run->may_leave ? ", and the next one, with probes, needs the same requests again"
                            : " and keeps it, twice aborts");
    wait_while_it_goes_on(run, UINT64_MAX);
    if (!interrupt_signal()) /* the terminal's signal may have ended it before it has reached us */
        poll(NULL, 0, LOOK_MS);
    /* Before another run, other signals than the terminal's are meant for persik as a whole. */
    int number = interrupt_signal();
    if (number && (number == SIGINT || !run->may_leave) && !interrupt_is_final())
        run->outcome = SERVED_BY_HAND;
}

static void serve(struct served_run *run) {
    run->is_ours = true;
    if (!wait_until_ready(run))
        return;
    run->failed = !is_right_process(run, &run->failure);
    if (run->failed)
        return;
    warn_of_children(run);
    run->phase = SERVING;
    if (run->plan.load)
        serve_load(run);
    else if (run->plan.duration_s > 0)
        serve_for_a_time(run);
    else
        serve_by_hand(run);
}

/* ---- any program ---- */

/* CPU time of a process; 0: it is not known. */
static double cpu_ms(pid_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

/* Nobody has a connection, and has had none since it listens; nor has it anything else to do, as a
 * program that computes and can be asked how far it is. */
static bool stays_alone(struct served_run *run) {
    uint64_t until_ms = now_ms() + ALONE_MS;
    double before_ms = cpu_ms(run->program);
    while (goes_on(run) && now_ms() < until_ms) {
        run->at = listening_find(run->program);
        if (run->at.connected || !run->at.pid)
            return false;
        nap(run, SETTLED_MS);
    }
    return goes_on(run) && cpu_ms(run->program) - before_ms < BUSY_MS;
}

static void attend(struct served_run *run) {
    struct error error;
    if (!wait_until_it_listens(run, UINT64_MAX, IDLE_LOOK_MS))
        return;
    if (run->may_leave && stays_alone(run)) {
        log_note("it listens on %s, and nobody talks to it: a server; it is started again",
                 run->at.address);
        run->is_ours = true;
        run->outcome = SERVED_LEFT;
        return;
    }
    if (!goes_on(run))
        return;
    /* A program may as well start a server for its own use: that is for people to judge. */
    if (!is_right_process(run, &error))
        log_warning("%s", error.text);
    warn_of_children(run);
    run->is_ours = true;
    run->phase = SERVING;
    interrupt_program(0); /* it is told to end from here */
    if (guard_start(&run->guard, run->program, run->plan.stop_signal, NULL, &error) != 0)
        log_warning("%s", error.text);
    serve_by_hand(run);
}

/* ---- its end ---- */

/* Until it has ended, or a second signal demands it at once. */
static void wait_for_its_end(const struct served_run *run, int limit_ms) {
    uint64_t until_ms = now_ms() + (uint64_t)limit_ms;
    while (!has_ended(run) && !interrupt_is_final() && now_ms() < until_ms)
        nap(run, LOOK_MS);
}

static void kill_all(struct served_run *run) {
    struct process_tree tree = {0};
    process_tree_add(&tree, run->program, run->handle);
    process_tree_signal(&tree, SIGKILL);
    process_tree_close(&tree);
    run->killed = true;
}

/* Who listens is told; the start script above it ends by itself. */
static void tell(struct served_run *run, int number) {
    struct process_tree tree = {0};
    process_tree_add(&tree, run->program, run->handle);
    int handle = run->handle;
    for (size_t i = 0; i < tree.count; i++)
        if (tree.items[i].pid == run->at.pid)
            handle = tree.items[i].handle;
    process_signal(handle, number);
    process_tree_close(&tree);
}

static void stop(struct served_run *run) {
    if (interrupt_is_from_terminal())
        wait_for_its_end(run, TERMINAL_MS);
    if (has_ended(run))
        return;
    int number = run->plan.stop_signal;
    run->told = true;
    tell(run, number);
    wait_for_its_end(run, STOP_S * 1000);
    if (has_ended(run))
        return;
    if (!interrupt_is_final())
        log_warning(
            "%s did not end within %d s of SIG%s and was killed: name another --stop-signal",
            run->name, STOP_S, sigabbrev_np(number));
    kill_all(run);
    wait_for_its_end(run, STOP_S * 1000);
}

/* ---- what goes on in the background ---- */

/* What a program of which nobody said that it is a server leaves running by itself is its business.
 */
static bool orphans_are_ours(const struct served_run *run) {
    if (is_any(&run->plan))
        return run->told || run->outcome == SERVED_BY_HAND;
    return run->is_ours || run->in_background;
}

static void look_into_background(struct served_run *run) {
    run->orphans.helper = run->guard.pid;
    if (run->phase == STARTING && !run->told && !interrupt_signal())
        run->in_background = orphans_find(&run->orphans, is_any(&run->plan));
    if (orphans_are_ours(run))
        orphans_end(&run->orphans, run->plan.stop_signal);
}

/* ---- the director ---- */

static void *direct(void *context) {
    struct served_run *run = context;
    if (is_any(&run->plan))
        attend(run);
    else
        serve(run);
    if (run->is_ours)
        stop(run);
    struct pollfd watched = {.fd = run->handle, .events = POLLIN};
    poll(&watched, 1, -1);
    look_into_background(run);
    return NULL;
}

static void start_director(struct served_run *run) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    run->directed = pthread_create(&run->director, NULL, direct, run) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Without a director nobody would end the server. */
static void begin_server(struct served_run *run) {
    interrupt_program(0); /* it is told to end from here */
    if (guard_start(&run->guard, run->program, run->plan.stop_signal, run->plan.result,
                    &run->failure) != 0) {
        run->failed = true;
    } else {
        start_director(run);
        if (!run->directed)
            fail(run, "no room for a thread: raise `ulimit -u`");
    }
    if (run->failed)
        kill(run->program, SIGKILL); /* nobody has waited for it yet */
}

struct served_run *served_run_begin(pid_t program, const char *name, bool may_leave) {
    runs.outcome = SERVED_NONE;
    runs.load_cpu_ns = 0;
    if (!runs.is_set || runs.no_server)
        return NULL;
    struct served_run *run = memory_alloc(1, sizeof *run);
    *run = (struct served_run){.plan = runs.plan,
                               .name = name,
                               .program = program,
                               .may_leave = may_leave,
                               .handle = process_open(program)};
    orphans_adopt(&run->orphans, program);
    if (is_any(&run->plan) && run->handle >= 0)
        start_director(run);
    else if (is_any(&run->plan))
        log_debug("a server would not be known as one: Linux 5.3 is needed");
    else
        begin_server(run);
    return run;
}

/* ---- the verdict ---- */

static int explain_background(const struct served_run *run, struct error *error) {
    return error_set(
        error,
        "%s went on in the background, as process %d, where it is not recorded%s: run it "
        "in the foreground",
        run->name, (int)run->in_background, orphans_are_ours(run) ? "" : ", and still runs");
}

/* It did its work and went, as programs do that are no servers. */
static int explain_no_server(const struct served_run *run, struct error *error) {
    return error_set(error, "%s ended by itself, and %s: record what is no server without --%s",
                     run->name, run->plan.ready ? "--ready never succeeded" : "it never listened",
                     server_option(run));
}

/* It ended by itself, and `status` is how. */
static int explain_early_end(const struct served_run *run, int status, struct error *error) {
    char text[128];
    run_end_describe(status, text, sizeof text);
    int exit_status = run_end_exit_status(status);
    if (run->phase == STARTING && status == 0)
        return explain_no_server(run, error);
    if (run->phase == STARTING)
        return error_set_exit(error, exit_status,
                              "%s ended before it was ready to serve: %s: correct its arguments, "
                              "and see that its port is free",
                              run->name, text);
    return error_set_exit(error, exit_status,
                          "%s ended during the load: %s: see that it endures this load without "
                          "persik",
                          run->name, text);
}

static void warn_of_crash(const struct served_run *run, int status) {
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == 0 || number == run->plan.stop_signal || number == SIGINT || run->killed)
        return;
    char text[128];
    run_end_describe(status, text, sizeof text);
    log_warning("%s, when told to end, was %s: what it did before is recorded", run->name, text);
}

static int judge(struct served_run *run, int *status, struct error *error) {
    if (run->in_background)
        return explain_background(run, error);
    if (run->failed) {
        *error = run->failure;
        return -1;
    }
    bool whole = run->outcome != SERVED_NONE;
    if (whole && (run->told || run->outcome == SERVED_BY_HAND)) {
        warn_of_crash(run, *status);
        *status = 0;
        return 0;
    }
    bool is_early = run->phase == STARTING || run->plan.load;
    if (run->is_ours && is_early && !interrupt_signal() && !(whole && *status == 0))
        return explain_early_end(run, *status, error);
    return 0;
}

static void free_run(struct served_run *run) {
    guard_end(&run->guard);
    orphans_release(&run->orphans);
    if (run->handle >= 0)
        close(run->handle);
    free(run);
}

int served_run_end(struct served_run *run, int *status, struct error *error) {
    if (!run)
        return 0;
    if (run->directed)
        pthread_join(run->director, NULL);
    if (run->outcome == SERVED_BY_HAND)
        interrupt_accept();
    int result = judge(run, status, error);
    runs.load_cpu_ns = run->load_cpu_ns;
    runs.outcome = result == 0 ? run->outcome : SERVED_NONE;
    runs.no_server = is_any(&run->plan) && run->outcome == SERVED_NONE;
    free_run(run);
    return result;
}
