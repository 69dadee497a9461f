/* CPU time that the samples saw in loops that only wait is listed, and nothing else is. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/report/spinning.h"

static char *changers[] = {"run", "main"};
static struct facts_spin loops[] = {
    {"/src/a.c", "run", 10, 20, SPIN_WAIT, "global:done", 2, changers, NULL, false, 0, NULL},
    {"/src/a.c", "run", 14, 15, SPIN_LOCK, "global:taken", 2, changers, NULL, false, 0, NULL},
};
static const struct facts facts = {.n_spins = 2, .spins = loops};

static struct facts_spin polling[] = {
    {"/src/a.c", "run", 10, 20, SPIN_ATTEMPT, "struct ring.tail", 2, changers, "relax", true, 0,
     NULL},
};

static void add(struct sample *sample, int parent, const char *function, int line, int running) {
    sample->nodes[sample->n_nodes++] = (struct sample_node){
        .parent = parent, .function = (char *)function, .line = line, .running = (uint64_t)running};
}

/* Samples in run, in its line 12 and elsewhere, and in what it calls; the caller frees the model.
 */
static struct model *notes_of(const struct facts *from, int at_line_12) {
    struct sample sample = {.nodes = memory_alloc(4, sizeof *sample.nodes)};
    add(&sample, -1, "run", 12, at_line_12);
    add(&sample, -1, "run", 14, 50);
    add(&sample, -1, "run", 30, 600);
    add(&sample, 1, "relax", 3, 50);
    struct model *model = memory_alloc(1, sizeof *model);
    spinning_note(from, &sample, model);
    free(sample.nodes);
    return model;
}

static void burnt_time_is_listed_by_loop(void **state) {
    (void)state;
    struct model *model = notes_of(&facts, 300);
    assert_int_equal(model->n_notes, 2);
    assert_non_null(strstr(model->notes[0], "30.0 % of the CPU time is burnt spinning in run "
                                            "(a.c:10) on global:done, which run (and others)"));
    assert_non_null(strstr(model->notes[0], "'wait run spins', 'signal main'"));
    assert_non_null(strstr(model->notes[1], "10.0 %"));
    assert_non_null(strstr(model->notes[1], "'lock run spins', 'unlock main spins'"));
    model_free(model);
}

/* The loop's own lines may be the work. */
static void of_loops_that_work_only_attempts_count(void **state) {
    (void)state;
    struct model *model = notes_of(&(struct facts){.n_spins = 1, .spins = polling}, 300);
    assert_int_equal(model->n_notes, 1);
    assert_memory_equal(model->notes[0], "5.0 %", strlen("5.0 %"));
    assert_non_null(strstr(model->notes[0], "'try-get relax fails=RESULT'"));
    model_free(model);
}

static void what_ways_out_lead_to_is_work(void **state) {
    (void)state;
    char *relax = "relax";
    struct facts_spin loop = loops[1];
    loop.n_leads_to = 1;
    loop.leads_to = &relax;
    struct model *model = notes_of(&(struct facts){.n_spins = 1, .spins = &loop}, 300);
    assert_int_equal(model->n_notes, 1);
    assert_memory_equal(model->notes[0], "5.0 %", strlen("5.0 %"));
    model_free(model);
}

static void what_hardly_burns_is_not(void **state) {
    (void)state;
    struct model *model = notes_of(&facts, 2);
    assert_int_equal(model->n_notes, 1);
    model_free(model);
    model = notes_of(&(struct facts){0}, 300);
    assert_int_equal(model->n_notes, 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(burnt_time_is_listed_by_loop),
        cmocka_unit_test(of_loops_that_work_only_attempts_count),
        cmocka_unit_test(what_ways_out_lead_to_is_work),
        cmocka_unit_test(what_hardly_burns_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
