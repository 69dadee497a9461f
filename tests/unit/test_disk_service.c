/* How fast a block device is, from its requests alone. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "modelgen/calibrate/disk_service.h"
#include "tests/unit/disk_speed.h"
#include "tests/unit/trace_builder.h"

#define US 1000u
enum { REQUESTS = 2000 };

static uint64_t random_state;

/* Uniform in [0, 1). */
static double uniform(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

/* Threads that read, with pauses of `pause_us` on average, from a device that gets all requests at
 * once and works on `servers` of them, first come, first served, 100 us each, give or take a half.
 */
static struct disk_speed speed_of(size_t threads, size_t servers, double pause_us) {
    random_state = 42;
    struct trace *trace = builder_new(2);
    uint64_t *free_ns = memory_alloc(servers, sizeof *free_ns);
    uint64_t *next_ns = memory_alloc(threads, sizeof *next_ns);
    for (size_t i = 0; i < threads; i++)
        next_ns[i] = i * 7 * US + 1;
    for (size_t i = 0; i < REQUESTS; i++) {
        size_t thread = 0, server = 0;
        for (size_t j = 1; j < threads; j++)
            thread = next_ns[j] < next_ns[thread] ? j : thread;
        for (size_t j = 1; j < servers; j++)
            server = free_ns[j] < free_ns[server] ? j : server;
        uint64_t issued_ns = next_ns[thread];
        uint64_t begun_ns = issued_ns > free_ns[server] ? issued_ns : free_ns[server];
        free_ns[server] = begun_ns + (uint64_t)((50 + 100 * uniform()) * US);
        next_ns[thread] = free_ns[server] + (uint64_t)(uniform() * 2 * pause_us * US);
        builder_block(trace, (struct trace_block){.queued_ns = issued_ns,
                                                  .issued_ns = issued_ns,
                                                  .completed_ns = free_ns[server],
                                                  .device = 7});
    }
    struct disk_service disks = disk_service_find(trace);
    struct disk_speed speed = disk_service_speed(&disks, 7, NULL);
    disk_service_free(&disks);
    trace_free(trace);
    free(free_ns);
    free(next_ns);
    return speed;
}

static void assert_speed(size_t threads, size_t servers, double pause_us, double expected_servers,
                         const char *evidence) {
    struct disk_speed speed = speed_of(threads, servers, pause_us);
    assert_true(speed.servers == expected_servers);
    double mean_ns = dist_mean(&speed.service_ns);
    assert_true(mean_ns > 90 * US && mean_ns < 110 * US);
    assert_non_null(strstr(speed.evidence, evidence));
    free_speed(&speed);
}

static void the_servers_of_a_busy_device_are_counted(void **state) {
    (void)state;
    assert_speed(4, 1, 200, 1, "up to 4 at once: as fast as 1 server");
    assert_speed(8, 2, 200, 2, "as fast as 2 servers");
    assert_speed(16, 4, 400, 4, "as fast as 4 servers");
}

static void a_device_that_never_slowed_down_has_no_limit(void **state) {
    (void)state;
    assert_speed(2, 8, 50, 0, "without limit");
    assert_speed(6, 8, 50, 0, "without limit");
}

/* Then times do not tell: the order does. */
static void a_device_that_always_has_as_many_serves_one_at_a_time_if_none_overtakes(void **state) {
    (void)state;
    assert_speed(4, 1, 0, 1, "as fast as 1 server");
    assert_speed(4, 8, 0, 0, "without limit");
}

static void whether_it_always_had_as_many_is_told(void **state) {
    (void)state;
    struct disk_speed full = speed_of(4, 1, 0), at_times = speed_of(4, 1, 200);
    assert_true(full.always == 4 && at_times.always == 0);
    assert_true(full.least == 2 && at_times.least == 0);
    free_speed(&full);
    free_speed(&at_times);
}

static void requests_one_by_one_tell_of_one_server_only(void **state) {
    (void)state;
    assert_speed(1, 8, 50, 1, "never two at once");
}

static void other_devices_and_requests_cut_off_do_not_count(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_block(trace, (struct trace_block){.issued_ns = 10, .completed_ns = 30, .device = 7});
    builder_block(trace, (struct trace_block){.issued_ns = 15, .completed_ns = 900, .device = 8});
    builder_block(trace, (struct trace_block){.issued_ns = 20, .completed_ns = 0, .device = 7});
    struct disk_service disks = disk_service_find(trace);
    struct disk_speed speed = disk_service_speed(&disks, 7, NULL);
    assert_true(speed.servers == 1);
    assert_true(dist_mean(&speed.service_ns) == 20);
    free_speed(&speed);
    disk_service_free(&disks);
    trace_free(trace);
}

/* A disk with an arm, which serves one request at a time: 20 us where it goes on, else 100 to 300
 * us by the distance. Requests come one by one, or two at once, the second behind the first. */
static struct disk_speed speed_of_arm(bool has_places) {
    random_state = 7;
    struct trace *trace = builder_new(2);
    uint64_t now_ns = 1, head = 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        uint64_t sector = 1 + (uint64_t)(uniform() * 1e6), issued_ns = now_ns;
        int n = uniform() < 0.3 ? 2 : 1;
        for (int k = 0; k < n; k++) {
            double far = fabs((double)sector - (double)head) / 1e6;
            now_ns +=
                (uint64_t)((head == sector ? 20 : 100 + 200 * far) * (0.9 + 0.2 * uniform()) * US);
            builder_block(trace, (struct trace_block){.queued_ns = issued_ns,
                                                      .issued_ns = issued_ns,
                                                      .completed_ns = now_ns,
                                                      .device = 7,
                                                      .bytes = 4096,
                                                      .sector = has_places ? sector : 0});
            head = sector += 8;
        }
        now_ns += (uint64_t)(uniform() * 100 * US);
    }
    struct disk_service disks = disk_service_find(trace);
    struct disk_speed speed = disk_service_speed(&disks, 7, NULL);
    disk_service_free(&disks);
    trace_free(trace);
    return speed;
}

static void an_arm_takes_longer_the_farther_it_goes(void **state) {
    (void)state;
    struct disk_speed speed = speed_of_arm(true);
    assert_true(speed.servers == 1);
    assert_true(speed.n_distances > 4);
    assert_true(speed.distances[0].least == 0 && speed.distances[1].least > 0);
    assert_true(fabs(dist_mean(&speed.distances[0].service_ns) / (20 * US) - 1) < 0.05);
    for (size_t i = 1; i < speed.n_distances; i++) {
        double next = i + 1 < speed.n_distances ? speed.distances[i + 1].least : 1e6;
        double far = (speed.distances[i].least + next) / 2 / 1e6;
        double mean_ns = dist_mean(&speed.distances[i].service_ns);
        assert_true(fabs(mean_ns / ((100 + 200 * far) * US) - 1) < 0.1);
    }
    free_speed(&speed);
}

/* What is second is quick. An arm explains it only where it is known that it went on. */
static void what_goes_on_is_not_served_by_a_second_server(void **state) {
    (void)state;
    struct disk_speed speed = speed_of_arm(false);
    assert_true(speed.servers != 1 && speed.n_distances == 0);
    free_speed(&speed);
}

/* Each thread reads a file of its own in a row; together in turn, or one after the other. */
static size_t parted(bool in_turn) {
    struct trace *trace = builder_new(2);
    uint64_t now_ns = 1;
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t thread = in_turn ? i % 4 : i / 100, at = in_turn ? i / 4 : i % 100;
        builder_block(trace, (struct trace_block){.queued_ns = now_ns,
                                                  .issued_ns = now_ns,
                                                  .completed_ns = now_ns + 100 * US,
                                                  .device = 7,
                                                  .bytes = 4096,
                                                  .sector = 1 + 100000 * thread + 8 * at,
                                                  .tid = 1 + (int)thread});
        now_ns += 200 * US;
    }
    struct disk_service disks = disk_service_find(trace);
    struct disk_speed speed = disk_service_speed(&disks, 7, NULL);
    size_t n = speed.parted;
    free_speed(&speed);
    disk_service_free(&disks);
    trace_free(trace);
    return n;
}

static void threads_that_part_each_others_requests_are_told(void **state) {
    (void)state;
    assert_int_equal(parted(true), 396);
    assert_int_equal(parted(false), 0);
}

/* A call from 100 to 200 with another one inside of it, up to 120. */
static void requests_outside_of_calls_are_counted(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1), tid = trace->threads[thread].tid;
    builder_call(trace, thread, "pthread_mutex_lock", 100, 200, 0, TRACE_NO_CONTEXT);
    builder_call(trace, thread, "pthread_mutex_lock", 110, 120, 0, TRACE_NO_CONTEXT);
    builder_block(trace, (struct trace_block){.queued_ns = 50, .bytes = 4096, .tid = tid});
    builder_block(trace, (struct trace_block){.queued_ns = 150, .bytes = 4096, .tid = tid});
    builder_block(trace, (struct trace_block){.queued_ns = 250, .bytes = 8192, .tid = tid});
    builder_block(trace, (struct trace_block){
                             .queued_ns = 260, .bytes = 4096, .tid = tid + 1}); /* another's */
    struct disk_service disks = disk_service_find(trace);
    struct disk_service_outside outside = disk_service_outside(&disks);
    assert_int_equal(outside.requests, 2);
    assert_true(outside.bytes == 4096 + 8192);
    disk_service_free(&disks);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_servers_of_a_busy_device_are_counted),
        cmocka_unit_test(a_device_that_never_slowed_down_has_no_limit),
        cmocka_unit_test(a_device_that_always_has_as_many_serves_one_at_a_time_if_none_overtakes),
        cmocka_unit_test(whether_it_always_had_as_many_is_told),
        cmocka_unit_test(requests_outside_of_calls_are_counted),
        cmocka_unit_test(threads_that_part_each_others_requests_are_told),
        cmocka_unit_test(an_arm_takes_longer_the_farther_it_goes),
        cmocka_unit_test(what_goes_on_is_not_served_by_a_second_server),
        cmocka_unit_test(requests_one_by_one_tell_of_one_server_only),
        cmocka_unit_test(other_devices_and_requests_cut_off_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
