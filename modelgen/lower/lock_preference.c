#include "modelgen/lower/lock_preference.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* What happens to a lock; at one time, in this order. */
enum step { LEAVES, WRITER_COMES, READER_COMES, ENTERS };

struct moment {
    uint64_t ns;
    int object;
    int thread;
    enum step step;
    bool writes; /* of one who enters */
};

struct moments {
    struct moment *items;
    size_t count, capacity;
};

static bool is_for_writing(enum api_op op) {
    return op == OP_WRLOCK || op == OP_TRYWRLOCK || op == OP_TIMEDWRLOCK;
}

static bool is_for_reading(enum api_op op) {
    return op == OP_RDLOCK || op == OP_TRYRDLOCK || op == OP_TIMEDRDLOCK;
}

static void note(struct moments *moments, int object, size_t thread,
                 const struct trace_record *event) {
    enum api_op op = trace_op(event);
    struct moment moment = {.ns = event->start_ns, .object = object, .thread = (int)thread};
    if (op == OP_RWUNLOCK) {
        moment.step = LEAVES;
        *VECTOR_ADD(moments) = moment;
        return;
    }
    moment.writes = is_for_writing(op);
    if ((!moment.writes && !is_for_reading(op)) || event->flags & TRACE_FAILED)
        return;
    moment.step = moment.writes ? WRITER_COMES : READER_COMES;
    *VECTOR_ADD(moments) = moment;
    moment.step = ENTERS;
    moment.ns = event->flags & TRACE_UNFINISHED ? UINT64_MAX : trace_end_ns(event);
    *VECTOR_ADD(moments) = moment;
}

static int compare(const void *left, const void *right) {
    const struct moment *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* A thread at the lock that is looked at. */
struct user {
    int object; /* at which it was last */
    bool is_in, writes;
    bool came_late;      /* when readers were in and a writer waited */
    double writers_then; /* that had been let in when it came */
};

struct watch {
    int object;
    int readers, writers, waiting; /* in, in, and writers who want to be */
    double writers_let_in;
    size_t passed, held_back; /* readers that came late, by whether a writer was let in first */
};

static void come(struct watch *watch, struct user *user, bool writes) {
    if (writes) {
        watch->waiting++;
        return;
    }
    user->came_late = watch->readers > 0 && watch->writers == 0 && watch->waiting > 0;
    user->writers_then = watch->writers_let_in;
}

static void enter(struct watch *watch, struct user *user, bool writes) {
    user->is_in = true;
    user->writes = writes;
    if (writes) {
        watch->waiting--;
        watch->writers++;
        watch->writers_let_in++;
        return;
    }
    watch->readers++;
    if (user->came_late && watch->writers_let_in > user->writers_then)
        watch->held_back++;
    else if (user->came_late)
        watch->passed++;
}

static void leave(struct watch *watch, struct user *user) {
    if (!user->is_in)
        return;
    user->is_in = false;
    if (user->writes)
        watch->writers--;
    else
        watch->readers--;
}

static void step(struct watch *watch, struct user *user, const struct moment *moment) {
    if (user->object != moment->object)
        *user = (struct user){.object = moment->object};
    if (moment->step == LEAVES)
        leave(watch, user);
    else if (moment->step == ENTERS)
        enter(watch, user, moment->writes);
    else
        come(watch, user, moment->step == WRITER_COMES);
}

static bool lets_writers_first(const struct watch *watch) {
    return (double)watch->held_back >= evidence.times_seen && watch->held_back > watch->passed;
}

bool *lock_preference_writers_first(const struct trace *trace, const struct sections *sections) {
    bool *writers_first = memory_alloc(sections->n_objects, sizeof *writers_first);
    struct moments moments = {0};
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (api_catalog[at.event->api].object == ON_RWLOCK) {
            int object = sections_object(sections, at.event);
            if (object >= 0)
                note(&moments, object, at.thread, at.event);
        }
    if (moments.count > 0)
        qsort(moments.items, moments.count, sizeof *moments.items, compare);
    struct user *users = memory_alloc(trace->n_threads, sizeof *users);
    for (size_t t = 0; t < trace->n_threads; t++)
        users[t].object = -1;
    struct watch watch = {.object = -1};
    for (size_t i = 0; i < moments.count; i++) {
        const struct moment *moment = &moments.items[i];
        if (watch.object != moment->object)
            watch = (struct watch){.object = moment->object};
        step(&watch, &users[moment->thread], moment);
        writers_first[moment->object] = lets_writers_first(&watch);
    }
    free(users);
    free(moments.items);
    return writers_first;
}
