#include "modelgen/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define STACK_LIMIT 32 /* values of one expression that wait for their operator */

/* ---- values that may be unknown ---- */

struct value {
    double number;
    bool known;
};

static const struct value unknown = {0, false};

static struct value known(double number) {
    return (struct value){number, true};
}

static bool is_false(struct value value) {
    return value.known && value.number == 0;
}

static bool is_true(struct value value) {
    return value.known && value.number != 0;
}

static struct value of_two(const char *operator, struct value a, struct value b) {
    if (strcmp(operator, "&&") == 0)
        return is_false(a) || is_false(b) ? known(0) : a.known && b.known ? known(1) : unknown;
    if (strcmp(operator, "||") == 0)
        return is_true(a) || is_true(b) ? known(1) : a.known && b.known ? known(0) : unknown;
    if (!a.known || !b.known)
        return unknown;
    long long x = (long long)a.number, y = (long long)b.number;
    switch (operator[0]) {
    case '+':
        return known(a.number + b.number);
    case '-':
        return known(a.number - b.number);
    case '*':
        return known(a.number * b.number);
    case '/':
        return y ? known((double)(x / y)) : unknown;
    case '%':
        return y ? known((double)(x % y)) : unknown;
    case '&':
        return known((double)(x & y));
    case '|':
        return known((double)(x | y));
    case '^':
        return known((double)(x ^ y));
    case '=':
        return known(a.number == b.number);
    case '!':
        return known(a.number != b.number);
    case '<':
        if (operator[1] == '<')
            return y >= 0 && y < 63 ? known((double)((unsigned long long)x << y)) : unknown;
        return known(operator[1] == '=' ? a.number <= b.number : a.number<b.number);
    case '>':
        if (operator[1] == '>')
            return y >= 0 && y < 63 ? known((double)(x >> y)) : unknown;
        return known(operator[1] == '=' ? a.number >= b.number : a.number> b.number);
    default:
        return unknown;
    }
}

static struct value of_one(const char *operator, struct value a) {
    if (!a.known)
        return unknown;
    return operator[0] == '!' ? known(a.number == 0) :
           operator[0] == '~' ? known((double)~(long long)a.number)
                              : known(-a.number);
}

/* ---- replaying ---- */

/* Where a thread is in a section: the wait that it is in, or its beginning. */
struct replay {
    const struct trace *trace;
    const struct sections *sections;
    const struct facts_monitor *proposal;
    struct value *shared;
    struct value **own; /* per thread; NULL before its first section */
    struct value *start;
    struct commands_verdict verdict;
};

static struct value *variable(struct replay *replay, int thread, size_t index) {
    const struct facts_monitor *proposal = replay->proposal;
    if (!proposal->variables[index].local)
        return &replay->shared[index];
    if (!replay->own[thread]) {
        replay->own[thread] = memory_alloc(proposal->n_variables, sizeof(struct value));
        memcpy(replay->own[thread], replay->start, proposal->n_variables * sizeof(struct value));
    }
    return &replay->own[thread][index];
}

static struct value word_value(struct replay *replay, int thread, const char *word) {
    if (word[0] == '$') {
        size_t index = strtoul(word + 1, NULL, 10);
        return index < replay->proposal->n_variables ? *variable(replay, thread, index) : unknown;
    }
    return word[0] == '?' ? unknown : known(strtod(word, NULL));
}

static bool is_operand(const char *word) {
    return word[0] == '$' || word[0] == '?' || (word[0] >= '0' && word[0] <= '9') ||
           (word[0] == '-' && word[1] >= '0' && word[1] <= '9');
}

/* What does not parse is unknown. */
static struct value evaluate(struct replay *replay, int thread, const char *postfix) {
    struct value stack[STACK_LIMIT];
    size_t depth = 0;
    char *copy = memory_strdup(postfix ? postfix : "?"), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool one = strcmp(word, "!") == 0 || strcmp(word, "~") == 0 || strcmp(word, "neg") == 0;
        size_t needs = is_operand(word) ? 0 : one ? 1 : 2;
        if (depth < needs || depth - needs == STACK_LIMIT) {
            depth = 0;
            break;
        }
        struct value result = needs == 0 ? word_value(replay, thread, word)
                              : one      ? of_one(word, stack[depth - 1])
                                         : of_two(word, stack[depth - 2], stack[depth - 1]);
        depth -= needs;
        stack[depth++] = result;
    }
    free(copy);
    return depth == 1 ? stack[0] : unknown;
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
                             struct progress *progress) {
    const char *guard = step->guard.text;
    if (!guard) {
        progress->decided = NULL;
        return known(1);
    }
    if (!progress->decided || strcmp(progress->decided, guard) != 0)
        progress->branch = evaluate(replay, thread, step->guard.postfix);
    progress->decided = guard;
    return progress->branch;
}

static void judge(struct replay *replay, size_t section, uint64_t time_ns, bool waited,
                  bool is_right) {
    struct commands_verdict *verdict = &replay->verdict;
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
                   struct value guard) {
    struct value *target = variable(replay, thread, step->variable);
    if (is_false(guard))
        return;
    struct value next = step->change == CHANGE_SET ? known(step->by)
                        : step->change == CHANGE_ADD
                            ? (target->known ? known(target->number + step->by) : unknown)
                            : evaluate(replay, thread, step->value.postfix);
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
        struct value guard = guard_of(replay, thread, step, progress), holds;
        switch (step->kind) {
        case STEP_UPDATE:
            update(replay, thread, step, guard);
            break;
        case STEP_SIGNAL:
        case STEP_BROADCAST:
            progress->signals = of_two("||", progress->signals, guard);
            break;
        case STEP_WAIT:
            holds = evaluate(replay, thread, step->value.postfix);
            if (!holds.known)
                replay->verdict.unknown++;
            if (waits && !is_false(holds)) {
                if (holds.known)
                    judge(replay, event->section, event->time_ns, true, true);
                return;
            }
            if (holds.known && !waits)
                judge(replay, event->section, event->time_ns, false,
                      !is_true(holds) || step->timed);
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

const struct facts_section *commands_section(const struct trace *trace, uint32_t context,
                                             const struct facts_monitor *proposal) {
    if (context == TRACE_NO_CONTEXT)
        return NULL;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t i = 0; i < calls->n_frames && i < COMMANDS_FRAMES; i++)
        for (size_t s = 0; s < proposal->n_sections; s++) {
            const struct facts_place *place = &proposal->sections[s].place;
            if (place->line == calls->frames[i].line &&
                strcmp(place->function, calls->frames[i].function) == 0)
                return &proposal->sections[s];
        }
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
            commands_section(replay->trace, context, replay->proposal);
        if (!commands)
            continue; /* it does not touch the variables */
        if (event->segment == 0)
            progress[event->section].signals = known(0);
        run_segment(replay, commands, event, &progress[event->section]);
        struct value told = progress[event->section].signals;
        /* it may also signal for another object of the same mutex */
        bool other = is_false(told) && section->n_signals > 0;
        if (event->segment == section->n_waits && told.known && !other)
            judge(replay, event->section, event->time_ns, false,
                  is_true(told) == (section->n_signals > 0));
    }
    free(progress);
}

struct commands_verdict commands_replay(const struct trace *trace, const struct sections *sections,
                                        const struct facts_monitor *proposal, int mutex,
                                        double threads) {
    struct replay replay = {.trace = trace, .sections = sections, .proposal = proposal};
    if (!belong_to_mutex(proposal))
        return replay.verdict;
    replay.start = memory_alloc(proposal->n_variables, sizeof *replay.start);
    replay.shared = memory_alloc(proposal->n_variables, sizeof *replay.shared);
    replay.own = memory_alloc(trace->n_threads, sizeof *replay.own);
    for (size_t v = 0; v < proposal->n_variables; v++) {
        const struct facts_amount *initial = &proposal->variables[v].initial;
        replay.start[v] = initial->follows_threads
                              ? known(initial->factor * threads + initial->offset)
                          : initial->constant ? known(initial->offset)
                                              : unknown;
        replay.shared[v] = replay.start[v];
    }
    struct events events = events_of(sections, mutex);
    run_events(&replay, &events);
    free(events.items);
    for (size_t t = 0; t < trace->n_threads; t++)
        free(replay.own[t]);
    free(replay.own);
    free(replay.shared);
    free(replay.start);
    return replay.verdict;
}
