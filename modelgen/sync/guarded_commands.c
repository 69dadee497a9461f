#include "modelgen/sync/guarded_commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/postfix.h"
#include "modelgen/events/source_correlation.h"

/* ---- replaying ---- */

/* The expressions of a step, parsed. */
struct parsed_step {
    struct postfix guard, value;
};

struct replay {
    const struct trace *trace;
    const struct sections *sections;
    const struct facts_monitor *proposal;
    struct parsed_step **parsed; /* per section of the proposal and step */
    struct value *shared;
    struct value **own; /* per thread; NULL before its first section */
    struct value *start;
    guarded_commands_trail *trail; /* NULL: not wanted */
    struct guarded_commands_verdict verdict;
};

static const struct value unknown = {0, false};

bool *guarded_commands_own(const struct facts_monitor *proposal) {
    bool *is_own = memory_alloc(proposal->n_variables, sizeof *is_own);
    for (size_t v = 0; v < proposal->n_variables; v++)
        is_own[v] = proposal->variables[v].local;
    return is_own;
}

static struct value *own_values(struct replay *replay, int thread) {
    const struct facts_monitor *proposal = replay->proposal;
    if (!replay->own[thread]) {
        replay->own[thread] = memory_alloc(proposal->n_variables, sizeof(struct value));
        memcpy(replay->own[thread], replay->start, proposal->n_variables * sizeof(struct value));
    }
    return replay->own[thread];
}

static struct value *variable(struct replay *replay, int thread, size_t index) {
    return replay->proposal->variables[index].local ? &own_values(replay, thread)[index]
                                                    : &replay->shared[index];
}

static struct value evaluate(struct replay *replay, int thread, const struct postfix *program) {
    return postfix_value(program, replay->shared, own_values(replay, thread));
}

/* What does not parse stays without words: it is unknown. */
static void parse_all(struct replay *replay) {
    const struct facts_monitor *proposal = replay->proposal;
    bool *is_own = guarded_commands_own(proposal);
    replay->parsed = memory_alloc(proposal->n_sections, sizeof(struct parsed_step *));
    for (size_t s = 0; s < proposal->n_sections; s++) {
        const struct facts_section *section = &proposal->sections[s];
        replay->parsed[s] = memory_alloc(section->n_steps, sizeof(struct parsed_step));
        for (size_t i = 0; i < section->n_steps; i++) {
            struct parsed_step *parsed = &replay->parsed[s][i];
            postfix_parse(section->steps[i].guard.postfix, proposal->n_variables, is_own,
                          &parsed->guard);
            postfix_parse(section->steps[i].value.postfix, proposal->n_variables, is_own,
                          &parsed->value);
        }
    }
    free(is_own);
}

static void free_parsed(struct replay *replay) {
    const struct facts_monitor *proposal = replay->proposal;
    for (size_t s = 0; s < proposal->n_sections; s++) {
        for (size_t i = 0; i < proposal->sections[s].n_steps; i++) {
            postfix_free(&replay->parsed[s][i].guard);
            postfix_free(&replay->parsed[s][i].value);
        }
        free(replay->parsed[s]);
    }
    free(replay->parsed);
}

/* Where a section is in its commands. */
struct progress {
    size_t at;            /* the step that comes next */
    struct value signals; /* whether it has signalled */
    struct value branch;  /* how the guard of the last step came out ... */
    const char *decided;  /* ... and its text; NULL: none */
};

/* Steps in a row under one guard stand in one branch, which is decided once: the first of them may
 * change what the guard looks at. */
static struct value guard_of(struct replay *replay, int thread, const struct facts_step *step,
                             const struct parsed_step *parsed, struct progress *progress) {
    const char *guard = step->guard.text;
    if (!guard) {
        progress->decided = NULL;
        return value_of(1);
    }
    if (!progress->decided || strcmp(progress->decided, guard) != 0)
        progress->branch = evaluate(replay, thread, &parsed->guard);
    progress->decided = guard;
    return progress->branch;
}

static void judge(struct replay *replay, size_t section, uint64_t time_ns, bool waited,
                  bool is_right) {
    struct guarded_commands_verdict *verdict = &replay->verdict;
    verdict->decisions++;
    verdict->waited += waited;
    if (is_right)
        return;
    verdict->violations++;
    if (verdict->n_contradictions < CONTRADICTIONS_SHOWN)
        verdict->contradictions[verdict->n_contradictions++] =
            (struct contradiction){time_ns, section, waited, 0};
}

static void update(struct replay *replay, int thread, const struct facts_step *step,
                   const struct parsed_step *parsed, struct value guard) {
    struct value *target = variable(replay, thread, step->variable);
    if (value_is_false(guard))
        return;
    struct value next = step->change == CHANGE_SET ? value_of(step->by)
                        : step->change == CHANGE_ADD
                            ? (target->known ? value_of(target->number + step->by) : unknown)
                            : evaluate(replay, thread, &parsed->value);
    /* it may have happened or not */
    bool same = next.known && target->known && next.number == target->number;
    *target = guard.known || same ? next : unknown;
}

struct event {
    uint64_t time_ns;
    size_t section;
    size_t segment; /* how many of the section's waits lie before it */
};

struct events {
    struct event *items;
    size_t count, capacity;
};

static bool may_wait(const struct facts_section *commands) {
    for (size_t i = 0; i < commands->n_steps; i++)
        if (commands->steps[i].kind == STEP_WAIT)
            return true;
    return false;
}

/* Carries out the steps up to where the thread waits next or the section ends. What waits for
 * another object of the same mutex does so first. */
static void run_segment(struct replay *replay, const struct facts_section *commands,
                        const struct event *event, struct progress *progress) {
    const struct section *section = &replay->sections->sections[event->section];
    int thread = section->thread;
    bool waits = event->segment < section->n_waits;
    if (waits && !may_wait(commands))
        return;
    for (; progress->at < commands->n_steps; progress->at++) {
        const struct facts_step *step = &commands->steps[progress->at];
        const struct parsed_step *parsed =
            &replay->parsed[commands - replay->proposal->sections][progress->at];
        struct value guard = guard_of(replay, thread, step, parsed, progress), holds;
        if (replay->trail && value_is_true(guard) && progress->at < GUARDED_COMMANDS_TRAIL_STEPS)
            replay->trail[event->section] |= (guarded_commands_trail)1 << progress->at;
        switch (step->kind) {
        case STEP_UPDATE:
            update(replay, thread, step, parsed, guard);
            break;
        case STEP_SIGNAL:
        case STEP_BROADCAST:
            progress->signals = value_or(progress->signals, guard);
            replay->verdict.unknown_signals += !guard.known;
            break;
        case STEP_WAIT:
            holds = evaluate(replay, thread, &parsed->value);
            if (value_is_false(guard) && !value_is_false(holds))
                break; /* this way does not come by here */
            if (!holds.known)
                replay->verdict.unknown++;
            if (waits && !value_is_false(holds)) {
                if (holds.known)
                    judge(replay, event->section, event->time_ns, true, true);
                return;
            }
            if (holds.known && !waits)
                judge(replay, event->section, event->time_ns, false,
                      !value_is_true(holds) || step->timed);
            break;
        }
    }
    if (waits)
        judge(replay, event->section, event->time_ns, true, false);
}

static int compare_events(const void *a, const void *b) {
    const struct event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static struct events events_of(const struct sections *sections, int mutex) {
    struct events events = {0};
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (section->mutex != mutex)
            continue;
        *VECTOR_ADD(&events) = (struct event){section->acquire_ns, s, 0};
        for (size_t w = 0; w + section->cut < section->n_waits; w++)
            *VECTOR_ADD(&events) =
                (struct event){sections->waits[section->first_wait + w].end_ns, s, w + 1};
    }
    if (events.count)
        qsort(events.items, events.count, sizeof *events.items, compare_events);
    return events;
}

const struct facts_section *guarded_commands_section(const struct trace *trace, uint32_t context,
                                                     const struct facts_monitor *proposal) {
    if (context == TRACE_NO_CONTEXT)
        return NULL;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t i = 0; i < calls->n_frames && i < GUARDED_COMMANDS_FRAMES; i++)
        for (size_t s = 0; s < proposal->n_sections; s++)
            if (source_frame_is_at(&calls->frames[i], &proposal->sections[s].place))
                return &proposal->sections[s];
    return NULL;
}

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

static void run_events(struct replay *replay, const struct events *events) {
    const struct sections *sections = replay->sections;
    struct progress *progress = memory_alloc(sections->n_sections, sizeof *progress);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->items[i];
        const struct section *section = &sections->sections[event->section];
        uint32_t context =
            replay->trace->threads[section->thread].records[section->lock_record].context;
        const struct facts_section *commands =
            guarded_commands_section(replay->trace, context, replay->proposal);
        if (!commands) { /* it does not touch the variables */
            replay->verdict.strange += event->segment == 0 && section->n_waits + section->n_signals;
            continue;
        }
        if (event->segment == 0)
            progress[event->section].signals = value_of(0);
        run_segment(replay, commands, event, &progress[event->section]);
        struct value told = progress[event->section].signals;
        /* it may also signal for another object of the same mutex */
        bool other = value_is_false(told) && section->n_signals > 0;
        replay->verdict.untold += other && event->segment == section->n_waits;
        if (event->segment == section->n_waits && told.known && !other)
            judge(replay, event->section, event->time_ns, false,
                  value_is_true(told) == (section->n_signals > 0));
    }
    free(progress);
}

struct guarded_commands_verdict guarded_commands_replay(const struct trace *trace,
                                                        const struct sections *sections,
                                                        const struct facts_monitor *proposal,
                                                        int mutex, double threads,
                                                        guarded_commands_trail *trail) {
    struct replay replay = {
        .trace = trace, .sections = sections, .proposal = proposal, .trail = trail};
    if (!belong_to_mutex(proposal))
        return replay.verdict;
    parse_all(&replay);
    replay.start = memory_alloc(proposal->n_variables, sizeof *replay.start);
    replay.shared = memory_alloc(proposal->n_variables, sizeof *replay.shared);
    replay.own = memory_alloc(trace->n_threads, sizeof(struct value *));
    for (size_t v = 0; v < proposal->n_variables; v++) {
        const struct facts_amount *initial = &proposal->variables[v].initial;
        replay.start[v] = initial->follows_threads
                              ? value_of(initial->factor * threads + initial->offset)
                          : initial->constant ? value_of(initial->offset)
                                              : unknown;
        replay.shared[v] = replay.start[v];
    }
    struct events events = events_of(sections, mutex);
    run_events(&replay, &events);
    free(events.items);
    for (size_t t = 0; t < trace->n_threads; t++)
        free(replay.own[t]);
    free(replay.own);
    free_parsed(&replay);
    free(replay.shared);
    free(replay.start);
    return replay.verdict;
}
