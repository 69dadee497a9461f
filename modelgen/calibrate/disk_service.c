#include "modelgen/calibrate/disk_service.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/bisection.h"
#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/thread_numbers.h"
#include "modelgen/evidence.h"

#define DIST_LIMIT 64
/* Distances are told apart in so many classes at most, each of at least so many requests: with
 * fewer its mean, of times that spread as much as they are long, would be unknown by a fifth. */
#define DISTANCE_CLASSES  16
#define DISTANCE_REQUESTS 30
/* Of more requests the first ones tell as well how many servers there are, and of many servers one
 * more or less makes little difference: every number up to NEAR, then in steps of that part. */
#define ENOUGH_REQUESTS 20000
#define NEAR            16

struct disk_service disk_service_find(const struct trace *trace) {
    struct disk_service disks = {.trace = trace,
                                 .requests = memory_alloc(trace->n_threads, sizeof(size_t *)),
                                 .n_requests = memory_alloc(trace->n_threads, sizeof(size_t))};
    struct thread_numbers numbers = thread_numbers_find(trace);
    disks.kernel = memory_alloc(trace->n_blocks, sizeof *disks.kernel);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; pass == 1 && t < trace->n_threads; t++) {
            disks.requests[t] = memory_alloc(disks.n_requests[t], sizeof(size_t));
            disks.n_requests[t] = 0;
        }
        for (size_t b = 0; b < trace->n_blocks; b++) {
            int thread =
                thread_numbers_owner(&numbers, trace->blocks[b].tid, trace->blocks[b].queued_ns);
            if (thread < 0 && pass == 0)
                disks.kernel[disks.n_kernel++] = b;
            if (thread < 0)
                continue;
            if (pass == 1)
                disks.requests[thread][disks.n_requests[thread]] = b;
            disks.n_requests[thread]++;
        }
    }
    thread_numbers_free(&numbers);
    return disks;
}

void disk_service_free(struct disk_service *disks) {
    for (size_t t = 0; t < disks->trace->n_threads; t++)
        free(disks->requests[t]);
    free(disks->requests);
    free(disks->n_requests);
    free(disks->kernel);
}

/* Position of the first one that the thread queued then or later. */
static size_t first_queued(const struct disk_service *disks, size_t thread, uint64_t time_ns) {
    const size_t *requests = disks->requests[thread];
    struct bisection at = bisection_of(0, disks->n_requests[thread]);
    while (bisection_next(&at))
        bisection_tell(&at, disks->trace->blocks[requests[at.middle]].queued_ns < time_ns);
    return at.low;
}

struct disk_requests disk_service_queued(const struct disk_service *disks, size_t thread,
                                         uint64_t from_ns, uint64_t to_ns) {
    size_t first = first_queued(disks, thread, from_ns);
    return (struct disk_requests){.items = disks->requests[thread] + first,
                                  .n = first_queued(disks, thread, to_ns) - first};
}

size_t disk_service_requests(const struct disk_service *disks, size_t thread, uint64_t from_ns,
                             uint64_t to_ns, uint32_t *device) {
    struct disk_requests queued = disk_service_queued(disks, thread, from_ns, to_ns);
    if (queued.n > 0)
        *device = disks->trace->blocks[queued.items[0]].device;
    return queued.n;
}

bool disk_service_has_places(const struct disk_service *disks) {
    for (size_t b = 0; b < disks->trace->n_blocks; b++)
        if (disks->trace->blocks[b].sector > 0)
            return true;
    return false;
}

static bool is_read(const struct trace_block *block) {
    return block->kind == BLOCK_READ || block->kind == BLOCK_READAHEAD ||
           block->kind == BLOCK_METADATA;
}

bool disk_service_outlives(const struct disk_service *disks, size_t thread, uint64_t from_ns,
                           uint64_t to_ns) {
    if (!disks)
        return false;
    struct disk_requests queued = disk_service_queued(disks, thread, from_ns, to_ns);
    for (size_t i = 0; i < queued.n; i++) {
        const struct trace_block *block = &disks->trace->blocks[queued.items[i]];
        if (block->kind == BLOCK_READAHEAD && block->completed_ns > to_ns)
            return true;
    }
    return false;
}

struct disk_service_outside disk_service_outside(const struct disk_service *disks) {
    struct disk_service_outside outside = {0};
    for (size_t t = 0; t < disks->trace->n_threads; t++) {
        const struct trace_thread *thread = &disks->trace->threads[t];
        uint64_t until_ns = 0; /* all calls that began before the request have ended */
        size_t r = 0;
        for (size_t i = 0; i < disks->n_requests[t]; i++) {
            const struct trace_block *block = &disks->trace->blocks[disks->requests[t][i]];
            for (; r < thread->n_records && thread->records[r].start_ns <= block->queued_ns; r++)
                if (trace_end_ns(&thread->records[r]) > until_ns)
                    until_ns = trace_end_ns(&thread->records[r]);
            if (block->queued_ns == 0 || block->queued_ns < until_ns)
                continue;
            outside.requests++;
            outside.bytes += block->bytes;
            if (is_read(block) && block->completed_ns > block->queued_ns)
                outside.read_ns += (double)(block->completed_ns - block->queued_ns);
        }
    }
    return outside;
}

/* ---- how much at once ---- */

/* Between the driver and the device. */
struct service {
    uint64_t issued_ns, completed_ns;
    size_t block; /* of the trace */
    int alike;    /* requests with the same number take alike */
    double sector, sectors;
};

struct services {
    struct service *items;
    size_t count, capacity;
};

static struct services find_services(const struct disk_service *disks, uint32_t device,
                                     const int *alike) {
    struct services services = {0};
    for (size_t b = 0; b < disks->trace->n_blocks; b++) {
        const struct trace_block *block = &disks->trace->blocks[b];
        if (block->device == device && block->issued_ns && block->completed_ns > block->issued_ns)
            *VECTOR_ADD(&services) = (struct service){block->issued_ns,
                                                      block->completed_ns,
                                                      b,
                                                      alike ? alike[b] : 0,
                                                      (double)block->sector,
                                                      (double)block->bytes / DISK_SECTOR_BYTES};
    }
    return services;
}

static int compare_issues(const void *left, const void *right) {
    const struct service *a = left, *b = right;
    return (a->issued_ns > b->issued_ns) - (a->issued_ns < b->issued_ns);
}

/* Takes the requests that completed by `now_ns` out of the `n` sorted `ends`. Returns how many are
 * left. */
static size_t drop_completed(uint64_t *ends, size_t n, uint64_t now_ns) {
    size_t completed = 0;
    while (completed < n && ends[completed] <= now_ns)
        completed++;
    memmove(ends, ends + completed, (n - completed) * sizeof *ends);
    return n - completed;
}

static void insert_sorted(uint64_t *ends, size_t n, uint64_t end_ns) {
    while (n > 0 && ends[n - 1] > end_ns) {
        ends[n] = ends[n - 1];
        n--;
    }
    ends[n] = end_ns;
}

/* What the device did with the requests, in the order of their issue, if it has `servers`: `depths`
 * are how many were there, each itself among them; `times_ns` what it took from when fewer than
 * `servers` older ones were left. Returns the greatest depth. */
static size_t own_times(const struct services *services, size_t servers, double *depths,
                        double *times_ns) {
    uint64_t *ends = memory_alloc(services->count, sizeof *ends); /* of those that are there */
    size_t n = 0, deepest = 0;
    for (size_t i = 0; i < services->count; i++) {
        const struct service *service = &services->items[i];
        n = drop_completed(ends, n, service->issued_ns);
        uint64_t start_ns = n < servers ? service->issued_ns : ends[n - servers];
        times_ns[i] = fmax(0, (double)service->completed_ns - (double)start_ns);
        insert_sorted(ends, n++, service->completed_ns);
        depths[i] = (double)n;
        deepest = n > deepest ? n : deepest;
    }
    free(ends);
    return deepest;
}

/* Leaves of each time by how much it differs from those of its like: a queue may be long because
 * many cheap requests came at once. */
static void compare_alike(const struct services *services, double *times_ns) {
    int n = 0;
    for (size_t i = 0; i < services->count; i++)
        n = services->items[i].alike >= n ? services->items[i].alike + 1 : n;
    double *sums_ns = memory_alloc((size_t)n, sizeof *sums_ns);
    double *counts = memory_alloc((size_t)n, sizeof *counts);
    for (size_t i = 0; n > 1 && i < services->count; i++) {
        sums_ns[services->items[i].alike] += times_ns[i];
        counts[services->items[i].alike]++;
    }
    for (size_t i = 0; n > 1 && i < services->count; i++)
        times_ns[i] -= sums_ns[services->items[i].alike] / counts[services->items[i].alike];
    free(sums_ns);
    free(counts);
}

/* ---- how far ---- */

/* From where the last request ended to where one begins, and the time that this took. */
struct move {
    double distance, time_ns;
    size_t request;
};

/* Sorted by distance, in classes: `ends` of them are the moves' numbers at which they end. */
struct moves {
    struct move *items;
    size_t count;
    size_t ends[DISTANCE_CLASSES + 1];
    int n_classes;
};

static int compare_moves(const void *left, const void *right) {
    const struct move *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->request > b->request) - (a->request < b->request);
}

/* Where a class that ends at `end` may really end: equal distances stay together. */
static size_t end_of_class(const struct moves *moves, size_t end) {
    while (end > 0 && end < moves->count &&
           moves->items[end].distance == moves->items[end - 1].distance)
        end++;
    return end;
}

/* Requests that go on where the last one ended are a class of their own, however few. */
static void find_classes(struct moves *moves) {
    size_t zero = 0, from;
    while (zero < moves->count && moves->items[zero].distance == 0)
        zero++;
    if (zero > 0)
        moves->ends[moves->n_classes++] = zero;
    size_t rest = moves->count - zero, classes = rest / DISTANCE_REQUESTS;
    classes = classes > DISTANCE_CLASSES ? DISTANCE_CLASSES : classes ? classes : 1;
    from = zero;
    for (size_t c = 1; c <= classes && from < moves->count; c++) {
        size_t to = end_of_class(moves, zero + rest * c / classes);
        if (to > from)
            moves->ends[moves->n_classes++] = to;
        from = to;
    }
}

/* Of requests in the order of their issue, of which each took its time on the only server. None
 * where they are too few to be told apart. The caller frees the items. */
static struct moves find_moves(const struct services *services, const double *times) {
    struct moves moves = {0};
    if (services->count < 1 + 2 * (size_t)DISTANCE_REQUESTS)
        return moves;
    moves.count = services->count - 1;
    moves.items = memory_alloc(moves.count, sizeof *moves.items);
    for (size_t i = 1; i < services->count; i++) {
        const struct service *to = &services->items[i];
        double distance = fabs(to->sector - to[-1].sector - to[-1].sectors);
        moves.items[i - 1] = (struct move){distance, times[i], i};
    }
    VECTOR_SORT(&moves, compare_moves);
    find_classes(&moves);
    return moves;
}

/* What is left of the times when each is less by the mean of its distance's class. */
static void take_out_distances(const struct services *services, double *times) {
    struct moves moves = find_moves(services, times);
    for (int c = 0; c < moves.n_classes; c++) {
        size_t from = c > 0 ? moves.ends[c - 1] : 0, to = moves.ends[c];
        double sum = 0;
        for (size_t i = from; i < to; i++)
            sum += moves.items[i].time_ns;
        for (size_t i = from; i < to; i++)
            times[moves.items[i].request] -= sum / (double)(to - from);
    }
    if (moves.count > 0)
        times[0] = 0; /* from where, nobody knows */
    free(moves.items);
}

static void write_distances(const struct services *services, const double *times,
                            struct disk_speed *speed) {
    struct moves moves = find_moves(services, times);
    double *room = memory_alloc(moves.count, sizeof *room);
    speed->distances = memory_alloc((size_t)moves.n_classes, sizeof *speed->distances);
    for (int c = 0; c < moves.n_classes; c++) {
        size_t from = c > 0 ? moves.ends[c - 1] : 0, n = moves.ends[c] - from;
        for (size_t i = 0; i < n; i++)
            room[i] = moves.items[from + i].time_ns;
        double least = c > 0 ? moves.items[from].distance : 0;
        speed->distances[c] = (struct disk_distance){least, dist_from_values(room, n, DIST_LIMIT)};
    }
    speed->n_distances = (size_t)moves.n_classes;
    free(room);
    free(moves.items);
}

/* With the true number of servers a request's own time does not depend on how many are there: with
 * more it would seem to grow, as waiting is counted in, with fewer to shrink. A number that is but
 * the best of those below the greatest depth must be `sure` to be better than that: a device that
 * always had as many requests does not tell. What comes together is often near together: the arm of
 * a disk with one server explains that this takes less time. `depths` and `times` are room for the
 * requests'. */
static size_t count_servers(const struct services *services, size_t deepest, bool has_places,
                            double *depths, double *times) {
    size_t n = services->count, best = deepest;
    assert(n <= ENOUGH_REQUESTS);
    const double sure = 2 / sqrt((double)n); /* of correlations by chance, 95 % are smaller */
    double best_correlation = INFINITY;
    for (size_t servers = deepest; servers > 0; servers -= 1 + servers / (NEAR + 1)) {
        own_times(services, servers, depths, times);
        if (servers == 1 && has_places)
            take_out_distances(services, times);
        double correlation = fabs(gsl_stats_correlation(depths, 1, times, 1, n));
        if (correlation < best_correlation - (best == deepest ? sure : 0)) {
            best = servers;
            best_correlation = correlation;
        }
    }
    return best;
}

/* In the order of their issue. */
static struct services sorted_services(const struct disk_service *disks, uint32_t device,
                                       const int *alike) {
    struct services services = find_services(disks, device, alike);
    VECTOR_SORT(&services, compare_issues);
    return services;
}

static int compare_completions(const void *left, const void *right) {
    const struct service *a = left, *b = right;
    return (a->completed_ns > b->completed_ns) - (a->completed_ns < b->completed_ns);
}

/* One at a time, in whatever order: each from when the one before was done, or it came. */
static void times_of_one_server(struct services *services, double *times_ns) {
    uint64_t done_ns = 0;
    VECTOR_SORT(services, compare_completions);
    for (size_t i = 0; i < services->count; i++) {
        const struct service *service = &services->items[i];
        uint64_t from_ns = service->issued_ns > done_ns ? service->issued_ns : done_ns;
        times_ns[i] = (double)(service->completed_ns - from_ns);
        done_ns = service->completed_ns;
    }
}

void disk_service_times(const struct disk_service *disks, uint32_t device, double servers,
                        double *service_ns) {
    struct services services = sorted_services(disks, device, NULL);
    size_t n = services.count;
    double *depths = memory_alloc(n, sizeof *depths), *times = memory_alloc(n, sizeof *times);
    if (servers == 1 && n > 0)
        times_of_one_server(&services, times);
    else
        own_times(&services, servers > 0 ? (size_t)servers : n + 1, depths, times);
    for (size_t i = 0; i < n; i++)
        service_ns[services.items[i].block] = times[i];
    free(depths);
    free(times);
    free(services.items);
}

/* One server, with which times do not depend on how many of the like were there? */
static bool is_one_among_alike(const struct services *services, double *depths, double *times) {
    size_t n = services->count;
    own_times(services, 1, depths, times);
    compare_alike(services, times);
    return fabs(gsl_stats_correlation(depths, 1, times, 1, n)) <= 2 / sqrt((double)n);
}

/* Had the device nearly always as many requests? */
static bool is_always_as_full(const double *depths, size_t n, size_t deepest) {
    size_t full = 0;
    for (size_t i = 0; i < n; i++)
        full += depths[i] == (double)deepest;
    return 2 * full > n;
}

/* So many requests, itself counted, were there with nearly every one. `depths` get sorted. */
static size_t find_least(double *depths, size_t n) {
    gsl_sort(depths, 1, n);
    return (size_t)gsl_stats_quantile_from_sorted_data(depths, 1, n, evidence.violation_share);
}

/* A device that always has as many requests, or nearly, tells little by its times, but by their
 * order: of servers side by side the later request is often done before the earlier one. How often,
 * if times are drawn anew from those that were measured, is held against how often it was. */
static bool is_in_order(const struct services *services) {
    size_t n = services->count, overtaken = 0, expected = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const struct service *one = &services->items[i], *next = &services->items[i + 1];
        const struct service *other = &services->items[(i + n / 2) % n];
        if (next->issued_ns >= one->completed_ns)
            continue;
        overtaken += next->completed_ns < one->completed_ns;
        expected += next->issued_ns + (other->completed_ns - other->issued_ns) < one->completed_ns;
    }
    return expected >= evidence.convincing_turns &&
           (double)overtaken < evidence.violation_share * (double)expected;
}

/* See disk_speed.parted. `services` are in the order of their issue. */
static size_t count_parted(const struct services *services, const struct trace *trace) {
    struct map last_of = MAP_EMPTY; /* thread number -> its last request */
    size_t continued = 0, adjacent = 0;
    for (size_t i = 0; i < services->count; i++) {
        const struct service *to = &services->items[i];
        uint64_t tid = (uint64_t)trace->blocks[to->block].tid;
        int last = map_get(&last_of, tid, -1);
        bool goes_on =
            last >= 0 && to->sector == services->items[last].sector + services->items[last].sectors;
        continued += goes_on;
        adjacent += goes_on && (size_t)last + 1 == i;
        map_put(&last_of, tid, (int)i);
    }
    map_free(&last_of);
    bool any = (double)continued >= evidence.several && 2 * continued > services->count;
    return any && adjacent < DISTANCE_REQUESTS ? continued : 0;
}

struct disk_speed disk_service_speed(const struct disk_service *disks, uint32_t device,
                                     const int *alike) {
    struct services services = sorted_services(disks, device, alike);
    size_t n = services.count;
    double *depths = memory_alloc(n, sizeof *depths), *times = memory_alloc(n, sizeof *times);
    size_t deepest = own_times(&services, 1, depths, times);
    bool always_full = is_always_as_full(depths, n, deepest);
    struct services first = services;
    first.count = n < ENOUGH_REQUESTS ? n : ENOUGH_REQUESTS;
    bool has_places = disk_service_has_places(disks);
    size_t servers = deepest < 2 ? 1 : count_servers(&first, deepest, has_places, depths, times);
    bool limited = servers < deepest || deepest < 2;
    bool may_be_one = limited ? servers > 1 : always_full;
    if (may_be_one && is_in_order(&services)) {
        servers = 1;
        limited = true;
    }
    if (alike && limited && servers > 1 && is_one_among_alike(&first, depths, times))
        servers = 1;
    own_times(&services, servers, depths, times);
    struct disk_speed speed = {.servers = limited ? (double)servers : 0,
                               .met_two = deepest > 1,
                               .always = always_full && deepest > 1 ? deepest : 0};
    if (speed.always > 0) {
        size_t least = find_least(depths, n);
        speed.least = limited && least > servers ? servers + 1 : least;
    }
    speed.parted = has_places && speed.servers == 1 ? count_parted(&services, disks->trace) : 0;
    if (speed.servers == 1 && has_places)
        write_distances(&services, times, &speed);
    speed.service_ns = dist_from_values(times, n, DIST_LIMIT); /* sorts them */
    if (deepest < 2)
        speed.evidence =
            memory_format("%zu requests, never two at once: taken as one server", services.count);
    else if (limited)
        speed.evidence = memory_format("%zu requests, up to %zu at once: as fast as %zu server%s",
                                       services.count, deepest, servers, servers == 1 ? "" : "s");
    else
        speed.evidence = memory_format("%zu requests, up to %zu at once without slowing down: "
                                       "taken as without limit",
                                       services.count, deepest);
    free(depths);
    free(times);
    free(services.items);
    return speed;
}
