#include "modelgen/lower/object_selection.h"

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "modelgen/notes.h"

int objects_disk(struct writer *writer, uint32_t device) {
    int object = map_get(&writer->disk_of, device, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    object = model_add_object(writer->model, OBJECT_DISK,
                              memory_format("disk %u:%u", device >> 20, device & 0xfffff));
    struct disk_speed speed = disk_service_speed(writer->in->disks, device, writer->streams.alike);
    disk_conditions_widen(&speed, writer->in->disks, device,
                          measured_disks_find(writer->in->measured_disks, device));
    writer->model->objects[object].service_ns = speed.service_ns;
    writer->model->objects[object].servers = speed.servers;
    writer->model->objects[object].n_distances = speed.n_distances;
    writer->model->objects[object].distances = speed.distances;
    writer->model->objects[object].evidence = speed.evidence;
    writer->model->objects[object].least_depth = speed.least > 1 ? (double)speed.least : 0;
    writer->model->objects[object].most_depth = speed.servers == 0 ? (double)speed.always : 0;
    writer->model->objects[object].never_continued = speed.parted > 0;
    writer->model->objects[object].alone_ns = speed.alone_ns;
    if (speed.always > 0 && speed.alone_ns.kind == DIST_NONE)
        notes_add(
            writer->model,
            "%s: it nearly always had %zu requests at once; with fewer threads than that%s each "
            "may take another time: record once more with fewer, or give --disk what `persik "
            "calibrate` measures",
            writer->model->objects[object].name, speed.always,
            speed.servers == 0 ? ", or with more," : "");
    if (speed.parted > 0 && speed.alone_ns.kind == DIST_NONE)
        notes_add(
            writer->model,
            "%s: %zu requests go on where their thread's last one ended, but others' came "
            "between: one thread alone may be much faster than predicted: record it once more "
            "with one, or give --disk what `persik calibrate` measures",
            writer->model->objects[object].name, speed.parted);
    disk_service_times(writer->in->disks, device, speed.servers, writer->streams.service_ns);
    map_put(&writer->disk_of, device, object);
    return object;
}

int objects_write_back(struct writer *writer) {
    if (writer->later.object != MODEL_NONE)
        return writer->later.object;
    uint32_t device = writer->in->write_back->device;
    int object =
        model_add_object(writer->model, OBJECT_DISK,
                         memory_format("write-back to disk %u:%u", device >> 20, device & 0xfffff));
    struct object *disk = &writer->model->objects[object];
    double mean_bytes = writer->in->write_back->bytes / (double)writer->in->write_back->n;
    disk->servers = 1;
    disk->service_ns =
        (struct dist){.kind = DIST_CONSTANT, .mean = mean_bytes * writer->later.byte_ns};
    disk->room_ns = writer->later.room_bytes * writer->later.byte_ns;
    disk->evidence = memory_format(
        "writes were held up with %.1f MB not yet written back, at %.1f MB/s; requests of the "
        "kernel were under way for %.0f %% of that time",
        writer->later.room_bytes / 1e6, 1e3 / writer->later.byte_ns, 100 * writer->later.covered);
    notes_add(
        writer->model,
        "%s: %.1f MB may be dirty, as in the recorded run, whatever else is; it takes no time "
        "from the disk's other requests",
        disk->name, writer->later.room_bytes / 1e6);
    return writer->later.object = object;
}

int objects_journal(struct writer *writer, uint32_t device) {
    int object = map_get(&writer->journal_of, device, MODEL_NONE);
    if (object != MODEL_NONE)
        return object;
    const struct commits *commits = writer->in->commits;
    size_t n_commits = 0, n_calls = 0;
    for (size_t c = 0; c < commits->n_commits; c++) {
        n_commits += commits->items[c].device == device;
        n_calls += commits->items[c].device == device ? commits->items[c].n_calls : 0;
    }
    object =
        model_add_object(writer->model, OBJECT_ORDER,
                         memory_format("journal of disk %u:%u", device >> 20, device & 0xfffff));
    writer->model->objects[object].in_groups = true;
    writer->model->objects[object].by_kernel = true;
    writer->model->objects[object].evidence =
        memory_format("%zu calls returned with the last request of %zu commits; requests of the "
                      "kernel were under "
                      "way for %.0f %% of their waiting",
                      n_calls, n_commits, 100 * commits->covered_ns / commits->waited_ns);
    map_put(&writer->journal_of, device, object);
    return object;
}
