/* Objects of one class are told apart by the pools that use them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "modelgen/events/object_users.h"

enum { DISPATCHER, FIRST, SECOND, POOLS };
enum { QUEUE_1, QUEUE_2, OTHER, THINGS };

static const int class_of[THINGS] = {0, 0, 1};

/* A dispatcher fills two queues at one place, which these pools take from; one pool alone uses a
 * third thing. */
static int *told_apart(int of_first_queue, int of_second_queue) {
    struct object_users users = object_users_of(THINGS, POOLS);
    object_users_note(&users, QUEUE_1, DISPATCHER);
    object_users_note(&users, QUEUE_2, DISPATCHER);
    object_users_note(&users, QUEUE_1, of_first_queue);
    object_users_note(&users, QUEUE_2, of_second_queue);
    object_users_note(&users, OTHER, FIRST);
    int *own = object_users_tell_apart(&users, class_of, 2);
    object_users_free(&users);
    return own;
}

static void each_has_consumers_of_its_own(void **state) {
    (void)state;
    int *own = told_apart(FIRST, SECOND);
    assert_int_equal(own[QUEUE_1], FIRST);
    assert_int_equal(own[QUEUE_2], SECOND);
    assert_int_equal(own[OTHER], -1); /* the only one of its class */
    free(own);
}

static void where_one_has_none_nothing_is_told(void **state) {
    (void)state;
    int *own = told_apart(FIRST, DISPATCHER);
    assert_int_equal(own[QUEUE_1], -1);
    assert_int_equal(own[QUEUE_2], -1);
    free(own);
}

static void things_that_nobody_noted_have_no_user(void **state) {
    (void)state;
    struct object_users users = object_users_of(THINGS, POOLS);
    object_users_note(&users, QUEUE_2, SECOND);
    assert_true(object_users_has(&users, QUEUE_2, SECOND));
    assert_false(object_users_has(&users, QUEUE_2, FIRST));
    assert_false(object_users_has(&users, THINGS, FIRST)); /* behind the last one */
    object_users_free(&users);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_consumers_of_its_own),
        cmocka_unit_test(where_one_has_none_nothing_is_told),
        cmocka_unit_test(things_that_nobody_noted_have_no_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
