#include "modelgen/rewrite/worker_mailboxes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/critical_sections.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/rewrite/mailbox_group.h"

#define NO_SLOT   (-1)
#define NO_RECORD SIZE_MAX

enum scheduling_kind { ENTERS, WAITS, GOES_ON, TELLS, LEAVES };

/* Of a section of a mailbox. */
struct scheduling_event {
    uint64_t time_ns;
    size_t order; /* as read: of those at one time */
    enum scheduling_kind kind;
    size_t section, record;
};

struct scheduling_events {
    struct scheduling_event *items;
    size_t count, capacity;
};

/* Where one of the two who use a mailbox stands. */
struct user {
    size_t from; /* record where its wait or look began; NO_RECORD: none since its last news */
    bool looks;  /* has seen the mailbox's state, and not yet shown what it makes of it */
    uint64_t looked_ns; /* when */
};

/* ---- which mutexes may be mailboxes ---- */

/* A thread that locks a mutex. */
struct visitor {
    int thread;
    bool waits; /* under it */
};

struct visitors {
    struct visitor *items;
    size_t count, capacity;
};

/* Per mutex, by thread. Sections of a thread stand together. The caller frees. */
static struct visitors *find_visitors(const struct sections *sections) {
    struct visitors *visitors = memory_alloc(sections->n_objects + 1, sizeof *visitors);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        struct visitors *here = &visitors[section->mutex];
        if (here->count == 0 || here->items[here->count - 1].thread != section->thread)
            *VECTOR_ADD(here) = (struct visitor){.thread = section->thread};
        here->items[here->count - 1].waits |= section->n_waits > 0;
    }
    return visitors;
}

static void free_visitors(struct visitors *visitors, const struct sections *sections) {
    for (size_t o = 0; o < sections->n_objects; o++)
        free(visitors[o].items);
    free(visitors);
}

static bool live_at_once(const struct trace_thread *a, const struct trace_thread *b) {
    return a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

/* Does the thread wait under the mutex, which only its creator uses besides while it lives? The
 * memory may have been another thread's mailbox before. */
static bool may_be_mailbox(const struct trace *trace, const struct visitors *visitors, int thread) {
    int creator = trace->threads[thread].creator;
    bool waits = false, creator_comes = false;
    for (size_t v = 0; v < visitors->count; v++) {
        const struct visitor *visitor = &visitors->items[v];
        if (visitor->thread == creator)
            creator_comes = true;
        else if (visitor->thread == thread)
            waits = visitor->waits;
        else if (trace->threads[visitor->thread].creator != creator ||
                 live_at_once(&trace->threads[visitor->thread], &trace->threads[thread]))
            return false;
    }
    return waits && creator_comes;
}

/* Does the source say that whoever locks there comes to a barrier, or puts into a queue? */
static bool comes_to(const struct trace *trace, const struct facts *facts,
                     const struct section *section,
                     bool (*is_it)(const struct facts_monitor *, enum facts_role)) {
    uint32_t context = trace->threads[section->thread].records[section->lock_record].context;
    for (size_t m = 0; facts && m < facts->n_monitors; m++)
        for (size_t i = 0; i < facts->monitors[m].n_operations; i++)
            if (is_it(&facts->monitors[m], facts->monitors[m].operations[i].role) &&
                source_passes(trace, context, &facts->monitors[m].operations[i].place))
                return true;
    return false;
}

static bool is_barrier(const struct facts_monitor *monitor, enum facts_role role) {
    (void)role;
    return monitor->kind == MONITOR_BARRIER;
}

/* A queue with room for one is a mailbox, too. */
static bool feeds_queue(const struct facts_monitor *monitor, enum facts_role role) {
    bool is_mailbox = monitor->amount.constant && monitor->amount.offset <= 1;
    bool is_queue = (monitor->kind == MONITOR_BOUNDED_QUEUE && !is_mailbox) ||
                    monitor->kind == MONITOR_UNBOUNDED_QUEUE;
    return is_queue && (role == FACTS_PUT || role == FACTS_CLOSE);
}

static bool creates_one_of(const struct trace *trace, int thread, const struct visitors *visitors) {
    for (size_t v = 0; v < visitors->count; v++)
        if (trace->threads[visitors->items[v].thread].creator == thread)
            return true;
    return false;
}

/* Per mutex, whether by the source's word its other users' creator does nothing under it but put
 * something into a queue: it does not wait there until that is done. */
static bool *find_fed_queues(const struct trace *trace, const struct facts *facts,
                             const struct sections *sections, const struct visitors *visitors) {
    bool *is_fed = memory_alloc(sections->n_objects, sizeof *is_fed);
    for (size_t o = 0; o < sections->n_objects; o++)
        is_fed[o] = facts != NULL;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (is_fed[section->mutex] &&
            creates_one_of(trace, section->thread, &visitors[section->mutex]))
            is_fed[section->mutex] = comes_to(trace, facts, section, feeds_queue);
    }
    return is_fed;
}

/* Where several are created alike, each has a mutex of its own, or that is no mailbox. */
static bool is_alone(const struct trace *trace, int thread) {
    size_t alike = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        alike += trace_threads_alike(&trace->threads[t], &trace->threads[thread]);
    return alike == 1;
}

/* Per thread, the first mutex that may be its mailbox, as until it has a command it does nothing
 * else; NO_SLOT: there is none. */
static int *find_mailboxes(const struct trace *trace, const struct facts *facts,
                           const struct sections *sections, const struct visitors *visitors) {
    int *mailboxes = memory_alloc(trace->n_threads, sizeof *mailboxes);
    uint64_t *first_ns = memory_alloc(trace->n_threads, sizeof *first_ns);
    bool *is_fed = find_fed_queues(trace, facts, sections, visitors);
    for (size_t t = 0; t < trace->n_threads; t++)
        mailboxes[t] = NO_SLOT;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        int thread = section->thread;
        if (trace->threads[thread].creator < 0 ||
            (mailboxes[thread] != NO_SLOT && section->acquire_ns >= first_ns[thread]) ||
            !may_be_mailbox(trace, &visitors[section->mutex], thread) ||
            comes_to(trace, facts, section, is_barrier) ||
            (is_fed[section->mutex] && is_alone(trace, thread)))
            continue;
        mailboxes[thread] = section->mutex;
        first_ns[thread] = section->acquire_ns;
    }
    free(first_ns);
    free(is_fed);
    return mailboxes;
}

/* ---- what happened in a mailbox ---- */

static int compare_moments(const void *a, const void *b) {
    const struct scheduling_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void add_moment(struct scheduling_events *moments, enum scheduling_kind kind,
                       uint64_t time_ns, size_t section, size_t record) {
    size_t order = moments->count;
    *VECTOR_ADD(moments) = (struct scheduling_event){time_ns, order, kind, section, record};
}

/* Who tells behind the unlock has changed the state before it. */
static void read_section(const struct trace *trace, const struct sections *sections, size_t s,
                         struct scheduling_events *moments) {
    const struct section *section = &sections->sections[s];
    const struct trace_record *records = trace->threads[section->thread].records;
    size_t w = 0, i = 0;
    add_moment(moments, ENTERS, section->acquire_ns, s, section->lock_record);
    while (w < section->n_waits || i < section->n_signals) {
        const struct section_wait *wait = &sections->waits[section->first_wait + w];
        const struct section_signal *signal = &sections->signals[section->first_signal + i];
        if (i == section->n_signals || (w < section->n_waits && wait->record < signal->record)) {
            add_moment(moments, WAITS, wait->start_ns, s, wait->record);
            if (!(records[wait->record].flags & TRACE_UNFINISHED))
                add_moment(moments, GOES_ON, wait->end_ns, s, wait->record);
            w++;
        } else {
            uint64_t time_ns = records[signal->record].start_ns;
            add_moment(moments, TELLS,
                       time_ns < section->release_ns ? time_ns : section->release_ns, s,
                       signal->record);
            i++;
        }
    }
    if (!section->cut)
        add_moment(moments, LEAVES, section->release_ns, s, section->unlock_record);
}

/* The worker goes on: with the command that is there, or to say that it has done the last one. */
static void worker_goes_on(const struct trace *trace, struct mailbox *mailbox,
                           struct user *worker) {
    if (mailbox->commanded && !mailbox->running && worker->from != NO_RECORD) {
        mailbox_take(mailbox, worker->from,
                     trace->threads[mailbox->worker].records[worker->from].start_ns,
                     worker->looked_ns);
        worker->from = NO_RECORD;
    } else {
        mailbox->is_wrong |= !mailbox->running;
    }
}

/* The creator goes on: what it gave, if anything, has been done. */
static void creator_goes_on(const struct trace *trace, size_t creator, struct mailbox *mailbox,
                            const struct user *user) {
    if (mailbox->outstanding)
        mailbox_collect(mailbox, creator, user->from,
                        trace->threads[creator].records[user->from].start_ns, user->looked_ns);
}

static void replay_moment(const struct trace *trace, size_t creator, struct mailbox *mailbox,
                          struct user *user, bool is_worker,
                          const struct scheduling_event *moment) {
    if (user->looks && (moment->kind == TELLS || moment->kind == LEAVES)) {
        user->looks = false;
        if (is_worker)
            worker_goes_on(trace, mailbox, user);
        else
            creator_goes_on(trace, creator, mailbox, user);
    }
    switch (moment->kind) {
    case ENTERS:
        user->from = moment->record;
        user->looks = true;
        user->looked_ns = moment->time_ns;
        break;
    case WAITS: /* the worker while there is nothing to do, the creator while it is not done */
        mailbox->is_wrong |=
            is_worker ? mailbox->commanded || mailbox->running
                      : !mailbox->outstanding || (!mailbox->commanded && !mailbox->running);
        user->from = user->from == NO_RECORD ? moment->record : user->from;
        user->looks = false;
        break;
    case GOES_ON:
        user->looks = true;
        user->looked_ns = moment->time_ns;
        break;
    case TELLS:
        if (!is_worker)
            mailbox_give(mailbox, creator, moment->record, moment->time_ns);
        else if (mailbox->running)
            mailbox_finish(mailbox, moment->record, moment->time_ns);
        break;
    default:
        break;
    }
}

/* One that ended while it waited for a command. */
static void end_waiting(const struct trace *trace, struct mailbox *mailbox,
                        const struct user *worker) {
    const struct trace_thread *thread = &trace->threads[mailbox->worker];
    if (worker->looks || worker->from == NO_RECORD || mailbox->commanded || mailbox->running ||
        mailbox->outstanding || thread->n_records == 0)
        return;
    const struct trace_record *last = &thread->records[thread->n_records - 1];
    if (last->flags & TRACE_UNFINISHED)
        mailbox_end_waiting(mailbox, worker->from, thread->records[worker->from].start_ns,
                            trace_end_ns(last));
}

static void replay(const struct trace *trace, const struct sections *sections, size_t creator,
                   struct mailbox *mailbox, const struct scheduling_events *moments) {
    struct user users[2] = {{.from = NO_RECORD}, {.from = NO_RECORD}}; /* the creator, the worker */
    mailbox->is_wrong = moments->count == 0;
    if (moments->count)
        qsort(moments->items, moments->count, sizeof *moments->items, compare_moments);
    for (size_t m = 0; m < moments->count && !mailbox->is_wrong; m++) {
        const struct scheduling_event *moment = &moments->items[m];
        bool is_worker = sections->sections[moment->section].thread == (int)mailbox->worker;
        replay_moment(trace, creator, mailbox, &users[is_worker], is_worker, moment);
    }
    end_waiting(trace, mailbox, &users[1]);
}

/* ---- all mailboxes ---- */

static void drop_sections(const struct sections *sections, const struct scheduling_events *moments,
                          bool **dropped) {
    for (size_t m = 0; m < moments->count; m++) {
        const struct scheduling_event *moment = &moments->items[m];
        dropped[sections->sections[moment->section].thread][moment->record] = true;
    }
}

/* Whose mailbox the section is in: of those that have the mutex one after the other, the first one
 * that has not ended before; -1: of none. */
static int owner_of(const struct trace *trace, const struct section *section,
                    const struct visitors *visitors, const int *mailboxes) {
    int owner = -1;
    for (size_t v = 0; v < visitors->count; v++) {
        int thread = visitors->items[v].thread;
        uint64_t end_ns = trace->threads[thread].end_ns;
        if (mailboxes[thread] == section->mutex && end_ns >= section->acquire_ns &&
            (owner < 0 || end_ns < trace->threads[owner].end_ns))
            owner = thread;
    }
    return owner;
}

/* Of each thread that has a mailbox, what happened in it. */
static struct scheduling_events *read_mailboxes(const struct trace *trace,
                                                const struct sections *sections,
                                                const struct visitors *visitors,
                                                const int *mailboxes) {
    struct scheduling_events *moments = memory_alloc(trace->n_threads, sizeof *moments);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        int owner = owner_of(trace, section, &visitors[section->mutex], mailboxes);
        if (owner >= 0)
            read_section(trace, sections, s, &moments[owner]);
    }
    return moments;
}

/* Of the threads created like `thread`. */
static void show_group(struct event_log *log, const struct sections *sections,
                       const struct scheduling_events *moments, size_t thread, bool **dropped) {
    struct mailbox_group group = mailbox_group_of(&log->trace, thread);
    for (size_t i = 0; i < group.n_mailboxes; i++)
        replay(&log->trace, sections, group.creator, &group.mailboxes[i],
               &moments[group.mailboxes[i].worker]);
    if (mailbox_group_is_believed(&group)) {
        for (size_t i = 0; i < group.n_mailboxes; i++)
            drop_sections(sections, &moments[group.mailboxes[i].worker], dropped);
        mailbox_group_show(log, &group, dropped);
    }
    mailbox_group_free(&group);
}

/* Takes the moments over. */
static void show_mailboxes(struct event_log *log, const struct sections *sections,
                           struct scheduling_events *moments) {
    const struct trace *trace = &log->trace;
    bool **dropped = event_log_flags(log);
    for (size_t t = 0; t < trace->n_threads; t++)
        if (moments[t].count > 0 && mailbox_group_begins_with(trace, t))
            show_group(log, sections, moments, t, dropped);
    for (size_t t = 0; t < trace->n_threads; t++)
        free(moments[t].items);
    event_log_drop_all(log, dropped);
    free(moments);
}

void worker_mailboxes_as_queues(struct event_log *log, const struct facts *facts) {
    const struct trace *trace = &log->trace;
    int *one_pool = memory_alloc(trace->n_threads, sizeof *one_pool);
    struct sections sections = sections_find(trace, one_pool);
    struct visitors *visitors = find_visitors(&sections);
    int *mailboxes = find_mailboxes(trace, facts, &sections, visitors);
    bool any = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        any |= mailboxes[t] != NO_SLOT;
    if (any)
        show_mailboxes(log, &sections, read_mailboxes(trace, &sections, visitors, mailboxes));
    free_visitors(visitors, &sections);
    sections_free(&sections, log->recorded);
    free(mailboxes);
    free(one_pool);
}
