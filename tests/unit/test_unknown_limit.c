/* Limits whose units are not known: which pools they make unpredictable. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/scaling/unknown_limit.h"

enum { PRODUCER, CONSUMER, ROOM = 0 };

/* Is the consumers' work limited by that, where the producer waits for the flag that they raise? */
static bool is_limited(struct hand_made monitor, int waiter) {
    struct node nodes[] = {{.kind = NODE_WAIT, .object = ROOM, .pool = waiter},
                           {.kind = NODE_SIGNAL, .object = ROOM, .pool = CONSUMER}};
    struct model model = {.nodes = nodes, .n_nodes = 2, .monitors = &monitor, .n_monitors = 1};
    assert_null(unknown_limit_of(&model, PRODUCER));
    return unknown_limit_of(&model, CONSUMER) == &monitor;
}

static const struct hand_made bytes = {
    .kind = HAND_MADE_SEMAPHORE, .how = MODELLED_BY_FALLBACK, .amount = {.base = 65536}};

static void who_makes_room_in_bytes_is_limited_by_what_is_not_known(void **state) {
    (void)state;
    assert_true(is_limited(bytes, PRODUCER));
    assert_false(is_limited(bytes, CONSUMER)); /* nobody else waits */
}

static void limits_that_are_explained_or_none_are_no_matter(void **state) {
    (void)state;
    struct hand_made other = bytes;
    other.how = MODELLED_EXACTLY;
    assert_false(is_limited(other, PRODUCER));
    other = bytes;
    other.amount.base = 0;
    assert_false(is_limited(other, PRODUCER));
    other = bytes;
    other.kind = HAND_MADE_COMPLETION;
    assert_false(is_limited(other, PRODUCER));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_makes_room_in_bytes_is_limited_by_what_is_not_known),
        cmocka_unit_test(limits_that_are_explained_or_none_are_no_matter),
    };
    return cmocka_run_group_tests_name("unknown limits", tests, NULL, NULL);
}
