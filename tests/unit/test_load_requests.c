/* load/target, load/requests: to whom what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/requests.h"
#include "load/target.h"

static void urls_are_taken_apart(void **state) {
    (void)state;
    struct target target;
    assert_int_equal(target_parse("http://127.0.0.1:8080/a?b=c", &target, NULL), 0);
    assert_string_equal(target.host, "127.0.0.1");
    assert_string_equal(target.port, "8080");
    assert_string_equal(target.path, "/a?b=c");
    assert_string_equal(target.authority, "127.0.0.1:8080");
    assert_int_equal(target_parse("http://localhost", &target, NULL), 0);
    assert_string_equal(target.port, "80");
    assert_string_equal(target.path, "/");
    assert_int_equal(target_parse("tcp://[::1]:11211", &target, NULL), 0);
    assert_string_equal(target.host, "::1");
    assert_string_equal(target.port, "11211");
    assert_int_equal(target.protocol, LOAD_LINES);
    assert_int_equal(target_parse("udp://h:1/", &target, NULL), 0);
    assert_int_equal(target.protocol, LOAD_DATAGRAMS);
}

static void what_is_no_url_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",           "127.0.0.1",   "https://h/",      "http://",        "http:///x",
        "tcp://h",    "tcp://h:1/x", "http://h:0/",     "http://h:70000", "http://h:x/",
        "http://:80", "http://[::1", "http://[::1]x:1", "http://h:1/a b", "http://h:1/a\nb",
        "http://h:",  "udp://h:1.5",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct target target;
        struct error error = {0};
        assert_int_equal(target_parse(wrong[i], &target, &error), -1);
        assert_non_null(strstr(error.text, "is no target"));
    }
}

static void only_loopback_may_be_loaded_without_being_asked_for(void **state) {
    (void)state;
    struct target target;
    struct error error = {0};
    target_parse("http://192.0.2.1:80/", &target, NULL);
    assert_int_equal(target_resolve(&target, false, &error), -1);
    assert_non_null(strstr(error.text, "--remote"));
    assert_int_equal(target_resolve(&target, true, &error), 0);
    target_parse("http://127.1.2.3:80/", &target, NULL);
    assert_int_equal(target_resolve(&target, false, &error), 0);
    target_parse("http://[::1]:80/", &target, NULL);
    assert_int_equal(target_resolve(&target, false, &error), 0);
    target_parse("http://localhost:80/", &target, NULL);
    assert_int_equal(target_resolve(&target, false, &error), 0);
    assert_int_equal(target.address.ss_family, AF_INET);
}

static void escapes_become_what_they_mean(void **state) {
    (void)state;
    char text[] = "a\\r\\n\\t\\0\\x41\\xfF\\\\q";
    size_t n;
    assert_int_equal(unescape(text, &n), 0);
    assert_int_equal(n, 9);
    assert_memory_equal(text, "a\r\n\t\0A\xff\\q", 9);
    char cut[] = "\\", no_digits[] = "\\xg1", one_digit[] = "\\x1";
    assert_int_equal(unescape(cut, &n), -1);
    assert_int_equal(unescape(no_digits, &n), -1);
    assert_int_equal(unescape(one_digit, &n), -1);
}

/* A file with that text; the caller removes and frees it. */
static char *file_with(const char *text) {
    char *path = strdup("/tmp/persik-test-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    return path;
}

static void weights_say_how_often_a_line_is_drawn(void **state) {
    (void)state;
    enum { N = 40000 };
    char *path = file_with("/one\n/three\t3\n\n/none\t1e-9\n");
    struct target target;
    struct load_requests requests;
    struct request_options options = {.list_file = path, .keep_alive = true, .seed = 7};
    target_parse("http://127.0.0.1:80", &target, NULL);
    assert_int_equal(load_requests_init(&requests, &target, &options, NULL), 0);
    assert_int_equal(requests.texts.count, 3);
    assert_memory_equal(requests.texts.items[1].bytes, "GET /three HTTP/1.1\r\n", 21);
    int drawn[3] = {0};
    for (int i = 0; i < N; i++)
        drawn[load_requests_draw(&requests)]++;
    assert_true(abs(drawn[0] - N / 4) < 5 * sqrt(N * 0.25 * 0.75)); /* five standard deviations */
    assert_int_equal(drawn[2], 0);
    load_requests_free(&requests);
    remove(path);
    free(path);
}

static void bad_lines_are_told_with_their_number(void **state) {
    (void)state;
    static const char *const wrong[] = {"/a\nb\n", "/a\n/b\t0\n", "/a\n/b\tx\n", "/a\n/b c\n"};
    struct target target;
    target_parse("http://127.0.0.1:80", &target, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct load_requests requests;
        struct error error = {0};
        char *path = file_with(wrong[i]);
        struct request_options options = {.list_file = path};
        assert_int_equal(load_requests_init(&requests, &target, &options, &error), -1);
        assert_non_null(strstr(error.text, ":2: "));
        load_requests_free(&requests);
        remove(path);
        free(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(what_is_no_url_is_refused),
        cmocka_unit_test(only_loopback_may_be_loaded_without_being_asked_for),
        cmocka_unit_test(escapes_become_what_they_mean),
        cmocka_unit_test(weights_say_how_often_a_line_is_drawn),
        cmocka_unit_test(bad_lines_are_told_with_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
