/* modelgen/calibrate/disk_conditions and formats/disk_calibration: what was measured of a disk, and
 * what it tells of requests that the recorded run had none of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/disk_calibration.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "tests/unit/disk_speed.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

#define US 1e3

/* A disk of so many servers: 10 us where a thread goes on, 100 us elsewhere, and as long again for
 * each 64 kB. */
static struct disk_probe measured(int servers) {
    struct disk_probe probe = {.device = 7, .file_bytes = 1 << 26};
    for (int parallel = 1; parallel <= 8; parallel *= 2)
        for (int order = 0; order < 2; order++)
            for (int size = 0; size < 2; size++) {
                double queued = parallel > servers ? (double)parallel / servers : 1;
                double time_ns = (order == 0 ? 10 * US : 100 * US) * (1 + size) * queued;
                struct disk_point point = {.kind = DISK_WRITE,
                                           .is_sequential = order == 0,
                                           .bytes = size == 0 ? 4096 : 4096 + 65536,
                                           .parallel = parallel,
                                           .requests = 100,
                                           .mean_ns = time_ns};
                for (int i = 0; i < DISK_POINT_TIMES; i++)
                    point.times_ns[i] = time_ns;
                *VECTOR_ADD(&probe) = point;
            }
    return probe;
}

/* `threads` in turn write in a row, each its own file; a request takes 500 us. */
static struct disk_speed speed_of(size_t threads, uint32_t bytes, const struct disk_probe *probe) {
    struct trace *trace = builder_new(2);
    for (size_t t = 0; t < threads; t++)
        builder_thread(trace, "worker", -1);
    uint64_t now_ns = 1;
    for (uint64_t i = 0; i < 100 * threads; i++) {
        size_t t = i % threads;
        builder_block(trace,
                      (struct trace_block){.queued_ns = now_ns,
                                           .issued_ns = now_ns,
                                           .completed_ns = now_ns + 500000,
                                           .device = 7,
                                           .kind = BLOCK_WRITE,
                                           .bytes = bytes,
                                           .sector = 1 + 1000000 * t + bytes / 512 * (i / threads),
                                           .tid = trace->threads[t].tid});
        now_ns += 500001;
    }
    struct disk_service disks = disk_service_find(trace);
    struct disk_speed speed = disk_service_speed(&disks, 7, NULL);
    disk_conditions_widen(&speed, &disks, 7, probe);
    disk_service_free(&disks);
    trace_free(trace);
    return speed;
}

static void assert_alone_us(uint32_t bytes, double expected_us) {
    struct disk_probe probe = measured(1);
    struct disk_speed speed = speed_of(4, bytes, &probe);
    assert_true(speed.parted > 0);
    double mean_us = 0.01 * 500 + 0.99 * expected_us; /* the first of each thread: as recorded */
    assert_true(fabs(dist_mean(&speed.alone_ns) / (mean_us * US) - 1) < 0.01);
    assert_non_null(strstr(speed.evidence, "calibrated: one request at a time"));
    free_speed(&speed);
    disk_probe_free(&probe);
}

static void one_thread_that_goes_on_takes_what_was_measured_of_its_size(void **state) {
    (void)state;
    assert_alone_us(4096, 10);
    assert_alone_us(4096 + 32768, 15);
    assert_alone_us(1 << 20, 20); /* beyond the largest: as that */
}

static void without_a_measurement_nothing_is_known(void **state) {
    (void)state;
    struct disk_speed speed = speed_of(4, 4096, NULL);
    assert_true(speed.parted > 0 && speed.alone_ns.kind == DIST_NONE);
    free_speed(&speed);
    struct disk_probe other = measured(1); /* reads were not measured */
    for (size_t i = 0; i < other.count; i++)
        other.items[i].kind = DISK_READ;
    speed = speed_of(4, 4096, &other);
    assert_true(speed.alone_ns.kind == DIST_NONE);
    assert_null(strstr(speed.evidence, "calibrated"));
    free_speed(&speed);
    disk_probe_free(&other);
}

static double servers_told(int servers) {
    struct disk_probe probe = measured(servers);
    struct disk_speed speed = speed_of(1, 4096, &probe);
    double told = speed.servers;
    assert_true(told == 1 || speed.n_distances == 0);
    free_speed(&speed);
    disk_probe_free(&probe);
    return told;
}

static void a_disk_that_never_had_two_requests_has_the_servers_that_were_measured(void **state) {
    (void)state;
    assert_true(servers_told(1) == 1);
    assert_true(servers_told(2) == 2);
    assert_true(servers_told(4) == 4);
    assert_true(servers_told(64) == 0);
}

/* ---- the file ---- */

static void what_is_written_is_read_again(void **state) {
    (void)state;
    struct disk_probe probe = measured(2), read;
    struct error error = {0};
    char *path = scratch_folder_path("disk.json");
    assert_int_equal(disk_calibration_save(&probe, "2026-11-28", path, &error), 0);
    assert_int_equal(disk_calibration_load(path, &read, &error), 0);
    assert_int_equal(read.count, probe.count);
    assert_int_equal(read.device, 7);
    for (size_t i = 0; i < read.count; i++) {
        assert_int_equal(read.items[i].bytes, probe.items[i].bytes);
        assert_int_equal(read.items[i].parallel, probe.items[i].parallel);
        assert_int_equal(read.items[i].is_sequential, probe.items[i].is_sequential);
        assert_true(read.items[i].mean_ns == probe.items[i].mean_ns);
        assert_true(read.items[i].times_ns[15] == probe.items[i].times_ns[15]);
    }
    disk_probe_free(&read);
    disk_probe_free(&probe);
    free(path);
}

static void assert_refused(const char *text, const char *reason) {
    char *path = scratch_folder_path("wrong.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct disk_probe probe;
    struct error error = {0};
    assert_int_equal(disk_calibration_load(path, &probe, &error), -1);
    if (!strstr(error.text, reason))
        fail_msg("'%s' is not in '%s'", reason, error.text);
    free(path);
}

#define HEAD "{\"format\": \"persik disk calibration\", \"version\": "

static void what_is_no_calibration_is_refused(void **state) {
    (void)state;
    assert_refused("{}", "nothing that `persik calibrate` wrote");
    assert_refused("[1", "not JSON");
    assert_refused(HEAD "2}", "of version 2");
    assert_refused(HEAD "1}", "file_bytes");
    assert_refused(HEAD "1, \"file_bytes\": 1}", "MAJOR:MINOR");
    assert_refused(HEAD "1, \"file_bytes\": 1, \"device\": \"7:0x\"}", "MAJOR:MINOR");
    assert_refused(HEAD "1, \"file_bytes\": 1, \"device\": \"7:0\"}", "no points");
    assert_refused(HEAD "1, \"file_bytes\": 1, \"device\": \"7:0\", \"points\": [{}]}", "point 0");
    assert_refused(HEAD
                   "1, \"file_bytes\": 1, \"device\": \"7:0\", \"points\": [{\"kind\": \"read\", "
                   "\"order\": \"random\", \"bytes\": 1, \"parallel\": 1, \"requests\": 1, "
                   "\"mean_ns\": 1, \"times_ns\": [1]}]}",
                   "point 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_that_goes_on_takes_what_was_measured_of_its_size),
        cmocka_unit_test(without_a_measurement_nothing_is_known),
        cmocka_unit_test(a_disk_that_never_had_two_requests_has_the_servers_that_were_measured),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_is_no_calibration_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
