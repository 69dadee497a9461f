#include "modelgen/graph/peg.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/probe_cost.h"
#include "modelgen/graph/batch_takes.h"
#include "modelgen/graph/branch_sequences.h"
#include "modelgen/graph/disk_calls.h"
#include "modelgen/graph/edge_scaling.h"
#include "modelgen/graph/intraclass_correlation.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/graph/natural_loops.h"
#include "modelgen/graph/peg_builder.h"
#include "modelgen/graph/positional_cost.h"
#include "modelgen/graph/self_scheduled_work.h"
#include "modelgen/graph/single_sections.h"
#include "modelgen/graph/state_splitting.h"
#include "modelgen/sync/explanation.h"

/* Values kept of a measured distribution. */
#define DIST_LIMIT 64

/* ---- what the threads did ---- */

/* The run of equal decisions that a thread is in, at one node and outcome. */
struct run {
    int edge;
    double length;
};

static void end_run(struct peg_builder *builder, struct run *run) {
    if (run->length == 0)
        return;
    struct peg_edge *edge = &builder->edges.items[run->edge];
    *VECTOR_ADD(&edge->runs) = run->length;
    edge->starts++;
    run->length = 0;
}

static void note_decision(struct peg_builder *builder, struct run *run, int edge) {
    if (run->length > 0 && run->edge == edge) {
        run->length++;
        return;
    }
    if (run->edge < 0)
        builder->edges.items[edge].first++;
    end_run(builder, run);
    *run = (struct run){edge, 1};
}

/* Of what creating threads took, what the simulator spends on waking them. */
static double waking_ns(const struct peg_builder *builder, const struct step *step) {
    if (step->kind != NODE_CREATE)
        return 0;
    return fmin(step->created * builder->model->machine.wake_cpu_ns, step->calls_ns);
}

/* Probes that recorded the thread's `n` events from `from` on: page faults have none. */
static double count_probes(const struct peg_builder *builder, size_t t, size_t from, size_t n) {
    struct event_cursor at = event_cursor_between(&builder->in->trace->threads[t], from, from + n);
    double probes = 0;
    while (event_cursor_next(&at))
        probes += !trace_is_page_fault(at.event);
    return probes;
}

/* CPU between two steps, the probes' own cost taken off: those of so many calls. */
static double cpu_between(const struct peg_builder *builder, size_t t, const struct step *a,
                          const struct step *b, double probes) {
    const struct thread_states *timeline = &builder->in->timelines[t];
    double cpu = thread_states_cpu(timeline, b->start_ns) - thread_states_cpu(timeline, a->end_ns);
    cpu -= builder->record_ns * probes + waking_ns(builder, a);
    return cpu > 0 ? cpu : 0;
}

/* Rounds of the loop that the events until the cursor's end show, which the graph does not: how
 * often all calls come that come more than once. 0: not known. */
static double count_rounds(struct peg_builder *builder, struct event_cursor at) {
    builder->counts.count = 0;
    map_free(&builder->sites);
    while (event_cursor_next(&at)) {
        uint32_t context = at.event->context;
        if (context == TRACE_NO_CONTEXT || !builder->is_in_share[context] ||
            trace_is_page_fault(at.event))
            continue;
        uint64_t key = map_mix(map_mix(19, builder->in->places[context]), at.event->api);
        int site = map_get(&builder->sites, key, -1);
        if (site < 0) {
            site = (int)builder->counts.count;
            map_put(&builder->sites, key, site);
            *VECTOR_ADD(&builder->counts) = 0;
        }
        builder->counts.items[site]++;
    }
    double rounds = builder->counts.count > 0;
    for (size_t i = 0; i < builder->counts.count; i++) {
        double count = builder->counts.items[i];
        if (rounds > 1 && count > 1 && count != rounds)
            return 0;
        rounds = count > rounds ? count : rounds;
    }
    return rounds;
}

static void note_between(struct peg_edge *draft, struct event_cursor at) {
    while (event_cursor_next(&at)) {
        size_t known = 0;
        if (trace_is_page_fault(at.event))
            continue;
        while (known < draft->between.count && draft->between.items[known] != at.event->context)
            known++;
        if (known == draft->between.count)
            *VECTOR_ADD(&draft->between) = at.event->context;
    }
}

static void read_thread(struct peg_builder *builder, size_t t) {
    const struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    size_t n_places = builder->model->n_nodes * N_OUTCOMES;
    struct run *runs = memory_alloc(n_places, sizeof *runs);
    double *stays = memory_alloc(n_places, sizeof *stays);
    for (size_t i = 0; i < n_places; i++)
        runs[i].edge = -1;
    size_t done = 0; /* records up to the present step */
    for (size_t s = 0; s < stream->n_steps; s++) {
        const struct step *step = &stream->steps[s];
        struct peg_node_values *values = &builder->nodes.items[node_of[s]];
        done += step->records + step->left_out;
        if (step_has_time(step->kind)) {
            *VECTOR_ADD(&values->wait_ns) = step->time.wait_ns;
            *VECTOR_ADD(&values->cpu_ns) = step->time.cpu_ns;
            *VECTOR_ADD(&values->operations) = step->time.operations;
            builder->model->nodes[node_of[s]].ahead |= step->time.ahead;
            if (step->time.stream > 0)
                builder->model->nodes[node_of[s]].stream = step->time.stream;
            if (step->time.service_ns > 0)
                *VECTOR_ADD(&values->service_ns) = step->time.service_ns;
            if (step->time.near_ns > 0)
                *VECTOR_ADD(&values->near_ns) = step->time.near_ns;
        }
        if (step->kind == NODE_ACQUIRE && step->use.amount.in_units)
            *VECTOR_ADD(&values->units) = step->use.amount.count;
        if (s + 1 == stream->n_steps)
            break;
        int edge = peg_builder_find_edge(builder, node_of[s], step->outcome, node_of[s + 1]);
        builder->edges.items[edge].decisions++;
        *VECTOR_ADD(&builder->edges.items[edge].cpu_ns) =
            cpu_between(builder, t, step, &stream->steps[s + 1],
                        count_probes(builder, t, done, stream->steps[s + 1].records));
        if (step->kind == NODE_CREATE)
            builder->edges.items[edge].creating_ns += step->calls_ns - waking_ns(builder, step);
        const struct step *next = &stream->steps[s + 1];
        size_t own = next->records > 0 && next->kind != NODE_END; /* the step's own record */
        struct event_cursor between =
            event_cursor_between(&builder->in->trace->threads[t], done, done + next->records - own);
        *VECTOR_ADD(&builder->edges.items[edge].passes) =
            (struct loop_pass){t, step->end_ns, count_rounds(builder, between)};
        note_between(&builder->edges.items[edge], between);
        int place = with_outcome(node_of[s], step->outcome);
        if (builder->edges.items[edge].leaves) {
            *VECTOR_ADD(&values->stays) = stays[place];
            *VECTOR_ADD(&values->passes) = (struct loop_pass){t, step->end_ns, stays[place] + 1};
            stays[place] = 0;
            end_run(builder, &runs[place]);
        } else {
            stays[place]++;
            note_decision(builder, &runs[place], edge);
        }
    }
    for (size_t i = 0; i < n_places; i++)
        end_run(builder, &runs[i]);
    free(stays);
    free(runs);
}

/* ---- into the model ---- */

static struct dist take_dist(struct values *values) {
    struct dist dist = dist_from_values(values->items, values->count, DIST_LIMIT);
    free(values->items);
    *values = (struct values){0};
    if (dist.kind == DIST_CONSTANT && dist.mean == 0)
        dist.kind = DIST_NONE;
    return dist;
}

/* Edges of the same node and answer that stay in the loop, or that leave it. */
static size_t alternatives(const struct peg_builder *builder, const struct peg_edge *edge,
                           bool leaves) {
    size_t n = 0;
    for (size_t e = 0; e < builder->edges.count; e++)
        n += builder->edges.items[e].from == edge->from &&
             builder->edges.items[e].when == edge->when && builder->edges.items[e].leaves == leaves;
    return n;
}

/* Do threads leave the loop when the queue answers that there is no more? */
static bool ends_by_answer(const struct peg_builder *builder, int node) {
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        if (edge->from == node && edge->leaves && edge->when == OUTCOME_NO)
            return builder->model->nodes[node].kind == NODE_GET ||
                   builder->model->nodes[node].kind == NODE_STATEMENTS;
    }
    return false;
}

/* When the object was closed; UINT64_MAX: never. */
static uint64_t closed_at(const struct peg_builder *builder, int object) {
    uint64_t closed_ns = UINT64_MAX;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        for (size_t s = 0; s < stream->n_steps; s++) {
            const struct step *step = &stream->steps[s];
            if (step->kind == NODE_CLOSE && step->use.object == object && step->end_ns < closed_ns)
                closed_ns = step->end_ns;
        }
    }
    return closed_ns;
}

/* When a thread first came to the edge's end, having waited before it if it did. */
static uint64_t first_passed_ns(const struct peg_builder *builder, const struct peg_edge *draft) {
    uint64_t first_ns = UINT64_MAX;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        const int *node_of = builder->node_of[t];
        for (size_t s = 1; s < stream->n_steps; s++)
            if (node_of[s - 1] == draft->from && node_of[s] == draft->to &&
                stream->steps[s - 1].outcome == draft->when && stream->steps[s].start_ns < first_ns)
                first_ns = stream->steps[s].start_ns;
    }
    return first_ns;
}

/* Did threads leave the loop by this edge only when a queue that the loop also takes from had been
 * closed? */
static bool leaves_when_closed(const struct peg_builder *builder, const struct peg_edge *draft) {
    bool found = false;
    for (size_t e = 0; e < builder->edges.count && !found; e++) {
        const struct peg_edge *stays = &builder->edges.items[e];
        if (stays->from != draft->from || stays->leaves)
            continue;
        bool *reached = natural_loops_way_round(builder, stays, NULL);
        for (size_t n = 0; n < builder->nodes.count && reached[draft->from] && !found; n++)
            found = reached[n] && ends_by_answer(builder, (int)n) &&
                    first_passed_ns(builder, draft) >=
                        closed_at(builder, builder->model->nodes[n].object);
        free(reached);
    }
    return found;
}

/* It is not by counting that threads know when to leave. One that left with something, the last of
 * all, could as well have been answered that there is no more; and one that saw somewhere else that
 * no more will come will be answered so where it asks next. */
static bool is_poison_pill(const struct peg_builder *builder, const struct peg_edge *draft) {
    if (!draft->leaves || alternatives(builder, draft, false) == 0)
        return false;
    return ends_by_answer(builder, draft->from) ? draft->when == OUTCOME_YES
                                                : leaves_when_closed(builder, draft);
}

/* Does one thread take one of the edges of this node and answer in each round? */
static bool has_single(const struct peg_builder *builder, const struct peg_edge *draft) {
    for (size_t e = 0; e < builder->edges.count; e++)
        if (builder->edges.items[e].from == draft->from &&
            builder->edges.items[e].when == draft->when &&
            builder->edges.items[e].taker != TAKER_ANY)
            return true;
    return false;
}

/* Where all go the same way, but one of them does all the computing: an edge of its own for him. */
static bool write_edge_of_one(struct peg_builder *builder, struct peg_edge *draft,
                              const struct scaling *scaling) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    struct values of_one;
    /* Outside of loops all ways leave. */
    size_t stay = alternatives(builder, draft, false), leave = alternatives(builder, draft, true);
    bool alone = draft->leaves ? stay == 0 && leave == 1 : stay == 1;
    enum taker taker =
        alone && !pool->team ? single_sections_split_cpu(builder, draft, &of_one) : TAKER_ANY;
    if (taker == TAKER_ANY)
        return false;
    struct edge *edge = model_add_edge(&builder->model->nodes[draft->from], draft->to);
    *edge = (struct edge){.to = draft->to,
                          .when = draft->when,
                          .probability = 1,
                          .taker = taker,
                          .cpu_ns = take_dist(&of_one),
                          .cpu_scaling = *scaling,
                          .runs_scaling = {.pool = MODEL_NONE}};
    model_builder_make_no_share(&edge->cpu_scaling);
    return true;
}

static void write_edge(struct peg_builder *builder, struct peg_edge *draft) {
    struct node *node = &builder->model->nodes[draft->from];
    bool loop = alternatives(builder, draft, false) > 0;
    struct scaling scaling = edge_scaling_cpu(builder, draft);
    bool is_of_one = write_edge_of_one(builder, draft, &scaling);
    if (draft->self_scheduled && !is_of_one)
        self_scheduled_work_note(builder, draft, scaling.share);
    struct edge *edge = model_add_edge(node, draft->to);
    *edge = (struct edge){.to = draft->to,
                          .when = draft->when,
                          .probability = 1,
                          .leaves = draft->leaves && loop,
                          .cpu_scaling = scaling};
    if (!is_of_one && edge_scaling_is_split(builder, draft, &scaling))
        positional_cost_find(builder, draft, edge);
    struct intraclass_correlation common = is_of_one ? (struct intraclass_correlation){0}
                                                     : intraclass_correlation_find(builder, draft);
    edge->cpu_ns = take_dist(&draft->cpu_ns);
    if (edge->cpu_ns.kind == DIST_EMPIRICAL && common.share > 0) {
        edge->cpu_ns.common = common.share;
        edge->cpu_ns.sharers = common.sharers;
    }
    if (draft->leaves && alternatives(builder, draft, true) > 1)
        edge->probability = draft->decisions;
    if (!edge->leaves && has_single(builder, draft)) {
        edge->probability = draft->decisions;
        edge->taker = draft->taker;
    } else if (!draft->leaves && alternatives(builder, draft, false) > 1) {
        edge->probability = draft->starts;
        edge->first = draft->first;
        edge->runs = dist_from_values(draft->runs.items, draft->runs.count, DIST_LIMIT);
    }
    edge_scaling_stays(builder, draft, node, edge);
}

/* Marks them, and forgets how often their nodes were stayed at. */
static void find_poison_pills(struct peg_builder *builder) {
    for (size_t e = 0; e < builder->edges.count; e++) {
        struct peg_edge *draft = &builder->edges.items[e];
        draft->poison_pill = is_poison_pill(builder, draft);
        if (draft->poison_pill)
            builder->nodes.items[draft->from].stays.count = 0;
    }
}

static void write_edges(struct peg_builder *builder) {
    find_poison_pills(builder);
    for (size_t n = 0; n < builder->nodes.count; n++) {
        if (ends_by_answer(builder, (int)n))
            builder->nodes.items[n].stays.count = 0;
        builder->model->nodes[n].stays = take_dist(&builder->nodes.items[n].stays);
    }
    for (size_t e = 0; e < builder->edges.count; e++)
        if (!builder->edges.items[e].poison_pill)
            write_edge(builder, &builder->edges.items[e]);
    for (size_t p = 0; p < builder->in->pools->n_pools; p++)
        edge_scaling_note_hidden(builder, (int)p);
}

static bool takes_part(const struct node *node) {
    return node->kind == NODE_GET || node->kind == NODE_PUT || node->kind == NODE_ACQUIRE;
}

/* Copies the edges for `when` from the same pool's node of the same kind on the same object. */
static bool borrow_edges(struct peg_builder *builder, size_t n, enum outcome when) {
    struct model *model = builder->model;
    for (size_t m = 0; m < model->n_nodes; m++) {
        const struct node *from = &model->nodes[m];
        if (m == n || from->kind != model->nodes[n].kind ||
            from->object != model->nodes[n].object || from->section != model->nodes[n].section ||
            builder->nodes.items[m].pool != builder->nodes.items[n].pool)
            continue;
        if (model_builder_copy_edges(from, when, &model->nodes[n]))
            return true;
    }
    return false;
}

/* An edge for an answer that the trace never showed here: as at a like node, or to the end of the
 * pool's threads. */
static void add_way_out(struct peg_builder *builder, size_t n, enum outcome when) {
    struct model *model = builder->model;
    if (borrow_edges(builder, n, when))
        return;
    for (size_t m = 0; m < model->n_nodes; m++)
        if (model->nodes[m].kind == NODE_END &&
            builder->nodes.items[m].pool == builder->nodes.items[n].pool) {
            model_add_edge(&model->nodes[n], (int)m)->when = when;
            return;
        }
}

/* A turn of which no thread was ever led: one that is goes on where its leader does. */
static void go_on_behind_pass(struct peg_builder *builder, size_t turn) {
    struct model *model = builder->model;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *pass = &model->nodes[n];
        if (pass->kind != NODE_PASS || pass->object != model->nodes[turn].object ||
            builder->nodes.items[n].context != builder->nodes.items[turn].context ||
            builder->nodes.items[n].pool != builder->nodes.items[turn].pool)
            continue;
        for (size_t e = 0; e < pass->n_edges; e++)
            model_add_edge(&model->nodes[turn], pass->edges[e].to)->when = OUTCOME_NO;
        return;
    }
}

/* Do the statements that the node carries out decide its outcome? */
static bool is_told(const struct model *model, const struct node *node) {
    return node->kind == NODE_STATEMENTS &&
           statement_section_answers(&model->objects[node->object].sections[node->section]);
}

/* Does the last take close the queue? All who wait for more are told then, wherever they do. */
static bool closes_by_itself(const struct model *model, const struct node *node) {
    return node->kind == NODE_GET && model->objects[node->object].items_in_all > 0;
}

/* A node whose trace never showed one of its answers still needs a way on for it. */
static void complete_outcomes(struct peg_builder *builder) {
    struct model *model = builder->model;
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->kind == NODE_END)
            continue;
        /* An answer that a close can give must be told apart from the ordinary one. */
        bool closable = takes_part(node) && (model_builder_is_closed(model, node->object) ||
                                             closes_by_itself(model, node));
        bool yes = false, no = false;
        for (size_t e = 0; e < node->n_edges; e++) {
            struct edge *edge = &node->edges[e];
            if (closable && edge->when == OUTCOME_ANY)
                edge->when = OUTCOME_YES;
            yes |= edge->when != OUTCOME_NO;
            no |= edge->when != OUTCOME_YES;
        }
        bool may_fail = node->timeout_ns >= 0 || closable || is_told(model, node);
        if (!no && node->kind == NODE_TURN && model->objects[node->object].in_groups)
            go_on_behind_pass(builder, n);
        if (!yes)
            add_way_out(builder, n, may_fail ? OUTCOME_YES : OUTCOME_ANY);
        if (!no && may_fail)
            add_way_out(builder, n, OUTCOME_NO);
    }
}

static void write_nodes(struct peg_builder *builder) {
    for (size_t n = 0; n < builder->nodes.count; n++) {
        struct peg_node_values *values = &builder->nodes.items[n];
        struct node *node = &builder->model->nodes[n];
        node->cpu_ns = take_dist(&values->cpu_ns);
        node->wait_ns = take_dist(&values->wait_ns);
        node->operations = take_dist(&values->operations);
        node->service_ns = take_dist(&values->service_ns);
        node->near_ns = take_dist(&values->near_ns);
        node->counts = take_dist(&values->units);
    }
    disk_calls_write(builder);
}

void peg_build(const struct peg_input *input, struct model *model) {
    struct peg_builder builder = {
        .in = input, .model = model, .record_ns = probe_cost_find(input->trace).record_ns};
    peg_builder_number_nodes(&builder);
    single_sections_find_nodes(&builder);
    while (model->n_nodes < input->max_nodes && state_splitting_split(&builder))
        continue;
    natural_loops_find_ends(&builder);
    natural_loops_find_visible(&builder);
    single_sections_find_edges(&builder);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        read_thread(&builder, t);
    write_edges(&builder);
    branch_sequences_find(&builder);
    positional_cost_note(&builder);
    complete_outcomes(&builder);
    write_nodes(&builder);
    self_scheduled_work_share_out(&builder);
    batch_takes_note(input, model->n_objects);
    peg_builder_free(&builder);
    model_builder_remove_unreachable(model); /* where only ways led that were given up */
}
