#include "modelgen/pools/teams.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/run/timeline.h"

/* Spinning in libgomp is worth a note from this share of all CPU time on. */
#define SPIN_NOTE 0.02
/* What a member burns after its part before it sleeps, when the trace does not say because there
 * was a core for each: libgomp spins a hundred times, at the team's barrier and where it waits for
 * the next region, and enters and leaves the kernel. */
#define USUAL_SLEEP_NS 10000.0
/* Members whose waits are on a core for less than this share sleep (OMP_WAIT_POLICY=passive, or
 * long pauses between regions). */
#define SPIN_SHARE 0.5
/* A shorter wait is over before a thread that would sleep is asleep. */
#define LONG_WAIT_NS (4 * USUAL_SLEEP_NS)
/* How many forks may lie between a region's fork and a member's entering it. */
#define MATCH_LIMIT 64

/* A member's part in an execution: records between entering and leaving, both excluded. */
struct part {
    size_t thread, enter, leave; /* enter, leave: records */
    bool inside;                 /* another part of the same thread */
};

struct part_list {
    struct part *items;
    size_t count, capacity;
};

struct execution {
    size_t thread, fork; /* record of the forking thread */
    size_t part;         /* its own */
    int team;            /* -1: stays part of the forking thread */
    struct part_list members;
};

struct execution_list {
    struct execution *items;
    size_t count, capacity;
};

/* Work that a team's members take from. */
struct supply {
    int team;
    double taken;
};

struct unfolder {
    const struct trace *from;
    struct trace *to;
    struct model *model;
    struct part_list parts;
    struct execution_list executions;
    struct {
        struct team *items;
        size_t count, capacity;
    } teams;
    double *forks; /* per team */
    struct map supply_of;
    struct {
        struct supply *items;
        size_t count, capacity;
    } supplies;
    bool *is_worker; /* per thread: libgomp's own */
    int *new_index;  /* per thread; -1: gone */
    int *team_of;
};

static const struct trace_record *record_at(const struct unfolder *unfolder, size_t thread,
                                            size_t record) {
    return &unfolder->from->threads[thread].records[record];
}

static bool is_fork(const struct trace_record *record) {
    return trace_op(record) == OP_FORK && !(record->flags & (TRACE_ENTERS | TRACE_LEAVES));
}

/* A member begins a task. */
static bool is_task(const struct trace_record *record) {
    return trace_op(record) == OP_TASK && record->flags & TRACE_ENTERS;
}

/* ---- who ran which part of what ---- */

static void add_part(struct unfolder *unfolder, struct part part, size_t fork) {
    if (fork != SIZE_MAX && !part.inside)
        *VECTOR_ADD(&unfolder->executions) = (struct execution){
            .thread = part.thread, .fork = fork, .part = unfolder->parts.count, .team = -1};
    *VECTOR_ADD(&unfolder->parts) = part;
}

static void find_parts_of(struct unfolder *unfolder, size_t t) {
    const struct trace_thread *thread = &unfolder->from->threads[t];
    /* Only libgomp's threads come into a region that they have not forked. */
    unfolder->is_worker[t] = thread->n_records > 0 && thread->records[0].flags & TRACE_ENTERS;
    size_t fork = SIZE_MAX, enter = 0;
    int depth = 0;
    bool nested = false;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        if (depth == 0 && is_fork(record))
            fork = r;
        if (record->flags & TRACE_ENTERS && !is_task(record)) {
            nested |= depth > 0 && record->value > 1;
            if (depth++ == 0)
                enter = r;
        }
        bool leaves = record->flags & TRACE_LEAVES && !(record->flags & TRACE_FAILED);
        if (leaves && depth > 0 && --depth == 0) {
            add_part(unfolder, (struct part){.thread = t, .enter = enter, .leave = r}, fork);
            fork = SIZE_MAX;
        }
    }
    if (nested)
        draft_note(unfolder->model, "parallel regions inside others: only the part of the member "
                                    "that forks them is modelled");
}

static int compare_executions(const void *a, const void *b) {
    const struct execution *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->fork > y->fork) - (x->fork < y->fork);
}

/* The execution that a part of another thread belongs to: the latest one of its region forked
 * before; NULL none. Executions of one thread are in the order of time. */
static struct execution *find_execution(struct unfolder *unfolder, const struct part *part) {
    const struct trace_record *enter = record_at(unfolder, part->thread, part->enter);
    struct execution *best = NULL;
    uint64_t best_ns = 0;
    for (size_t low = 0; low < unfolder->executions.count;) {
        struct execution *first = &unfolder->executions.items[low];
        size_t high = low; /* the executions of one thread: [low, high) */
        size_t begun = low;
        for (size_t step = unfolder->executions.count; step > 0; step /= 2)
            while (high + step <= unfolder->executions.count &&
                   unfolder->executions.items[high + step - 1].thread == first->thread)
                high += step;
        for (size_t step = high - low; step > 0; step /= 2)
            while (begun + step <= high &&
                   record_at(unfolder, first->thread,
                             unfolder->executions.items[begun + step - 1].fork)
                           ->start_ns <= enter->start_ns)
                begun += step;
        for (size_t tries = 0; begun > low && tries < MATCH_LIMIT; tries++) {
            struct execution *execution = &unfolder->executions.items[--begun];
            const struct part *own = &unfolder->parts.items[execution->part];
            const struct trace_record *fork =
                record_at(unfolder, execution->thread, execution->fork);
            if (record_at(unfolder, own->thread, own->enter)->object != enter->object)
                continue;
            if (!best || fork->start_ns > best_ns) {
                best = execution;
                best_ns = fork->start_ns;
            }
            break;
        }
        low = high;
    }
    return best;
}

static void find_members(struct unfolder *unfolder) {
    if (unfolder->executions.count)
        qsort(unfolder->executions.items, unfolder->executions.count,
              sizeof *unfolder->executions.items, compare_executions);
    bool *owned = memory_alloc(unfolder->parts.count, sizeof *owned);
    for (size_t e = 0; e < unfolder->executions.count; e++) {
        struct execution *execution = &unfolder->executions.items[e];
        owned[execution->part] = true;
        *VECTOR_ADD(&execution->members) = unfolder->parts.items[execution->part];
    }
    for (size_t p = 0; p < unfolder->parts.count; p++) {
        struct execution *execution =
            owned[p] ? NULL : find_execution(unfolder, &unfolder->parts.items[p]);
        if (!execution)
            continue;
        unfolder->is_worker[unfolder->parts.items[p].thread] = true;
        *VECTOR_ADD(&execution->members) = unfolder->parts.items[p];
    }
    free(owned);
}

/* ---- teams ---- */

static const char *function_of(const struct unfolder *unfolder, const struct trace_record *enter) {
    if (enter->context == TRACE_NO_CONTEXT)
        return "parallel region";
    return unfolder->from->contexts[enter->context].frames[0].function;
}

static int find_team(struct unfolder *unfolder, const char *function, int size) {
    for (size_t i = 0; i < unfolder->teams.count; i++)
        if (unfolder->teams.items[i].size == size &&
            strcmp(unfolder->teams.items[i].function, function) == 0)
            return (int)i;
    *VECTOR_ADD(&unfolder->teams) = (struct team){.function = function, .size = size};
    return (int)unfolder->teams.count - 1;
}

/* A region run by one thread where other executions have more (an if clause said no) is no team. */
static void find_teams(struct unfolder *unfolder) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t e = 0; e < unfolder->executions.count; e++) {
            struct execution *execution = &unfolder->executions.items[e];
            const struct part *own = &unfolder->parts.items[execution->part];
            const char *function =
                function_of(unfolder, record_at(unfolder, own->thread, own->enter));
            int size = (int)execution->members.count;
            bool larger = false;
            for (size_t i = 0; i < unfolder->teams.count; i++)
                larger |= unfolder->teams.items[i].size > 1 &&
                          strcmp(unfolder->teams.items[i].function, function) == 0;
            if (unfolder->is_worker[execution->thread] || (size == 1 && (pass == 0 || larger)) ||
                (size > 1 && pass == 1))
                continue;
            execution->team = find_team(unfolder, function, size);
            if (record_at(unfolder, execution->thread, execution->fork)->value == 0)
                unfolder->teams.items[execution->team].is_default = true;
        }
    unfolder->forks = memory_alloc(unfolder->teams.count, sizeof *unfolder->forks);
    for (size_t e = 0; e < unfolder->executions.count; e++)
        if (unfolder->executions.items[e].team >= 0)
            unfolder->forks[unfolder->executions.items[e].team]++;
}

/* ---- new threads ---- */

static struct trace_thread *new_thread(struct unfolder *unfolder, int team) {
    struct trace *to = unfolder->to;
    to->threads = memory_resize(to->threads, to->n_threads + 1, sizeof *to->threads);
    unfolder->team_of =
        memory_resize(unfolder->team_of, to->n_threads + 1, sizeof *unfolder->team_of);
    unfolder->team_of[to->n_threads] = team;
    struct trace_thread *thread = &to->threads[to->n_threads];
    *thread = (struct trace_thread){.index = (int)to->n_threads, .creator = -1};
    to->n_threads++;
    return thread;
}

/* The context of a call inside the region that was entered at context `entered`. The chain of calls
 * ends with the region's function: what lies outside of it differs between the thread that forked
 * and libgomp's. A last call that is a jump shows a chain without that function: it is made by the
 * region itself. */
static uint32_t cut_context(struct unfolder *unfolder, uint32_t context, uint32_t entered,
                            const char *function) {
    if (context == TRACE_NO_CONTEXT)
        return context;
    struct trace_context *calls = &unfolder->to->contexts[context];
    for (size_t f = calls->n_frames; f-- > 0;)
        if (strcmp(calls->frames[f].function, function) == 0) {
            calls->n_frames = f + 1;
            return context;
        }
    return entered;
}

/* Number of the supply that members of the team come to at this place. Members have contexts of
 * their own for it: where they were called from is cut off, so equal frames are one place. */
static int find_supply(struct unfolder *unfolder, int team, uint32_t context, bool of_tasks) {
    uint64_t key = map_mix(of_tasks ? 31 : 29, (uint64_t)team);
    const struct trace_context *calls =
        context == TRACE_NO_CONTEXT ? NULL : &unfolder->to->contexts[context];
    for (size_t f = 0; calls && f < calls->n_frames; f++)
        key = map_mix(map_mix_text(key, calls->frames[f].function), calls->frames[f].offset);
    int supply = map_get(&unfolder->supply_of, key, -1);
    if (supply < 0) {
        supply = (int)unfolder->supplies.count;
        map_put(&unfolder->supply_of, key, supply);
        *VECTOR_ADD(&unfolder->supplies) = (struct supply){.team = team};
    }
    return supply;
}

static void note_unfollowed(struct unfolder *unfolder, const struct trace_record *record,
                            const char *function) {
    enum api_op op = trace_op(record);
    if (op == OP_TASK)
        draft_note(unfolder->model,
                   "%s: its OpenMP tasks are modelled as if all were there when the region begins; "
                   "what they wait for is not followed",
                   function);
    if (op == OP_ORDERED)
        draft_note(unfolder->model, "%s: the order of its ordered or copied parts is not modelled",
                   function);
}

/* The member takes a task, or finds none left. */
static void add_task(struct unfolder *unfolder, const struct part *part, int team, uint64_t time_ns,
                     bool found, struct trace_thread *to) {
    uint32_t entered = record_at(unfolder, part->thread, part->enter)->context;
    int supply = find_supply(unfolder, team, entered, true);
    unfolder->supplies.items[supply].taken += found;
    to->records[to->n_records++] = (struct trace_record){.start_ns = time_ns,
                                                         .api = API_GOMP_loop_dynamic_next,
                                                         .object = (uint64_t)supply,
                                                         .flags = found ? 0 : TRACE_FAILED,
                                                         .context = entered,
                                                         .value = found};
}

/* The member's records, its waits and takes as what the whole team shares. */
static void copy_part(struct unfolder *unfolder, const struct part *part, int team_index,
                      struct trace_thread *to) {
    const struct trace_thread *from = &unfolder->from->threads[part->thread];
    struct team *team = &unfolder->teams.items[team_index];
    int supply = -1;
    uint32_t met = TRACE_NO_CONTEXT; /* where the supply was come to */
    to->records = memory_alloc(2 * (part->leave - part->enter), sizeof *to->records);
    for (size_t r = part->enter + 1; r < part->leave; r++) {
        struct trace_record record = from->records[r];
        enum api_op op = api_catalog[record.api].op;
        record.context = cut_context(unfolder, record.context, from->records[part->enter].context,
                                     team->function);
        note_unfollowed(unfolder, &record, team->function);
        team->splits |= op == OP_WHO || op == OP_FIRST_SPLIT || op == OP_TAKE_SPLIT;
        bool is_wait = (op == OP_BARRIER && api_is_openmp(record.api)) || op == OP_TASKWAIT;
        if (is_task(&record))
            add_task(unfolder, part, team_index, record.start_ns, true, to);
        if (is_wait && team->has_tasks && is_task(&from->records[r + 1]))
            continue; /* the wait goes on after that task */
        if (is_wait && team->has_tasks)
            add_task(unfolder, part, team_index, record.start_ns, false, to);
        if (op == OP_FORK || op == OP_WHO || op == OP_FIRST_SPLIT || op == OP_TAKE_SPLIT ||
            op == OP_TASK || op == OP_CREATE)
            continue;
        if (op == OP_BARRIER && api_is_openmp(record.api))
            record.object = (uint64_t)team_index + 1;
        if (op == OP_FIRST_TAKE || op == OP_TAKE) {
            if (op == OP_FIRST_TAKE || supply < 0) {
                met = op == OP_FIRST_TAKE ? record.context : from->records[part->enter].context;
                supply = find_supply(unfolder, team_index, met, false);
            }
            unfolder->supplies.items[supply].taken += record.value != 0;
            record.object = (uint64_t)supply;
            record.context = met; /* an item costs the same whether it is a member's first or not */
            record.flags = record.value ? 0 : TRACE_FAILED;
        }
        to->records[to->n_records++] = record;
    }
    if (team->has_tasks)
        add_task(unfolder, part, team_index, from->records[part->leave].start_ns, false, to);
}

static void make_member(struct unfolder *unfolder, const struct execution *execution,
                        const struct part *part) {
    const struct trace_thread *from = &unfolder->from->threads[part->thread];
    struct trace_thread *to = new_thread(unfolder, execution->team);
    to->pid = from->pid;
    to->tid = from->tid;
    to->creator = unfolder->new_index[execution->thread];
    to->creation_context = record_at(unfolder, execution->thread, execution->fork)->context;
    to->start_routine = (char *)unfolder->teams.items[execution->team].function;
    to->start_ns = from->records[part->enter].start_ns;
    to->end_ns = from->records[part->leave].start_ns;
    to->end_seen = true;
    timeline_copy_slices(from, to->start_ns, to->end_ns, to);
    copy_part(unfolder, part, execution->team, to);
}

/* ---- the threads that fork ---- */

static struct trace_record *add_record(struct trace_thread *to, enum api api,
                                       const struct trace_record *like) {
    struct trace_record *record = &to->records[to->n_records++];
    *record = *like;
    record->api = api;
    record->flags = 0;
    record->duration_ns = 0;
    return record;
}

/* In place of the region: hand out the supplies, create the members, join them. */
static void write_region(struct unfolder *unfolder, const struct execution *execution,
                         size_t first_member, struct trace_thread *to) {
    const struct part *own = &unfolder->parts.items[execution->part];
    const struct trace_record *fork = record_at(unfolder, execution->thread, execution->fork);
    const struct trace_record *enter = record_at(unfolder, own->thread, own->enter);
    const struct trace_record *leave = record_at(unfolder, own->thread, own->leave);
    for (size_t s = 0; s < unfolder->supplies.count; s++) {
        const struct supply *supply = &unfolder->supplies.items[s];
        if (supply->team != execution->team)
            continue;
        struct trace_record *record = add_record(to, fork->api, fork);
        record->object = s;
        record->value = (int32_t)(supply->taken / unfolder->forks[supply->team] + 0.5);
    }
    for (size_t m = 0; m < execution->members.count; m++) {
        struct trace_record *record = add_record(to, API_pthread_create, fork);
        record->value = (int32_t)(first_member + m);
        record->duration_ns = m == 0 ? enter->start_ns - fork->start_ns : 0;
    }
    for (size_t m = 0; m < execution->members.count; m++) {
        struct trace_record *record = add_record(to, API_pthread_join, fork);
        record->value = (int32_t)(first_member + m);
        record->start_ns = m == 0 ? enter->start_ns : trace_end_ns(leave);
        record->duration_ns = m == 0 ? trace_end_ns(leave) - enter->start_ns : 0;
        record->flags = TRACE_WAITED;
    }
}

/* Copies the thread without what it did as a member of teams. `members[e]`: index of the first
 * member of execution number e. */
static void copy_thread(struct unfolder *unfolder, size_t t, const size_t *members) {
    const struct trace_thread *from = &unfolder->from->threads[t];
    struct trace_thread *to = &unfolder->to->threads[unfolder->new_index[t]];
    size_t n_records = from->n_records;
    for (size_t e = 0; e < unfolder->executions.count; e++)
        if (unfolder->executions.items[e].thread == t)
            n_records += 2 * unfolder->executions.items[e].members.count + unfolder->supplies.count;
    struct trace_thread copy = *from;
    copy.index = unfolder->new_index[t];
    copy.creator = from->creator >= 0 ? unfolder->new_index[from->creator] : -1;
    copy.records = memory_alloc(n_records, sizeof *copy.records);
    copy.slices = NULL;
    copy.n_records = copy.n_slices = 0;
    uint64_t done_ns = 0;
    size_t r = 0;
    for (size_t e = 0; e < unfolder->executions.count; e++) {
        const struct execution *execution = &unfolder->executions.items[e];
        if (execution->thread != t || execution->team < 0)
            continue;
        const struct part *own = &unfolder->parts.items[execution->part];
        for (; r < execution->fork; r++)
            copy.records[copy.n_records++] = from->records[r];
        write_region(unfolder, execution, members[e], &copy);
        timeline_copy_slices(from, done_ns, from->records[own->enter].start_ns, &copy);
        done_ns = from->records[own->leave].start_ns;
        r = own->leave + 1;
    }
    for (; r < from->n_records; r++)
        copy.records[copy.n_records++] = from->records[r];
    timeline_copy_slices(from, done_ns, UINT64_MAX, &copy);
    *to = copy;
}

/* Threads are numbered anew; regions that stayed with the one thread leave no trace. */
static void clean_records(struct unfolder *unfolder, struct trace_thread *thread) {
    size_t kept = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        struct trace_record record = thread->records[r];
        const struct api_info *info = &api_catalog[record.api];
        bool was_there = info->op == OP_CREATE || info->op == OP_JOIN || info->op == OP_TRYJOIN;
        bool is_ours = record.value >= (int32_t)unfolder->from->n_threads;
        bool is_lock = info->op == OP_LOCK || info->op == OP_UNLOCK;
        bool is_supply = is_fork(&record) && record.object < unfolder->supplies.count;
        if (api_is_openmp(record.api) && !is_lock && !is_supply)
            continue;
        if (was_there && !is_ours && record.value >= 0) {
            record.value = unfolder->new_index[record.value];
            if (record.value < 0)
                continue;
        } else if (was_there && is_ours) {
            record.value -= (int32_t)unfolder->from->n_threads;
        }
        thread->records[kept++] = record;
    }
    thread->n_records = kept;
}

/* How the members of a team waited. */
struct waits {
    double members, wait_ns, cpu_ns;
    double long_waits, spun; /* waits long enough to sleep in; of these, on a core for the most */
};

static void add_wait(struct waits *waits, double wait_ns, double cpu_ns) {
    bool is_long = wait_ns >= LONG_WAIT_NS;
    waits->members++;
    waits->wait_ns += wait_ns;
    waits->cpu_ns += cpu_ns;
    waits->long_waits += is_long;
    waits->spun += is_long && cpu_ns >= SPIN_SHARE * wait_ns;
}

/* By the time, as a few long sleeps outweigh many short waits awake; and by the number of waits, as
 * a sleeper whose core the host takes away for milliseconds seems to compute all of them. */
static bool is_spinning(const struct waits *waits) {
    return waits->cpu_ns >= SPIN_SHARE * waits->wait_ns && 2 * waits->spun >= waits->long_waits;
}

/* How the members wait until they enter the next region, or the forking thread goes on. */
static void measure_waits(struct unfolder *unfolder) {
    const struct trace *from = unfolder->from;
    struct timeline *timelines = memory_alloc(from->n_threads, sizeof *timelines);
    struct waits *of = memory_alloc(unfolder->teams.count, sizeof *of);
    for (size_t t = 0; t < from->n_threads; t++)
        timelines[t] = timeline_make(&from->threads[t]);
    for (size_t e = 0; e < unfolder->executions.count; e++) {
        const struct execution *execution = &unfolder->executions.items[e];
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++) {
            const struct part *part = &execution->members.items[m];
            const struct trace_record *leave = record_at(unfolder, part->thread, part->leave);
            const struct timeline *timeline = &timelines[part->thread];
            add_wait(&of[execution->team], (double)leave->duration_ns,
                     timeline_cpu(timeline, trace_end_ns(leave)) -
                         timeline_cpu(timeline, leave->start_ns));
        }
    }
    double awake_ns = 0;
    for (size_t i = 0; i < unfolder->teams.count; i++)
        awake_ns += of[i].cpu_ns;
    bool may_spin = awake_ns > timeline_stolen(from); /* else the host may have taken all of it */
    for (size_t i = 0; i < unfolder->teams.count; i++) {
        struct team *team = &unfolder->teams.items[i];
        bool is_told = from->meta.has_slices && of[i].members > 0;
        bool is_larger = team->size > from->meta.cores;
        team->sleep_cpu_ns = is_told && is_larger ? of[i].cpu_ns / of[i].members : USUAL_SLEEP_NS;
        team->spins = !is_told || is_larger || (may_spin && is_spinning(&of[i]));
    }
    for (size_t t = 0; t < from->n_threads; t++)
        timeline_free(&timelines[t]);
    free(timelines);
    free(of);
}

static void note_spinning(struct unfolder *unfolder) {
    double before_ns = timeline_on_core(unfolder->from), after_ns = timeline_on_core(unfolder->to);
    if (before_ns - after_ns > SPIN_NOTE * before_ns)
        draft_note(unfolder->model,
                   "libgomp's threads spun for %.0f %% of the CPU time while they waited for work "
                   "or for each other (OMP_WAIT_POLICY): left out of the model",
                   100 * (before_ns - after_ns) / before_ns);
}

static void find_tasks(struct unfolder *unfolder) {
    for (size_t e = 0; e < unfolder->executions.count; e++) {
        const struct execution *execution = &unfolder->executions.items[e];
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++) {
            const struct part *part = &execution->members.items[m];
            for (size_t r = part->enter; r < part->leave; r++)
                unfolder->teams.items[execution->team].has_tasks |=
                    is_task(record_at(unfolder, part->thread, r));
        }
    }
}

static void unfold(struct unfolder *unfolder) {
    find_tasks(unfolder);
    const struct trace *from = unfolder->from;
    struct trace *to = unfolder->to;
    for (size_t t = 0; t < from->n_threads; t++)
        if (!unfolder->is_worker[t])
            unfolder->new_index[t] = new_thread(unfolder, -1)->index;
    size_t *members = memory_alloc(unfolder->executions.count, sizeof *members);
    for (size_t e = 0; e < unfolder->executions.count; e++) {
        const struct execution *execution = &unfolder->executions.items[e];
        members[e] = to->n_threads + from->n_threads; /* told apart from the old numbers */
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++)
            make_member(unfolder, execution, &execution->members.items[m]);
    }
    for (size_t t = 0; t < from->n_threads; t++)
        if (!unfolder->is_worker[t]) {
            copy_thread(unfolder, t, members);
            clean_records(unfolder, &to->threads[unfolder->new_index[t]]);
        }
    free(members);
    note_spinning(unfolder);
}

struct teams teams_unfold(const struct trace *trace, struct model *model) {
    struct unfolder unfolder = {.from = trace,
                                .model = model,
                                .supply_of = MAP_EMPTY,
                                .is_worker = memory_alloc(trace->n_threads, sizeof(bool)),
                                .new_index = memory_alloc(trace->n_threads, sizeof(int))};
    struct teams teams = {.trace = trace};
    for (size_t t = 0; t < trace->n_threads; t++) {
        unfolder.new_index[t] = -1;
        find_parts_of(&unfolder, t);
    }
    if (unfolder.executions.count > 0) {
        find_members(&unfolder);
        find_teams(&unfolder);
        measure_waits(&unfolder);
        struct trace *made = memory_alloc(1, sizeof *made);
        *made = *trace;
        made->threads = NULL;
        made->n_threads = 0;
        made->contexts = memory_alloc(trace->n_contexts, sizeof *made->contexts);
        memcpy(made->contexts, trace->contexts, trace->n_contexts * sizeof *made->contexts);
        unfolder.to = made;
        unfold(&unfolder);
        teams.trace = teams.made = made;
        teams.team_of = unfolder.team_of;
    } else {
        teams.team_of = memory_alloc(trace->n_threads, sizeof(int));
        for (size_t t = 0; t < trace->n_threads; t++)
            teams.team_of[t] = -1;
    }
    teams.teams = unfolder.teams.items;
    teams.n_teams = unfolder.teams.count;
    for (size_t e = 0; e < unfolder.executions.count; e++)
        free(unfolder.executions.items[e].members.items);
    free(unfolder.executions.items);
    free(unfolder.parts.items);
    free(unfolder.supplies.items);
    map_free(&unfolder.supply_of);
    free(unfolder.forks);
    free(unfolder.is_worker);
    free(unfolder.new_index);
    return teams;
}

const struct team *teams_of(const struct teams *teams, size_t thread) {
    return thread < teams->trace->n_threads && teams->team_of[thread] >= 0
               ? &teams->teams[teams->team_of[thread]]
               : NULL;
}

void teams_free(struct teams *teams) {
    for (size_t t = 0; teams->made && t < teams->made->n_threads; t++) {
        free(teams->made->threads[t].records);
        free(teams->made->threads[t].slices);
    }
    if (teams->made) {
        free(teams->made->threads);
        free(teams->made->contexts);
    }
    free(teams->made);
    free(teams->team_of);
    free(teams->teams);
}
