/* Which calls wait for the same commit of a journal, and what is written back. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/calibrate/commits.h"
#include "modelgen/calibrate/request_streams.h"
#include "modelgen/calibrate/write_back.h"
#include "tests/unit/trace_builder.h"

enum { DISK = 7, OTHER_DISK = 8, JOURNAL_TID = 9999, WRITERS = 3 };

static void write_block(struct trace *trace, int tid, uint64_t from_ns, uint64_t to_ns,
                        enum trace_block_kind kind, uint32_t device) {
    builder_block(trace, (struct trace_block){.sector = 8 * (1 + trace->n_blocks),
                                              .queued_ns = from_ns,
                                              .issued_ns = from_ns,
                                              .completed_ns = to_ns,
                                              .bytes = 4096,
                                              .device = device,
                                              .kind = kind,
                                              .tid = tid});
}

/* Three threads write until 20, 30 and 40 ns and wait for the journal: the first until 100, as the
 * commit began without the others, they until 200. `until_ns`: of the kernel's last request. */
static struct trace *two_commits(uint64_t until_ns) {
    struct trace *trace = builder_new(2);
    for (int t = 0; t < WRITERS; t++) {
        int thread = builder_thread(trace, "writer", -1);
        uint32_t place = builder_context(trace, "append", 10, "writer", 1);
        uint64_t end_ns = t == 0 ? 101 : 202;
        builder_call(trace, thread, "fdatasync", 10, end_ns, 3, place);
        builder_slice(trace, thread, 0, 11);
        builder_slice(trace, thread, end_ns - 1, 300);
    }
    for (int t = 0; t < WRITERS; t++)
        write_block(trace, trace->threads[t].tid, 11, 20 + 10 * (uint64_t)t, BLOCK_WRITE, DISK);
    write_block(trace, JOURNAL_TID, 21, 50, BLOCK_WRITE, DISK);
    write_block(trace, JOURNAL_TID, 30, 150, BLOCK_WRITE, OTHER_DISK);
    write_block(trace, JOURNAL_TID, 50, 100, BLOCK_FLUSH, DISK);
    write_block(trace, JOURNAL_TID, 101, 150, BLOCK_WRITE, DISK);
    write_block(trace, JOURNAL_TID, 150, until_ns, BLOCK_FLUSH, DISK);
    builder_finish(trace, 300);
    return trace;
}

static void calls_that_return_behind_one_request_waited_for_one_commit(void **state) {
    (void)state;
    struct trace *trace = two_commits(200);
    struct disk_service disks = disk_service_find(trace);
    struct commits commits = commits_find(&disks);
    assert_int_equal(disks.n_kernel, 5);
    assert_int_equal(commits.n_commits, 2);
    const size_t expected_commit[WRITERS] = {0, 1, 1};
    const bool expected_leader[WRITERS] = {true, true, false};
    for (size_t t = 0; t < WRITERS; t++) {
        const struct commit_call *call = commits_call(&commits, t, 0);
        assert_non_null(call);
        assert_int_equal(call->commit, expected_commit[t]);
        assert_int_equal(call->leads, expected_leader[t]);
        assert_int_equal(call->came_ns, 20 + 10 * t);
    }
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(commits.items[c].n, 2);
        assert_int_equal(commits.items[c].device, DISK);
        assert_int_equal(trace->blocks[commits.requests[commits.items[c].first]].kind, BLOCK_WRITE);
    }
    commits_free(&commits);
    disk_service_free(&disks);
    trace_free(trace);
}

/* They slept much longer than the kernel wrote: for something else. */
static void calls_that_the_kernels_requests_do_not_cover_waited_for_no_commit(void **state) {
    (void)state;
    struct trace *trace = two_commits(155);
    for (int t = 0; t < WRITERS; t++)
        builder_last(trace, t)->duration_ns = 280;
    struct disk_service disks = disk_service_find(trace);
    struct commits commits = commits_find(&disks);
    assert_int_equal(commits.n_commits, 0);
    assert_null(commits_call(&commits, 0, 0));
    commits_free(&commits);
    disk_service_free(&disks);
    trace_free(trace);
}

/* By the order in which the device was done with them; a flush goes nowhere. */
static void a_request_is_near_behind_one_of_its_stream(void **state) {
    (void)state;
    struct trace *trace = two_commits(200);
    struct disk_service disks = disk_service_find(trace);
    struct commits commits = commits_find(&disks);
    uint32_t places[] = {0};
    struct request_streams streams = request_streams_find(&disks, &commits, places);
    const int near[] = {false, true, true, false, false, false, true, false};
    for (size_t b = 0; b < trace->n_blocks; b++)
        assert_int_equal(streams.is_near[b], near[b]);
    assert_int_equal(streams.stream[3], STREAM_OF_JOURNAL);
    assert_int_equal(streams.stream[5], 0); /* a flush */
    assert_true(streams.stream[0] > STREAM_OF_JOURNAL);
    disk_service_times(&disks, DISK, 1, streams.service_ns);
    assert_true(streams.service_ns[1] == 10); /* from when the one before was done */
    assert_true(streams.service_ns[6] == 49);
    request_streams_free(&streams);
    commits_free(&commits);
    disk_service_free(&disks);
    trace_free(trace);
}

/* On the device to which most was written, and without commits. */
static void what_was_written_back_is_told_by_time(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "writer", -1);
    write_block(trace, JOURNAL_TID, 20, 60, BLOCK_WRITE, OTHER_DISK);
    write_block(trace, JOURNAL_TID, 20, 100, BLOCK_WRITE, DISK);
    write_block(trace, JOURNAL_TID, 90, 180, BLOCK_WRITE, DISK);
    write_block(trace, JOURNAL_TID, 190, 260, BLOCK_WRITE, DISK);
    builder_finish(trace, 300);
    struct disk_service disks = disk_service_find(trace);
    struct commits commits = commits_find(&disks);
    struct write_back later = write_back_find(&disks, &commits);
    assert_int_equal(later.n, 3);
    assert_int_equal(later.device, DISK);
    assert_true(write_back_done(&later, &disks, 99) == 0);
    assert_true(write_back_done(&later, &disks, 180) == 2 * 4096);
    assert_true(write_back_covers(&later, &disks, 0, 300) == 160 + 70);
    write_back_free(&later);
    commits_free(&commits);
    disk_service_free(&disks);
    trace_free(trace);
}

/* The kernel makes a commit's requests while the call sleeps: the call itself has made none, and
 * still waits for them. */
static void a_commit_takes_its_time_also_where_places_are_known(void **state) {
    (void)state;
    struct model *model = builder_model(two_commits(200), NULL);
    size_t commits = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->kind != NODE_IO)
            continue;
        assert_int_equal(node->n_calls, 0); /* recorded calls to a cache, which would be in vain */
        commits += node->stream == STREAM_OF_JOURNAL && dist_mean(&node->operations) > 0;
    }
    assert_int_not_equal(commits, 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_return_behind_one_request_waited_for_one_commit),
        cmocka_unit_test(calls_that_the_kernels_requests_do_not_cover_waited_for_no_commit),
        cmocka_unit_test(what_was_written_back_is_told_by_time),
        cmocka_unit_test(a_request_is_near_behind_one_of_its_stream),
        cmocka_unit_test(a_commit_takes_its_time_also_where_places_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
