/* The pure parts of the tracer: clocks, slices, block requests, blktrace files, tracepoint formats.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/blktrace_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/function_name.h"
#include "base/memory.h"
#include "processor/processor.h"
#include "tests/unit/trace_builder.h"
#include "tracer/blktrace.h"
#include "tracer/ftrace.h"
#include "tracer/program.h"
#include "tracer/requests.h"
#include "tracer/slices.h"
#include "tracer/timebase.h"
#include "tracer/tracepoint.h"
#include "tracer/tracer.h"
#include "tracer/wakers.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- clocks ---- */

static void ticks_map_linearly_between_pairs_and_beyond(void **state) {
    (void)state;
    struct timebase timebase = {0};
    timebase_add(&timebase, (struct timebase_pair){1000, 500000});
    assert_int_equal(timebase_to_ns(&timebase, 1500), 0);          /* one pair is not enough */
    timebase_add(&timebase, (struct timebase_pair){3000, 501000}); /* 2 ticks a ns */
    timebase_add(&timebase, (struct timebase_pair){4000, 502000}); /* then 1 */
    assert_int_equal(timebase_to_ns(&timebase, 1000), 500000);
    assert_int_equal(timebase_to_ns(&timebase, 2000), 500500);
    assert_int_equal(timebase_to_ns(&timebase, 3000), 501000);
    assert_int_equal(timebase_to_ns(&timebase, 3250), 501250);
    assert_int_equal(timebase_to_ns(&timebase, 5000), 503000);
    assert_int_equal(timebase_to_ns(&timebase, 0), 499500);
    /* The program can write any ticks: never decreasing, whatever they are. */
    assert_true(timebase_to_ns(&timebase, UINT64_MAX) >= timebase_to_ns(&timebase, 1ull << 63));
    assert_true(timebase_to_ns(&timebase, 1ull << 63) > 503000);
    free(timebase.items);
}

static void pairs_that_go_back_are_left_out(void **state) {
    (void)state;
    struct timebase timebase = {0};
    timebase_add(&timebase, (struct timebase_pair){1000, 1000});
    timebase_add(&timebase, (struct timebase_pair){2000, 2000});
    timebase_add(&timebase, (struct timebase_pair){1500, 3000});
    timebase_add(&timebase, (struct timebase_pair){3000, 1500});
    assert_int_equal(timebase.count, 2);
    free(timebase.items);
}

static void sampled_pairs_agree_with_the_clock(void **state) {
    (void)state;
    struct timebase timebase = {0};
    timebase_sample(&timebase);
    usleep(20000);
    uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC);
    uint64_t ticks = processor_ticks();
    uint64_t after_ns = clock_now_ns(CLOCK_MONOTONIC);
    usleep(20000);
    timebase_sample(&timebase);
    uint64_t ns = timebase_to_ns(&timebase, ticks);
    assert_true(ns + 1000 >= before_ns && ns <= after_ns + 1000);
    free(timebase.items);
}

/* ---- slices ---- */

static struct slices build(struct sched_event *events, size_t n, uint32_t tid) {
    struct slices slices = {0};
    sched_sort(events, n);
    size_t found;
    const struct sched_event *first = sched_find(events, n, tid, &found);
    slices_build(&slices, first, found, 100, 10000);
    return slices;
}

static void assert_slice(const struct slices *slices, size_t index, struct trace_slice wanted) {
    assert_true(index < slices->count);
    const struct trace_slice *slice = &slices->items[index];
    assert_int_equal(slice->wake_ns, wanted.wake_ns);
    assert_int_equal(slice->on_ns, wanted.on_ns);
    assert_int_equal(slice->off_ns, wanted.off_ns);
    assert_int_equal(slice->cpu, wanted.cpu);
    assert_int_equal(slice->preempted, wanted.preempted);
}

static void slices_follow_a_thread_from_birth_to_exit(void **state) {
    (void)state;
    struct sched_event events[] = {
        {900, 7, 1, SCHED_EXIT, 0, false}, /* rings of several CPUs come in no order */
        {500, 7, 0, SCHED_IN, 0, false},     {600, 7, 0, SCHED_PREEMPTED, 0, false},
        {700, 7, 1, SCHED_IN, 0, false},     {200, 7, 0, SCHED_BORN, 0, false},
        {210, 7, 0, SCHED_IN, 0, false},     {300, 7, 0, SCHED_OUT, 0, false},
        {450, 7, 1, SCHED_WAKING, 0, false},
    };
    struct slices slices = build(events, LENGTH(events), 7);
    assert_int_equal(slices.count, 3);
    assert_slice(&slices, 0, (struct trace_slice){200, 210, 300, 0, 0, 0, 0});
    assert_slice(&slices, 1, (struct trace_slice){450, 500, 600, 0, 1, 0, 0});
    assert_slice(&slices, 2, (struct trace_slice){600, 700, 900, 1, 0, 0, 0});
    assert_int_equal(slices.unpaired, 0);
    free(slices.items);
}

static void thread_already_running_is_on_its_core_from_the_start(void **state) {
    (void)state;
    struct sched_event events[] = {{300, 5, 1, SCHED_OUT, 0, false},
                                   {400, 5, 0, SCHED_IN, 0, false}};
    struct slices slices = build(events, LENGTH(events), 5);
    assert_int_equal(slices.count, 2);
    assert_slice(&slices, 0, (struct trace_slice){0, 100, 300, 1, 0, 0, 0});
    assert_slice(&slices, 1,
                 (struct trace_slice){0, 400, 10000, 0, 0, 0, 0}); /* never seen to leave */
    free(slices.items);
    struct sched_event woken[] = {{150, 5, 1, SCHED_WAKING, 0, false},
                                  {300, 5, 1, SCHED_OUT, 0, false}};
    slices = build(woken, LENGTH(woken), 5);
    assert_int_equal(slices.count, 1);
    assert_slice(&slices, 0, (struct trace_slice){150, 150, 300, 1, 0, 0, 0});
    free(slices.items);
}

static void first_of_several_wake_ups_counts(void **state) {
    (void)state;
    struct sched_event events[] = {
        {150, 5, 0, SCHED_IN, 0, false},     {200, 5, 0, SCHED_OUT, 0, false},
        {250, 5, 0, SCHED_IN, 0, false},     {260, 5, 0, SCHED_OUT, 0, false},
        {300, 5, 1, SCHED_WAKING, 0, false}, {310, 5, 1, SCHED_WAKING, 0, false},
        {320, 5, 0, SCHED_IN, 0, false},     {330, 5, 0, SCHED_OUT, 0, false},
    };
    struct slices slices = build(events, LENGTH(events), 5);
    assert_int_equal(slices.count, 3);
    assert_slice(&slices, 1, (struct trace_slice){0, 250, 260, 0, 0, 0, 0});
    assert_slice(&slices, 2, (struct trace_slice){300, 320, 330, 0, 0, 0, 0});
    free(slices.items);
}

static void thread_woken_on_its_way_off_its_core_is_runnable_from_there(void **state) {
    (void)state;
    struct sched_event events[] = {
        {150, 5, 0, SCHED_IN, 0, false},  {199, 5, 1, SCHED_WAKING, 0, false},
        {200, 5, 0, SCHED_OUT, 0, false}, {250, 5, 1, SCHED_IN, 0, false},
        {260, 5, 1, SCHED_OUT, 0, false}, {270, 5, 1, SCHED_IN, 0, false},
        {280, 5, 1, SCHED_OUT, 0, false}};
    struct slices slices = build(events, LENGTH(events), 5);
    assert_int_equal(slices.count, 3);
    assert_slice(&slices, 1, (struct trace_slice){200, 250, 260, 1, 0, 0, 0});
    assert_slice(&slices, 2, (struct trace_slice){0, 270, 280, 1, 0, 0, 0});
    free(slices.items);
}

/* The second wake-up comes too late, the third while the thread is on its core. */
static void a_slice_knows_who_woke_the_thread_for_it(void **state) {
    (void)state;
    struct sched_event events[] = {
        {150, 5, 0, SCHED_IN, 0, false},     {200, 5, 0, SCHED_OUT, 0, false},
        {210, 5, 1, SCHED_WAKING, 8, false}, {215, 5, 1, SCHED_WAKING, 9, false},
        {220, 5, 0, SCHED_IN, 0, false},     {298, 5, 1, SCHED_WAKING, 6, false},
        {300, 5, 0, SCHED_OUT, 0, false},    {320, 5, 0, SCHED_IN, 0, false},
        {330, 5, 0, SCHED_OUT, 0, false},    {340, 5, 0, SCHED_WAKING, 7, true},
        {350, 5, 0, SCHED_IN, 0, false},     {360, 5, 0, SCHED_PREEMPTED, 0, false},
        {370, 5, 0, SCHED_IN, 0, false},     {380, 5, 0, SCHED_OUT, 0, false},
    };
    struct slices slices = build(events, LENGTH(events), 5);
    assert_int_equal(slices.count, 5);
    assert_int_equal(slices.items[0].waker, 0);
    assert_int_equal(slices.items[1].waker, 8);
    assert_int_equal(slices.items[2].waker, 6);
    assert_true(slices.items[3].waker == 0 && slices.items[3].in_interrupt);
    assert_true(slices.items[4].waker == 0 && !slices.items[4].in_interrupt);
    free(slices.items);
}

/* A number was that of two threads, one after the other; the waker may have ended just before. */
static void wakers_are_found_by_their_number_and_the_time(void **state) {
    (void)state;
    struct trace_slice slices[] = {{.wake_ns = 150, .waker = 30},
                                   {.wake_ns = 250, .waker = 30},
                                   {.wake_ns = 260, .waker = 99},
                                   {.wake_ns = 50, .waker = 30}};
    struct trace_thread threads[] = {{.tid = 10, .slices = slices, .n_slices = 4},
                                     {.tid = 30, .start_ns = 100, .end_ns = 140},
                                     {.tid = 30, .start_ns = 200, .end_ns = 300}};
    struct trace trace = {.n_threads = 3, .threads = threads};
    wakers_number(&trace);
    assert_int_equal(slices[0].waker, 1 + 1);
    assert_int_equal(slices[1].waker, 1 + 2);
    assert_int_equal(slices[2].waker, 0);
    assert_int_equal(slices[3].waker, 0);
}

static void lost_events_are_counted_and_slices_stay_apart(void **state) {
    (void)state;
    struct sched_event events[] = {
        {110, 5, 0, SCHED_IN, 0, false},  {200, 5, 0, SCHED_IN, 0, false},
        {300, 5, 0, SCHED_OUT, 0, false}, {400, 5, 0, SCHED_OUT, 0, false},
        {500, 5, 0, SCHED_IN, 0, false},  {600, 5, 0, SCHED_OUT, 0, false},
    };
    struct slices slices = build(events, LENGTH(events), 5);
    assert_int_equal(slices.count, 2);
    assert_slice(&slices, 0, (struct trace_slice){0, 200, 300, 0, 0, 0, 0});
    assert_slice(&slices, 1, (struct trace_slice){0, 500, 600, 0, 0, 0, 0});
    assert_int_equal(slices.unpaired, 2);
    free(slices.items);
}

static void each_thread_finds_its_own_events(void **state) {
    (void)state;
    struct sched_event events[] = {{5, 30, 0, SCHED_IN, 0, false},
                                   {1, 10, 0, SCHED_IN, 0, false},
                                   {2, 20, 1, SCHED_IN, 0, false},
                                   {4, 20, 1, SCHED_OUT, 0, false}};
    sched_sort(events, LENGTH(events));
    size_t n;
    assert_int_equal(sched_find(events, LENGTH(events), 20, &n)->mono_ns, 2);
    assert_int_equal(n, 2);
    sched_find(events, LENGTH(events), 15, &n);
    assert_int_equal(n, 0);
    sched_find(events, 0, 15, &n);
    assert_int_equal(n, 0);
}

/* ---- block requests ---- */

static struct block_event block_event(uint64_t time_ns, enum block_action action, uint64_t sector,
                                      uint32_t sectors, int tid) {
    return (struct block_event){.time_ns = time_ns,
                                .sector = sector,
                                .sectors = sectors,
                                .device = 8u << 20,
                                .tid = tid,
                                .action = action,
                                .kind = BLOCK_WRITE};
}

static struct block_requests pair(const struct block_event *events, size_t n) {
    struct block_events list = {0};
    for (size_t i = 0; i < n; i++)
        *VECTOR_ADD(&list) = events[i];
    struct block_requests requests = {0};
    requests_pair(&requests, &list);
    free(list.items);
    return requests;
}

static void assert_request(const struct block_requests *requests, size_t index,
                           struct trace_block wanted) {
    assert_true(index < requests->count);
    const struct trace_block *block = &requests->items[index].block;
    assert_int_equal(block->queued_ns, wanted.queued_ns);
    assert_int_equal(block->issued_ns, wanted.issued_ns);
    assert_int_equal(block->completed_ns, wanted.completed_ns);
    assert_int_equal(block->tid, wanted.tid);
    assert_int_equal(block->bytes, wanted.bytes);
    assert_int_equal(block->sector, wanted.sector);
}

static void merged_request_belongs_to_who_queued_first(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(30, BLOCK_ISSUED, 100, 16, 99), block_event(50, BLOCK_COMPLETED, 100, 16, 0),
        block_event(10, BLOCK_QUEUED, 100, 8, 1), block_event(20, BLOCK_QUEUED, 108, 8, 2)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 1);
    assert_request(&requests, 0, (struct trace_block){10, 30, 50, 0, 1, 8192, BLOCK_WRITE, 100});
    free(requests.items);
}

static void split_range_gives_a_request_for_each_part(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 100, 16, 1), block_event(20, BLOCK_ISSUED, 100, 8, 99),
        block_event(25, BLOCK_ISSUED, 108, 8, 99), block_event(40, BLOCK_COMPLETED, 108, 8, 0),
        block_event(45, BLOCK_COMPLETED, 100, 8, 0)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 2);
    assert_request(&requests, 0, (struct trace_block){10, 20, 45, 0, 1, 4096, BLOCK_WRITE, 100});
    assert_request(&requests, 1, (struct trace_block){10, 25, 40, 0, 1, 4096, BLOCK_WRITE, 108});
    free(requests.items);
}

static void request_done_in_parts_ends_with_the_last(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 100, 16, 1), block_event(20, BLOCK_ISSUED, 100, 16, 1),
        block_event(30, BLOCK_COMPLETED, 100, 8, 0), block_event(40, BLOCK_COMPLETED, 108, 8, 0)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 1);
    assert_request(&requests, 0, (struct trace_block){10, 20, 40, 0, 1, 8192, BLOCK_WRITE, 100});
    free(requests.items);
}

static void unseen_ends_of_a_request_are_zero(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(10, BLOCK_COMPLETED, 700, 8, 0), /* issued before we looked */
        block_event(20, BLOCK_ISSUED, 100, 8, 42), block_event(30, BLOCK_QUEUED, 900, 8, 1)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 1);
    assert_request(&requests, 0, (struct trace_block){0, 20, 0, 0, 42, 4096, BLOCK_WRITE, 100});
    free(requests.items);
}

static void requests_of_other_devices_and_flushes_do_not_mix(void **state) {
    (void)state;
    struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 0, 0, 1), block_event(11, BLOCK_QUEUED, 0, 8, 2),
        block_event(12, BLOCK_QUEUED, 0, 8, 3), block_event(20, BLOCK_ISSUED, 0, 8, 9),
        block_event(21, BLOCK_ISSUED, 0, 0, 9)};
    events[2].device = 9u << 20;
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 2);
    assert_request(&requests, 0, (struct trace_block){11, 20, 0, 0, 2, 4096, BLOCK_WRITE, 0});
    assert_request(&requests, 1, (struct trace_block){10, 21, 0, 0, 1, 0, BLOCK_WRITE, 0});
    free(requests.items);
}

static void threads_that_read_the_same_sectors_have_a_request_each(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 100, 8, 1),    block_event(11, BLOCK_QUEUED, 100, 8, 2),
        block_event(20, BLOCK_ISSUED, 100, 8, 2),    block_event(21, BLOCK_ISSUED, 100, 8, 1),
        block_event(30, BLOCK_COMPLETED, 100, 8, 0), block_event(40, BLOCK_COMPLETED, 100, 8, 0)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 2);
    assert_request(&requests, 0, (struct trace_block){11, 20, 30, 0, 2, 4096, BLOCK_WRITE, 100});
    assert_request(&requests, 1, (struct trace_block){10, 21, 40, 0, 1, 4096, BLOCK_WRITE, 100});
    free(requests.items);
}

static void request_that_the_driver_gave_back_is_one(void **state) {
    (void)state;
    const struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 100, 8, 1), block_event(20, BLOCK_ISSUED, 100, 8, 1),
        block_event(30, BLOCK_ISSUED, 100, 8, 99), block_event(40, BLOCK_COMPLETED, 100, 8, 0)};
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 1);
    assert_request(&requests, 0, (struct trace_block){10, 30, 40, 0, 1, 4096, BLOCK_WRITE, 100});
    free(requests.items);
}

/* Device 9 lies on device 8, from sector 100 on; a thread of the kernel hands over. */
static void what_was_remapped_is_his_who_queued_it_above(void **state) {
    (void)state;
    struct block_event events[] = {
        block_event(10, BLOCK_QUEUED, 0, 16, 1),     block_event(12, BLOCK_REMAPPED, 100, 16, 99),
        block_event(13, BLOCK_QUEUED, 100, 16, 99),  block_event(20, BLOCK_ISSUED, 100, 8, 99),
        block_event(21, BLOCK_ISSUED, 108, 8, 99),   block_event(30, BLOCK_COMPLETED, 100, 8, 0),
        block_event(31, BLOCK_COMPLETED, 108, 8, 0), block_event(40, BLOCK_REMAPPED, 200, 8, 3),
        block_event(41, BLOCK_QUEUED, 200, 8, 3),    block_event(42, BLOCK_ISSUED, 200, 8, 3),
    };
    events[0].device = 9u << 20;
    events[1].from_device = 9u << 20;
    events[7].from_device = 8u << 20 | 1; /* a partition: nothing is queued for it */
    struct block_requests requests = pair(events, LENGTH(events));
    assert_int_equal(requests.count, 3);
    assert_request(&requests, 0, (struct trace_block){10, 20, 30, 0, 1, 4096, BLOCK_WRITE, 100});
    assert_request(&requests, 1, (struct trace_block){10, 21, 31, 0, 1, 4096, BLOCK_WRITE, 108});
    assert_request(&requests, 2, (struct trace_block){41, 42, 0, 0, 3, 4096, BLOCK_WRITE, 200});
    free(requests.items);
}

static void names_of_the_kernels_threads_are_known(void **state) {
    (void)state;
    static const char *const kernels[] = {"kworker/u8:3", "jbd2/sda1-8", "loop0"};
    static const char *const others[] = {"", "loopback", "reader", "kwork"};
    for (size_t i = 0; i < LENGTH(kernels); i++)
        assert_true(requests_kernel_name(kernels[i], strlen(kernels[i])));
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_false(requests_kernel_name(others[i], strlen(others[i])));
    assert_false(requests_kernel_name("kworker", 3)); /* reads no further than told */
}

static void letters_of_the_kernel_give_the_kind(void **state) {
    (void)state;
    static const struct {
        const char *letters;
        int kind;
    } known[] = {{"R", BLOCK_READ},
                 {"RS", BLOCK_READ},
                 {"RSM", BLOCK_METADATA},
                 {"RA", BLOCK_READAHEAD},
                 {"RAM", BLOCK_READAHEAD},
                 {"W", BLOCK_WRITE},
                 {"WSM", BLOCK_WRITE},
                 {"WFS", BLOCK_WRITE},
                 {"FWS", BLOCK_WRITE},
                 {"FWFSM", BLOCK_WRITE},
                 {"FF", BLOCK_FLUSH},
                 {"F", BLOCK_FLUSH},
                 {"D", BLOCK_DISCARD},
                 {"DE", BLOCK_DISCARD},
                 {"N", -1},
                 {"", -1}};
    for (size_t i = 0; i < LENGTH(known); i++)
        assert_int_equal(requests_kind(known[i].letters, 10), known[i].kind);
    assert_int_equal(requests_kind("RSM", 2), BLOCK_READ); /* reads no further than told */
}

/* ---- blktrace files ---- */

static void put_trace(FILE *file, uint64_t time_ns, uint32_t action, uint64_t sector, uint32_t pid,
                      const void *data, uint16_t data_bytes) {
    struct blk_io_trace event = {.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
                                 .time = time_ns,
                                 .sector = sector,
                                 .bytes = 4096,
                                 .action = action,
                                 .pid = pid,
                                 .device = 8u << 20,
                                 .pdu_len = data_bytes};
    assert_int_equal(fwrite(&event, sizeof event, 1, file), 1);
    assert_int_equal(fwrite(data, 1, data_bytes, file), data_bytes);
}

static const char *make_blktrace(size_t cut_bytes) {
    static char path[sizeof P_tmpdir "/persik-blktrace-XXXXXX"];
    snprintf(path, sizeof path, "%s", P_tmpdir "/persik-blktrace-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    static const uint32_t start[2] = {1000, 5};
    const uint32_t read_class = BLK_TC_ACT(BLK_TC_READ);
    put_trace(file, 0, BLK_TN_TIMESTAMP, 0, 0, start, sizeof start);
    put_trace(file, 0, BLK_TN_PROCESS, 0, 77, "reader", 7);
    put_trace(file, 100, BLK_TA_QUEUE | read_class, 64, 77, "", 0);
    put_trace(file, 110, BLK_TA_PLUG, 0, 77, "", 0);
    put_trace(file, 120, BLK_TA_ISSUE | read_class | BLK_TC_ACT(BLK_TC_META), 64, 88, "more", 4);
    put_trace(file, 300, BLK_TA_COMPLETE | read_class, 64, 0, "", 0);
    put_trace(file, 400, BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_WRITE), 128, 77, "", 0);
    long size = ftell(file);
    fclose(file);
    assert_int_equal(truncate(path, size - (long)cut_bytes), 0);
    return path;
}

static void blktrace_file_becomes_requests(void **state) {
    (void)state;
    struct blktrace blktrace = {0};
    struct error error = {0};
    const char *path = make_blktrace(0);
    assert_int_equal(blktrace_read(&blktrace, path, &error), 0);
    unlink(path);
    assert_true(blktrace.wall_start_ns == 1000000000005ull);
    assert_int_equal(blktrace.events.count, 4);
    struct block_requests requests = {0};
    requests_pair(&requests, &blktrace.events);
    assert_int_equal(requests.count, 1);
    assert_request(&requests, 0, (struct trace_block){100, 120, 300, 0, 77, 4096, BLOCK_READ, 64});
    free(requests.items);
    blktrace_free(&blktrace);
}

/* The log began 5 ns after second 1000; the run 90 ns after that. */
static void a_blktrace_log_is_added_to_a_trace(void **state) {
    (void)state;
    const char *path = make_blktrace(0);
    char *name = memory_format("%s-log", path), *file = memory_format("%s.blktrace.0", name);
    assert_int_equal(rename(path, file), 0);
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    trace->threads[0].tid = 77;
    struct error error = {0};
    assert_int_equal(tracer_add_block_log(trace, name, &error),
                     -1); /* of a trace without the time */
    assert_non_null(strstr(error.text, "does not say when it began"));
    trace->meta.start_real_ns = 1000000000000ull;
    assert_int_equal(tracer_add_block_log(trace, name, &error), -1);
    assert_non_null(strstr(error.text, "after the recorded run"));
    trace->meta.start_real_ns = 1000000000095ull;
    assert_int_equal(tracer_add_block_log(trace, name, &error), 0);
    assert_int_equal(trace->n_blocks, 1);
    assert_int_equal(trace->blocks[0].queued_ns, 10);
    assert_int_equal(trace->blocks[0].issued_ns, 30);
    assert_int_equal(trace->blocks[0].completed_ns, 210);
    assert_true(trace->meta.has_blocks);
    trace->threads[0].tid = 78; /* somebody else's */
    assert_int_equal(tracer_add_block_log(trace, name, &error), 0);
    assert_int_equal(trace->n_blocks, 0);
    unlink(file);
    assert_int_equal(tracer_add_block_log(trace, name, &error), -1);
    assert_non_null(strstr(error.text, "no files"));
    trace_free(trace);
    free(name);
    free(file);
}

static void blktrace_file_cut_off_gives_what_is_in_it_and_an_error(void **state) {
    (void)state;
    struct blktrace blktrace = {0};
    struct error error = {0};
    const char *path = make_blktrace(10);
    assert_int_equal(blktrace_read(&blktrace, path, &error), -1);
    assert_non_null(strstr(error.text, "truncated"));
    assert_int_equal(blktrace.events.count, 3);
    blktrace_free(&blktrace);
    assert_int_equal(truncate(path, 0), 0);
    FILE *file = fopen(path, "wb");
    fprintf(file, "%100s", "text, and enough of it to fill a record");
    fclose(file);
    assert_int_equal(blktrace_read(&blktrace, path, &error), -1);
    assert_non_null(strstr(error.text, "not a blktrace file"));
    unlink(path);
}

/* ---- tracepoints ---- */

static void fields_are_found_by_their_whole_name(void **state) {
    (void)state;
    static const char format[] = "name: block_rq_issue\nID: 1\nformat:\n"
                                 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                                 "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
                                 "\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
                                 "\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
                                 "\nprint fmt: \"%d\", REC->sector\n";
    assert_int_equal(tracepoint_parse_field(format, "sector").offset, 16);
    assert_int_equal(tracepoint_parse_field(format, "nr_sector").offset, 24);
    assert_int_equal(tracepoint_parse_field(format, "rwbs").size, 10);
    assert_int_equal(tracepoint_parse_field(format, "pid").size, 0);
    uint8_t data[32] = {[24] = 8, [25] = 1};
    struct tracepoint_field field = tracepoint_parse_field(format, "nr_sector");
    assert_int_equal(tracepoint_value(data, sizeof data, field), 264);
    assert_int_equal(tracepoint_value(data, 26, field), 0); /* cut off */
}

struct pages {
    size_t n;
    struct ftrace_event events[8];
    uint32_t last[8]; /* the last word of each event's data */
};

static void take_event(const struct ftrace_event *event, void *context) {
    struct pages *pages = context;
    assert_true(pages->n < LENGTH(pages->events));
    const char *end = (const char *)event->data + event->bytes;
    memcpy(&pages->last[pages->n], end - sizeof *pages->last, sizeof *pages->last);
    pages->events[pages->n++] = *event;
}

static void ftrace_page_gives_events_with_times(void **state) {
    (void)state;
    const uint64_t start_ns = 5ull << 60;
    uint32_t words[64] = {0};
    size_t n = 4;              /* after time and length */
    words[n++] = 10u << 5 | 3; /* 10 ns later, 3 words */
    words[n++] = 77, words[n++] = 1001, words[n++] = 11;
    words[n++] = 5u << 5 | 30, words[n++] = 2;  /* time goes on by 5 + 2 * 2^27 */
    words[n++] = 1u << 5 | 29, words[n++] = 12; /* taken back: 12 bytes to skip */
    words[n++] = 99, words[n++] = 99;
    words[n++] = 0u << 5 | 0, words[n++] = 4 + 12; /* long form */
    words[n++] = 77, words[n++] = 1002, words[n++] = 22;
    words[n++] = 7u << 5 | 31, words[n++] = 3; /* absolute: 7 + 3 * 2^27 */
    words[n++] = 1u << 5 | 3;
    words[n++] = 77, words[n++] = 1003, words[n++] = 33;
    uint64_t length = (n - 4) * sizeof *words | 1u << 31; /* and: events were lost */
    memcpy(words, &start_ns, sizeof start_ns);
    memcpy(words + 2, &length, sizeof length);
    struct pages pages = {0};
    ftrace_parse_page(words, sizeof words, take_event, &pages);
    assert_int_equal(pages.n, 3);
    const uint64_t wanted_ns[] = {start_ns + 10, start_ns + 16 + (2ull << 27),
                                  start_ns + 8 + (3ull << 27)};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(pages.events[i].mono_ns == wanted_ns[i]);
        assert_int_equal(pages.events[i].tid, 1001 + i);
        assert_int_equal(pages.events[i].bytes, 12);
        assert_int_equal(pages.last[i], 11 * (i + 1));
    }
    for (size_t cut = 0; cut < n * sizeof *words; cut++) { /* never reads beyond the page */
        char *page = memory_alloc(cut, 1);
        memcpy(page, words, cut);
        pages.n = 0;
        ftrace_parse_page(page, cut, take_event, &pages);
        assert_true(pages.n < 3);
        free(page);
    }
}

/* ---- programs ---- */

static void programs_that_cannot_be_traced_are_told_apart(void **state) {
    (void)state;
    struct program program;
    struct error error = {0};
    assert_int_equal(program_find(&program, "sh", true, &error), 0);
    assert_true(program.path[0] == '/' && strlen(program.build_id) >= 16);
    program_free(&program);
    assert_int_equal(program_find(&program, "no-such-program-here", true, &error), -1);
    assert_non_null(strstr(error.text, "no such program"));
    assert_int_equal(program_find(&program, "./no/such", true, &error), -1);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(program_find(&program, "/", true, &error), -1);
    assert_non_null(strstr(error.text, "not a program"));
    assert_int_equal(program_find(&program, "/etc/passwd", true, &error), -1);
    assert_non_null(strstr(error.text, "not executable"));
}

static void functions_are_named_as_in_the_source(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"push<int>", "push"},
        {"get<0, std::tuple<int, char> >", "get"},
        {"operator<< <std::char_traits<char> >", "operator<<"},
        {"operator()<int>", "operator()"},
        {"operator[]<char>", "operator[]"},
        {"operator<", "operator<"},
        {"operator->", "operator->"},
        {"operator std::vector<int>", "operator std::vector<int>"},
        {"operators<int>", "operators"},
        {"<lambda()>", "<lambda()>"},
        {"main", "main"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = function_name_in_source(names[i][0]);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
    assert_null(function_name_in_source(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_named_as_in_the_source),
        cmocka_unit_test(ticks_map_linearly_between_pairs_and_beyond),
        cmocka_unit_test(pairs_that_go_back_are_left_out),
        cmocka_unit_test(sampled_pairs_agree_with_the_clock),
        cmocka_unit_test(slices_follow_a_thread_from_birth_to_exit),
        cmocka_unit_test(thread_already_running_is_on_its_core_from_the_start),
        cmocka_unit_test(first_of_several_wake_ups_counts),
        cmocka_unit_test(thread_woken_on_its_way_off_its_core_is_runnable_from_there),
        cmocka_unit_test(a_slice_knows_who_woke_the_thread_for_it),
        cmocka_unit_test(wakers_are_found_by_their_number_and_the_time),
        cmocka_unit_test(lost_events_are_counted_and_slices_stay_apart),
        cmocka_unit_test(each_thread_finds_its_own_events),
        cmocka_unit_test(merged_request_belongs_to_who_queued_first),
        cmocka_unit_test(split_range_gives_a_request_for_each_part),
        cmocka_unit_test(request_done_in_parts_ends_with_the_last),
        cmocka_unit_test(unseen_ends_of_a_request_are_zero),
        cmocka_unit_test(requests_of_other_devices_and_flushes_do_not_mix),
        cmocka_unit_test(threads_that_read_the_same_sectors_have_a_request_each),
        cmocka_unit_test(request_that_the_driver_gave_back_is_one),
        cmocka_unit_test(what_was_remapped_is_his_who_queued_it_above),
        cmocka_unit_test(names_of_the_kernels_threads_are_known),
        cmocka_unit_test(letters_of_the_kernel_give_the_kind),
        cmocka_unit_test(blktrace_file_becomes_requests),
        cmocka_unit_test(a_blktrace_log_is_added_to_a_trace),
        cmocka_unit_test(blktrace_file_cut_off_gives_what_is_in_it_and_an_error),
        cmocka_unit_test(fields_are_found_by_their_whole_name),
        cmocka_unit_test(ftrace_page_gives_events_with_times),
        cmocka_unit_test(programs_that_cannot_be_traced_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
