#include "modelgen/calibrate/disk_conditions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define DIST_LIMIT 64

const struct disk_probe *measured_disks_find(const struct measured_disks *measured,
                                             uint32_t device) {
    for (size_t i = 0; measured && i < measured->count; i++)
        if (measured->items[i].device == device)
            return &measured->items[i];
    return NULL;
}

/* ---- the requests of the program ---- */

/* A sort of requests of which points were measured. */
struct sort {
    enum disk_request kind;
    bool is_sequential;
    double bytes; /* of a flush 0 */
};

/* False: nobody measures such requests. */
static bool find_kind(const struct trace_block *block, enum disk_request *kind) {
    *kind = block->kind == BLOCK_WRITE   ? DISK_WRITE
            : block->kind == BLOCK_FLUSH ? DISK_FLUSH
                                         : DISK_READ;
    return block->kind != BLOCK_DISCARD;
}

struct sorts {
    struct sort *items;
    size_t count, capacity;
};

/* Of the threads' requests to the device, in their order. */
static struct sorts find_sorts(const struct disk_service *disks, uint32_t device) {
    struct sorts sorts = {0};
    for (size_t t = 0; t < disks->trace->n_threads; t++) {
        double end = NAN; /* of its last request */
        for (size_t i = 0; i < disks->n_requests[t]; i++) {
            const struct trace_block *block = &disks->trace->blocks[disks->requests[t][i]];
            enum disk_request kind;
            if (block->device != device || !find_kind(block, &kind))
                continue;
            bool goes_on = (double)block->sector == end;
            *VECTOR_ADD(&sorts) =
                (struct sort){kind, goes_on, kind == DISK_FLUSH ? 0 : block->bytes};
            if (kind != DISK_FLUSH)
                end = (double)block->sector + (double)block->bytes / DISK_SECTOR_BYTES;
        }
    }
    return sorts;
}

/* ---- what was measured ---- */

/* Of the points like it with so many at once, the largest of at most its size and the smallest of
 * more; either may be NULL. */
static void find_points(const struct disk_probe *measured, const struct sort *sort, int parallel,
                        const struct disk_point **below, const struct disk_point **above) {
    *below = *above = NULL;
    for (size_t i = 0; i < measured->count; i++) {
        const struct disk_point *point = &measured->items[i];
        bool is_alike = point->kind == sort->kind && point->parallel == parallel &&
                        (point->kind == DISK_FLUSH || point->is_sequential == sort->is_sequential);
        if (!is_alike)
            continue;
        if (point->bytes <= sort->bytes && (!*below || point->bytes > (*below)->bytes))
            *below = point;
        if (point->bytes > sort->bytes && (!*above || point->bytes < (*above)->bytes))
            *above = point;
    }
}

/* Times grow evenly with the size between two points; beyond them they are the last one's.
 * `number`: of the point's times; negative: their mean. NaN: no such point. */
static double time_of(const struct disk_probe *measured, const struct sort *sort, int parallel,
                      int number) {
    const struct disk_point *below, *above;
    find_points(measured, sort, parallel, &below, &above);
    const struct disk_point *one = below ? below : above, *other = above ? above : below;
    if (!one)
        return NAN;
    double low_ns = number < 0 ? one->mean_ns : one->times_ns[number];
    double high_ns = number < 0 ? other->mean_ns : other->times_ns[number];
    double range = (double)other->bytes - (double)one->bytes;
    double share = range > 0 ? (sort->bytes - one->bytes) / range : 0;
    return low_ns + share * (high_ns - low_ns);
}

/* Of one request at a time, of all sorts as often as the program makes them. Where a disk without
 * other requests is nothing new, neither are those that go elsewhere: these took what was recorded.
 */
static struct dist alone_times(const struct disk_probe *measured, const struct sorts *sorts,
                               const struct disk_speed *speed) {
    double *times_ns = memory_alloc(sorts->count, sizeof *times_ns);
    const struct dist *recorded = &speed->service_ns;
    size_t n = 0, n_measured = 0;
    for (size_t i = 0; i < sorts->count; i++) {
        const struct sort *sort = &sorts->items[i];
        double time_ns = time_of(measured, sort, 1, (int)(i % DISK_POINT_TIMES));
        n_measured += !isnan(time_ns);
        bool is_seen = speed->least == 0 && !sort->is_sequential;
        if (is_seen)
            times_ns[n++] = recorded->kind == DIST_EMPIRICAL
                                ? recorded->values[i % recorded->n_values]
                                : recorded->mean;
        else if (!isnan(time_ns))
            times_ns[n++] = time_ns;
    }
    struct dist dist = dist_from_values(times_ns, n_measured > 0 ? n : 0, DIST_LIMIT);
    free(times_ns);
    return dist;
}

/* As many as the device does at once what it is given by one and by several, of requests as large
 * as the program's on average, anywhere: of n threads' and of one's, the ratio of what is done in a
 * time. 0: as many as it was given, or not measured. */
static double count_servers(const struct disk_probe *measured, const struct sorts *sorts) {
    struct sort sort = {.kind = DISK_READ};
    double reads = 0, bytes = 0;
    for (size_t i = 0; i < sorts->count; i++) {
        reads += sorts->items[i].kind == DISK_READ;
        bytes += sorts->items[i].bytes / (double)sorts->count;
    }
    sort.kind = 2 * reads < (double)sorts->count ? DISK_WRITE : DISK_READ;
    sort.bytes = bytes;
    double alone_ns = time_of(measured, &sort, 1, -1), most = 1;
    int deepest = 1;
    for (size_t i = 0; i < measured->count; i++) {
        int parallel = measured->items[i].parallel;
        double servers = parallel * alone_ns / time_of(measured, &sort, parallel, -1);
        most = servers > most ? servers : most;
        deepest = parallel > deepest ? parallel : deepest;
    }
    most = nearbyint(most);
    return most < deepest ? most : 0;
}

/* ---- what becomes of it ---- */

static void set_servers(struct disk_speed *speed, double servers) {
    for (size_t i = 0; servers != 1 && i < speed->n_distances; i++)
        free(speed->distances[i].service_ns.values);
    if (servers != 1)
        speed->n_distances = speed->parted = 0; /* it has no arm */
    speed->servers = servers;
}

static void add_evidence(struct disk_speed *speed, const char *text, double servers) {
    char *evidence = servers > 0
                         ? memory_format("%s; %s %.0f at once", speed->evidence, text, servers)
                         : memory_format("%s; %s", speed->evidence, text);
    free(speed->evidence);
    speed->evidence = evidence;
}

void disk_conditions_widen(struct disk_speed *speed, const struct disk_service *disks,
                           uint32_t device, const struct disk_probe *measured) {
    if (!measured)
        return;
    struct sorts sorts = find_sorts(disks, device);
    struct dist alone_ns = alone_times(measured, &sorts, speed);
    double servers = count_servers(measured, &sorts);
    bool is_known = alone_ns.kind != DIST_NONE;
    if (is_known && !speed->met_two) {
        set_servers(speed, servers);
        add_evidence(speed, servers > 0 ? "calibrated: it serves" : "calibrated: without limit",
                     servers);
    } else if (is_known && speed->least > 0 && speed->servers == 0) {
        set_servers(speed, servers);
        free(speed->service_ns.values);
        speed->service_ns = alone_ns;
        alone_ns = (struct dist){.kind = DIST_NONE};
        speed->always = speed->least = 0;
        add_evidence(speed, "calibrated: its times, and how many it serves:", servers);
    }
    if (alone_ns.kind != DIST_NONE && (speed->least > 0 || speed->parted > 0)) {
        speed->alone_ns = alone_ns;
        alone_ns = (struct dist){.kind = DIST_NONE};
        add_evidence(speed, "calibrated: one request at a time", 0);
    }
    free(alone_ns.values);
    free(sorts.items);
}
