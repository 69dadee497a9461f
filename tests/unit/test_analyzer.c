/* static-analyzer, from outside: what persik-analyze finds in the programs of tests/analyzer. These
 * carry their expectations at the ends of lines:
 *     //= bound KIND [REST | FACTOR OFFSET]   the loop that starts here; a fixed one without
 * fragments may be left out
 *     //= call split|whole    whether this call runs a thread's share
 *     //= fragment API OBJECT
 *     //= created OBJECT NAME
 *     //= spawned threads|parts|one ROUTINE   whether this creates one per thread, or that with a
 * part of the creator's work
 *     //= spin KIND|none [VARIABLE]
 *     //= counts NUMBER|unknown   how many threads this call, or creation, makes: "N" for the
 * thread count, "2N-1", "N<=3", "N>=2", "2|3", or "1:2" for 1 with one thread, else 2
 *     //= amount FACTOR OFFSET | constant VALUE | unknown
 *     //= solo one|others|none    whether one thread alone comes here, or all others */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "formats/facts.h"

static char folder[] = "/tmp/persik-test.XXXXXX";
static char analyzer[PATH_MAX];
static char sources[PATH_MAX]; /* tests/analyzer */

/* ---- running ---- */

/* Sanitizer builds have no analyser: Clang's libraries are not built for them. */
static void need_analyzer(void) {
    if (access(analyzer, X_OK) == 0)
        return;
    print_message("%s is not there: build it first\n", analyzer);
    skip();
}

/* Exit status of a shell command; its standard error is in `message` up to the first 1023 bytes. */
static int run(const char *command, char message[1024]) {
    char *line = memory_format("{ %s; } 2>%s/err >/dev/null", command, folder);
    int status = system(line); // NOLINT(bugprone-command-processor): our own commands
    free(line);
    char *path = memory_format("%s/err", folder);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t bytes = fread(message, 1, 1023, in);
    message[bytes] = '\0';
    fclose(in);
    free(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct facts *load_result(void) {
    char *path = memory_format("%s/static.json", folder);
    struct error error;
    struct facts *facts = facts_load(path, &error);
    if (!facts)
        fail_msg("%s", error.text);
    free(path);
    return facts;
}

static struct facts *analyse(const char *arguments) {
    need_analyzer();
    char message[1024];
    char *command = memory_format("%s --output %s/static.json %s", analyzer, folder, arguments);
    if (run(command, message) != 0)
        fail_msg("%s", message);
    free(command);
    return load_result();
}

/* A file of the test's own; gives its path, which the caller frees. */
static char *write_file(const char *name, const char *text) {
    char *path = memory_format("%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static struct facts *analyse_program(const char *name) {
    char *arguments = memory_format("%s/%s", sources, name);
    struct facts *facts = analyse(arguments);
    free(arguments);
    return facts;
}

/* The analyser must refuse, in one line that contains `expected`. */
static void assert_refused(const char *arguments, const char *expected) {
    need_analyzer();
    char message[1024];
    char *command = memory_format("%s --output %s/static.json %s", analyzer, folder, arguments);
    assert_int_equal(run(command, message), 1);
    free(command);
    if (!strstr(message, expected))
        fail_msg("'%s' is not in '%s'", expected, message);
    assert_non_null(strchr(message, '\n'));
    assert_string_equal(strchr(message, '\n'), "\n");
}

/* ---- marks ---- */

struct mark {
    int line;
    char kind[16];
    char first[64], second[64];
};

/* What is left over by a share, or how many rounds a loop over the threads has. */
static void write_rounds(const struct facts_loop *loop, char text[64]) {
    if (loop->bound != BOUND_THREADS)
        snprintf(text, 64, "%s", rest_names[loop->rest]);
    else if (loop->factor == 0)
        snprintf(text, 64, "unknown");
    else
        snprintf(text, 64, "%g %g", loop->factor, loop->offset);
}

static void check_bound(const struct facts *facts, const struct mark *mark) {
    const char *found = "fixed";
    char rounds[64] = "none";
    for (size_t i = 0; i < facts->n_loops; i++)
        if (facts->loops[i].first_line == mark->line) {
            found = facts_bound_name(facts->loops[i].bound);
            write_rounds(&facts->loops[i], rounds);
        }
    if (*mark->second && strcmp(rounds, mark->second) != 0)
        fail_msg("line %d: the rest, or number of rounds, is %s, not %s", mark->line, rounds,
                 mark->second);
    if (strcmp(found, mark->first) != 0)
        fail_msg("line %d: the loop is %s, not %s", mark->line, found, mark->first);
}

static void check_spin(const struct facts *facts, const struct mark *mark) {
    static const char *const names[] = {"lock", "wait", "barrier", "attempt"};
    const struct facts_spin *spin = NULL;
    for (size_t i = 0; i < facts->n_spins; i++)
        if (facts->spins[i].first_line == mark->line)
            spin = &facts->spins[i];
    const char *found = spin ? names[spin->kind] : "none";
    if (strcmp(found, mark->first) != 0)
        fail_msg("line %d: it waits as %s, not %s", mark->line, found, mark->first);
    if (*mark->second)
        assert_string_equal(spin ? spin->variable : "nothing", mark->second);
    assert_true(!spin || spin->n_changed_by > 0);
}

static void check_call(const struct facts *facts, const struct mark *mark) {
    const char *found = "whole";
    for (size_t i = 0; i < facts->n_shares; i++)
        if (facts->shares[i].place.line == mark->line)
            found = "split";
    if (strcmp(found, mark->first) != 0)
        fail_msg("line %d: the call is %s, not %s", mark->line, found, mark->first);
}

static void check_fragment(const struct facts *facts, const struct mark *mark) {
    for (size_t i = 0; i < facts->n_fragments; i++) {
        const struct facts_fragment *fragment = &facts->fragments[i];
        if (fragment->place.line == mark->line &&
            strcmp(api_catalog[fragment->api].name, mark->first) == 0) {
            assert_string_equal(fragment->object, mark->second);
            return;
        }
    }
    fail_msg("line %d: no fragment %s", mark->line, mark->first);
}

static const struct facts_creation *creation_at(const struct facts *facts, int line) {
    for (size_t i = 0; i < facts->n_creations; i++)
        if (facts->creations[i].place.line == line)
            return &facts->creations[i];
    fail_msg("line %d: nothing is created", line);
    return NULL;
}

static void check_created(const struct facts *facts, const struct mark *mark) {
    const struct facts_creation *creation = creation_at(facts, mark->line);
    assert_int_equal(creation->object, strcmp(mark->first, "thread") == 0 ? ON_THREAD : ON_MUTEX);
    assert_string_equal(creation->name, mark->second);
}

static void check_spawned(const struct facts *facts, const struct mark *mark) {
    for (size_t i = 0; i < facts->n_creations; i++) {
        const struct facts_creation *creation = &facts->creations[i];
        if (creation->place.line != mark->line || strcmp(creation->name, mark->second) != 0)
            continue;
        assert_int_equal(creation->object, ON_THREAD);
        const char *found = !creation->per_thread    ? "one"
                            : creation->divides_work ? "parts"
                                                     : "threads";
        if (strcmp(found, mark->first) != 0)
            fail_msg("line %d: it creates %s, not %s", mark->line, found, mark->first);
        return;
    }
    fail_msg("line %d: %s is not created", mark->line, mark->second);
}

static void write_count(const struct facts_count *count, char text[64]) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count->n_one_of; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%s%d",
                                 i                  ? "|"
                                 : count->one_alone ? "1:"
                                                    : "",
                                 count->one_of[i]);
    if (count->follows_threads && count->factor == 1 && count->offset == 0)
        used += (size_t)snprintf(text + used, 64 - used, "N");
    else if (count->follows_threads)
        used += (size_t)snprintf(text + used, 64 - used, count->offset == 0 ? "%gN" : "%gN%+g",
                                 count->factor, count->offset);
    if (count->at_most > 0)
        used += (size_t)snprintf(text + used, 64 - used, "<=%d", count->at_most);
    if (count->at_least > 0)
        snprintf(text + used, 64 - used, ">=%d", count->at_least);
}

/* The outermost of the calls, or the creation itself where there are none, is on this line. */
static void check_counts(const struct facts *facts, const struct mark *mark) {
    char found[64] = "unknown";
    for (size_t i = 0; i < facts->n_creations; i++)
        for (size_t c = 0; c < facts->creations[i].n_counts; c++) {
            const struct facts_count *count = &facts->creations[i].counts[c];
            const struct facts_place *place =
                count->n_calls ? &count->calls[count->n_calls - 1] : &facts->creations[i].place;
            if (place->line == mark->line)
                write_count(count, found);
        }
    if (strcmp(found, mark->first) != 0)
        fail_msg("line %d: it makes %s threads, not %s", mark->line, found, mark->first);
}

static void check_amount(const struct facts *facts, const struct mark *mark) {
    const struct facts_creation *creation = creation_at(facts, mark->line);
    assert_non_null(creation->amount);
    bool constant = strcmp(mark->first, "constant") == 0;
    bool unknown = strcmp(mark->first, "unknown") == 0;
    assert_int_equal(creation->constant, constant);
    assert_int_equal(creation->follows_threads, !constant && !unknown);
    if (creation->follows_threads)
        assert_float_equal(creation->factor, strtod(mark->first, NULL), 1e-9);
    if (!unknown)
        assert_float_equal(creation->offset, strtod(mark->second, NULL), 1e-9);
}

static void check_solo(const struct facts *facts, const struct mark *mark) {
    const char *found = "none";
    for (size_t i = 0; i < facts->n_solos; i++)
        if (mark->line >= facts->solos[i].first_line && mark->line <= facts->solos[i].last_line)
            found = facts->solos[i].others ? "others" : "one";
    if (strcmp(found, mark->first) != 0)
        fail_msg("line %d: who comes here is %s, not %s", mark->line, found, mark->first);
}

/* "struct queue.mutex" is one word of a mark. */
static bool parse_mark(const char *text, struct mark *mark) {
    const char *start = strstr(text, "//= ");
    mark->second[0] = '\0';
    return start &&
           sscanf(start, "//= %15s %63s %63[^\n]", mark->kind, mark->first, mark->second) >= 2;
}

static void check_mark(const struct facts *facts, const struct mark *mark) {
    static const struct {
        const char *kind;
        void (*check)(const struct facts *, const struct mark *);
    } checks[] = {
        {"bound", check_bound},       {"call", check_call},       {"spin", check_spin},
        {"fragment", check_fragment}, {"created", check_created}, {"amount", check_amount},
        {"spawned", check_spawned},   {"counts", check_counts},   {"solo", check_solo}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].kind, mark->kind) == 0) {
            checks[i].check(facts, mark);
            return;
        }
    fail_msg("line %d: unknown mark %s", mark->line, mark->kind);
}

/* Checks all marks in the program; there must be at least `least` of them. */
static void check_marks(const char *name, const struct facts *facts, int least) {
    char *path = memory_format("%s/%s", sources, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    free(path);
    char text[512];
    int found = 0;
    struct mark mark = {0};
    for (mark.line = 1; fgets(text, sizeof text, in); mark.line++) {
        if (!parse_mark(text, &mark))
            continue;
        check_mark(facts, &mark);
        found++;
    }
    fclose(in);
    assert_true(found >= least);
}

static void check_program(const char *name, const char *thread_count, int least) {
    struct facts *facts = analyse_program(name);
    assert_int_equal(facts->n_problems, 0);
    assert_string_equal(facts->thread_count, thread_count);
    check_marks(name, facts, least);
    facts_free(facts);
}

/* ---- the tests ---- */

static void shares_are_found_in_every_style(void **state) {
    (void)state;
    check_program("share.c", "struct team.threads", 30);
}

static void numbers_that_threads_take_are_theirs(void **state) {
    (void)state;
    check_program("numbers.c", "global:n_threads", 20);
}

static void what_one_thread_alone_does_is_told_by_its_number(void **state) {
    (void)state;
    check_program("solos.c", "global:n_threads", 19);
}

static void constants_with_names_count_threads_too(void **state) {
    (void)state;
    check_program("constants.c", "THREADS", 11);
}

static void lookalikes_are_no_shares(void **state) {
    (void)state;
    check_program("lookalike.c", "global:thread_count", 23);
}

static void a_total_that_all_count_up_is_shared(void **state) {
    (void)state;
    check_program("progress.c", "local:in_batches.threads", 13);
}

static void work_that_is_taken_is_shared(void **state) {
    (void)state;
    check_program("shared.c", "local:main.threads", 20);
}

static void amounts_follow_the_thread_count(void **state) {
    (void)state;
    check_program("amounts.c", "struct options.threads", 18);
}

static void a_constant_may_stand_in_for_the_thread_count(void **state) {
    (void)state;
    check_program("stand_in.c", "local:run.threads", 9);
}

/* Nobody is created where the source shows it. */
static void openmp_tells_the_thread_count(void **state) {
    (void)state;
    struct facts *facts = analyse_program("openmp.c");
    assert_int_equal(facts->n_problems, 0);
    check_marks("openmp.c", facts, 4);
    facts_free(facts);
}

static void threads_created_on_demand_follow_their_limit(void **state) {
    (void)state;
    check_program("on_demand.c", "global:settings.workers", 7);
}

static void threads_that_halve_their_number_follow_the_first(void **state) {
    (void)state;
    check_program("divided.c", "local:main.workers", 3);
}

static void helpers_create_what_their_callers_say(void **state) {
    (void)state;
    check_program("counts.c", "local:run.n", 25);
}

static void formulas_of_what_the_user_asks_for_are_told(void **state) {
    (void)state;
    check_program("formulas.cpp", "struct Settings.threads", 3);
}

static void spinning_waits_are_told_from_work(void **state) {
    (void)state;
    struct facts *facts = analyse_program("spins.c");
    check_marks("spins.c", facts, 10);
    assert_int_equal(facts->n_spins, 6);
    facts_free(facts);
    facts = analyse_program("spins.cpp");
    check_marks("spins.cpp", facts, 8);
    assert_int_equal(facts->n_spins, 6);
    size_t ways_out = 0;
    for (size_t i = 0; i < facts->n_spins; i++) {
        const struct facts_spin *spin = &facts->spins[i];
        if (spin->n_leads_to == 0)
            continue;
        ways_out++;
        assert_string_equal(spin->function, "run_one");
        assert_string_equal(spin->leads_to[0], "run");
    }
    assert_int_equal(ways_out, 1);
    facts_free(facts);
}

static const struct facts_monitor *monitor_of(const struct facts *facts, const char *mutex) {
    for (size_t i = 0; i < facts->n_monitors; i++)
        if (strcmp(facts->monitors[i].mutex, mutex) == 0)
            return &facts->monitors[i];
    fail_msg("no monitor with %s", mutex);
    return NULL;
}

static void check_monitor(const struct facts *facts, const char *mutex,
                          enum facts_monitor_kind kind) {
    const struct facts_monitor *monitor = monitor_of(facts, mutex);
    assert_string_equal(facts_monitor_kind_name(monitor->kind), facts_monitor_kind_name(kind));
    assert_true(monitor->n_conditions >= 1);
    assert_true(strlen(monitor->why) > 0);
}

static void check_role(const struct facts *facts, const char *mutex, enum facts_role role,
                       const char *function) {
    if (!facts_monitor_acts(monitor_of(facts, mutex), role, function))
        fail_msg("%s does not %s at %s", function, facts_role_name(role), mutex);
}

static void classic_monitors_are_recognised(void **state) {
    (void)state;
    struct facts *facts = analyse_program("monitors.c");
    check_marks("monitors.c", facts, 4);
    check_monitor(facts, "struct ring.mutex", MONITOR_BOUNDED_QUEUE);
    check_role(facts, "struct ring.mutex", FACTS_PUT, "ring_put");
    check_role(facts, "struct ring.mutex", FACTS_GET, "ring_get");
    check_role(facts, "struct ring.mutex", FACTS_CLOSE, "ring_close");
    check_monitor(facts, "struct guard.mutex", MONITOR_BOUNDED_QUEUE);
    check_role(facts, "struct guard.mutex", FACTS_PUT, "slot_put");
    check_role(facts, "struct guard.mutex", FACTS_GET, "slot_get");
    check_monitor(facts, "struct crew.mutex", MONITOR_THREAD_POOL);
    check_role(facts, "struct crew.mutex", FACTS_SUBMIT, "crew_add");
    check_role(facts, "struct crew.mutex", FACTS_SUBMIT, "crew_try_add");
    check_role(facts, "struct crew.mutex", FACTS_RUN, "crew_member");
    check_monitor(facts, "struct chain.mutex", MONITOR_UNBOUNDED_QUEUE);
    check_role(facts, "struct chain.mutex", FACTS_PUT, "chain_push");
    check_role(facts, "struct chain.mutex", FACTS_GET, "chain_pop");
    check_monitor(facts, "struct permits.mutex", MONITOR_SEMAPHORE);
    check_role(facts, "struct permits.mutex", FACTS_ACQUIRE, "permits_acquire");
    check_role(facts, "struct permits.mutex", FACTS_RELEASE, "permits_release");
    check_monitor(facts, "struct meeting.mutex", MONITOR_BARRIER);
    check_role(facts, "struct meeting.mutex", FACTS_ARRIVE, "meeting_wait");
    check_monitor(facts, "struct countdown.mutex", MONITOR_COMPLETION);
    check_role(facts, "struct countdown.mutex", FACTS_WAIT, "countdown_wait");
    check_role(facts, "struct countdown.mutex", FACTS_ARRIVE, "countdown_done");
    check_monitor(facts, "struct turnstile.mutex", MONITOR_HAND_OVER);
    facts_free(facts);
}

/* Else this would not end. */
static void large_functions_are_no_formulas(void **state) {
    (void)state;
    struct facts *facts = analyse_program("large_values.c");
    check_monitor(facts, "struct shelf.mutex", MONITOR_SEMAPHORE);
    check_role(facts, "struct shelf.mutex", FACTS_RELEASE, "shelf_put");
    check_role(facts, "struct shelf.mutex", FACTS_ACQUIRE, "shelf_get");
    facts_free(facts);
}

static void objects_are_told_apart_by_who_moves_what(void **state) {
    (void)state;
    struct facts *facts = analyse_program("protocols.c");
    check_monitor(facts, "struct gate.lock", MONITOR_RWLOCK);
    check_role(facts, "struct gate.lock", FACTS_READ_LOCK, "gate_read");
    check_role(facts, "struct gate.lock", FACTS_WRITE_LOCK, "gate_write");
    check_role(facts, "struct gate.lock", FACTS_UNLOCK, "gate_leave");
    check_monitor(facts, "struct store.lock", MONITOR_TOKEN_POOL);
    check_role(facts, "struct store.lock", FACTS_ACQUIRE, "store_take");
    check_role(facts, "struct store.lock", FACTS_RELEASE, "store_give");
    check_monitor(facts, "struct desk.lock", MONITOR_HAND_OVER);
    check_role(facts, "struct desk.lock", FACTS_WAIT, "desk_enter");
    check_role(facts, "struct desk.lock", FACTS_SIGNAL, "desk_leave");
    check_monitor(facts, "struct office.lock", MONITOR_THREAD_POOL);
    check_role(facts, "struct office.lock", FACTS_SUBMIT, "office_add");
    check_role(facts, "struct office.lock", FACTS_RUN, "office_next");
    assert_float_equal(monitor_of(facts, "struct office.lock")->amount.offset, 8, 0);
    check_monitor(facts, "struct post.lock", MONITOR_UNBOUNDED_QUEUE);
    check_role(facts, "struct post.lock", FACTS_PUT, "post_send");
    check_role(facts, "struct post.lock", FACTS_GET, "carrier");
    check_monitor(facts, "struct roll.lock", MONITOR_COMPLETION);
    facts_free(facts);
}

/* From the sampled function main on. */
static struct facts *analyse_from_main(const char *name) {
    char *list = write_file("sampled", "main\n");
    char *arguments = memory_format("--functions %s %s/%s", list, sources, name);
    struct facts *facts = analyse(arguments);
    free(arguments);
    free(list);
    return facts;
}

/* What calls are made in a condition that declares a variable, or in front of a condition, count.
 */
static void classes_of_the_library_are_known(void **state) {
    (void)state;
    struct facts *facts = analyse_from_main("classes.cpp");
    check_monitor(facts, "class Channel.mutex", MONITOR_BOUNDED_QUEUE);
    check_role(facts, "class Channel.mutex", FACTS_PUT, "send");
    check_role(facts, "class Channel.mutex", FACTS_GET, "receive");
    assert_float_equal(monitor_of(facts, "class Channel.mutex")->amount.offset, 5, 0);
    check_monitor(facts, "class Permits.mutex", MONITOR_SEMAPHORE);
    assert_float_equal(monitor_of(facts, "class Permits.mutex")->amount.offset, 3, 0);
    check_role(facts, "class Permits.mutex", FACTS_ACQUIRE, "take");
    check_role(facts, "class Permits.mutex", FACTS_RELEASE, "give");
    check_marks("classes.cpp", facts, 3);
    size_t over_ranges = 0;
    for (size_t i = 0; i < facts->n_loops; i++)
        over_ranges += strncmp(facts->loops[i].why, "each of ", strlen("each of ")) == 0;
    assert_int_equal(over_ranges, 1);
    facts_free(facts);
}

/* Twice the work for each link would take longer than anybody waits. */
static void each_operand_in_a_long_chain_is_read_once(void **state) {
    (void)state;
    struct facts *facts = analyse_from_main("chains.cpp");
    check_marks("chains.cpp", facts, 2);
    facts_free(facts);
}

static void threads_of_the_library_are_created_like_others(void **state) {
    (void)state;
    check_program("threads.cpp", "local:Crew.size", 11);
}

/* A second constructor, virtual methods, and what these store through references. */
static void methods_and_references_lead_on(void **state) {
    (void)state;
    check_program("methods.cpp", "global:n_threads", 8);
}

static void what_lambdas_refer_to_is_shared(void **state) {
    (void)state;
    check_program("lambdas.cpp", "class Crew.members", 11);
}

/* NULL: no other way is seen from one thread to several. */
static const char *other_way_to(const struct facts *facts, const char *routine) {
    for (size_t i = 0; i < facts->n_creations; i++)
        if (facts->creations[i].object == ON_THREAD && facts->creations[i].per_thread &&
            strcmp(facts->creations[i].name, routine) == 0)
            return facts->creations[i].one_thread;
    fail_msg("%s is not created", routine);
    return NULL;
}

static void ways_that_one_thread_does_not_go_are_known(void **state) {
    (void)state;
    struct facts *facts = analyse_program("one_thread.c");
    assert_string_equal(other_way_to(facts, "guarded"), "global:threads > 1 in run_guarded");
    assert_string_equal(other_way_to(facts, "left_before"), "global:threads == 1 in run_or_leave");
    assert_string_equal(other_way_to(facts, "called_if"), "(global:threads - 1) > 0 in main");
    assert_null(other_way_to(facts, "always"));
    facts_free(facts);
}

/* Of the only OpenMP team that one thread does without. */
static void ways_that_one_thread_goes_around_a_team_are_known(void **state) {
    (void)state;
    struct facts *facts = analyse_program("cores.c");
    assert_int_equal(facts->n_creations, 1);
    assert_string_equal(facts->creations[0].place.function, "together");
    assert_string_equal(facts->creations[0].one_thread, "global:threads > 1 in main");
    facts_free(facts);
}

static void a_limit_by_the_number_of_cores_is_known_and_a_default_is_none(void **state) {
    (void)state;
    struct facts *facts = analyse_program("cores.c");
    assert_non_null(facts->core_cap.text);
    assert_true(facts->core_cap.factor == 1 && facts->core_cap.offset == 0);
    assert_false(facts->core_cap.online || facts->core_cap.unclear);
    facts_free(facts);
    facts = analyse_program("default_cores.c");
    assert_null(facts->core_cap.text);
    facts_free(facts);
}

static void lookalikes_are_no_objects(void **state) {
    (void)state;
    struct facts *facts = analyse_program("protocols.c");
    check_monitor(facts, "struct tape.lock", MONITOR_OTHER);
    check_monitor(facts, "struct clock.lock", MONITOR_OTHER);
    facts_free(facts);
}

static const struct facts_section *section_of(const struct facts_monitor *monitor,
                                              const char *function) {
    for (size_t i = 0; i < monitor->n_sections; i++)
        if (strcmp(monitor->sections[i].place.function, function) == 0)
            return &monitor->sections[i];
    fail_msg("%s has no section in %s", function, monitor->name);
    return NULL;
}

/* Enough to simulate what has no name. */
static void sections_are_guarded_commands(void **state) {
    (void)state;
    struct facts *facts = analyse_program("protocols.c");
    const struct facts_monitor *store = monitor_of(facts, "struct store.lock");
    const struct facts_section *give = section_of(store, "store_give");
    assert_int_equal(give->steps[give->n_steps - 1].kind, STEP_SIGNAL);
    assert_string_equal(give->steps[give->n_steps - 1].condition, "struct store.back");
    const struct facts_monitor *tape = monitor_of(facts, "struct tape.lock");
    const struct facts_section *get = section_of(tape, "tape_read");
    assert_int_equal(get->steps[0].kind, STEP_WAIT);
    assert_string_equal(get->steps[0].value.text, "struct tape.count == 0");
    assert_string_equal(get->steps[0].value.postfix, "$0 0 ==");
    assert_string_equal(tape->variables[0].name, "struct tape.count");
    assert_int_equal(get->steps[get->n_steps - 1].kind, STEP_UPDATE);
    assert_int_equal(get->steps[get->n_steps - 1].change, CHANGE_ADD);
    assert_float_equal(get->steps[get->n_steps - 1].by, -1, 0);
    const struct facts_section *put = section_of(tape, "tape_write");
    const struct facts_step *step = &put->steps[put->n_steps - 2];
    assert_int_equal(step->kind, STEP_UPDATE);
    assert_string_equal(step->guard.postfix, "$0 8 == !");
    assert_float_equal(step->by, 1, 0);
    facts_free(facts);
}

/* Also where the wait is for another condition than the one that is signalled. */
static void what_stands_before_all_waits_of_its_section_is_early(void **state) {
    (void)state;
    struct facts *facts = analyse_program("protocols.c");
    int early = 0, late = 0;
    for (size_t m = 0; m < facts->n_monitors; m++) {
        if (strcmp(facts->monitors[m].mutex, "struct swap.lock") != 0)
            continue;
        for (size_t s = 0; s < facts->monitors[m].n_sections; s++) {
            const struct facts_section *section = &facts->monitors[m].sections[s];
            bool reports = strcmp(section->place.function, "swap_empty") == 0;
            for (size_t i = 0; i < section->n_steps; i++) {
                if (section->steps[i].kind != STEP_SIGNAL)
                    continue;
                assert_int_equal(section->steps[i].early, reports);
                *(reports ? &early : &late) += 1;
            }
        }
    }
    assert_true(early > 0 && late > 0);
    facts_free(facts);
}

static void capacities_are_followed_to_their_constants(void **state) {
    (void)state;
    struct facts *facts = analyse_program("monitors.c");
    const struct facts_monitor *ring = monitor_of(facts, "struct ring.mutex");
    assert_string_equal(ring->amount.text, "struct ring.capacity");
    assert_float_equal(ring->amount.offset, 64, 0);
    assert_string_equal(ring->count, "struct ring.count");
    assert_float_equal(monitor_of(facts, "struct guard.mutex")->amount.offset, 1, 0);
    assert_float_equal(monitor_of(facts, "struct crew.mutex")->amount.offset, 4, 0);
    assert_null(monitor_of(facts, "struct chain.mutex")->amount.text);
    facts_free(facts);
}

/* One that is said of the objects made at `line`, or of any with line 0. */
static bool has_choice(const struct facts_amount *amount, int line, double factor, double offset) {
    for (size_t i = 0; i < amount->n_choices; i++) {
        const struct facts_choice *choice = &amount->choices[i];
        if (choice->place.line == line && choice->amount.factor == factor &&
            choice->amount.offset == offset && choice->amount.follows_threads == (factor != 0) &&
            choice->amount.constant == (factor == 0))
            return true;
    }
    return false;
}

static int line_of(const char *name, const char *text) {
    char *path = memory_format("%s/%s", sources, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    free(path);
    char line[512];
    int number = 1;
    while (fgets(line, sizeof line, in) && !strstr(line, text))
        number++;
    fclose(in);
    return number;
}

static void amounts_keep_what_branches_and_callers_give(void **state) {
    (void)state;
    struct facts *facts = analyse_program("choices.c");
    const struct facts_amount *places = &monitor_of(facts, "global:place_lock")->amount;
    assert_int_equal(places->n_choices, 3);
    assert_true(has_choice(places, 0, 2, 0));
    assert_true(has_choice(places, 0, 4, 1));
    assert_true(has_choice(places, 0, 0, 3));
    assert_false(places->follows_threads || places->constant);
    const struct facts_amount *store = &monitor_of(facts, "struct store.lock")->amount;
    assert_int_equal(store->n_choices, 2);
    assert_true(has_choice(store, line_of("choices.c", "store_open(&inputs"), 2, 3));
    assert_true(has_choice(store, line_of("choices.c", "store_open(&logs"), 0, 5));
    const struct facts_amount *box = &monitor_of(facts, "struct box.lock")->amount;
    assert_true(has_choice(box, line_of("choices.c", "todo = box_new"), 1, 1));
    assert_true(has_choice(box, line_of("choices.c", "notes = box_new"), 0, 6));
    facts_free(facts);
}

static void macros_keep_their_use_and_their_text(void **state) {
    (void)state;
    struct facts *facts = analyse_program("monitors.c");
    size_t hidden = 0;
    for (size_t i = 0; i < facts->n_fragments; i++) {
        const struct facts_fragment *fragment = &facts->fragments[i];
        if (!strstr(fragment->spelling.file, "wrappers.h") ||
            strstr(fragment->place.file, "wrappers.h"))
            continue;
        hidden++;
        assert_non_null(strstr(fragment->place.file, "monitors.c"));
    }
    assert_true(hidden >= 8);
    facts_free(facts);
}

/* Only what is called from the reached functions counts, but all of that. */
static void analysis_starts_from_the_reached_functions(void **state) {
    (void)state;
    char *path = write_file("roots", "countdown_wait\ncountdown_done\n");
    char *arguments = memory_format("--functions %s %s/monitors.c", path, sources);
    struct facts *facts = analyse(arguments);
    assert_int_equal(facts->n_monitors, 1);
    assert_string_equal(facts->monitors[0].name, "struct countdown");
    facts_free(facts);
    free(arguments);
    free(path);
}

/* Compiles shared.c with the -D it needs, in a place of its own. */
static char *build_program(const char *options) {
    need_analyzer();
    char message[1024];
    char *program = memory_format("%s/program", folder);
    char *source = write_file("program.c", "#include <pthread.h>\n"
                                           "static pthread_mutex_t lock;\n"
                                           "int main(void) {\n"
                                           "#ifdef PARALLEL\n"
                                           "    pthread_mutex_lock(&lock);\n"
                                           "#endif\n"
                                           "#if LEVEL > 2\n"
                                           "    if (TWICE(0) == 0)\n"
                                           "        pthread_mutex_unlock(&lock);\n"
                                           "#endif\n"
                                           "    return 0;\n"
                                           "}\n");
    char *command = memory_format("cc %s -o %s %s -lpthread", options, program, source);
    if (run(command, message) != 0)
        fail_msg("%s", message);
    free(command);
    free(source);
    return program;
}

/* What its debug information leads to. */
static struct facts *analyse_built(const char *options) {
    char *program = build_program(options);
    char *arguments = memory_format("--binary %s", program);
    struct facts *facts = analyse(arguments);
    free(arguments);
    free(program);
    return facts;
}

static void sources_and_macros_come_from_the_program(void **state) {
    (void)state;
    struct facts *facts = analyse_built("-g -O2 -DPARALLEL");
    assert_int_equal(facts->n_files, 1);
    assert_int_equal(facts->n_fragments, 1);
    assert_string_equal(facts->fragments[0].object, "global:lock");
    assert_int_equal(facts->fragments[0].place.line, 5);
    assert_int_equal(facts->fragments[0].place.column, 5);
    facts_free(facts);
}

/* Their values, too, where the compiler wrote them down. */
static void recorded_macros_are_as_they_were(void **state) {
    (void)state;
    struct facts *facts =
        analyse_built("-g3 -O2 -DPARALLEL -DLEVEL=3 '-DTWICE(x)=2 * (x)' -UOTHER");
    assert_int_equal(facts->n_problems, 0);
    assert_int_equal(facts->n_fragments, 2);
    assert_int_equal(facts->fragments[1].place.line, 9);
    facts_free(facts);
}

static void a_program_without_debug_information_is_refused(void **state) {
    (void)state;
    char *program = build_program("-O2 -DPARALLEL");
    char *arguments = memory_format("--binary %s", program);
    assert_refused(arguments, "compile it with -g");
    free(arguments);
    free(program);
}

static void a_missing_source_is_named(void **state) {
    (void)state;
    char message[1024];
    char *program = build_program("-g");
    char *remove = memory_format("rm %s/program.c", folder);
    assert_int_equal(run(remove, message), 0);
    char *arguments = memory_format("--binary %s", program);
    assert_refused(arguments, "source not found");
    assert_refused("--build-dir /nonexistent", "--build-dir");
    assert_refused("nonexistent.c", "source not found: nonexistent.c");
    free(arguments);
    free(program);
    free(remove);
}

static void a_syntax_error_costs_one_file(void **state) {
    (void)state;
    char *path = write_file("broken.c", "int f( {\n");
    char *arguments = memory_format("%s %s/shared.c", path, sources);
    struct facts *facts = analyse(arguments);
    assert_int_equal(facts->n_problems, 1);
    assert_non_null(strstr(facts->problems[0], "broken.c"));
    assert_int_equal(facts->n_files, 1);
    check_marks("shared.c", facts, 15);
    facts_free(facts);
    assert_refused(path, "broken.c");
    free(arguments);
    free(path);
}

/* More of them than there are ever processes: those that die are replaced. */
static void a_crash_of_the_parser_costs_one_file(void **state) {
    (void)state;
    const size_t crashes = 20;
    char *arguments = memory_format("%s", "");
    for (size_t i = 0; i < crashes; i++) {
        char *name = memory_format("crash%zu.c", i);
        char *path = write_file(name, "#pragma clang __debug crash\n");
        free(name);
        char *more = memory_format("%s %s", arguments, path);
        free(arguments);
        free(path);
        arguments = more;
    }
    char *all = memory_format("%s %s/shared.c", arguments, sources);
    struct facts *facts = analyse(all);
    assert_int_equal(facts->n_problems, crashes);
    for (size_t i = 0; i < crashes; i++)
        assert_non_null(strstr(facts->problems[i], "the parser crashed on it"));
    assert_int_equal(facts->n_files, 1);
    check_marks("shared.c", facts, 15);
    facts_free(facts);
    free(arguments);
    free(all);
}

/* Analyses a copy of share.c and a header of it with a cache; how many files were not taken from
 * there. */
static int analysed_with_cache(void) {
    need_analyzer();
    char message[1024];
    char *command = memory_format("%s --verbose --cache %s/cache --output %s/static.json %s/copy.c",
                                  analyzer, folder, folder, folder);
    assert_int_equal(run(command, message), 0);
    free(command);
    int analysed = -1;
    assert_int_equal(sscanf(message, "%d files analysed", &analysed), 1);
    struct facts *facts = load_result();
    assert_int_equal(facts->n_problems, 0);
    assert_int_equal(facts->n_loops, 1);
    facts_free(facts);
    return analysed;
}

static void run_in_folder(const char *command) {
    char message[1024];
    char *line = memory_format("cd %s && %s", folder, command);
    assert_int_equal(run(line, message), 0);
    free(line);
}

static void write_copy(void) {
    run_in_folder("rm -rf cache && echo 'extern int n;' > copy.h && printf '#include \"copy.h\"\n"
                  "int read(int, void *, unsigned long);\n"
                  "void f(void) { for (int i = 0; i < n; i++) read(0, 0, 1); }\n' > copy.c");
}

static void an_unchanged_file_is_not_analysed_again(void **state) {
    (void)state;
    write_copy();
    assert_int_equal(analysed_with_cache(), 1);
    assert_int_equal(analysed_with_cache(), 0);
    run_in_folder("touch copy.c copy.h"); /* the content counts, not the time */
    assert_int_equal(analysed_with_cache(), 0);
}

/* What an error says follows from what was read; a header that is not there may come. */
static void what_cannot_be_parsed_is_kept_unless_a_header_is_missing(void **state) {
    (void)state;
    need_analyzer();
    char message[1024];
    char *command = memory_format("%s --verbose --cache %s/cache --output %s/static.json %s/copy.c",
                                  analyzer, folder, folder, folder);
    run_in_folder("rm -rf cache && printf 'int f(void) { return LOST; }\nint g(void);' > copy.c");
    assert_int_equal(run(command, message), 0);
    assert_non_null(strstr(message, "1 files analysed, 0 taken"));
    assert_int_equal(run(command, message), 0);
    assert_non_null(strstr(message, "0 files analysed, 1 taken"));
    struct facts *facts = load_result();
    assert_int_equal(facts->n_problems, 1);
    facts_free(facts);
    run_in_folder("printf '#include \"lost.h\"\nint f(void) { return 0; }\n' > copy.c");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(command, message), 0);
        assert_non_null(strstr(message, "1 files analysed, 0 taken"));
    }
    free(command);
}

static void a_terminal_is_shown_progress(void **state) {
    (void)state;
    need_analyzer();
    char message[1024];
    char *command = memory_format("script -qec '%s --output %s/static.json %s/shared.c' /dev/null "
                                  "</dev/null | grep 'analysing the source' >&2",
                                  analyzer, folder, sources);
    assert_int_equal(run(command, message), 0);
    free(command);
    command = memory_format("%s --output %s/static.json %s/shared.c", analyzer, folder, sources);
    assert_int_equal(run(command, message), 0);
    assert_string_equal(message, "");
    free(command);
}

static void a_changed_header_has_its_files_analysed_again(void **state) {
    (void)state;
    write_copy();
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("echo 'extern long n;' > copy.h");
    assert_int_equal(analysed_with_cache(), 1);
    assert_int_equal(analysed_with_cache(), 0);
}

static void a_corrupted_cache_is_redone(void **state) {
    (void)state;
    write_copy();
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("sed -i '$ s/copy/c0py/' cache/*.ir");
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("truncate -s -5 cache/*.ir");
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("for f in cache/*.ir; do : > $f; done");
    assert_int_equal(analysed_with_cache(), 1);
    assert_int_equal(analysed_with_cache(), 0);
}

static void the_cache_is_private(void **state) {
    (void)state;
    write_copy();
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("test \"$(stat -c %a cache cache/*)\" = \"$(printf '700\\n600')\"");
}

#define OLD_ENTRY "cache/0123456789abcdef0123456789abcdef01234567.ir"

static void entries_that_nobody_uses_are_removed(void **state) {
    (void)state;
    write_copy();
    run_in_folder("mkdir -m 700 cache && touch -d '31 days ago' " OLD_ENTRY " " OLD_ENTRY
                  ".AbCdEf cache/notes.ir && touch -d '29 days ago' cache/$(printf %040d 7).ir");
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("test ! -e " OLD_ENTRY " && test ! -e " OLD_ENTRY ".AbCdEf");
    run_in_folder("test -e cache/notes.ir && test -e cache/$(printf %040d 7).ir");
    assert_int_equal(analysed_with_cache(), 0);
}

static void a_cache_that_is_too_large_loses_what_was_used_longest_ago(void **state) {
    (void)state;
    write_copy();
    run_in_folder("mkdir -m 700 cache && truncate -s 2G " OLD_ENTRY
                  " && touch -d '1 day ago' " OLD_ENTRY);
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("test ! -e " OLD_ENTRY);
    assert_int_equal(analysed_with_cache(), 0);
}

static void an_entry_is_as_old_as_its_last_use(void **state) {
    (void)state;
    write_copy();
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("touch -d '29 days ago' cache/*.ir");
    assert_int_equal(analysed_with_cache(), 0);
    run_in_folder("test -n \"$(find cache -name '*.ir' -mtime -1)\"");
}

static void a_folder_that_was_there_keeps_its_permissions(void **state) {
    (void)state;
    write_copy();
    run_in_folder("mkdir cache && chmod 755 cache");
    assert_int_equal(analysed_with_cache(), 1);
    run_in_folder("test \"$(stat -c %a cache)\" = 755");
}

static void refuse_facts(const char *text, const char *expected) {
    char *path = write_file("facts.json", text);
    struct error error = {0};
    assert_null(facts_load(path, &error));
    if (!strstr(error.text, expected))
        fail_msg("'%s' is not in '%s'", expected, error.text);
    assert_null(strchr(error.text, '\n'));
    free(path);
}

static void malformed_facts_are_refused_with_their_place(void **state) {
    (void)state;
    refuse_facts("{", "line 1");
    refuse_facts("[]", "not a facts file");
    refuse_facts("{\"version\": 99}", "version 99");
    refuse_facts("{\"version\": 2}", "fragments is not a list");
    refuse_facts("{\"version\": 2, \"fragments\": [], \"loops\": [{\"file\": \"a\", \"function\": "
                 "\"f\", \"first_line\": 1, \"last_line\": 2, \"bound\": \"odd\"}]}",
                 "loops[0].bound");
    refuse_facts(
        "{\"version\": 2, \"fragments\": [], \"loops\": [], \"shares\": [], \"creations\": "
        "[{\"place\": {\"file\": \"a\", \"function\": \"f\", \"line\": 1, \"column\": 1}, "
        "\"object\": \"thread\", \"per_thread\": true, \"counts\": [{\"calls\": [], \"text\": "
        "\"n\", \"one_of\": [\"2\"], \"one_alone\": false}]}]}",
        "creations[0].counts[0].one_of is not a number of threads");
}

static int set_up(void **state) {
    (void)state;
    char self[PATH_MAX] = "";
    const char *build = getenv("PERSIK_BUILD");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return -1;
    if (build)
        snprintf(analyzer, sizeof analyzer, "%s/persik-analyze", build);
    else
        snprintf(analyzer, sizeof analyzer, "%s/persik-analyze", dirname(dirname(self)));
    return realpath("tests/analyzer", sources) && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char *command = memory_format("rm -rf %s", folder);
    int status = system(command); // NOLINT(bugprone-command-processor): our own folder
    free(command);
    return status;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_found_in_every_style),
        cmocka_unit_test(numbers_that_threads_take_are_theirs),
        cmocka_unit_test(what_one_thread_alone_does_is_told_by_its_number),
        cmocka_unit_test(constants_with_names_count_threads_too),
        cmocka_unit_test(lookalikes_are_no_shares),
        cmocka_unit_test(a_total_that_all_count_up_is_shared),
        cmocka_unit_test(work_that_is_taken_is_shared),
        cmocka_unit_test(amounts_follow_the_thread_count),
        cmocka_unit_test(a_constant_may_stand_in_for_the_thread_count),
        cmocka_unit_test(openmp_tells_the_thread_count),
        cmocka_unit_test(threads_created_on_demand_follow_their_limit),
        cmocka_unit_test(threads_that_halve_their_number_follow_the_first),
        cmocka_unit_test(helpers_create_what_their_callers_say),
        cmocka_unit_test(formulas_of_what_the_user_asks_for_are_told),
        cmocka_unit_test(spinning_waits_are_told_from_work),
        cmocka_unit_test(classic_monitors_are_recognised),
        cmocka_unit_test(large_functions_are_no_formulas),
        cmocka_unit_test(objects_are_told_apart_by_who_moves_what),
        cmocka_unit_test(classes_of_the_library_are_known),
        cmocka_unit_test(each_operand_in_a_long_chain_is_read_once),
        cmocka_unit_test(threads_of_the_library_are_created_like_others),
        cmocka_unit_test(methods_and_references_lead_on),
        cmocka_unit_test(what_lambdas_refer_to_is_shared),
        cmocka_unit_test(ways_that_one_thread_does_not_go_are_known),
        cmocka_unit_test(ways_that_one_thread_goes_around_a_team_are_known),
        cmocka_unit_test(a_limit_by_the_number_of_cores_is_known_and_a_default_is_none),
        cmocka_unit_test(lookalikes_are_no_objects),
        cmocka_unit_test(sections_are_guarded_commands),
        cmocka_unit_test(what_stands_before_all_waits_of_its_section_is_early),
        cmocka_unit_test(capacities_are_followed_to_their_constants),
        cmocka_unit_test(amounts_keep_what_branches_and_callers_give),
        cmocka_unit_test(macros_keep_their_use_and_their_text),
        cmocka_unit_test(analysis_starts_from_the_reached_functions),
        cmocka_unit_test(sources_and_macros_come_from_the_program),
        cmocka_unit_test(recorded_macros_are_as_they_were),
        cmocka_unit_test(a_program_without_debug_information_is_refused),
        cmocka_unit_test(a_missing_source_is_named),
        cmocka_unit_test(a_syntax_error_costs_one_file),
        cmocka_unit_test(a_crash_of_the_parser_costs_one_file),
        cmocka_unit_test(an_unchanged_file_is_not_analysed_again),
        cmocka_unit_test(what_cannot_be_parsed_is_kept_unless_a_header_is_missing),
        cmocka_unit_test(a_terminal_is_shown_progress),
        cmocka_unit_test(a_changed_header_has_its_files_analysed_again),
        cmocka_unit_test(a_corrupted_cache_is_redone),
        cmocka_unit_test(the_cache_is_private),
        cmocka_unit_test(entries_that_nobody_uses_are_removed),
        cmocka_unit_test(a_cache_that_is_too_large_loses_what_was_used_longest_ago),
        cmocka_unit_test(an_entry_is_as_old_as_its_last_use),
        cmocka_unit_test(a_folder_that_was_there_keeps_its_permissions),
        cmocka_unit_test(malformed_facts_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
