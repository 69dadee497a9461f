/* Every template explains the runs that it makes: its program is carried out by threads in a random
 * order, the run becomes a history, and the replay finds nothing wrong with that. In a run in which
 * one thread waits where it need not, or goes on where it must wait, it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "modelgen/sync/command_text.h"
#include "modelgen/sync/replay.h"
#include "modelgen/sync/templates.h"
#include "simulator/random.h"

enum { SPURIOUS = 8 }; /* one in so many waits ends without a signal */
enum { THREADS = 5, VISITS = 600, SEEDS = 20, VARIABLES = 8 };

/* ---- a run ---- */

struct worker {
    bool inside, waits, is_woken;
    int role;
    size_t section;
    struct command_progress progress;
    struct value own[VARIABLES];
};

struct run {
    struct command_program program;
    struct value shared[VARIABLES];
    struct worker workers[THREADS];
    struct random_stream random;
    struct section sections[VISITS];
    int roles[VISITS];
    size_t n_visits;
    uint64_t now_ns;
    struct object_history history;
    int (*next_role)(struct run *run, int worker);
};

static void note(struct run *run, enum event_kind kind, size_t section) {
    *VECTOR_ADD(&run->history) = (struct history_event){
        .time_ns = ++run->now_ns, .kind = kind, .section = (unsigned)section};
}

static void wake_all(struct run *run) {
    for (int i = 0; i < THREADS; i++)
        run->workers[i].is_woken |= run->workers[i].waits;
}

/* Up to where the worker waits, or the end of its section. */
static void go_on(struct run *run, struct worker *worker) {
    const struct operation *operation = &run->program.operations[worker->role];
    struct section *section = &run->sections[worker->section];
    worker->waits = worker->is_woken = false;
    for (;; worker->progress.at++) {
        struct command_stop stop = commands_next(operation->commands, operation->n_commands,
                                                 &worker->progress, run->shared, worker->own);
        if (!stop.command)
            break;
        if (stop.command->kind == COMMAND_WAIT && value_is_true(stop.waits)) {
            section->n_waits++;
            note(run, EVENT_WAITS, worker->section);
            worker->waits = true;
            return;
        }
        if (stop.command->kind == COMMAND_BROADCAST) {
            section->n_signals++;
            wake_all(run);
        }
    }
    note(run, EVENT_PASSES, worker->section);
    worker->inside = false;
}

static void step(struct run *run, int i) {
    struct worker *worker = &run->workers[i];
    bool is_spurious = random_next(&run->random) % SPURIOUS == 0; /* as POSIX allows */
    if (worker->waits && !worker->is_woken && !is_spurious)
        return;
    if (!worker->inside) {
        int role = run->next_role(run, i);
        if (role == HISTORY_NO_ROLE)
            return;
        worker->inside = true;
        worker->role = role;
        worker->section = run->n_visits++;
        worker->progress = commands_begin();
        run->sections[worker->section] = (struct section){.thread = i};
        run->roles[worker->section] = role;
        note(run, EVENT_EARLY_EFFECT, worker->section);
    }
    go_on(run, worker);
}

/* So many visits, or fewer where all wait in the end. */
static void make_run(struct run *run, struct command_program program, double parameter,
                     int (*next_role)(struct run *, int), uint64_t seed) {
    *run = (struct run){.program = program, .next_role = next_role};
    run->random = random_open(seed, 1, 2, 3);
    run->history.n_instances = 1;
    for (size_t v = 0; v < program.n_variables; v++)
        run->shared[v] = program.initial[v];
    run->shared[0] = value_of(parameter);
    for (int i = 0; i < THREADS; i++)
        for (size_t v = 0; v < program.n_variables; v++)
            run->workers[i].own[v] = program.initial[v];
    for (int steps = 0; run->n_visits < VISITS && steps < 100 * VISITS; steps++)
        step(run, (int)(random_next(&run->random) % THREADS));
}

static void end_run(struct run *run) {
    free(run->history.items);
    command_program_free(&run->program);
}

static struct tally replay(struct run *run, double parameter) {
    const struct sections sections = {.n_sections = run->n_visits, .sections = run->sections};
    run->program.initial[0] = value_of(parameter);
    object_history_bind(&run->history, run->roles);
    return replay_run(&(struct replay){.sections = &sections,
                                       .history = &run->history,
                                       .program = &run->program,
                                       .only_waits = true,
                                       .most_violations = VISITS},
                      NULL);
}

/* ---- damage ---- */

static size_t event_of(const struct run *run, size_t section, enum event_kind kind) {
    for (size_t i = 0; i < run->history.count; i++)
        if (run->history.items[i].section == section && run->history.items[i].kind == kind)
            return i;
    return SIZE_MAX;
}

/* The first section from `from` on that waits once, or passes without waiting; it ends. */
static size_t find_visit(const struct run *run, size_t from, bool waits) {
    for (size_t s = from; s < run->n_visits; s++)
        if (run->program.operations[run->roles[s]].waits && run->sections[s].n_waits == waits &&
            event_of(run, s, EVENT_PASSES) != SIZE_MAX)
            return s;
    return SIZE_MAX;
}

static void remove_event(struct run *run, size_t at) {
    memmove(&run->history.items[at], &run->history.items[at + 1],
            (--run->history.count - at) * sizeof *run->history.items);
}

/* A thread that waited is seen to go on at once. */
static bool let_through(struct run *run) {
    size_t section = find_visit(run, run->n_visits / 2, true);
    if (section == SIZE_MAX)
        return false;
    remove_event(run, event_of(run, section, EVENT_PASSES));
    run->history.items[event_of(run, section, EVENT_WAITS)].kind = EVENT_PASSES;
    run->sections[section].n_waits = 0;
    return true;
}

/* A thread that went on at once is seen to wait. */
static bool hold_up(struct run *run) {
    size_t section = find_visit(run, run->n_visits / 2, false);
    if (section == SIZE_MAX)
        return false;
    size_t at = event_of(run, section, EVENT_PASSES);
    (void)VECTOR_ADD(&run->history);
    memmove(&run->history.items[at + 1], &run->history.items[at],
            (run->history.count - 1 - at) * sizeof *run->history.items);
    run->history.items[at].kind = EVENT_WAITS;
    run->sections[section].n_waits = 1;
    return true;
}

/* A thread that must wake the others is not seen to. */
static bool keep_silent(struct run *run) {
    for (size_t s = run->n_visits / 2; s < run->n_visits; s++)
        if (run->sections[s].n_signals > 0 && event_of(run, s, EVENT_PASSES) != SIZE_MAX) {
            run->sections[s].n_signals = 0;
            return true;
        }
    return false;
}

/* ---- the templates ---- */

static struct command_program program_of_row(const struct template_row *row) {
    size_t n = 0;
    while (n < TEMPLATE_ROLES && row->operations[n])
        n++;
    return command_program_of_text(row->variables, row->operations, n);
}

static void check(const struct template_row *row, double parameter,
                  int (*next_role)(struct run *, int), void (*bind)(struct run *)) {
    static bool (*const damages[])(struct run *) = {let_through, hold_up, keep_silent};
    size_t damaged[3] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (size_t d = 0; d < 3; d++) {
            struct run run;
            make_run(&run, program_of_row(row), parameter, next_role, seed);
            assert_int_equal(run.n_visits, VISITS);
            if (bind)
                bind(&run);
            struct tally right = replay(&run, parameter);
            assert_true(right.waited > VISITS / 50.0);
            assert_true(right.violations == 0);
            if (damages[d](&run)) {
                damaged[d]++;
                struct tally wrong = replay(&run, parameter);
                if (wrong.violations == 0)
                    fail_msg("%s: damage %zu is not noticed", row->name, d);
            }
            end_run(&run);
        }
    size_t ways = row == &template_barrier ? 3 : 2; /* others need not signal */
    for (size_t d = 0; d < ways; d++)
        if (damaged[d] == 0)
            fail_msg("%s: there was nothing to damage in way %zu", row->name, d);
}

static int arrive(struct run *run, int worker) {
    (void)run;
    (void)worker;
    return 0;
}

static void barriers_are_explained(void **state) {
    (void)state;
    check(&template_barrier, THREADS, arrive, NULL);
}

/* With other parties the same run is not explained. */
static void a_barrier_of_another_size_is_none(void **state) {
    (void)state;
    struct run run;
    make_run(&run, program_of_row(&template_barrier), THREADS, arrive, 1);
    assert_true(replay(&run, THREADS - 1).violations > VISITS / 10.0);
    end_run(&run);
}

/* Read, write: the roles 0 and 1; then unlock, 2. */
static int lock_or_unlock(struct run *run, int i) {
    struct worker *worker = &run->workers[i];
    bool holds = worker->section < run->n_visits && run->n_visits > 0 && worker->role < 2 &&
                 run->sections[worker->section].thread == i;
    return holds ? 2 : random_next(&run->random) % 4 == 0;
}

static void read_write_locks_are_explained(void **state) {
    (void)state;
    check(&template_rwlock, 0, lock_or_unlock, NULL);
    check(&template_rwlock, 1, lock_or_unlock, NULL);
}

static void a_lock_that_prefers_others_is_another_one(void **state) {
    (void)state;
    struct run run;
    make_run(&run, program_of_row(&template_rwlock), 1, lock_or_unlock, 1);
    assert_true(replay(&run, 0).violations > 0);
    end_run(&run);
}

/* Worker 0 opens rounds, the others wait for the next one each. */
static int turn_or_open(struct run *run, int worker) {
    bool is_idle = random_next(&run->random) % (worker == 0 ? 5 : 4) > 0;
    return is_idle ? HISTORY_NO_ROLE : worker == 0;
}

static void generations_are_explained(void **state) {
    (void)state;
    check(&template_generation, 0, turn_or_open, NULL);
}

/* A thread comes, 1 here; where it leads it tells next. */
static int come_or_tell(struct run *run, int i) {
    struct worker *worker = &run->workers[i];
    bool led_others = worker->own[2].number == run->shared[1].number &&
                      worker->own[2].number < run->shared[0].number && worker->role == 1;
    return led_others && run->sections[worker->section].thread == i ? 2 : 1;
}

/* Whoever tells afterwards has led. */
static void bind_commits(struct run *run) {
    for (size_t s = 0; s < run->n_visits; s++)
        for (size_t next = s + 1; next < run->n_visits && run->roles[s] == 1; next++)
            if (run->sections[next].thread == run->sections[s].thread) {
                run->roles[s] = run->roles[next] == 2 ? 0 : 1;
                break;
            }
}

static void group_commits_are_explained(void **state) {
    (void)state;
    /* Which of both a thread will be it learns when it goes on: the run has one role for them. */
    struct template_row row = template_group_commit;
    row.operations[1] = "mine = came; came = came + 1; wait while mine > first; end = came";
    struct run run;
    size_t waited = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        make_run(&run, program_of_row(&row), 0, come_or_tell, seed);
        command_program_free(&run.program);
        run.program = program_of_row(&template_group_commit);
        bind_commits(&run);
        struct tally tally = replay(&run, 0);
        waited += (size_t)tally.waited;
        assert_true(tally.violations <= THREADS); /* those at the end, whose role is not known */
        if (let_through(&run))
            assert_true(replay(&run, 0).violations > tally.violations);
        end_run(&run);
    }
    assert_true(waited > VISITS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_are_explained),
        cmocka_unit_test(a_barrier_of_another_size_is_none),
        cmocka_unit_test(read_write_locks_are_explained),
        cmocka_unit_test(a_lock_that_prefers_others_is_another_one),
        cmocka_unit_test(generations_are_explained),
        cmocka_unit_test(group_commits_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
