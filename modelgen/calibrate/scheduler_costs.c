#include "modelgen/calibrate/scheduler_costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>

#include "base/memory.h"
#include "modelgen/events/scheduling_events.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/notes.h"

/* Linux with HZ=250, when the trace does not say. */
#define USUAL_TICK_NS         4e6
#define USUAL_SWITCH_NS       1500.0
#define USUAL_WAKE_LATENCY_NS 20000.0
/* Of nineteen programs with eight threads on two cores of a virtual machine with Linux 6.18; 0.3 to
 * 0.6 in single runs. */
#define USUAL_PULL_SHARE 0.4
#define BASE_SLICE_NS    7e5
#define ENOUGH           20
/* Where it was tried out what sleeping costs, fewer calls that blocked do not tell better: the
 * first ones of each thread cost more. */
#define MANY_BLOCKS 100
#define DIST_LIMIT  64
/* Longer than this between two threads of a core, something else ran there; and a thread that was
 * woken less than this before was still on its way. */
#define SWITCH_LIMIT_NS 20000
/* A core that our program leaves idle and that still does not take a thread for longer than this is
 * busy with other programs: not a cost of waking up. */
#define WAKE_LIMIT_NS 200000.0
/* A thread that ran less than this before is not moved: its cache is warm. */
#define HOT_NS 500000
/* So many wake-ups of either kind, and so many standard errors, tell a core that has just become
 * idle from one that has gone to sleep. */
#define WAKES_OF_A_KIND 50
#define SURE            4
/* What a core takes when it becomes idle runs there at once. */
#define PULL_LIMIT_NS 30000

struct values {
    double *items;
    size_t count, capacity;
};

/* A wake-up on an idle core. */
struct idle_wake {
    double idle_ns; /* for how long it had been; INFINITY: our program had not been there */
    double latency_ns;
};

struct idle_wakes {
    struct idle_wake *items;
    size_t count, capacity;
};

/* Sorts; the fallback when there are too few. */
static double median_or(struct values *values, double fallback) {
    if (values->count < ENOUGH)
        return fallback;
    gsl_sort(values->items, 1, values->count);
    return values->items[values->count / 2];
}

/* Wake-ups on a core that the program left idle, and to which nobody else was on his way: the wait
 * for a core is the scheduler's doing, whether another one idles or not, and is simulated. */
static struct idle_wakes find_idle_wakes(const struct scheduling_events *moments) {
    struct idle_wakes wakes = {0};
    int threads[SCHEDULING_CORES] = {0}; /* that run on the core or are ready to */
    double left_ns[SCHEDULING_CORES];    /* when the last of them left */
    for (size_t i = 0; i < SCHEDULING_CORES; i++)
        left_ns[i] = -INFINITY;
    for (size_t i = 0; i < moments->count; i++) {
        const struct scheduling_event *moment = &moments->items[i];
        if (moment->cpu >= SCHEDULING_CORES)
            continue;
        int *here = &threads[moment->cpu];
        if (moment->kind == SCHEDULING_READY && !moment->preempted && *here == 0 &&
            moment->latency_ns < WAKE_LIMIT_NS)
            *VECTOR_ADD(&wakes) = (struct idle_wake){(double)moment->time_ns - left_ns[moment->cpu],
                                                     moment->latency_ns};
        if (moment->kind == SCHEDULING_OFF) {
            (*here)--;
            left_ns[moment->cpu] = (double)moment->time_ns;
        } else if (moment->kind == SCHEDULING_READY || moment->ready_ns == 0)
            (*here)++;
    }
    return wakes;
}

static int compare_idle(const void *a, const void *b) {
    const struct idle_wake *x = a, *y = b;
    return (x->idle_ns > y->idle_ns) - (x->idle_ns < y->idle_ns);
}

/* Mean and squared deviations of the latencies, from their number, sum and sum of squares. */
struct spread {
    double n, mean, squares;
};

static struct spread spread_of(double n, double sum, double sum_of_squares) {
    return (struct spread){n, sum / n, fmax(0, sum_of_squares - sum * sum / n)};
}

static double squared_error(const struct spread *spread) {
    return spread->squares / (spread->n - 1) / spread->n;
}

/* A core that has just become idle takes a thread sooner than one that sleeps, which a virtual
 * machine even gives back to its host. Gives how many of the wakes, sorted by how long the core had
 * been idle, are of the first kind: where the kinds differ most from each other; 0: they do not. */
static size_t count_brief(const struct idle_wakes *wakes) {
    double sum = 0, squares = 0, n = (double)wakes->count, least = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < wakes->count; i++) {
        sum += wakes->items[i].latency_ns;
        squares += wakes->items[i].latency_ns * wakes->items[i].latency_ns;
    }
    double before = 0, squares_before = 0;
    for (size_t i = 1; i + WAKES_OF_A_KIND <= wakes->count; i++) {
        double latency = wakes->items[i - 1].latency_ns;
        before += latency;
        squares_before += latency * latency;
        if (i < WAKES_OF_A_KIND || wakes->items[i].idle_ns == wakes->items[i - 1].idle_ns)
            continue;
        struct spread brief = spread_of((double)i, before, squares_before);
        struct spread rest = spread_of(n - (double)i, sum - before, squares - squares_before);
        double error = sqrt(squared_error(&brief) + squared_error(&rest));
        if (rest.mean - brief.mean > SURE * error && brief.squares + rest.squares < least) {
            least = brief.squares + rest.squares;
            best = i;
        }
    }
    return best;
}

static struct dist latencies_of(const struct idle_wake *wakes, size_t n) {
    double *values = memory_alloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = wakes[i].latency_ns;
    struct dist dist = dist_from_values(values, n, DIST_LIMIT);
    free(values);
    return dist;
}

static void write_latencies(const struct idle_wakes *wakes, struct machine *machine) {
    VECTOR_SORT(wakes, compare_idle);
    size_t brief = count_brief(wakes);
    machine->wake_latency_ns = latencies_of(wakes->items + brief, wakes->count - brief);
    if (brief == 0)
        return;
    machine->brief_idle_ns = wakes->items[brief].idle_ns;
    machine->brief_latency_ns = latencies_of(wakes->items, brief);
}

/* From one thread to the next one on its core, which had been ready long before. */
static struct values switch_times(const struct scheduling_events *moments) {
    struct values switches = {0};
    const struct scheduling_event *left[SCHEDULING_CORES] = {0};
    for (size_t i = 0; i < moments->count; i++) {
        const struct scheduling_event *moment = &moments->items[i];
        if (moment->kind == SCHEDULING_READY || moment->cpu >= SCHEDULING_CORES)
            continue;
        const struct scheduling_event *off = left[moment->cpu];
        left[moment->cpu] = moment->kind == SCHEDULING_OFF ? moment : NULL;
        if (moment->kind == SCHEDULING_ON && off && moment->ready_ns &&
            moment->ready_ns + SWITCH_LIMIT_NS < off->time_ns &&
            moment->time_ns - off->time_ns < SWITCH_LIMIT_NS)
            *VECTOR_ADD(&switches) = (double)(moment->time_ns - off->time_ns);
    }
    return switches;
}

/* ---- what cores take from each other ---- */

/* Threads that are ready, and the cores that could take them. */
struct balance {
    const struct scheduling_event **ready; /* READY moments of those that have not got a core yet */
    size_t n_ready;
    int running[SCHEDULING_CORES];
    const struct scheduling_event
        *idle[SCHEDULING_CORES]; /* OFF at which the core could have taken one; NULL */
    double chances, taken;
};

static bool could_move(const struct balance *balance, const struct scheduling_event *ready,
                       uint32_t to, uint64_t now_ns) {
    return ready->home != to && ready->home < SCHEDULING_CORES &&
           balance->running[ready->home] > 0 && ready->ran_ns + HOT_NS < now_ns;
}

/* The core is left by a thread that blocks. */
static void note_idle(struct balance *balance, const struct scheduling_event *off) {
    bool could = false;
    balance->idle[off->cpu] = NULL;
    for (size_t i = 0; i < balance->n_ready; i++) {
        if (balance->ready[i]->home == off->cpu)
            return; /* it has work of its own */
        could |= could_move(balance, balance->ready[i], off->cpu, off->time_ns);
    }
    if (could)
        balance->idle[off->cpu] = off;
}

static void note_start(struct balance *balance, const struct scheduling_event *on) {
    const struct scheduling_event *off = balance->idle[on->cpu], *ready = NULL;
    for (size_t i = 0; i < balance->n_ready; i++)
        if (balance->ready[i]->thread == on->thread) {
            ready = balance->ready[i];
            balance->ready[i] = balance->ready[--balance->n_ready];
            break;
        }
    balance->idle[on->cpu] = NULL;
    if (!off)
        return;
    balance->chances++;
    balance->taken += ready && ready->time_ns < off->time_ns && ready->home != on->cpu &&
                      on->time_ns - off->time_ns < PULL_LIMIT_NS;
}

/* How often a core that became idle took a thread from another one when it could have. */
static double pull_share(const struct scheduling_events *moments) {
    struct balance balance = {.ready =
                                  memory_alloc(moments->count, sizeof(struct scheduling_event *))};
    for (size_t i = 0; i < moments->count; i++) {
        const struct scheduling_event *moment = &moments->items[i];
        if (moment->cpu >= SCHEDULING_CORES)
            continue;
        if (moment->kind == SCHEDULING_READY) {
            balance.ready[balance.n_ready++] = moment;
        } else if (moment->kind == SCHEDULING_ON) {
            note_start(&balance, moment);
            balance.running[moment->cpu]++;
        } else {
            balance.running[moment->cpu]--;
            if (!moment->preempted)
                note_idle(&balance, moment);
        }
    }
    free(balance.ready);
    return balance.chances < ENOUGH ? USUAL_PULL_SHARE : balance.taken / balance.chances;
}

/* ---- what scheduling costs ---- */

/* The kernel's sysctl_sched_base_slice: longer with more cores, up to eight. */
static double base_slice_ns(int cores) {
    return BASE_SLICE_NS * (1 + floor(log2(fmin(cores, 8))));
}

/* CPU spent inside calls that only lock or wait, and blocked: the price of sleeping and coming
 * back. */
static struct values block_costs(const struct trace *trace) {
    struct values costs = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states timeline = thread_states_make(&trace->threads[t]);
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            const struct api_info *info = &api_catalog[record->api];
            bool computes = /* spins, or runs what the program hands it */
                api_is_openmp((enum api)record->api) || info->object == ON_ONCE;
            bool waits = info->api_class == CLASS_SYNC || info->op == OP_POLL;
            if (!waits || record->duration_ns < 1000 || computes)
                continue;
            uint64_t end = trace_end_ns(record);
            double cpu =
                thread_states_cpu(&timeline, end) - thread_states_cpu(&timeline, record->start_ns);
            if ((double)record->duration_ns > cpu + 1000)
                *VECTOR_ADD(&costs) = cpu;
        }
        thread_states_free(&timeline);
    }
    return costs;
}

/* Do condition variables have groups that wait for each other? glibc bug 25847. */
static bool signals_wait(const char *libc) {
    int major = 0;
    int minor = 0;
    if (!libc || sscanf(libc, "%d.%d", &major, &minor) != 2)
        return false;
    return major == 2 && minor >= 25 && minor < 41;
}

void scheduler_costs_measure(const struct trace *trace, struct model *model) {
    struct machine *machine = &model->machine;
    machine->cores = trace->meta.cores > 0 ? trace->meta.cores : 1;
    struct scheduling_events moments = scheduling_events_collect(trace);
    struct idle_wakes wakes = find_idle_wakes(&moments);
    struct values switches = switch_times(&moments);
    struct values blocks = block_costs(trace);
    if (wakes.count >= ENOUGH) {
        write_latencies(&wakes, machine);
    } else {
        double tried = trace->meta.idle_wake_ns; /* before the program ran */
        machine->wake_latency_ns =
            (struct dist){.kind = DIST_CONSTANT, .mean = tried > 0 ? tried : USUAL_WAKE_LATENCY_NS};
        if (!trace->meta.has_wakes && tried <= 0)
            notes_add(model, "wake-up latency was not recorded, taken as %.0f us",
                      USUAL_WAKE_LATENCY_NS / 1e3);
    }
    machine->tick_ns = trace->meta.tick_ns > 0 ? trace->meta.tick_ns : USUAL_TICK_NS;
    machine->pull_share = pull_share(&moments);
    machine->signals_wait = signals_wait(trace->meta.libc);
    machine->quantum_ns = base_slice_ns(machine->cores);
    machine->switch_cpu_ns = median_or(&switches, USUAL_SWITCH_NS);
    bool tells = trace->meta.sleep_cpu_ns <= 0 || blocks.count >= MANY_BLOCKS;
    machine->block_cpu_ns = !trace->meta.has_slices ? 0 /* it is part of what they compute */
                            : tells                 ? median_or(&blocks, 0)
                                                    : trace->meta.sleep_cpu_ns;
    /* without wake-ups in the trace what they cost stays part of the wakers' computation */
    machine->wake_cpu_ns = trace->meta.has_wakes ? trace->meta.wake_cpu_ns : 0;
    machine->preempt_ns = trace->meta.preempt_ns;
    machine->pace = trace->meta.pace;
    if (trace->meta.run_ns > 0)
        machine->busy_cores = (double)trace->meta.cpu_ns / (double)trace->meta.run_ns;
    scheduling_events_free(&moments);
    free(wakes.items);
    free(switches.items);
    free(blocks.items);
}
