#include "modelgen/rewrite/creator_split.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/thread_states.h"

/* ---- calls like others ---- */

static struct trace_record at_time(const struct trace_record *like, uint64_t start_ns,
                                   uint64_t end_ns) {
    struct trace_record record = *like;
    record.start_ns = start_ns;
    record.duration_ns = end_ns - start_ns;
    return record;
}

/* Calls like a thread's own: what it waits for comes at `end_ns`. */
static void add_calls(struct event_list *list, struct event_log *log,
                      const struct command_calls *calls, uint64_t start_ns, uint64_t end_ns) {
    bool waits = calls->count > 1;
    for (size_t i = 0; i < calls->count; i++) {
        const struct trace_record *like = &calls->items[i];
        bool is_wait = calls->count == 1 || trace_is_condition_wait(like);
        uint64_t from_ns = waits || is_wait ? start_ns : end_ns;
        event_list_insert(list, log, at_time(like, from_ns, is_wait ? end_ns : from_ns));
        waits &= !is_wait;
    }
}

/* ---- the part ---- */

/* A thread for the creator's part, as yet without events and slices. */
static struct made_thread begin_part(const struct event_log *log,
                                     const struct creator_split *split) {
    const struct trace_thread *threads = log->trace.threads;
    size_t creator = split->group->creator;
    const struct trace_thread *member = &threads[split->group->members[0]];
    struct made_thread made = {
        .thread = threads[creator],
        .origin = {log->thread_origins[creator].recorded, (int)creator},
    };
    made.thread.index = (int)log->trace.n_threads;
    made.thread.creator = (int)creator;
    made.thread.start_routine = member->start_routine;
    made.thread.creation_context = member->creation_context;
    made.thread.start_ns = split->part->begin_ns;
    made.thread.end_ns = split->part->end_ns;
    made.thread.end_seen = true;
    made.thread.lost_records = 0;
    made.thread.n_slices = 0;
    made.thread.slices = NULL;
    return made;
}

/* What the creator does there, at places where members make such calls. */
static void move_part(struct event_log *log, struct context_list *contexts,
                      const struct creator_split *split, struct made_thread *made) {
    const struct creator_group *group = split->group;
    const struct creator_part *part = split->part;
    const struct trace_thread *creator = &log->trace.threads[group->creator];
    size_t n = part->last - part->first;
    struct trace_record *records = memory_alloc(n, sizeof *records);
    for (size_t r = 0; r < n; r++)
        records[r] = creator->records[part->first + r];
    if (group->function)
        creator_contexts_cut(contexts, records, n, group->function);
    else
        creator_contexts_move(contexts, group, &log->trace.threads[group->members[0]], records, n);
    for (size_t r = 0; r < n; r++)
        event_list_keep(&made->events, log, group->creator, part->first + r, &records[r]);
    free(records);
    thread_states_copy_slices(creator, part->begin_ns, part->end_ns, &made->thread);
}

/* As the others the thread takes commands, and has carried them out, until no more come. */
static void move_commands(struct event_log *log, struct context_list *contexts,
                          const struct creator_split *split, struct made_thread *made) {
    const struct creator_group *group = split->group;
    const struct creator_commands *commands = &group->commands;
    const struct trace_thread *creator = &log->trace.threads[group->creator];
    struct event_list *events = &made->events;
    uint64_t since_ns = split->part->begin_ns;
    for (size_t p = 0; p < commands->count; p++) {
        const struct creator_command *command = &commands->items[p];
        add_calls(events, log, &commands->take, since_ns, command->begin_ns);
        for (size_t r = command->first; r < command->last; r++)
            event_list_keep(events, log, group->creator, r, &creator->records[r]);
        add_calls(events, log, command->is_last ? &commands->done_last : &commands->done,
                  command->end_ns, command->end_ns);
        thread_states_copy_slices(creator, command->begin_ns, command->end_ns, &made->thread);
        since_ns = command->end_ns;
    }
    add_calls(events, log, &commands->end, since_ns, split->part->end_ns);
    creator_contexts_cut_to_work(contexts, events->records, events->count, &commands->functions);
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *member = &log->trace.threads[group->members[m]];
        creator_contexts_cut_to_work(contexts, member->records, member->n_records,
                                     &commands->functions);
    }
}

/* ---- what is left of the creator ---- */

/* A split, and the number of the thread that it made. */
struct done_split {
    const struct creator_group *group;
    const struct creator_part *part;
    size_t thread;
};

struct creator_rest {
    struct event_log *log;
    size_t creator;
    struct made_thread made;
    struct done_split *by_creation; /* in the order in which the parts' threads are created */
    size_t n, n_created;
    size_t next;       /* the first event of the creator that is not dealt with yet */
    uint64_t since_ns; /* from when on its slices are not */
};

static const struct trace_record *event_of(const struct creator_rest *rest, size_t number) {
    return &rest->log->trace.threads[rest->creator].records[number];
}

/* The creator creates the threads that do its parts as it has created the others. */
static void create_until(struct creator_rest *rest, size_t number) {
    for (; rest->n_created < rest->n && rest->by_creation[rest->n_created].part->created <= number;
         rest->n_created++) {
        const struct done_split *split = &rest->by_creation[rest->n_created];
        if (split->group->commands.count > 0)
            continue; /* its creation is not shown */
        event_list_insert(&rest->made.events, rest->log,
                          (struct trace_record){
                              .start_ns = trace_end_ns(event_of(rest, split->part->created - 1)),
                              .api = API_pthread_create,
                              .context = rest->log->trace.threads[split->thread].creation_context,
                              .value = (int32_t)split->thread});
    }
}

static void keep_until(struct creator_rest *rest, size_t number) {
    for (; rest->next < number; rest->next++) {
        create_until(rest, rest->next);
        event_list_keep(&rest->made.events, rest->log, rest->creator, rest->next,
                        event_of(rest, rest->next));
    }
}

/* It was on cores until then; what it did from then on until `on_ns` is another thread's. */
static void leave_between(struct creator_rest *rest, uint64_t off_ns, uint64_t on_ns) {
    thread_states_copy_slices(&rest->log->trace.threads[rest->creator], rest->since_ns, off_ns,
                              &rest->made.thread);
    rest->since_ns = on_ns;
}

/* In place of its part it waits for the thread that does it. */
static void wait_for_part(struct creator_rest *rest, const struct done_split *split) {
    const struct creator_part *part = split->part;
    keep_until(rest, part->first);
    create_until(rest, part->first);
    event_list_insert(&rest->made.events, rest->log,
                      (struct trace_record){.start_ns = part->begin_ns,
                                            .duration_ns = part->end_ns - part->begin_ns,
                                            .api = API_pthread_join,
                                            .flags = TRACE_WAITED,
                                            .context = event_of(rest, part->first - 1)->context,
                                            .value = (int32_t)split->thread});
    leave_between(rest, part->begin_ns, part->end_ns);
    rest->next = part->last;
}

/* It gives one more command, where each is given by itself, and begins to wait at once. */
static void give_command(struct creator_rest *rest, const struct creator_commands *commands,
                         const struct creator_command *command) {
    struct event_list *events = &rest->made.events;
    keep_until(rest, command->first);
    if (commands->channel) {
        const struct trace_record *put = event_of(rest, command->first - 1);
        event_list_insert(events, rest->log, at_time(put, command->begin_ns, command->begin_ns));
        struct trace_record waits =
            at_time(event_of(rest, command->last), command->begin_ns, command->on_ns);
        event_list_keep(events, rest->log, rest->creator, command->last, &waits);
    } else {
        add_calls(events, rest->log, &commands->await, command->begin_ns, command->on_ns);
    }
    leave_between(rest, command->begin_ns, command->end_ns);
    rest->next = command->after;
}

/* It joins the thread that carries out its commands behind the last of the others. */
static void give_commands(struct creator_rest *rest, const struct done_split *split) {
    const struct creator_commands *commands = &split->group->commands;
    size_t last = split->part->last;
    for (size_t p = 0; p < commands->count; p++)
        give_command(rest, commands, &commands->items[p]);
    if (last < rest->next || last >= rest->log->trace.threads[rest->creator].n_records)
        return;
    keep_until(rest, last + 1);
    struct trace_record joins = *event_of(rest, last);
    joins.start_ns = trace_end_ns(&joins);
    joins.duration_ns = 0;
    joins.value = (int32_t)split->thread;
    event_list_insert(&rest->made.events, rest->log, joins);
}

static int compare_creations(const void *left, const void *right) {
    const struct creator_part *a = ((const struct done_split *)left)->part;
    const struct creator_part *b = ((const struct done_split *)right)->part;
    if (a->created != b->created)
        return a->created < b->created ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* `done` are in the order of the events. */
static void leave_rest(struct event_log *log, size_t creator, const struct done_split *done,
                       size_t n) {
    const struct trace_thread *whole = &log->trace.threads[creator];
    struct creator_rest rest = {.log = log,
                                .creator = creator,
                                .made = {.thread = *whole, .origin = log->thread_origins[creator]},
                                .by_creation = memory_alloc(n, sizeof *rest.by_creation),
                                .n = n};
    rest.made.thread.slices = NULL;
    rest.made.thread.n_slices = 0;
    for (size_t i = 0; i < n; i++)
        rest.by_creation[i] = done[i];
    qsort(rest.by_creation, n, sizeof *rest.by_creation, compare_creations);
    for (size_t i = 0; i < n; i++)
        if (done[i].group->commands.count > 0)
            give_commands(&rest, &done[i]);
        else
            wait_for_part(&rest, &done[i]);
    keep_until(&rest, whole->n_records);
    create_until(&rest, whole->n_records);
    leave_between(&rest, UINT64_MAX, UINT64_MAX);
    event_log_remake_thread(log, creator, &rest.made);
    free(rest.by_creation);
}

void creator_split_apply(struct event_log *log, struct context_list *contexts,
                         const struct creator_split *splits, size_t n) {
    struct done_split *done = memory_alloc(n, sizeof *done);
    for (size_t i = 0; i < n; i++) {
        const struct creator_split *split = &splits[i];
        struct made_thread made = begin_part(log, split);
        if (split->group->commands.count > 0)
            move_commands(log, contexts, split, &made);
        else
            move_part(log, contexts, split, &made);
        done[n - 1 - i] =
            (struct done_split){split->group, split->part, event_log_add_thread(log, &made)};
    }
    leave_rest(log, splits[0].group->creator, done, n);
    free(done);
}
