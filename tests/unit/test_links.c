/* cli/text/links: places in the source as links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text/links.h"

static void leads_to(const char *word, const char *before, const char *shown, const char *target,
                     const char *after) {
    char *link = links_of_word(word);
    assert_non_null(link);
    char *begin = memory_format("%s\033]8;;file://", before);
    char *end = memory_format("%s\033\\%s\033]8;;\033\\%s", target, shown, after);
    assert_int_equal(strncmp(link, begin, strlen(begin)), 0);
    assert_true(strlen(link) > strlen(end));
    assert_string_equal(link + strlen(link) - strlen(end), end);
    free(begin);
    free(end);
    free(link);
}

static void places_lead_to_their_files(void **state) {
    (void)state;
    links_know("/src/bank.c");
    links_know("/src/my queue.c++");
    links_know("/src/queue.c++");
    leads_to("(bank.c:40),", "(", "bank.c:40", "/src/bank.c#40", "),");
    leads_to("bank.c:7", "", "bank.c:7", "/src/bank.c#7", "");
    leads_to("std::f(queue.c++:12)", "std::f(", "queue.c++:12", "/src/queue.c%2B%2B#12", ")");
    links_forget();
}

static void what_is_not_known_stays_as_it_is(void **state) {
    (void)state;
    links_know("/src/bank.c");
    links_know("relative.c");
    links_know(NULL);
    static const char *const words[] = {"(other.c:40)", "bank.c",     "bank.c:",       ":40",
                                        "ank.c:40",     "std::mutex", "relative.c:40", "17:40"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(links_of_word(words[i]));
    links_forget();
}

static void two_of_one_name_are_neither(void **state) {
    (void)state;
    links_know("/one/queue.c");
    links_know("/one/queue.c");
    leads_to("queue.c:1", "", "queue.c:1", "/one/queue.c#1", "");
    links_know("/two/queue.c");
    assert_null(links_of_word("queue.c:1"));
    links_forget();
}

static void paths_are_escaped(void **state) {
    (void)state;
    links_know("/my src/a;\033b/bank.c");
    leads_to("bank.c:40", "", "bank.c:40", "/my%20src/a%3B%1Bb/bank.c#40", "");
    links_forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_lead_to_their_files),
        cmocka_unit_test(what_is_not_known_stays_as_it_is),
        cmocka_unit_test(two_of_one_name_are_neither),
        cmocka_unit_test(paths_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
