/* load/codec: where a reply ends, however it comes in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "load/codec.h"

/* Feeds the reply in pieces of `step` bytes. Until its last byte it is not complete. */
static enum codec_state feed(struct codec *codec, const char *reply, size_t step) {
    enum codec_state state = CODEC_MORE;
    size_t length = strlen(reply);
    for (size_t at = 0; at < length && state == CODEC_MORE; at += step)
        state = codec_feed(codec, reply + at, length - at < step ? length - at : step);
    return state;
}

static void is_complete_at_its_last_byte(const char *reply, int status, bool closes) {
    struct codec codec;
    for (size_t step = 1; step <= strlen(reply); step++) {
        codec_begin(&codec, LOAD_HTTP, NULL);
        assert_int_equal(feed(&codec, reply, step), CODEC_DONE);
        assert_int_equal(codec.status, status);
        assert_int_equal(codec.closes, closes);
    }
    codec_begin(&codec, LOAD_HTTP, NULL);
    assert_int_equal(codec_feed(&codec, reply, strlen(reply) - 1), CODEC_MORE);
    assert_int_equal(codec_end(&codec), CODEC_MORE);
}

static void http_replies_end_by_length_chunks_or_status(void **state) {
    (void)state;
    is_complete_at_its_last_byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, false);
    is_complete_at_its_last_byte("HTTP/1.1 200 OK\ncontent-length:0 \n\n", 200, false);
    is_complete_at_its_last_byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "a;x=y\r\n0123456789\r\n3\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n",
                                 200, false);
    is_complete_at_its_last_byte("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", 304,
                                 false);
    is_complete_at_its_last_byte("HTTP/1.1 404 Not Found\r\nConnection: close\r\n"
                                 "Content-Length: 2\r\n\r\nno",
                                 404, true);
    is_complete_at_its_last_byte("HTTP/1.1 100 Continue\r\n\r\n"
                                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                                 200, false);
    is_complete_at_its_last_byte("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, true);
    is_complete_at_its_last_byte(
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 200, false);
}

static void without_length_the_end_of_the_connection_is_that_of_the_reply(void **state) {
    (void)state;
    struct codec codec;
    codec_begin(&codec, LOAD_HTTP, NULL);
    assert_int_equal(feed(&codec, "HTTP/1.1 200 OK\r\n\r\nhello", 3), CODEC_MORE);
    assert_int_equal(codec_end(&codec), CODEC_DONE);
    assert_true(codec.closes);
}

static void what_is_no_http_is_malformed(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "220 ready\r\n",
        "HTTP/2 200\r\n",
        "HTTP/1.1 \r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct codec codec;
        codec_begin(&codec, LOAD_HTTP, NULL);
        assert_int_equal(feed(&codec, wrong[i], strlen(wrong[i])), CODEC_MALFORMED);
    }
}

static void headers_have_an_end(void **state) {
    (void)state;
    struct codec codec;
    codec_begin(&codec, LOAD_HTTP, NULL);
    assert_int_equal(feed(&codec, "HTTP/1.1 200 OK\r\n", 99), CODEC_MORE);
    int lines = 0;
    while (feed(&codec, "X: y\r\n", 99) == CODEC_MORE)
        assert_true(++lines < 1000000);
}

static enum codec_state feed_lines(const char *until, const char *reply, size_t step) {
    struct codec_until prepared;
    struct codec codec;
    codec_until_init(&prepared, until, strlen(until));
    codec_begin(&codec, LOAD_LINES, &prepared);
    enum codec_state state = feed(&codec, reply, step);
    codec_until_free(&prepared);
    return state;
}

static void lines_end_with_their_text_wherever_it_is_cut(void **state) {
    (void)state;
    for (size_t step = 1; step < 20; step++) {
        assert_int_equal(feed_lines("END\r\n", "VALUE END\rEND\r\n", step), CODEC_DONE);
        assert_int_equal(feed_lines("aabaaab", "aabaabaaab", step), CODEC_DONE);
        assert_int_equal(feed_lines("\n", "hello", step), CODEC_MORE);
    }
    assert_int_equal(feed_lines("\n", "one\ntwo\n", 99), CODEC_MALFORMED);
}

static void any_datagram_is_a_reply(void **state) {
    (void)state;
    struct codec codec;
    codec_begin(&codec, LOAD_DATAGRAMS, NULL);
    assert_int_equal(codec_feed(&codec, "", 0), CODEC_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(http_replies_end_by_length_chunks_or_status),
        cmocka_unit_test(without_length_the_end_of_the_connection_is_that_of_the_reply),
        cmocka_unit_test(what_is_no_http_is_malformed),
        cmocka_unit_test(headers_have_an_end),
        cmocka_unit_test(lines_end_with_their_text_wherever_it_is_cut),
        cmocka_unit_test(any_datagram_is_a_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
