#include "modelgen/rewrite/openmp_teams.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/rewrite/openmp_regions.h"

/* Spinning in libgomp is worth a note from this share of all CPU time on. */
#define SPIN_NOTE 0.02
/* What a member burns after its part before it sleeps, when the trace does not say because there
 * was a core for each: libgomp spins a hundred times, at the team's barrier and where it waits for
 * the next region, and enters and leaves the kernel. */
#define USUAL_SLEEP_NS 10000.0
/* A shorter wait is over before a thread that would sleep is asleep. */
#define LONG_WAIT_NS (4 * USUAL_SLEEP_NS)
/* A guided loop hands out parts that become smaller and smaller, so that all members are ready at
 * the same time. To us it is a supply of so many small pieces of equal CPU time. */
#define GUIDED_PIECES 200

/* Work that a team's members take from. */
struct supply {
    int team;
    double taken;
    double guided_ns; /* of a guided loop: CPU of all members in all executions; else 0 */
};

/* What is left of the pieces of a guided loop that a member is in. */
struct guided {
    int supply;  /* -1: it is in none */
    size_t last; /* record */
    uint32_t context;
    uint64_t from_ns, to_ns; /* between these it takes */
    double cpu_ns;           /* of the member there */
    int n, next;
};

struct unfolder {
    struct event_log *log;
    struct {
        struct made_thread *items;
        size_t count, capacity;
    } made;                         /* the threads that will be shown, ... */
    struct trace_context *contexts; /* ... and where they make their calls */
    struct model *model;
    struct regions regions; /* of the recorded trace */
    struct map supply_of;
    struct {
        struct supply *items;
        size_t count, capacity;
    } supplies;
    struct thread_states *timelines; /* of the recorded trace */
    int *new_index;                  /* per thread; -1: gone */
    int *team_of;                    /* per new thread */
};

/* ---- new threads ---- */

static struct made_thread *new_thread(struct unfolder *unfolder, int team,
                                      struct thread_origin origin) {
    int index = (int)unfolder->made.count;
    struct made_thread *made = VECTOR_ADD(&unfolder->made);
    *made = (struct made_thread){.thread = {.index = index, .creator = -1}, .origin = origin};
    unfolder->team_of =
        memory_resize(unfolder->team_of, unfolder->made.count, sizeof *unfolder->team_of);
    unfolder->team_of[index] = team;
    return made;
}

/* The context of a call inside the region that was entered at context `entered`. The chain of calls
 * ends with the region's function: what lies outside of it differs between the thread that forked
 * and libgomp's. A last call that is a jump shows a chain without that function: it is made by the
 * region itself. */
static uint32_t cut_context(struct unfolder *unfolder, uint32_t context, uint32_t entered,
                            const char *function) {
    if (context == TRACE_NO_CONTEXT)
        return context;
    struct trace_context *calls = &unfolder->contexts[context];
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
        context == TRACE_NO_CONTEXT ? NULL : &unfolder->contexts[context];
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

/* Iterations look for those that they depend on until these are done: for as long as the threads
 * that do them take, or have to wait for a core. */
static void note_dependent_iterations(struct model *model, const char *function) {
    if (model->unpredicted)
        return;
    model->unpredicted =
        memory_format("%s: its iterations wait for others that they depend on (ordered, depend) by "
                      "looking again and again: how long with other threads or cores is not known",
                      function);
    notes_add(model, "%s", model->unpredicted);
}

static void note_unfollowed(struct unfolder *unfolder, const struct trace_record *record,
                            const char *function) {
    enum api_op op = trace_op(record);
    if (op == OP_TASK)
        notes_add(unfolder->model,
                  "%s: its OpenMP tasks are modelled as if all were there when the region begins; "
                  "what they wait for is not followed",
                  function);
    if (record->api == API_GOMP_doacross_post || record->api == API_GOMP_doacross_ull_post)
        note_dependent_iterations(unfolder->model, function);
    else if (op == OP_ORDERED)
        notes_add(unfolder->model, "%s: the order of its ordered or copied parts is not modelled",
                  function);
}

static void add_take(struct unfolder *unfolder, int supply, uint32_t context, uint64_t time_ns,
                     bool found, struct event_list *to) {
    unfolder->supplies.items[supply].taken += found;
    event_list_insert(to, unfolder->log,
                      (struct trace_record){.start_ns = time_ns,
                                            .api = API_GOMP_loop_dynamic_next,
                                            .object = (uint64_t)supply,
                                            .flags = found ? 0 : TRACE_FAILED,
                                            .context = context,
                                            .value = found});
}

/* The member takes a task, or finds none left. */
static void add_task(struct unfolder *unfolder, const struct member_interval *part, int team,
                     uint64_t time_ns, bool found, struct event_list *to) {
    uint32_t entered = regions_record(&unfolder->regions, part->thread, part->enter)->context;
    int supply = find_supply(unfolder, team, entered, true);
    add_take(unfolder, supply, entered, time_ns, found, to);
}

/* ---- guided loops ---- */

/* Does the member come to a guided loop? Where the compiler made one of the region and the loop, it
 * begins to take without further notice. `last`: record with which the loop before ended. */
static bool begins_guided(const struct trace_record *record, size_t r, size_t last) {
    enum api_op op = trace_op(record);
    return op == OP_FIRST_GUIDED || (op == OP_TAKE_GUIDED && r > last);
}

/* Record with which the member has done with the guided loop that it comes to at record `first`. */
static size_t guided_end(const struct unfolder *unfolder, const struct member_interval *part,
                         size_t first) {
    size_t r = first;
    for (; r < part->leave; r++) {
        const struct trace_record *record = regions_record(&unfolder->regions, part->thread, r);
        enum api_op op = trace_op(record);
        bool is_ours = op == OP_TAKE_GUIDED || r == first;
        if ((is_ours && record->value == 0) || (op == OP_FIRST_GUIDED && r > first))
            break;
    }
    return r;
}

static double cpu_between(const struct unfolder *unfolder, size_t thread, uint64_t from_ns,
                          uint64_t to_ns) {
    const struct thread_states *timeline = &unfolder->timelines[thread];
    return thread_states_cpu(timeline, to_ns) - thread_states_cpu(timeline, from_ns);
}

/* The guided loop that the member comes to at record `first`, not divided yet. */
static struct guided find_guided(struct unfolder *unfolder, const struct member_interval *part,
                                 int team, size_t first) {
    const struct trace_record *record = regions_record(&unfolder->regions, part->thread, first);
    uint32_t entered = regions_record(&unfolder->regions, part->thread, part->enter)->context;
    struct guided guided = {.last = guided_end(unfolder, part, first),
                            .context = cut_context(unfolder, record->context, entered,
                                                   unfolder->regions.teams.items[team].function),
                            .from_ns = record->start_ns};
    guided.supply = find_supply(unfolder, team, guided.context, false);
    guided.to_ns = regions_record(&unfolder->regions, part->thread, guided.last)->start_ns;
    guided.cpu_ns = cpu_between(unfolder, part->thread, guided.from_ns, guided.to_ns);
    return guided;
}

static void measure_guided(struct unfolder *unfolder, const struct member_interval *part,
                           int team) {
    size_t last = part->enter;
    for (size_t r = part->enter + 1; r < part->leave; r++) {
        if (!begins_guided(regions_record(&unfolder->regions, part->thread, r), r, last))
            continue;
        struct guided guided = find_guided(unfolder, part, team, r);
        unfolder->supplies.items[guided.supply].guided_ns += guided.cpu_ns;
        last = guided.last;
    }
}

static int count_pieces(const struct unfolder *unfolder, const struct guided *guided, int team) {
    double all_ns = unfolder->supplies.items[guided->supply].guided_ns;
    double piece_ns = all_ns / unfolder->regions.forks[team] / GUIDED_PIECES;
    return piece_ns > 0 ? (int)(guided->cpu_ns / piece_ns + 0.5) : 0;
}

/* When the member takes the next piece: after equal CPU times. */
static uint64_t next_piece_ns(const struct unfolder *unfolder, const struct guided *guided,
                              size_t thread) {
    double wanted_ns = guided->cpu_ns * guided->next / guided->n;
    uint64_t low = guided->from_ns, high = guided->to_ns;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (cpu_between(unfolder, thread, guided->from_ns, middle) < wanted_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes the pieces that are due before `until_ns`, and finds none left where the loop ends there.
 */
static void take_pieces(struct unfolder *unfolder, struct guided *guided, size_t thread,
                        uint64_t until_ns, struct event_list *to) {
    if (guided->supply < 0)
        return;
    for (; guided->next < guided->n; guided->next++) {
        uint64_t time_ns = next_piece_ns(unfolder, guided, thread);
        if (time_ns > until_ns)
            return;
        add_take(unfolder, guided->supply, guided->context, time_ns, true, to);
    }
    if (until_ns < guided->to_ns)
        return;
    add_take(unfolder, guided->supply, guided->context, guided->to_ns, false, to);
    guided->supply = -1;
}

/* The member's records, its waits and takes as what the whole team shares. */
static void copy_part(struct unfolder *unfolder, const struct member_interval *part, int team_index,
                      struct event_list *to) {
    const struct trace_thread *from = &unfolder->regions.trace->threads[part->thread];
    struct team *team = &unfolder->regions.teams.items[team_index];
    int supply = -1, held = 0;
    uint32_t met = TRACE_NO_CONTEXT; /* where the supply was come to */
    struct guided guided = {.supply = -1, .last = part->enter};
    for (size_t r = part->enter + 1; r < part->leave; r++) {
        struct trace_record record = from->records[r];
        enum api_op op = api_catalog[record.api].op;
        if (held == 0)
            take_pieces(unfolder, &guided, part->thread, record.start_ns, to);
        record.context = cut_context(unfolder, record.context, from->records[part->enter].context,
                                     team->function);
        note_unfollowed(unfolder, &record, team->function);
        team->splits |= op == OP_WHO || op == OP_FIRST_SPLIT || op == OP_TAKE_SPLIT;
        bool is_wait = (op == OP_BARRIER && api_is_openmp(record.api)) || op == OP_TASKWAIT;
        if (regions_is_task(&record))
            add_task(unfolder, part, team_index, record.start_ns, true, to);
        if (is_wait && team->has_tasks && regions_is_task(&from->records[r + 1]))
            continue; /* the wait goes on after that task */
        /* Who waits for certain tasks finds these done; there may be others, and it may be in a
         * task itself: what it does next belongs to what it took before. */
        if (is_wait && team->has_tasks && op != OP_TASKWAIT)
            add_task(unfolder, part, team_index, record.start_ns, false, to);
        if (begins_guided(&record, r, guided.last)) {
            take_pieces(unfolder, &guided, part->thread, UINT64_MAX, to);
            guided = find_guided(unfolder, part, team_index, r);
            guided.n = count_pieces(unfolder, &guided, team_index);
        }
        held += (op == OP_LOCK) - (op == OP_UNLOCK);
        if (op == OP_FORK || op == OP_WHO || op == OP_FIRST_SPLIT || op == OP_TAKE_SPLIT ||
            op == OP_FIRST_GUIDED || op == OP_TAKE_GUIDED || op == OP_TASK || op == OP_CREATE)
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
        event_list_keep(to, unfolder->log, part->thread, r, &record);
    }
    take_pieces(unfolder, &guided, part->thread, UINT64_MAX, to);
    if (team->has_tasks)
        add_task(unfolder, part, team_index, from->records[part->leave].start_ns, false, to);
}

static void make_member(struct unfolder *unfolder, const struct execution *execution,
                        const struct member_interval *part) {
    const struct trace_thread *from = &unfolder->regions.trace->threads[part->thread];
    int creator = unfolder->new_index[execution->thread];
    struct thread_origin origin = {(int)part->thread,
                                   part->thread == execution->thread ? creator : -1};
    struct made_thread *made = new_thread(unfolder, execution->team, origin);
    struct trace_thread *to = &made->thread;
    to->pid = from->pid;
    to->tid = from->tid;
    to->creator = creator;
    to->creation_context =
        regions_record(&unfolder->regions, execution->thread, execution->fork)->context;
    to->start_routine = (char *)unfolder->regions.teams.items[execution->team].function;
    to->start_ns = from->records[part->enter].start_ns;
    to->end_ns = from->records[part->leave].start_ns;
    to->end_seen = true;
    thread_states_copy_slices(from, to->start_ns, to->end_ns, to);
    copy_part(unfolder, part, execution->team, &made->events);
}

/* ---- the threads that fork ---- */

/* A call like another one, which does not wait. */
static struct trace_record call_like(enum api api, const struct trace_record *like) {
    struct trace_record record = *like;
    record.api = api;
    record.flags = 0;
    record.duration_ns = 0;
    return record;
}

/* In place of the region: hand out the supplies, create the members, join them. */
static void write_region(struct unfolder *unfolder, const struct execution *execution,
                         size_t first_member, struct event_list *to) {
    const struct member_interval *own = &unfolder->regions.intervals.items[execution->part];
    const struct trace_record *fork =
        regions_record(&unfolder->regions, execution->thread, execution->fork);
    const struct trace_record *enter = regions_record(&unfolder->regions, own->thread, own->enter);
    const struct trace_record *leave = regions_record(&unfolder->regions, own->thread, own->leave);
    for (size_t s = 0; s < unfolder->supplies.count; s++) {
        const struct supply *supply = &unfolder->supplies.items[s];
        if (supply->team != execution->team)
            continue;
        struct trace_record record = call_like(fork->api, fork);
        record.object = s;
        record.value = (int32_t)(supply->taken / unfolder->regions.forks[supply->team] + 0.5);
        event_list_insert(to, unfolder->log, record);
    }
    for (size_t m = 0; m < execution->members.count; m++) {
        struct trace_record record = call_like(API_pthread_create, fork);
        record.value = (int32_t)(first_member + m);
        record.duration_ns = m == 0 ? enter->start_ns - fork->start_ns : 0;
        event_list_insert(to, unfolder->log, record);
    }
    for (size_t m = 0; m < execution->members.count; m++) {
        struct trace_record record = call_like(API_pthread_join, fork);
        record.value = (int32_t)(first_member + m);
        record.start_ns = m == 0 ? enter->start_ns : trace_end_ns(leave);
        record.duration_ns = m == 0 ? trace_end_ns(leave) - enter->start_ns : 0;
        record.flags = TRACE_WAITED;
        event_list_insert(to, unfolder->log, record);
    }
}

/* The thread's own event: threads are numbered anew, and regions that stayed with the one thread
 * leave no trace. */
static void keep_own(struct unfolder *unfolder, size_t thread, size_t number,
                     struct event_list *to) {
    struct trace_record record = *regions_record(&unfolder->regions, thread, number);
    enum api_op op = trace_op(&record);
    if (api_is_openmp(record.api) && op != OP_LOCK && op != OP_UNLOCK)
        return;
    bool is_about_thread = op == OP_CREATE || op == OP_JOIN || op == OP_TRYJOIN;
    if (is_about_thread && record.value >= 0 &&
        (size_t)record.value < unfolder->regions.trace->n_threads) {
        record.value = unfolder->new_index[record.value];
        if (record.value < 0)
            return;
    }
    event_list_keep(to, unfolder->log, thread, number, &record);
}

/* Copies the thread without what it did as a member of teams. `members[e]`: index of the first
 * member of execution number e. */
static void copy_thread(struct unfolder *unfolder, size_t t, const size_t *members) {
    const struct trace_thread *from = &unfolder->regions.trace->threads[t];
    struct made_thread *made = &unfolder->made.items[unfolder->new_index[t]];
    struct trace_thread *to = &made->thread;
    *to = *from;
    to->index = unfolder->new_index[t];
    to->creator = from->creator >= 0 ? unfolder->new_index[from->creator] : -1;
    to->slices = NULL;
    to->n_slices = 0;
    uint64_t done_ns = 0;
    size_t r = 0;
    for (size_t e = 0; e < unfolder->regions.executions.count; e++) {
        const struct execution *execution = &unfolder->regions.executions.items[e];
        if (execution->thread != t || execution->team < 0)
            continue;
        const struct member_interval *own = &unfolder->regions.intervals.items[execution->part];
        for (; r < execution->fork; r++)
            keep_own(unfolder, t, r, &made->events);
        write_region(unfolder, execution, members[e], &made->events);
        thread_states_copy_slices(from, done_ns, from->records[own->enter].start_ns, to);
        done_ns = from->records[own->leave].start_ns;
        r = own->leave + 1;
    }
    for (; r < from->n_records; r++)
        keep_own(unfolder, t, r, &made->events);
    thread_states_copy_slices(from, done_ns, UINT64_MAX, to);
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
    waits->spun += is_long && cpu_ns >= evidence.majority * wait_ns;
}

/* By the time, as a few long sleeps outweigh many short waits awake; and by the number of waits, as
 * a sleeper whose core the host takes away for milliseconds seems to compute all of them. */
static bool is_spinning(const struct waits *waits) {
    return waits->cpu_ns >= evidence.majority * waits->wait_ns &&
           2 * waits->spun >= waits->long_waits;
}

/* How the members wait until they enter the next region, or the forking thread goes on. Whether
 * they do it awake is one setting for the program, but for teams that have no core for each. */
static void measure_waits(struct unfolder *unfolder) {
    const struct trace *from = unfolder->regions.trace;
    struct waits *of = memory_alloc(unfolder->regions.teams.count, sizeof *of), with_cores = {0};
    for (size_t e = 0; e < unfolder->regions.executions.count; e++) {
        const struct execution *execution = &unfolder->regions.executions.items[e];
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++) {
            const struct member_interval *part = &execution->members.items[m];
            const struct trace_record *leave =
                regions_record(&unfolder->regions, part->thread, part->leave);
            double cpu_ns =
                cpu_between(unfolder, part->thread, leave->start_ns, trace_end_ns(leave));
            add_wait(&of[execution->team], (double)leave->duration_ns, cpu_ns);
            if (unfolder->regions.teams.items[execution->team].size <= from->meta.cores)
                add_wait(&with_cores, (double)leave->duration_ns, cpu_ns);
        }
    }
    double awake_ns = 0;
    for (size_t i = 0; i < unfolder->regions.teams.count; i++)
        awake_ns += of[i].cpu_ns;
    bool may_spin =
        awake_ns > thread_states_stolen(from); /* else the host may have taken all of it */
    for (size_t i = 0; i < unfolder->regions.teams.count; i++) {
        struct team *team = &unfolder->regions.teams.items[i];
        bool is_told = from->meta.has_slices && of[i].members > 0;
        bool is_larger = team->size > from->meta.cores;
        team->sleep_cpu_ns = is_told && is_larger ? of[i].cpu_ns / of[i].members : USUAL_SLEEP_NS;
        team->spins = !is_told || is_larger || (may_spin && is_spinning(&with_cores));
    }
    free(of);
}

static void note_spinning(struct model *model, double before_ns, double after_ns) {
    if (before_ns - after_ns > SPIN_NOTE * before_ns)
        notes_add(model,
                  "libgomp's threads spun for %.0f %% of the CPU time while they waited for work "
                  "or for each other (OMP_WAIT_POLICY): left out of the model",
                  100 * (before_ns - after_ns) / before_ns);
}

static void look_into_parts(struct unfolder *unfolder) {
    for (size_t e = 0; e < unfolder->regions.executions.count; e++) {
        const struct execution *execution = &unfolder->regions.executions.items[e];
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++) {
            const struct member_interval *part = &execution->members.items[m];
            measure_guided(unfolder, part, execution->team);
            for (size_t r = part->enter; r < part->leave; r++)
                unfolder->regions.teams.items[execution->team].has_tasks |=
                    regions_is_task(regions_record(&unfolder->regions, part->thread, r));
        }
    }
}

static void unfold(struct unfolder *unfolder) {
    look_into_parts(unfolder);
    const struct trace *from = unfolder->regions.trace;
    for (size_t t = 0; t < from->n_threads; t++)
        if (!unfolder->regions.is_worker[t])
            unfolder->new_index[t] =
                new_thread(unfolder, -1, (struct thread_origin){(int)t, -1})->thread.index;
    size_t *members = memory_alloc(unfolder->regions.executions.count, sizeof *members);
    for (size_t e = 0; e < unfolder->regions.executions.count; e++) {
        const struct execution *execution = &unfolder->regions.executions.items[e];
        members[e] = unfolder->made.count;
        for (size_t m = 0; execution->team >= 0 && m < execution->members.count; m++)
            make_member(unfolder, execution, &execution->members.items[m]);
    }
    for (size_t t = 0; t < from->n_threads; t++)
        if (!unfolder->regions.is_worker[t])
            copy_thread(unfolder, t, members);
    free(members);
}

/* Shows the run with the regions unfolded. */
static void show(struct unfolder *unfolder) {
    struct event_log *log = unfolder->log;
    const struct trace *trace = &log->trace;
    size_t n_before = trace->n_threads;
    double before_ns = thread_states_on_core(trace);
    unfolder->timelines = memory_alloc(n_before, sizeof *unfolder->timelines);
    for (size_t t = 0; t < n_before; t++)
        unfolder->timelines[t] = thread_states_make(&trace->threads[t]);
    measure_waits(unfolder);
    unfolder->contexts = memory_alloc(trace->n_contexts, sizeof *unfolder->contexts);
    for (size_t c = 0; c < trace->n_contexts; c++)
        unfolder->contexts[c] = trace->contexts[c];
    unfold(unfolder);
    for (size_t t = 0; t < n_before; t++)
        thread_states_free(&unfolder->timelines[t]);
    free(unfolder->timelines);
    event_log_replace_threads(log, unfolder->made.items, unfolder->made.count);
    event_log_set_contexts(log, unfolder->contexts);
    event_log_settle(log);
    note_spinning(unfolder->model, before_ns, thread_states_on_core(trace));
}

struct teams teams_none(const struct trace *trace) {
    struct teams teams = {.n_threads = trace->n_threads};
    teams.team_of = memory_alloc(trace->n_threads, sizeof *teams.team_of);
    for (size_t t = 0; t < trace->n_threads; t++)
        teams.team_of[t] = -1;
    return teams;
}

struct teams teams_unfold(struct event_log *log, struct model *model) {
    const struct trace *trace = &log->trace;
    struct unfolder unfolder = {.log = log,
                                .model = model,
                                .supply_of = MAP_EMPTY,
                                .regions = regions_find(trace, model),
                                .new_index = memory_alloc(trace->n_threads, sizeof(int))};
    struct teams teams;
    for (size_t t = 0; t < trace->n_threads; t++)
        unfolder.new_index[t] = -1;
    if (unfolder.regions.executions.count > 0) {
        show(&unfolder);
        teams = (struct teams){.n_threads = unfolder.made.count, .team_of = unfolder.team_of};
    } else {
        teams = teams_none(trace);
    }
    teams.teams = unfolder.regions.teams.items;
    teams.n_teams = unfolder.regions.teams.count;
    free(unfolder.made.items);
    free(unfolder.supplies.items);
    map_free(&unfolder.supply_of);
    regions_free(&unfolder.regions);
    free(unfolder.new_index);
    return teams;
}

const struct team *teams_of(const struct teams *teams, size_t thread) {
    return thread < teams->n_threads && teams->team_of[thread] >= 0
               ? &teams->teams[teams->team_of[thread]]
               : NULL;
}

void teams_free(struct teams *teams) {
    free(teams->team_of);
    free(teams->teams);
}
