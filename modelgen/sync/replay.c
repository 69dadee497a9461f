#include "modelgen/sync/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/sync/command_text.h"

/* A thread in a critical section. */
struct visit {
    struct command_progress progress;
    struct value signals; /* whether the commands have signalled */
    bool is_open, is_known, is_wrong;
    bool waited;                /* and the commands say whether it had to */
    struct contradiction wrong; /* the first decision that was */
    size_t section;
    int role;
};

struct run {
    const struct replay *replay;
    struct value *shared; /* per instance and variable */
    struct value **own;   /* per thread; NULL before its first section */
    struct visit *visits; /* per thread */
    struct tally tally;
};

static struct value *own_values(struct run *run, int thread) {
    const struct command_program *program = run->replay->program;
    if (!run->own[thread]) {
        run->own[thread] = memory_alloc(program->n_variables, sizeof(struct value));
        memcpy(run->own[thread], program->initial, program->n_variables * sizeof(struct value));
    }
    return run->own[thread];
}

static void judge(struct visit *visit, uint64_t time_ns, bool waited, bool is_right) {
    visit->is_known = true;
    visit->waited |= waited;
    if (!is_right && !visit->is_wrong)
        visit->wrong = (struct contradiction){time_ns, visit->section, waited, 0};
    visit->is_wrong |= !is_right;
}

/* True: the thread waits here. */
static bool judge_wait(struct run *run, struct visit *visit, uint64_t time_ns, bool waits,
                       const struct command_stop *stop) {
    run->tally.unknown += !stop->waits.known;
    if (waits && !value_is_false(stop->waits)) {
        if (stop->waits.known)
            judge(visit, time_ns, true, true);
        return true;
    }
    if (!waits && stop->waits.known)
        judge(visit, time_ns, false, !value_is_true(stop->waits) || stop->command->timed);
    return false;
}

/* Carries out the commands up to where the thread waits next or the section ends. A thread that
 * waits for another object of the same mutex does so first. */
static void run_segment(struct run *run, const struct operation *operation,
                        const struct history_event *event, int thread) {
    struct visit *visit = &run->visits[thread];
    bool waits = event->kind == EVENT_WAITS;
    if (waits && !operation->waits)
        return;
    struct value *shared = run->shared + event->instance * run->replay->program->n_variables;
    struct value *own = own_values(run, thread);
    for (;; visit->progress.at++) {
        struct command_stop stop = commands_next(operation->commands, operation->n_commands,
                                                 &visit->progress, shared, own);
        if (!stop.command)
            break;
        if (stop.command->kind == COMMAND_WAIT) {
            if (judge_wait(run, visit, event->time_ns, waits, &stop))
                return;
        } else {
            visit->signals = value_or(visit->signals, stop.guard);
            run->tally.unknown_signals += !stop.guard.known;
        }
    }
    if (waits)
        judge(visit, event->time_ns, true, false);
}

static void close_visit(struct run *run, int thread) {
    struct visit *visit = &run->visits[thread];
    const struct replay *replay = run->replay;
    const struct operation *operation = &replay->program->operations[visit->role];
    bool counts = operation->waits || !replay->only_waits || visit->is_wrong;
    if (visit->is_known && counts)
        tally_add(&run->tally, visit->waited, visit->is_wrong ? &visit->wrong : NULL);
    if (replay->trails)
        replay->trails[visit->section] = visit->progress.held_commands;
    visit->is_open = false;
}

/* A section may also signal for another object of the same mutex. */
static void judge_signals(struct run *run, const struct history_event *event, int thread) {
    struct visit *visit = &run->visits[thread];
    bool signalled = run->replay->sections->sections[event->section].n_signals > 0;
    bool for_other = value_is_false(visit->signals) && signalled;
    run->tally.untold += for_other;
    if (visit->signals.known && !for_other)
        judge(visit, event->time_ns, false, value_is_true(visit->signals) == signalled);
}

static void run_event(struct run *run, const struct history_event *event) {
    const struct section *section = &run->replay->sections->sections[event->section];
    bool begins = event->kind == EVENT_EARLY_EFFECT;
    if (event->role == HISTORY_NO_ROLE) { /* it does not touch the variables */
        run->tally.strange += begins && section->n_waits + section->n_signals > 0;
        return;
    }
    const struct operation *operation = &run->replay->program->operations[event->role];
    if (begins && run->replay->program->number >= 0)
        own_values(run, section->thread)[run->replay->program->number] = value_of(event->number);
    if (begins)
        run->visits[section->thread] = (struct visit){.progress = commands_begin(),
                                                      .signals = value_of(0),
                                                      .is_open = true,
                                                      .section = event->section,
                                                      .role = event->role};
    else if (run->visits[section->thread].is_open && event->kind != EVENT_EFFECT)
        run_segment(run, operation, event, section->thread);
    if (event->kind == EVENT_PASSES && run->visits[section->thread].is_open) {
        judge_signals(run, event, section->thread);
        close_visit(run, section->thread);
    }
}

static void begin(struct run *run, size_t n_threads) {
    const struct command_program *program = run->replay->program;
    size_t n_instances = run->replay->history->n_instances;
    run->shared = memory_alloc(n_instances * program->n_variables + 1, sizeof *run->shared);
    for (size_t i = 0; i < n_instances; i++)
        memcpy(run->shared + i * program->n_variables, program->initial,
               program->n_variables * sizeof *run->shared);
    run->own = memory_alloc(n_threads, sizeof(struct value *));
    run->visits = memory_alloc(n_threads, sizeof *run->visits);
}

static size_t count_threads(const struct replay *replay) {
    size_t n = 0;
    for (size_t i = 0; i < replay->history->count; i++) {
        size_t thread =
            (size_t)replay->sections->sections[replay->history->items[i].section].thread;
        n = thread >= n ? thread + 1 : n;
    }
    return n;
}

struct tally replay_run(const struct replay *replay, struct value *shared) {
    struct run run = {.replay = replay};
    size_t n_threads = count_threads(replay);
    begin(&run, n_threads);
    for (size_t i = 0;
         i < replay->history->count && run.tally.violations <= replay->most_violations; i++)
        run_event(&run, &replay->history->items[i]);
    for (size_t t = 0; t < n_threads; t++) {
        if (run.visits[t].is_open) /* the program ended there */
            close_visit(&run, (int)t);
        free(run.own[t]);
    }
    if (shared && replay->history->n_instances > 0)
        memcpy(shared, run.shared, replay->program->n_variables * sizeof *shared);
    free(run.own);
    free(run.visits);
    free(run.shared);
    return run.tally;
}

struct tally replay_text(const struct sections *sections, struct object_history history,
                         const char *variables, const char *const *operations, size_t n) {
    struct command_program program = command_program_of_text(variables, operations, n);
    object_history_sort(&history);
    const struct replay replay = {.sections = sections,
                                  .history = &history,
                                  .program = &program,
                                  .only_waits = true,
                                  .most_violations = INFINITY};
    struct tally tally = replay_run(&replay, NULL);
    free(history.items);
    command_program_free(&program);
    return tally;
}

/* ---- the source's own words ---- */

/* "struct queue" of "struct queue.count"; all globals are one. */
static size_t owner_length(const char *path) {
    const char *dot = strrchr(path, '.');
    if (strncmp(path, "global:", 7) == 0)
        return 7;
    return dot ? (size_t)(dot - path) : strlen(path);
}

/* Under a lock that is not theirs, variables of a record may be those of any of many. */
static bool belong_to_mutex(const struct facts_monitor *proposal) {
    size_t length = proposal->mutex ? owner_length(proposal->mutex) : 0;
    for (size_t v = 0; v < proposal->n_variables; v++) {
        const struct facts_variable *variable = &proposal->variables[v];
        bool of_record = strncmp(variable->name, "struct ", 7) == 0;
        bool same = length > 0 && owner_length(variable->name) == length &&
                    strncmp(variable->name, proposal->mutex, length) == 0;
        if (of_record && !variable->local && !same && variable->initial.text)
            return false;
    }
    return proposal->n_variables > 0;
}

int *source_replay_roles(const struct trace *trace, const struct sections *sections,
                         const struct facts_monitor *proposal, int mutex) {
    int *roles = memory_alloc(sections->n_sections, sizeof *roles);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        const struct trace_record *lock =
            &trace->threads[section->thread].records[section->lock_record];
        const struct facts_section *found =
            section->mutex == mutex ? command_program_section_at(trace, lock->context, proposal)
                                    : NULL;
        roles[s] = found ? (int)(found - proposal->sections) : HISTORY_NO_ROLE;
    }
    return roles;
}

struct tally source_replay(const struct sections *sections, const struct facts_monitor *proposal,
                           int mutex, const int *roles, double threads, replay_trail *trails) {
    if (!belong_to_mutex(proposal))
        return (struct tally){0};
    struct command_program program = command_program_of(proposal, threads);
    struct object_history history = object_history_of_one(sections, mutex);
    object_history_bind(&history, roles);
    const struct replay replay = {.sections = sections,
                                  .history = &history,
                                  .program = &program,
                                  .most_violations = INFINITY,
                                  .trails = trails};
    struct tally tally = replay_run(&replay, NULL);
    free(history.items);
    command_program_free(&program);
    return tally;
}
