#include "cli/report/path_checks.h"

#include <math.h>

#include "base/log.h"
#include "cli/text/quantity.h"

static double share(double part, double whole) {
    return whole > 0 ? part / whole : NAN;
}

static void print_time(const struct path_checks *checks, FILE *out) {
    char traced[QUANTITY_BYTES], found[QUANTITY_BYTES];
    fprintf(out, "unchanged, as recorded: %s, traced: %s (%+.2f %%)",
            quantity_show(checks->as_recorded_ns, UNIT_TIME, found),
            quantity_show(checks->traced_ns, UNIT_TIME, traced),
            100 * (share(checks->as_recorded_ns, checks->traced_ns) - 1));
    if (isfinite(checks->rescheduled_ns))
        fprintf(out, "; rescheduled: %s (%+.2f %%)",
                quantity_show(checks->rescheduled_ns, UNIT_TIME, found),
                100 * (share(checks->rescheduled_ns, checks->traced_ns) - 1));
    if (checks->missing)
        fprintf(out, "; not explained is, most of all, what %s waits for", checks->missing);
    fputc('\n', out);
}

static void print_waits(const struct path_checks *checks, FILE *out) {
    char text[QUANTITY_BYTES];
    if (checks->blocked_ns <= 0) {
        fprintf(out, "no thread waited\n");
        return;
    }
    fprintf(out, "waiting of all threads: %s, %.2f %% explained",
            quantity_show(checks->blocked_ns, UNIT_TIME, text),
            100 * share(checks->explained_ns, checks->blocked_ns));
    if (checks->outside_ns > 0)
        fprintf(out, ", %.2f %% by what came from outside",
                100 * share(checks->outside_ns, checks->blocked_ns));
    if (checks->by_kernel_ns > 0)
        fprintf(out, ", %.2f %% by the waking thread alone",
                100 * share(checks->by_kernel_ns, checks->blocked_ns));
    fputc('\n', out);
}

static void print_witness(const struct path_checks *checks, const struct dependencies *all,
                          FILE *out) {
    if (!all->has_wakers)
        fprintf(out, "who woke whom was not recorded: what ended a wait is known by the calls "
                     "alone\n");
    else if (checks->told > 0)
        fprintf(out, "the kernel names the same waking thread as the calls in %llu of %llu\n",
                (unsigned long long)checks->confirmed, (unsigned long long)checks->told);
}

void path_checks_print(const struct path_checks *checks, const struct dependencies *all,
                       FILE *out) {
    print_time(checks, out);
    if (all->are_pools_off)
        fprintf(out,
                "the run does not come out with the counters that were found: mutexes under which "
                "threads wait keep their order\n");
    print_waits(checks, out);
    print_witness(checks, all, out);
}

static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *path_checks_json(const struct path_checks *checks, const struct dependencies *all) {
    return json_pack(
        "{s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:b, s:I, s:I, s:o}", "traced_ns", checks->traced_ns,
        "as_recorded_ns", checks->as_recorded_ns, "rescheduled_ns", number(checks->rescheduled_ns),
        "blocked_ns", checks->blocked_ns, "explained_share",
        number(share(checks->explained_ns, checks->blocked_ns)), "outside_share",
        number(share(checks->outside_ns, checks->blocked_ns)), "waking_thread_alone_share",
        number(share(checks->by_kernel_ns, checks->blocked_ns)), "wakers_recorded", all->has_wakers,
        "links_told", (json_int_t)checks->told, "links_confirmed", (json_int_t)checks->confirmed,
        "missing", checks->missing ? json_string(checks->missing) : json_null());
}

void path_checks_warn(const struct dependencies *all) {
    if (!all->has_cores)
        log_warning("when threads had a core was not recorded, for want of rights: calls that may "
                    "wait count as waiting throughout, and waiting for a core is not seen: record "
                    "as root");
    if (all->lost > 0)
        log_warning("%llu records or scheduling events were lost: what hangs on them is missing",
                    (unsigned long long)all->lost);
}
