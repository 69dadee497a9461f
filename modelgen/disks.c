#include "modelgen/disks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define DIST_LIMIT 64

struct disks disks_find(const struct trace *trace) {
    struct disks disks = {.trace = trace,
                          .requests = memory_alloc(trace->n_threads, sizeof(size_t *)),
                          .n_requests = memory_alloc(trace->n_threads, sizeof(size_t))};
    struct map thread_of = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++)
        map_put(&thread_of, (uint64_t)trace->threads[t].tid, (int)t);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; pass == 1 && t < trace->n_threads; t++) {
            disks.requests[t] = memory_alloc(disks.n_requests[t], sizeof(size_t));
            disks.n_requests[t] = 0;
        }
        for (size_t b = 0; b < trace->n_blocks; b++) {
            int thread = map_get(&thread_of, (uint64_t)trace->blocks[b].tid, -1);
            if (thread < 0)
                continue;
            if (pass == 1)
                disks.requests[thread][disks.n_requests[thread]] = b;
            disks.n_requests[thread]++;
        }
    }
    map_free(&thread_of);
    return disks;
}

void disks_free(struct disks *disks) {
    for (size_t t = 0; t < disks->trace->n_threads; t++)
        free(disks->requests[t]);
    free(disks->requests);
    free(disks->n_requests);
}

size_t disks_requests(const struct disks *disks, size_t thread, uint64_t from_ns, uint64_t to_ns,
                      uint32_t *device) {
    const size_t *requests = disks->requests[thread];
    size_t low = 0, high = disks->n_requests[thread], n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (disks->trace->blocks[requests[middle]].queued_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low + n < disks->n_requests[thread]; n++) {
        const struct trace_block *block = &disks->trace->blocks[requests[low + n]];
        if (block->queued_ns >= to_ns)
            break;
        if (n == 0)
            *device = block->device;
    }
    return n;
}

/* ---- how much at once ---- */

/* Between the driver and the device. */
struct service {
    uint64_t issued_ns, completed_ns;
    size_t depth; /* requests there when it was issued, itself among them */
};

struct services {
    struct service *items;
    size_t count, capacity;
};

/* What happened while n requests were there: items[n]. */
struct depths {
    struct {
        double time_ns, completed;
    } * items;
    size_t deepest;
};

static struct services find_services(const struct disks *disks, uint32_t device) {
    struct services services = {0};
    for (size_t b = 0; b < disks->trace->n_blocks; b++) {
        const struct trace_block *block = &disks->trace->blocks[b];
        if (block->device == device && block->issued_ns && block->completed_ns > block->issued_ns)
            *VECTOR_ADD(&services) = (struct service){block->issued_ns, block->completed_ns, 0};
    }
    return services;
}

static int compare_issues(const void *left, const void *right) {
    const struct service *a = left, *b = right;
    return (a->issued_ns > b->issued_ns) - (a->issued_ns < b->issued_ns);
}

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Walks through issues and completions in the order of time; fills in the requests' depths. */
static struct depths find_depths(struct services *services) {
    size_t n = services->count, issued = 0, completed = 0, depth = 0;
    struct depths depths = {.items = memory_alloc(n + 1, sizeof *depths.items)};
    uint64_t *ends = memory_alloc(n, sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[i] = services->items[i].completed_ns;
    qsort(services->items, n, sizeof *services->items, compare_issues);
    qsort(ends, n, sizeof *ends, compare_times);
    uint64_t now_ns = n ? services->items[0].issued_ns : 0;
    while (completed < n) {
        bool issue = issued < n && services->items[issued].issued_ns < ends[completed];
        uint64_t next_ns = issue ? services->items[issued].issued_ns : ends[completed];
        depths.items[depth].time_ns += (double)(next_ns - now_ns);
        now_ns = next_ns;
        if (issue) {
            services->items[issued++].depth = ++depth;
            depths.deepest = depth > depths.deepest ? depth : depths.deepest;
        } else {
            depths.items[depth--].completed++;
            completed++;
        }
    }
    free(ends);
    return depths;
}

static double at_work(size_t depth, size_t servers) {
    return (double)(depth < servers ? depth : servers);
}

/* Logarithm of the likelihood of what was seen if `servers` were at work, completions being
 * Poisson at the rate of those that have a request. */
static double likelihood(const struct depths *depths, size_t servers) {
    double work_ns = 0, completed = 0, sum = 0;
    for (size_t n = 1; n <= depths->deepest; n++) {
        work_ns += depths->items[n].time_ns * at_work(n, servers);
        completed += depths->items[n].completed;
    }
    for (size_t n = 1; n <= depths->deepest; n++)
        if (depths->items[n].completed > 0)
            sum += depths->items[n].completed * log(at_work(n, servers) * completed / work_ns);
    return sum;
}

static size_t likeliest_servers(const struct depths *depths) {
    size_t best = 1;
    double best_likelihood = likelihood(depths, 1);
    for (size_t servers = 2; servers <= depths->deepest; servers++) {
        double present = likelihood(depths, servers);
        if (present > best_likelihood) {
            best = servers;
            best_likelihood = present;
        }
    }
    return best;
}

/* A request that shared the servers with more than they can take waited inside the device. The
 * model makes it wait before, so its time is cut to what was its own. */
static struct dist service_times(const struct services *services, size_t servers) {
    double *times = memory_alloc(services->count, sizeof *times);
    for (size_t i = 0; i < services->count; i++) {
        const struct service *service = &services->items[i];
        times[i] = (double)(service->completed_ns - service->issued_ns) *
                   at_work(service->depth, servers) / (double)service->depth;
    }
    struct dist dist = dist_from_values(times, services->count, DIST_LIMIT);
    free(times);
    return dist;
}

struct disk_speed disks_speed(const struct disks *disks, uint32_t device) {
    struct services services = find_services(disks, device);
    struct depths depths = find_depths(&services);
    size_t servers = likeliest_servers(&depths);
    bool limited = servers < depths.deepest || depths.deepest < 2;
    struct disk_speed speed = {.servers = limited ? (double)servers : 0,
                               .service_ns = service_times(&services, servers)};
    if (depths.deepest < 2)
        speed.evidence =
            memory_format("%zu requests, never two at once: taken as one server", services.count);
    else if (limited)
        speed.evidence =
            memory_format("%zu requests, up to %zu at once: as fast as %zu server%s",
                          services.count, depths.deepest, servers, servers == 1 ? "" : "s");
    else
        speed.evidence = memory_format("%zu requests, up to %zu at once without slowing down: "
                                       "taken as without limit",
                                       services.count, depths.deepest);
    free(depths.items);
    free(services.items);
    return speed;
}
