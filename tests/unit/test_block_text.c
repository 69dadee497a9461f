/* Block logs as text: ftrace's blk tracer, its block events, blkparse. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/block_text.h"

#define DEVICE(major, minor) ((major##u << 20) | minor##u)

static const struct {
    const char *line;
    struct block_event event;
} known[] = {
    {"              dd-15940   [000] d..1. 40580.761186:   7,0    Q  RS 0 + 128 [dd]",
     {40580761186000, 0, 128, DEVICE(7, 0), 15940, BLOCK_QUEUED, BLOCK_READ, false, 0, 0}},
    {"    kworker/0:0H-10      [000] d..1. 40580.773750:   7,0    D  FN [kworker/0:0H]",
     {40580773750000, 0, 0, DEVICE(7, 0), 10, BLOCK_ISSUED, BLOCK_FLUSH, true, 0, 0}},
    {"          <idle>-0       [001] d.s1. 1.000000001:   254,16  C WSM 16 + 8 [0]",
     {1000000001, 16, 8, DEVICE(254, 16), 0, BLOCK_COMPLETED, BLOCK_WRITE, false, 0, 0}},
    {" a - b (c)-12  (  10) [001] d.s1. 1.5: 8,1 A  RA 34 + 8 <- (8,2) 100",
     {1500000000, 34, 8, DEVICE(8, 1), 12, BLOCK_REMAPPED, BLOCK_READAHEAD, false, DEVICE(8, 2),
      100}},
    {"  rm-15920   [001] ..... 40580.658494: block_bio_queue: 254,0 DS 354096328 + 24 [rm]",
     {40580658494000, 354096328, 24, DEVICE(254, 0), 15920, BLOCK_QUEUED, BLOCK_DISCARD, false, 0,
      0}},
    {" kworker/1:2H-29199 [001] ..... 40.658516: block_rq_issue: 254,0 RM 12288 () 2048 + 24 "
     "be,0,4 [kworker/1:2H]",
     {40658516000, 2048, 24, DEVICE(254, 0), 29199, BLOCK_ISSUED, BLOCK_METADATA, true, 0, 0}},
    {" cc1-15791 [001] ..s.. 40.65869: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 "
     "none,0,0 [0]",
     {40658690000, 0, 0, DEVICE(254, 0), 15791, BLOCK_COMPLETED, BLOCK_FLUSH, false, 0, 0}},
    {" x-1 [001] ..... 2.000000: block_bio_remap: 8,0 R 300 + 8 <- (253,1) 100",
     {2000000000, 300, 8, DEVICE(8, 0), 1, BLOCK_REMAPPED, BLOCK_READ, false, DEVICE(253, 1), 100}},
    {"  8,0    3       11     0.009507758   697  Q   W 223490 + 8 [kjournald]",
     {9507758, 223490, 8, DEVICE(8, 0), 697, BLOCK_QUEUED, BLOCK_WRITE, false, 0, 0}},
    {"  8,0    3       11     0.009507758   698  Q   W 223490 + 8 [jbd2/sda1-8]",
     {9507758, 223490, 8, DEVICE(8, 0), 698, BLOCK_QUEUED, BLOCK_WRITE, true, 0, 0}},
    {"  8,0    3       12     1.0   0  C   R 223490 + 8 [0]",
     {1000000000, 223490, 8, DEVICE(8, 0), 0, BLOCK_COMPLETED, BLOCK_READ, false, 0, 0}},
};

static void each_line_gives_its_event(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct block_event event;
        const struct block_event *wanted = &known[i].event;
        if (!block_text_parse(known[i].line, &event))
            fail_msg("not read: %s", known[i].line);
        assert_true(event.time_ns == wanted->time_ns);
        assert_true(event.sector == wanted->sector);
        assert_int_equal(event.sectors, wanted->sectors);
        assert_int_equal(event.device, wanted->device);
        assert_int_equal(event.tid, wanted->tid);
        assert_int_equal(event.action, wanted->action);
        assert_int_equal(event.kind, wanted->kind);
        assert_int_equal(event.kernel, wanted->kernel);
        assert_int_equal(event.from_device, wanted->from_device);
        assert_true(event.from_sector == wanted->from_sector);
    }
}

static void other_lines_are_none(void **state) {
    (void)state;
    static const char *const others[] = {
        "",
        "# tracer: blk",
        " dd-15940 [000] d..1. 40580.761344:   7,0    P   N [dd]",
        " dd-15940 [000] d..1. 40580.761344:   7,0    G  RS 0 + 128 [dd]",
        " dd-15940 [000] d..1. 40580.761344:   7,0    Q  N [dd]",
        " dd-15940 [000] d..1. 405:   7,0    Q  RS 0 + 128 [dd]",
        " dd-15940 [000] d..1. 1.1234567890:   7,0    Q  RS 0 + 128 [dd]",
        " dd-x [000] d..1. 1.1:   7,0    Q  RS 0 + 128 [dd]",
        " dd-1 [000] d..1. 1.1:   7,99999999    Q  RS 0 + 128 [dd]",
        " dd-1 [000] d..1. 1.1: block_getrq: 7,0 R 0 + 8 [dd]",
        " x-1 [001] ..... 2.0: block_bio_remap: 8,0 R 300 + 8 <- (253,1",
        "  8,0    3       11     0.009507758   697  Q",
        " [",
        "-1 [",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct block_event event;
        if (block_text_parse(others[i], &event))
            fail_msg("read: %s", others[i]);
    }
}

static void a_file_without_any_line_of_a_log_is_refused(void **state) {
    (void)state;
    char path[] = P_tmpdir "/persik-block-text-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "no log\n", 7), 7);
    struct block_events events = {0};
    struct error error = {0};
    assert_int_equal(block_text_read(&events, path, &error), -1);
    assert_non_null(strstr(error.text, "no line of a block log"));
    for (size_t i = 0; i < 2; i++) {
        assert_true(write(file, known[i].line, strlen(known[i].line)) > 0);
        assert_int_equal(write(file, "\n", 1), 1);
    }
    close(file);
    assert_int_equal(block_text_read(&events, path, &error), 0);
    assert_int_equal(events.count, 2);
    unlink(path);
    assert_int_equal(block_text_read(&events, path, &error), -1);
    assert_non_null(strstr(error.text, "check the name"));
    free(events.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_gives_its_event),
        cmocka_unit_test(other_lines_are_none),
        cmocka_unit_test(a_file_without_any_line_of_a_log_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
