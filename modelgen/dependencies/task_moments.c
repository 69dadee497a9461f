#include "modelgen/dependencies/task_moments.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/arrivals.h"
#include "modelgen/events/requests.h"

static void add(struct task_moments *moments, size_t thread, size_t record,
                enum task_moment_kind kind, uint32_t task) {
    *VECTOR_ADD(&moments->threads[thread]) =
        (struct task_moment){(uint32_t)record, (uint8_t)kind, task, DEPENDENCIES_NONE};
}

/* ---- requests ---- */

static const struct trace_record *call_of(const struct trace *trace, struct request_event event) {
    return &trace->threads[event.thread].records[event.number];
}

/* One that came over a connection whose thread still had another one is taken when that is done. */
static void add_request(struct task_moments *moments, const struct trace *trace,
                        const struct request *request, double came_ns) {
    uint32_t task = (uint32_t)moments->tasks.count;
    bool is_behind = !request_event_is_none(request->behind);
    struct request_event taken = is_behind ? request->behind : request->take;
    uint64_t end_ns = trace_end_ns(call_of(trace, request->end));
    uint64_t begin_ns = (uint64_t)(came_ns > 0 ? came_ns : 0);
    *VECTOR_ADD(&moments->tasks) =
        (struct dependency_task){.begin_ns = begin_ns < end_ns ? begin_ns : end_ns,
                                 .end_ns = end_ns,
                                 .taken = DEPENDENCIES_NONE,
                                 .end = DEPENDENCIES_NONE};
    add(moments, taken.thread, taken.number, TASK_TAKEN, task);
    add(moments, request->end.thread, request->end.number, TASK_ENDS, task);
}

/* One that accepts once, or answers a question now and then, is no server. */
enum { FEWEST_REQUESTS = 3 };

static void add_requests(struct task_moments *moments, const struct trace *trace) {
    struct requests requests = requests_find(trace);
    if (requests.all.count >= FEWEST_REQUESTS) {
        struct arrivals arrivals = arrivals_estimate(trace, &requests);
        moments->kind = "requests";
        for (size_t r = 0; r < requests.all.count; r++)
            add_request(moments, trace, &requests.all.items[r], arrivals.at_ns[r]);
        arrivals_free(&arrivals);
    }
    requests_free(&requests);
}

/* ---- marks ---- */

static void add_marks(struct task_moments *moments, const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            uint16_t api = trace->threads[t].records[r].api;
            if (api == ROLE_task_from || api == ROLE_task_until)
                add(moments, t, r, api == ROLE_task_from ? TASK_BEGINS : TASK_ENDS,
                    DEPENDENCIES_NONE);
        }
}

static bool has_moments(const struct task_moments *moments) {
    for (size_t t = 0; t < moments->n_threads; t++)
        if (moments->threads[t].count > 0)
            return true;
    return false;
}

static int compare_moments(const void *left, const void *right) {
    const struct task_moment *a = left, *b = right;
    if (a->record != b->record)
        return a->record < b->record ? -1 : 1;
    return a->kind - b->kind;
}

struct task_moments task_moments_of(const struct trace *trace) {
    struct task_moments moments = {.n_threads = trace->n_threads};
    moments.threads = memory_alloc(trace->n_threads, sizeof *moments.threads);
    add_marks(&moments, trace);
    if (has_moments(&moments))
        moments.kind = "marked tasks";
    else
        add_requests(&moments, trace);
    for (size_t t = 0; t < trace->n_threads; t++)
        VECTOR_SORT(&moments.threads[t], compare_moments);
    return moments;
}

void task_moments_reach(struct task_moments *moments, uint32_t thread, size_t record,
                        uint32_t step) {
    struct thread_task_moments *of = &moments->threads[thread];
    for (; of->next < of->count && of->items[of->next].record <= record; of->next++)
        of->items[of->next].step = step;
}

/* ---- which begin belongs to which end ---- */

struct pairing {
    struct task_moments *moments;
    const struct dependencies *all;
    size_t *next;      /* per thread: its mark that comes next */
    uint32_t *at_work; /* per thread: the task it works on; DEPENDENCIES_NONE */
    struct map handed; /* step that put an item -> 1 + the task that is in it */
    bool *puts;        /* per step: another one took what it put */
};

static void begin_task(struct pairing *pairing, uint32_t thread, uint32_t step) {
    uint64_t now_ns = pairing->all->steps[step].end_ns;
    pairing->at_work[thread] = (uint32_t)pairing->moments->tasks.count;
    *VECTOR_ADD(&pairing->moments->tasks) =
        (struct dependency_task){now_ns, 0, DEPENDENCIES_NONE, DEPENDENCIES_NONE};
}

static void end_task(struct pairing *pairing, uint32_t thread, uint32_t step) {
    uint32_t task = pairing->at_work[thread];
    pairing->at_work[thread] = DEPENDENCIES_NONE;
    if (task == DEPENDENCIES_NONE)
        return;
    struct dependency_task *is = &pairing->moments->tasks.items[task];
    if (is->end != DEPENDENCIES_NONE) /* another thread that had it was first */
        return;
    is->end = step;
    is->end_ns = pairing->all->steps[step].end_ns;
}

/* The marks that come about with this step of the thread, which may be several. */
static void pass_marks(struct pairing *pairing, uint32_t thread, uint32_t step) {
    const struct thread_task_moments *of = &pairing->moments->threads[thread];
    for (size_t *next = &pairing->next[thread]; *next < of->count && of->items[*next].step == step;
         ++*next)
        if (of->items[*next].kind == TASK_BEGINS)
            begin_task(pairing, thread, step);
        else
            end_task(pairing, thread, step);
}

static void pass_step(struct pairing *pairing, uint32_t index) {
    const struct dependency_step *step = &pairing->all->steps[index];
    uint32_t item = dependency_item(step);
    int brought = item != DEPENDENCIES_NONE ? map_get(&pairing->handed, item, 0) : 0;
    if (brought > 0) {
        uint32_t task = (uint32_t)brought - 1;
        struct dependency_task *is = &pairing->moments->tasks.items[task];
        pairing->at_work[step->thread] = task;
        if (is->taken == DEPENDENCIES_NONE)
            is->taken = index;
    }
    if (step->thread < pairing->moments->n_threads)
        pass_marks(pairing, step->thread, index);
    if (pairing->puts[index] && pairing->at_work[step->thread] != DEPENDENCIES_NONE)
        map_put(&pairing->handed, index, (int)pairing->at_work[step->thread] + 1);
}

static void pair_marks(struct task_moments *moments, const struct dependencies *all) {
    struct pairing pairing = {.moments = moments, .all = all, .handed = MAP_EMPTY};
    pairing.next = memory_alloc(moments->n_threads, sizeof *pairing.next);
    pairing.at_work = memory_alloc(all->n_threads, sizeof *pairing.at_work);
    pairing.puts = memory_alloc(all->n_steps, sizeof *pairing.puts);
    for (size_t t = 0; t < all->n_threads; t++)
        pairing.at_work[t] = DEPENDENCIES_NONE;
    for (size_t i = 0; i < all->n_steps; i++) {
        uint32_t item = dependency_item(&all->steps[i]);
        if (item != DEPENDENCIES_NONE)
            pairing.puts[item] = true;
    }
    for (uint32_t i = 0; i < all->n_steps; i++)
        pass_step(&pairing, i);
    map_free(&pairing.handed);
    free(pairing.next);
    free(pairing.at_work);
    free(pairing.puts);
}

/* ---- the whole ---- */

static void place_requests(struct task_moments *moments) {
    for (size_t t = 0; t < moments->n_threads; t++)
        for (size_t m = 0; m < moments->threads[t].next; m++) {
            const struct task_moment *moment = &moments->threads[t].items[m];
            struct dependency_task *task = &moments->tasks.items[moment->task];
            *(moment->kind == TASK_TAKEN ? &task->taken : &task->end) = moment->step;
        }
}

void task_moments_finish(struct task_moments *moments, struct dependencies *all) {
    if (moments->tasks.count > 0)
        place_requests(moments);
    else if (moments->kind)
        pair_marks(moments, all);
    size_t kept = 0;
    for (size_t i = 0; i < moments->tasks.count; i++)
        if (moments->tasks.items[i].end != DEPENDENCIES_NONE)
            moments->tasks.items[kept++] = moments->tasks.items[i];
    all->tasks = moments->tasks.items;
    all->n_tasks = kept;
    all->task_kind = kept > 0 ? memory_strdup(moments->kind) : NULL;
    for (size_t t = 0; t < moments->n_threads; t++)
        free(moments->threads[t].items);
    free(moments->threads);
}
