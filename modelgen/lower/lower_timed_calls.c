#include "modelgen/lower/lower_timed_calls.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/lower/object_selection.h"

/* Key of a call site. */
static uint64_t site_of(const struct trace_record *record) {
    return map_mix(map_mix(7, record->context), record->api);
}

/* Does the call read or write, whatever? */
static bool moves_data(const struct api_info *info) {
    return info->api_class == CLASS_IO || info->api_class == CLASS_IN ||
           info->api_class == CLASS_OUT;
}

struct blocked_site {
    uint64_t site;
    double blocked_ns; /* all threads together */
};

void lower_timed_calls_choose_sites(struct writer *writer) {
    const struct trace *trace = writer->in->trace;
    struct map number = MAP_EMPTY;
    struct {
        struct blocked_site *items;
        size_t count, capacity;
    } sites = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        writer->thread = t;
        for (struct event_cursor at_event = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at_event);) {
            const struct trace_record *record = at_event.event;
            const struct api_info *info = &api_catalog[record->api];
            if (!moves_data(info) && info->api_class != CLASS_TIME)
                continue;
            uint64_t site = site_of(record);
            int at = map_get(&number, site, -1);
            if (at < 0) {
                at = (int)sites.count;
                map_put(&number, site, at);
                *VECTOR_ADD(&sites) = (struct blocked_site){.site = site};
            }
            assert(sites.items); /* the map knows only what is in the list */
            sites.items[at].blocked_ns += writer_blocked_inside(writer, record);
            uint32_t device;
            if (disk_service_requests(writer->in->disks, t, record->start_ns, trace_end_ns(record),
                                      &device))
                map_put(&writer->device_of_site, site, (int)device);
        }
    }
    for (size_t i = 0; i < sites.count; i++)
        if (sites.items[i].blocked_ns >
            writer->in->insignificant_share * (double)trace->meta.run_ns)
            map_put(&writer->kept_sites, sites.items[i].site, 1);
    map_free(&number);
    free(sites.items);
}

static bool site_is_kept(const struct writer *writer, const struct trace_record *record) {
    return map_get(&writer->kept_sites, site_of(record), 0) != 0;
}

/* Is this call one whose site ever reached a block device? Then every call there is disk I/O, those
 * without requests being cache hits; else it is a wait on something outside. */
static void write_io(struct writer *writer, size_t index, const struct trace_record *record) {
    uint64_t end = trace_end_ns(record);
    uint32_t device = 0;
    size_t operations =
        disk_service_requests(writer->in->disks, writer->thread, record->start_ns, end, &device);
    int known = map_get(&writer->device_of_site, site_of(record), -1);
    struct step *step = writer_add_step(writer, NODE_IO, index, record->start_ns, end);
    step->cpu_ns = writer_cpu_inside(writer, record->start_ns, end);
    if (known < 0) {
        step->wait_ns = writer_blocked_inside(writer, record);
        return;
    }
    step->object = objects_disk(writer, operations ? device : (uint32_t)known);
    step->operations = (double)operations;
}

void lower_timed_calls_write(struct writer *writer, size_t index,
                             const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    bool sleeps = info->op == OP_SLEEP;
    if ((!sleeps && !moves_data(info)) || !site_is_kept(writer, record))
        return;
    if (!sleeps) {
        write_io(writer, index, record);
        return;
    }
    uint64_t end = trace_end_ns(record);
    struct step *step = writer_add_step(writer, NODE_SLEEP, index, record->start_ns, end);
    step->wait_ns = writer_blocked_inside(writer, record);
    step->cpu_ns = writer_cpu_inside(writer, record->start_ns, end);
}
