/* What the user's catalog promises: every statement is understood as documented, and a slip is
 * named by file, line and mend. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "formats/user_catalog.h"
#include "formats/user_word.h"

static struct user_catalog *parse(const char *text) {
    struct error error;
    struct user_catalog *catalog = user_catalog_parse(text, "my.catalog", &error);
    if (!catalog)
        fail_msg("%s", error.text);
    return catalog;
}

static void reads_functions(void **state) {
    (void)state;
    struct user_catalog *catalog = parse("# lock-free ring\n"
                                         "put ring_push fails=false  # full\n"
                                         "\n"
                                         "try-get\tring_pop object=arg1 fails=null\r\n"
                                         "create-queue ring_new object=result amount=arg0\n"
                                         "lock grab object=big-lock spins\n"
                                         "unlock drop object=big-lock spins\n"
                                         "barrier meet amount=4\n"
                                         "ignore log_line\n");
    assert_int_equal(catalog->functions.count, 7);
    const struct user_function *push = user_catalog_find(catalog, "ring_push");
    assert_int_equal(push->api, ROLE_put);
    assert_int_equal(push->object.source, USER_ARGUMENT);
    assert_int_equal(push->object.number, 0);
    assert_int_equal(push->fails, USER_FALSE);
    assert_int_equal(push->line, 2);
    const struct user_function *pop = user_catalog_find(catalog, "ring_pop");
    assert_int_equal(pop->api, ROLE_tryget);
    assert_int_equal(pop->object.number, 1);
    assert_int_equal(pop->fails, USER_NULL);
    const struct user_function *make = user_catalog_find(catalog, "ring_new");
    assert_int_equal(make->object.source, USER_RESULT);
    assert_int_equal(make->amount.source, USER_ARGUMENT);
    const struct user_function *grab = user_catalog_find(catalog, "grab");
    const struct user_function *drop = user_catalog_find(catalog, "drop");
    assert_int_equal(grab->api, ROLE_spin_lock);
    assert_int_equal(drop->api, ROLE_spin_unlock);
    assert_int_equal(grab->object.source, USER_NAME);
    assert_int_equal(grab->object.number, drop->object.number);
    const struct user_function *meet = user_catalog_find(catalog, "meet");
    assert_int_equal(meet->amount.source, USER_NUMBER);
    assert_int_equal(meet->amount.number, 4);
    assert_int_equal(user_catalog_find(catalog, "log_line")->api, API_COUNT);
    assert_null(user_catalog_find(catalog, "other"));
    user_catalog_free(catalog);
}

static void unlocking_spins_when_all_locks_do(void **state) {
    (void)state;
    struct user_catalog *catalog = parse("lock grab spins\nunlock drop\n");
    assert_int_equal(user_catalog_find(catalog, "drop")->api, ROLE_spin_unlock);
    user_catalog_free(catalog);
    catalog = parse("lock grab spins\nlock seize\nunlock drop\n");
    assert_int_equal(user_catalog_find(catalog, "drop")->api, ROLE_unlock);
    user_catalog_free(catalog);
}

/* Two monitors; three loops that spin: in "grab", trying "pop", and in "main". */
static struct facts *some_facts(void) {
    static const char *const text[3][2] = {{"grab", NULL}, {"next", "pop"}, {"main", NULL}};
    struct facts *facts = memory_alloc(1, sizeof *facts);
    facts->n_monitors = 2;
    facts->monitors = memory_alloc(2, sizeof *facts->monitors);
    facts->monitors[0].mutex = memory_strdup("struct pool.lock");
    facts->monitors[1].name = memory_strdup("struct gate");
    facts->n_spins = 3;
    facts->spins = memory_alloc(3, sizeof *facts->spins);
    for (int i = 0; i < 3; i++) {
        facts->spins[i].function = memory_strdup(text[i][0]);
        facts->spins[i].attempt = text[i][1] ? memory_strdup(text[i][1]) : NULL;
    }
    return facts;
}

static void the_users_word_stands_over_the_source(void **state) {
    (void)state;
    struct error error;
    struct facts *facts = some_facts();
    struct user_catalog *catalog = parse("lock grab spins\nget pop\n"
                                         "monitor \"struct pool.lock\" is bounded queue amount=8\n"
                                         "monitor \"struct gate\" is ignored\n");
    assert_int_equal(user_word_apply(catalog, facts, &error), 0);
    assert_int_equal(facts->monitors[0].kind, MONITOR_BOUNDED_QUEUE);
    assert_true(facts->monitors[0].users_word && facts->monitors[0].amount.constant);
    assert_int_equal((int)facts->monitors[0].amount.offset, 8);
    assert_true(facts->monitors[1].ignored);
    assert_int_equal(facts->n_spins, 1);
    assert_string_equal(facts->spins[0].function, "main");
    user_catalog_free(catalog);
    catalog = parse("monitor \"struct pool.lock\" is statements\n");
    assert_int_equal(user_word_apply(catalog, facts, &error), 0);
    assert_true(facts->monitors[0].statements);
    assert_int_equal(facts->monitors[0].kind, MONITOR_BOUNDED_QUEUE); /* it stays what it is */
    user_catalog_free(catalog);
    catalog = parse("\nmonitor \"struct gates\" is barrier\n");
    assert_int_equal(user_word_apply(catalog, facts, &error), -1);
    assert_non_null(strstr(error.text, "my.catalog:2: \"struct gates\": static.json has no"));
    user_catalog_free(catalog);
    facts_free(facts);
}

static void reads_monitors(void **state) {
    (void)state;
    struct user_catalog *catalog = parse("monitor \"struct pool.lock\" is bounded queue amount=8\n"
                                         "monitor global:stats is ignored\n");
    assert_int_equal(catalog->monitors.count, 2);
    assert_string_equal(catalog->monitors.items[0].name, "struct pool.lock");
    assert_int_equal(catalog->monitors.items[0].kind, USER_BOUNDED_QUEUE);
    assert_true(catalog->monitors.items[0].amount == 8);
    assert_string_equal(catalog->monitors.items[1].name, "global:stats");
    assert_int_equal(catalog->monitors.items[1].kind, USER_IGNORED);
    assert_true(catalog->monitors.items[1].amount == -1);
    user_catalog_free(catalog);
}

static void refuses_slips_by_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } slips[] = {
        {"\npush f\n", "my.catalog:2: unknown role 'push'"},
        {"put\n", "my.catalog:1: put of which function"},
        {"put f\nget f\n", "my.catalog:2: f has a line already"},
        {"lock pthread_mutex_lock\n", "pthread_mutex_lock is in persik's own catalog"},
        {"put f object=arg6\n", "arg0 to arg5"},
        {"put f object=\n", "give argN, result, or a name"},
        {"put f where=arg1\n", "unknown word 'where'"},
        {"put f amount=3\n", "amount= is for what creates"},
        {"create-queue f\n", "say how many"},
        {"barrier f amount=-1\n", "give argN or a number"},
        {"try-get f\n", "say which result means that it failed"},
        {"get f fails=empty\n", "give false, true, null"},
        {"ignore f fails=null\n", "ignore takes the function's name"},
        {"monitor \"m\" bounded queue\n", "write monitor \"NAME\" is KIND"},
        {"monitor m is stack\n", "unknown kind 'stack'"},
        {"monitor m is barrier amount=x\n", "amount=x: give a number"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct error error;
        assert_null(user_catalog_parse(slips[i].text, "my.catalog", &error));
        if (!strstr(error.text, slips[i].said))
            fail_msg("%s: not said in: %s", slips[i].said, error.text);
        assert_null(strchr(error.text, '\n'));
    }
}

static void refuses_missing_files(void **state) {
    (void)state;
    struct error error;
    assert_null(user_catalog_load("/nonexistent/catalog", &error));
    assert_non_null(strstr(error.text, "/nonexistent/catalog: No such file"));
    assert_null(user_catalog_load("/", &error));
}

static void what_marks_tasks_takes_a_name_and_nothing_else(void **state) {
    (void)state;
    struct error error;
    struct user_catalog *catalog =
        user_catalog_parse("task handle\ntask-begin take\ntask-end give", "x", &error);
    assert_non_null(catalog);
    const enum api roles[] = {ROLE_task, ROLE_task_from, ROLE_task_until};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(catalog->functions.items[i].api, roles[i]);
        assert_true(user_role_marks_tasks(roles[i]));
        assert_false(user_role_hides(roles[i])); /* what happens in a task is recorded */
    }
    user_catalog_free(catalog);
    assert_null(user_catalog_parse("task handle amount=2", "x", &error));
    assert_null(user_catalog_parse("task handle fails=null", "x", &error));
    assert_null(user_catalog_parse("task handle object=arg0", "x", &error));
    assert_false(user_role_marks_tasks(ROLE_put));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_functions),
        cmocka_unit_test(reads_monitors),
        cmocka_unit_test(unlocking_spins_when_all_locks_do),
        cmocka_unit_test(the_users_word_stands_over_the_source),
        cmocka_unit_test(refuses_slips_by_line),
        cmocka_unit_test(what_marks_tasks_takes_a_name_and_nothing_else),
        cmocka_unit_test(refuses_missing_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
