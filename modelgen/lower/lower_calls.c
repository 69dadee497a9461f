#include "modelgen/lower/lower_calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/lower/lower_later.h"
#include "modelgen/lower/lower_writes.h"
#include "modelgen/lower/object_selection.h"

/* An object that is only made, and never used, is not among those of the sections. */
static enum object_origin origin_of(const struct writer *writer, int sync_object) {
    return sync_object < 0 ? ORIGIN_RECORDED : writer->in->sections->objects[sync_object].origin;
}

/* ---- commands that a creator gives and waits for ---- */

/* One more that is outstanding, or one less: the sum is what the creator looks at. */
static void write_command(struct writer *writer, size_t index, const struct trace_record *record,
                          int done) {
    struct trace_record completion = {.api = ROLE_release, .object = record->object};
    int object = sections_object(writer->in->sections, &completion);
    struct step *step =
        writer_add_step(writer, NODE_RELEASE, index, record->start_ns, record->start_ns);
    step->use.object = objects_semaphore(writer, object);
    step->use.amount.count = done;
}

/* Who has waited until all is done leaves it as it was. */
static void write_completion(struct writer *writer, size_t index, const struct trace_record *record,
                             int completion) {
    if (record->value == 0)
        return;
    uint64_t end = trace_end_ns(record);
    int object = objects_semaphore(writer, completion);
    writer_add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->use.object = object;
    writer_add_step(writer, NODE_RELEASE, index, end, end)->use.object = object;
}

/* True: the record was one of a creator that waits for what it gave, or of a worker that has done
 * it. */
static bool write_slot_call(struct writer *writer, size_t index, const struct trace_record *record,
                            int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object != ON_SEMAPHORE ||
        !object_origin_counts_outstanding(origin_of(writer, sync_object)))
        return false;
    if (info->op == OP_ACQUIRE)
        write_completion(writer, index, record, sync_object);
    else
        write_command(writer, index, record, record->value < 0 ? -1 : 1);
    return true;
}

/* ---- calls that the user or the source named ---- */

static void write_items(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    const struct poll *poll = polling_queues_poll(&writer->polling, writer->thread, index);
    enum api_op op = trace_op(record);
    bool takes = op == OP_GET || op == OP_TRYGET;
    /* One that never came back: nothing more came, or will come. */
    bool failed = (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0;
    uint64_t end = trace_end_ns(record);
    if (poll && poll->goes_on)
        return; /* part of the wait that the last attempt ends */
    int object = objects_items(writer, sync_object);
    bool born = !takes && !failed && writer->polling.queues[sync_object].feeds_tasks &&
                !writer_does_tasks(writer);
    if (born)
        writer_add_step(writer, NODE_TASK_BEGIN, index, record->start_ns, record->start_ns);
    if (origin_of(writer, sync_object) == ORIGIN_MAILBOX && op == OP_PUT)
        write_command(writer, index, record, -1);
    bool waits = op == OP_PUT || op == OP_GET || poll != NULL;
    struct step *step = writer_add_step(writer, takes ? NODE_GET : NODE_PUT, index,
                                        poll ? poll->start_ns : record->start_ns, end);
    step->use.object = object;
    step->use.timeout_ns = waits ? -1 : 0;
    if (op == OP_GET && api_catalog[record->api].timeout_argument >= 0)
        step->use.timeout_ns = record->value * 1e3;
    step->outcome = failed ? OUTCOME_NO : OUTCOME_YES;
    if (!failed)
        step->use.amount.item_kind = objects_item_kind(writer, sync_object, record);
    if (takes)
        writer_mark_task(writer, index, end, step);
}

/* Who waited for the event leaves it as it was. */
static void write_event(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    int event = objects_event(writer, sync_object);
    uint64_t end = trace_end_ns(record);
    if (trace_op(record) == OP_WAIT)
        writer_add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->use.object = event;
    else
        end = record->start_ns;
    writer_add_step(writer, NODE_RELEASE, index, end, end)->use.object = event;
}

/* True: the record was of a kind that only functions of the program's own have. */
static bool write_named_call(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object == ON_EVENT)
        write_event(writer, index, record, sync_object);
    else if (info->object == ON_ITEMS && info->op == OP_CLOSE)
        writer_add_call(writer, index, record, objects_items(writer, sync_object), NODE_CLOSE,
                        false);
    else if (info->object == ON_ITEMS && info->op != OP_INIT && info->op != OP_DESTROY)
        write_items(writer, index, record, sync_object);
    return info->object == ON_EVENT || info->object == ON_ITEMS;
}

bool lower_calls_named(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object) {
    return write_named_call(writer, index, record, sync_object) ||
           write_slot_call(writer, index, record, sync_object);
}

void lower_calls_known_close(struct writer *writer, size_t index,
                             const struct trace_record *record) {
    uint64_t end = trace_end_ns(record);
    for (size_t i = 0; i < writer->polling.closed.count; i++) {
        int closed = (int)writer->polling.closed.items[i];
        const struct polling_queue *queue = &writer->polling.queues[closed];
        if (queue->closer_thread == (int)writer->thread && queue->closer_record == index)
            writer_add_step(writer, NODE_CLOSE, index, end, end)->use.object =
                objects_items(writer, closed);
    }
}

/* ---- sleeps, input and output ---- */

/* Key of a call site. Page faults are spread over all that is computed: they matter, or not,
 * together. */
static uint64_t site_of(const struct trace_record *record) {
    if (trace_is_page_fault(record))
        return map_mix(37, record->api);
    return map_mix(map_mix(7, record->context), record->api);
}

/* Does the call read or write, whatever? */
static bool moves_data(const struct api_info *info) {
    return info->api_class == CLASS_IO || info->api_class == CLASS_IN ||
           info->api_class == CLASS_OUT;
}

struct blocked_site {
    uint64_t site;
    double blocked_ns; /* all threads together */
};

void lower_calls_choose_sites(struct writer *writer) {
    const struct trace *trace = writer->in->trace;
    struct map number = MAP_EMPTY;
    struct {
        struct blocked_site *items;
        size_t count, capacity;
    } sites = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        writer->thread = t;
        for (struct event_cursor seen = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&seen);) {
            const struct trace_record *record = seen.event;
            const struct api_info *info = &api_catalog[record->api];
            if (!moves_data(info) && info->api_class != CLASS_TIME)
                continue;
            uint64_t site = site_of(record);
            int at = map_get(&number, site, -1);
            if (at < 0) {
                at = (int)sites.count;
                map_put(&number, site, at);
                *VECTOR_ADD(&sites) = (struct blocked_site){.site = site};
            }
            assert(sites.items); /* the map knows only what is in the list */
            sites.items[at].blocked_ns += writer_blocked_inside(writer, record);
            uint32_t device;
            if (disk_service_requests(writer->in->disks, t, record->start_ns, trace_end_ns(record),
                                      &device))
                map_put(&writer->device_of_site, site, (int)device);
        }
    }
    for (size_t i = 0; i < sites.count; i++)
        if (sites.items[i].blocked_ns >
            writer->in->insignificant_share * (double)trace->meta.run_ns)
            map_put(&writer->kept_sites, sites.items[i].site, 1);
    map_free(&number);
    free(sites.items);
}

static bool site_is_kept(const struct writer *writer, const struct trace_record *record) {
    return map_get(&writer->kept_sites, site_of(record), 0) != 0;
}

/* Is this call one whose site ever reached a block device? Then every call there is disk I/O, those
 * without requests being cache hits; else it is a wait on something outside. */
static void write_io(struct writer *writer, size_t index, const struct trace_record *record) {
    if (lower_writes_sync(writer, index, record) || lower_later_write(writer, index, record))
        return;
    uint64_t end = trace_end_ns(record);
    uint32_t device = 0;
    size_t operations =
        disk_service_requests(writer->in->disks, writer->thread, record->start_ns, end, &device);
    int known = map_get(&writer->device_of_site, site_of(record), -1);
    struct step *step = writer_add_step(writer, NODE_IO, index, record->start_ns, end);
    step->time.cpu_ns = writer_cpu_of_wait(writer, record->start_ns, end);
    if (known < 0) {
        step->time.wait_ns = writer_blocked_inside(writer, record);
        return;
    }
    step->time.disk = objects_disk(writer, operations ? device : (uint32_t)known);
    step->time.operations = (double)operations;
    step->time.ahead =
        trace_is_page_fault(record)
            ? record->object > 0
            : disk_service_outlives(writer->in->disks, writer->thread, record->start_ns, end);
}

void lower_calls_timed(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    bool sleeps = info->op == OP_SLEEP || info->op == OP_TIMER;
    if ((!sleeps && !moves_data(info)) || !site_is_kept(writer, record))
        return;
    if (!sleeps) {
        write_io(writer, index, record);
        return;
    }
    uint64_t end = trace_end_ns(record);
    struct step *step = writer_add_step(writer, NODE_SLEEP, index, record->start_ns, end);
    step->time.wait_ns = writer_blocked_inside(writer, record);
    step->time.cpu_ns = writer_cpu_of_wait(writer, record->start_ns, end);
    step->time.by_clock = info->op == OP_TIMER;
    if (info->op == OP_TIMER && record->object > 0)
        step->time.wait_ns = (double)record->object;
}

/* ---- waits for what comes from outside ---- */

static bool takes_requests(const struct trace_thread *thread) {
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
        if (at.event->api == ROLE_get)
            return true;
    return false;
}

/* MODEL_NONE: nobody else takes requests. */
static int serving_pool(const struct writer *writer) {
    const struct thread_pools *pools = writer->in->pools;
    for (size_t p = 0; p < pools->n_pools; p++)
        for (size_t i = 0; i < pools->pools[p].n_threads; i++)
            if ((int)p != pools->pool_of[writer->thread] &&
                takes_requests(&writer->in->trace->threads[pools->pools[p].threads[i]]))
                return (int)p;
    return MODEL_NONE;
}

/* Does the thread not wait for those that serve next, nor for anything outside? What it does
 * before it has joined them would else be done at once, such as telling them to stop. */
static bool waits_last(const struct writer *writer, size_t index, int serving) {
    const struct trace *trace = writer->in->trace;
    const struct trace_thread *thread = &trace->threads[writer->thread];
    for (struct event_cursor at = event_cursor_from(thread, index + 1); event_cursor_next(&at);) {
        if (at.event->api == ROLE_idle || at.event->api == ROLE_get)
            return false;
        if (trace_op(at.event) != OP_JOIN)
            continue;
        size_t joined = trace_thread_by_index(trace, thread->pid, at.event->value);
        return joined < trace->n_threads && writer->in->pools->pool_of[joined] != serving;
    }
    return true;
}

void lower_calls_idle(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct outside_queues *outside = writer->in->outside;
    bool from_start = writer->in->trace->threads[writer->thread].creator < 0;
    int pool = from_start && outside && outside->n > 0 && trace_end_ns(record) >= outside->to_ns
                   ? serving_pool(writer)
                   : MODEL_NONE;
    if (pool != MODEL_NONE && waits_last(writer, index, pool))
        writer_add_step(writer, NODE_JOIN, index, record->start_ns, trace_end_ns(record))
            ->target_pool = pool;
}

/* ---- threads ---- */

/* The creation that stands for all, at `creation` in the list, has been found to be in a loop: what
 * has been written since then stands just before it as well. It moves before the loop, which then
 * may go round as often as it likes. */
static void move_before_loop(struct writer *writer, size_t creation) {
    struct step *steps = writer->list.items;
    if (creation >= writer->list.count || steps[creation].kind != NODE_CREATE)
        return; /* another thread's */
    size_t n = writer->list.count - creation - 1;
    if (n == 0 || n > creation)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct step *before = &steps[creation - n + i], *after = &steps[creation + 1 + i];
        if (before->kind != after->kind || before->context != after->context)
            return;
    }
    struct step moved = steps[creation];
    memmove(&steps[creation - n + 1], &steps[creation - n], n * sizeof *steps);
    moved.start_ns = moved.end_ns = steps[creation - n + 1].start_ns;
    moved.created = 0; /* each call lies in a round of the loop now */
    moved.calls_ns = 0;
    steps[creation - n] = moved;
}

static bool waits_for(const struct lower_input *in, size_t thread, int object) {
    const struct trace_thread *waiter = &in->trace->threads[thread];
    for (struct event_cursor at = event_cursor_of_thread(waiter); event_cursor_next(&at);) {
        enum api_op op = trace_op(at.event);
        if ((op == OP_WAIT || op == OP_TIMEDWAIT || op == OP_ACQUIRE || op == OP_TIMEDACQUIRE) &&
            sections_object(in->sections, at.event) == object)
            return true;
    }
    return false;
}

/* Do those who are joined later need what the joining thread gives after this first join? Often
 * each thread is told to end and joined before the next one is. */
static bool gives_between_joins(const struct writer *writer, size_t first, int pool) {
    const struct lower_input *in = writer->in;
    const struct trace_thread *joiner = &in->trace->threads[writer->thread];
    int joined = 0;
    bool gives = false, *asked = memory_alloc(in->sections->n_objects, sizeof *asked);
    struct event_cursor at = event_cursor_from(joiner, first);
    while (joined < in->pools->pools[pool].size && event_cursor_next(&at)) {
        enum api_op op = trace_op(at.event);
        if (op == OP_JOIN) {
            size_t other = trace_thread_by_index(in->trace, joiner->pid, at.event->value);
            joined += other < in->trace->n_threads && in->pools->pool_of[other] == pool;
        } else if (op == OP_SIGNAL || op == OP_BROADCAST || op == OP_RELEASE) {
            int object = sections_object(in->sections, at.event);
            bool known = object < 0 || asked[object];
            for (size_t t = 0; !known && !gives && t < in->trace->n_threads; t++)
                gives = in->pools->pool_of[t] == pool && waits_for(in, t, object);
            if (!known)
                asked[object] = true;
        }
    }
    free(asked);
    return gives && joined == in->pools->pools[pool].size;
}

/* What creating threads of a pool computes is not the step's, which is empty, but follows it.
 * Forking a team is something else: its threads are there already, and what waking them takes is
 * known. */
static void count_creation(const struct writer *writer, struct step *step,
                           const struct trace_record *record) {
    if (writer->in->pools->pools[step->target_pool].team)
        return;
    step->created++;
    step->calls_ns += writer_cpu_inside(writer, record->start_ns, trace_end_ns(record));
}

static void add_creation(struct writer *writer, size_t index, const struct trace_record *record,
                         int pool) {
    bool forks = writer->in->pools->pools[pool].team;
    struct step *step = writer_add_step(writer, NODE_CREATE, index, record->start_ns,
                                        forks ? trace_end_ns(record) : record->start_ns);
    step->target_pool = pool;
    count_creation(writer, step, record);
}

/* Of a thread for one task alone: it begins when the call has done its work. */
static void add_creation_for_task(struct writer *writer, size_t index,
                                  const struct trace_record *record, int pool) {
    uint64_t end_ns = trace_end_ns(record);
    writer_add_step(writer, NODE_CREATE, index, end_ns, end_ns)->target_pool = pool;
}

void lower_calls_of_threads(struct writer *writer, size_t index, const struct trace_record *record,
                            enum node_kind kind) {
    const struct trace *trace = writer->in->trace;
    size_t other = trace_thread_by_index(trace, trace->threads[writer->thread].pid, record->value);
    uint64_t end = trace_end_ns(record);
    if (other == trace->n_threads || record->flags & TRACE_FAILED)
        return;
    int pool = writer->in->pools->pool_of[other];
    int size = writer->in->pools->pools[pool].size;
    if (writer->in->pools->pools[pool].per_task) {
        if (kind == NODE_CREATE)
            add_creation_for_task(writer, index, record, pool);
        return;
    }
    int *count = kind == NODE_CREATE ? writer->created : writer->joined;
    int number = count[pool]++ % size;
    if (kind == NODE_JOIN && number == 0)
        writer->join_standing[pool] = gives_between_joins(writer, index, pool) ? size - 1 : 0;
    struct step *last = writer->list.count ? &writer->list.items[writer->list.count - 1] : NULL;
    bool again = last && last->kind == kind && step_target_pool(last) == pool;
    if (kind == NODE_CREATE && number == 0) {
        add_creation(writer, index, record, pool);
        writer->creation[pool] = writer->list.count - 1;
    } else if (kind == NODE_CREATE && again) {
        count_creation(writer, last, record);
    } else if (kind == NODE_CREATE && number == 1) {
        move_before_loop(writer, writer->creation[pool]);
    } else if (kind == NODE_JOIN && number == writer->join_standing[pool]) {
        writer_add_step(writer, kind, index, record->start_ns, end)->target_pool = pool;
    } else if (kind == NODE_JOIN && again) {
        last->end_ns = end;
    }
}
