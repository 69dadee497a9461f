#include "formats/disk_calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "formats/json_input.h"

#define FORMAT         "persik disk calibration"
#define SEE            "see disk calibrations in docs/formats.md"
#define MOST_POINTS    100000
#define MOST_PARALLEL  1000000
#define MOST_DEVICE_ID 4095 /* major; what Linux has */
#define MOST_MINOR     1048575

static const char *const names[N_DISK_REQUESTS] = {"read", "write", "flush"};

const char *disk_request_name(enum disk_request kind) {
    return names[kind];
}

/* ---- writing ---- */

static json_t *point_json(const struct disk_point *point) {
    json_t *times = json_array();
    for (int i = 0; i < DISK_POINT_TIMES; i++)
        json_array_append_new(times, json_real(point->times_ns[i]));
    return json_pack("{s:s, s:s, s:I, s:i, s:I, s:f, s:o}", "kind", names[point->kind], "order",
                     point->is_sequential ? "sequential" : "random", "bytes",
                     (json_int_t)point->bytes, "parallel", point->parallel, "requests",
                     (json_int_t)point->requests, "mean_ns", point->mean_ns, "times_ns", times);
}

char *disk_calibration_text(const struct disk_probe *probe, const char *date) {
    json_t *points = json_array();
    for (size_t i = 0; i < probe->count; i++)
        json_array_append_new(points, point_json(&probe->items[i]));
    char *device = memory_format("%u:%u", probe->device >> 20, probe->device & 0xfffff);
    json_t *json = json_pack("{s:s, s:i, s:s, s:s, s:I, s:o}", "format", FORMAT, "version",
                             DISK_CALIBRATION_VERSION, "device", device, "date", date, "file_bytes",
                             (json_int_t)probe->file_bytes, "points", points);
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    char *copy = memory_format("%s\n", text);
    free(text);
    free(device);
    json_decref(json);
    return copy;
}

int disk_calibration_save(const struct disk_probe *probe, const char *date, const char *path,
                          struct error *error) {
    struct output output;
    if (output_begin(&output, path) < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    char *text = disk_calibration_text(probe, date);
    bool written = fputs(text, output.file) >= 0;
    free(text);
    if (!written)
        output_abandon(&output);
    if (!written || output_commit(&output) < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

/* ---- reading ---- */

/* A number from `least` to `most`, `whole` if that is asked; NaN: it is none. */
static double number(const json_t *object, const char *key, double least, double most) {
    const json_t *value = json_object_get(object, key);
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    return found >= least && found <= most ? found : NAN;
}

static int read_kind(const json_t *json) {
    const char *name = json_string_value(json_object_get(json, "kind"));
    for (int kind = 0; name && kind < N_DISK_REQUESTS; kind++)
        if (strcmp(name, names[kind]) == 0)
            return kind;
    return -1;
}

static bool read_times(const json_t *json, struct disk_point *point) {
    const json_t *times = json_object_get(json, "times_ns");
    if (json_array_size(times) != DISK_POINT_TIMES)
        return false;
    for (size_t i = 0; i < DISK_POINT_TIMES; i++) {
        double time_ns = json_number_value(json_array_get(times, i));
        if (!json_is_number(json_array_get(times, i)) || !(time_ns >= 0) || !isfinite(time_ns))
            return false;
        point->times_ns[i] = time_ns;
    }
    return true;
}

static bool read_point(const json_t *json, struct disk_point *point) {
    const char *order = json_string_value(json_object_get(json, "order"));
    int kind = read_kind(json);
    double bytes = number(json, "bytes", 0, UINT32_MAX);
    double parallel = number(json, "parallel", 1, MOST_PARALLEL);
    double requests = number(json, "requests", 1, 1e15), mean_ns = number(json, "mean_ns", 0, 1e15);
    bool is_sound = kind >= 0 && order && bytes == floor(bytes) && parallel == floor(parallel) &&
                    requests == floor(requests) && mean_ns >= 0 &&
                    (strcmp(order, "sequential") == 0 || strcmp(order, "random") == 0);
    if (!is_sound)
        return false;
    *point = (struct disk_point){.kind = (enum disk_request)kind,
                                 .is_sequential = order[0] == 's',
                                 .bytes = (uint32_t)bytes,
                                 .parallel = (int)parallel,
                                 .requests = (size_t)requests,
                                 .mean_ns = mean_ns};
    return read_times(json, point);
}

static int read_points(const json_t *points, struct room *room, const char *path,
                       struct disk_probe *probe, struct error *error) {
    size_t n = json_array_size(points);
    if (n == 0 || n > MOST_POINTS || !room_take(room, 2 * n, sizeof(struct disk_point)))
        return error_set(error, "%s: it has no points, or too many: %s", path, SEE);
    for (size_t i = 0; i < n; i++)
        if (!read_point(json_array_get(points, i), VECTOR_ADD(probe)))
            return error_set(error, "%s: point %zu: missing or wrong: %s", path, i, SEE);
    return 0;
}

static int read_device(const json_t *json, const char *path, struct disk_probe *probe,
                       struct error *error) {
    const char *device = json_string_value(json_object_get(json, "device"));
    unsigned disk_major, disk_minor;
    char rest;
    if (!device || sscanf(device, "%u:%u%c", &disk_major, &disk_minor, &rest) != 2 ||
        disk_major > MOST_DEVICE_ID || disk_minor > MOST_MINOR)
        return error_set(error, "%s: its device is no MAJOR:MINOR: %s", path, SEE);
    probe->device = disk_major << 20 | disk_minor;
    return 0;
}

static int read_calibration(const json_t *json, struct room *room, const char *path,
                            struct disk_probe *probe, struct error *error) {
    const char *format = json_string_value(json_object_get(json, "format"));
    double version = number(json, "version", 1, 1e9);
    if (!format || strcmp(format, FORMAT) != 0 || isnan(version))
        return error_set(error, "%s is nothing that `persik calibrate` wrote: %s", path, SEE);
    if (version > DISK_CALIBRATION_VERSION)
        return error_set(error, "%s is of version %g, and this persik reads up to %d: update it",
                         path, version, DISK_CALIBRATION_VERSION);
    double file_bytes = number(json, "file_bytes", 1, 1e18);
    if (isnan(file_bytes))
        return error_set(error, "%s: file_bytes: missing or wrong: %s", path, SEE);
    probe->file_bytes = (uint64_t)file_bytes;
    if (read_device(json, path, probe, error) < 0)
        return -1;
    return read_points(json_object_get(json, "points"), room, path, probe, error);
}

int disk_calibration_load(const char *path, struct disk_probe *probe, struct error *error) {
    struct room room;
    *probe = (struct disk_probe){0};
    json_t *json = json_read_file(path, &room, "cannot read what calibrate measured",
                                  "make it with `persik calibrate DIR -o FILE`", SEE, error);
    if (!json)
        return -1;
    int status = read_calibration(json, &room, path, probe, error);
    json_decref(json);
    if (status < 0)
        disk_probe_free(probe);
    return status;
}
