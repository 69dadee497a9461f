#include "modelgen/form_dump.h"

#include <stdlib.h>

#include "modelgen/build.h"
#include "modelgen/build_log.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/sync/monitor.h"

/* ---- events and threads ---- */

static void dump_place(const struct trace *trace, uint32_t context, FILE *out) {
    char *place = source_place(trace, context);
    fprintf(out, " in %s", place);
    free(place);
}

static void dump_flags(unsigned flags, FILE *out) {
    static const char *const names[] = {"waited", "failed", "timedout", "unfinished",
                                        "spins",  "enters", "leaves",   "looked"};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++)
        if (flags & 1U << f)
            fprintf(out, " %s", names[f]);
}

static void dump_call(const struct trace *trace, const struct trace_record *record, FILE *out) {
    fprintf(out, " %llu +%llu %s", (unsigned long long)record->start_ns,
            (unsigned long long)record->duration_ns, api_catalog[record->api].name);
    if (record->object)
        fprintf(out, " %#llx", (unsigned long long)record->object);
    if (record->value)
        fprintf(out, " = %d", record->value);
    dump_flags(record->flags, out);
    dump_place(trace, record->context, out);
}

/* One line an edit: the pass, what it did, to which event, and as what that was recorded. */
static void dump_edits(const struct event_log *log, FILE *out) {
    static const char *const verbs[] = {"changed", "dropped", "inserted"};
    for (size_t i = 0; i < log->edits.count; i++) {
        const struct event_edit *edit = &log->edits.items[i];
        const struct trace_record *recorded = event_log_recorded(log, edit->event, NULL);
        fprintf(out, "%s %s event %u", log->passes.items[edit->pass], verbs[edit->kind],
                edit->event);
        if (recorded) {
            fprintf(out, ", recorded as");
            dump_call(log->recorded, recorded, out);
        }
        fputc('\n', out);
    }
}

void form_dump_events(const struct build *build, FILE *out) {
    const struct trace *trace = build->trace;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        fprintf(out, "thread %zu: %s, created by %d, %llu to %llu, %zu records\n", t,
                thread->start_routine, thread->creator, (unsigned long long)thread->start_ns,
                (unsigned long long)thread->end_ns, thread->n_records);
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            fputc(' ', out);
            dump_call(trace, at.event, out);
            fprintf(out, ", event %u\n", event_log_id(&build->log, t, at.number));
        }
    }
    dump_edits(&build->log, out);
}

void form_dump_teams(const struct build *build, FILE *out) {
    for (size_t i = 0; i < build->teams.n_teams; i++) {
        const struct team *team = &build->teams.teams[i];
        fprintf(out, "team %zu: %s, %d threads%s%s%s\n", i, team->function, team->size,
                team->splits ? ", splits work" : "", team->has_tasks ? ", has tasks" : "",
                team->spins ? ", waits spinning" : "");
    }
    for (size_t t = 0; t < build->teams.n_threads; t++)
        if (teams_of(&build->teams, t))
            fprintf(out, "thread %zu is of team %d\n", t, build->teams.team_of[t]);
}

void form_dump_times(const struct build *build, FILE *out) {
    for (size_t t = 0; t < build->trace->n_threads; t++) {
        struct thread_states_totals parts = thread_states_totals(&build->timelines[t]);
        fprintf(
            out, "thread %zu: lives %.0f ns: cpu %.0f, ready %.0f, waits %.0f, unexplained %.0f\n",
            t, parts.life_ns, parts.cpu_ns, parts.ready_ns, parts.wait_ns, parts.unexplained_ns);
    }
}

void form_dump_outside(const struct build *build, FILE *out) {
    for (size_t q = 0; q < build->outside.n; q++) {
        const struct outside_queue *queue = &build->outside.items[q];
        fprintf(out, "queue %zu: of %s%s, %s\n", q,
                queue->accepts ? "connections" : "requests over connections",
                queue->is_own ? ", each thread its own" : "", queue->evidence);
    }
    if (build->outside.n > 0)
        fprintf(out, "work: %llu to %llu ns\n", (unsigned long long)build->outside.from_ns,
                (unsigned long long)build->outside.to_ns);
}

static void dump_notes(const struct model *model, FILE *out) {
    for (size_t i = 0; i < model->n_outside; i++)
        fprintf(out, "outside: %s\n", model->outside[i]);
    for (size_t i = 0; i < model->n_notes; i++)
        fprintf(out, "note: %s\n", model->notes[i]);
}

void form_dump_machine(const struct build *build, FILE *out) {
    const struct model *model = build->model;
    const struct machine *machine = &model->machine;
    fprintf(out, "program: %s\nrun: %.0f ns, explained %.4f, probe %.1f ns, lost %.0f\n",
            model->program ? model->program : "?", model->measured_run_ns, model->explained_share,
            model->probe_ns, model->lost_events);
    fprintf(out, "machine: %d cores, quantum %.0f ns, tick %.0f, pull %.4f\n", machine->cores,
            machine->quantum_ns, machine->tick_ns, machine->pull_share);
    fprintf(out, "costs: switch %.0f ns, block %.0f, wake %.0f, preempt %.0f, wake latency %.0f\n",
            machine->switch_cpu_ns, machine->block_cpu_ns, machine->wake_cpu_ns,
            machine->preempt_ns, dist_mean(&machine->wake_latency_ns));
    dump_notes(model, out);
}

void form_dump_pools(const struct build *build, FILE *out) {
    for (size_t p = 0; p < build->pools.n_pools; p++) {
        const struct thread_pool *pool = &build->pools.pools[p];
        fprintf(out, "pool %zu: %s, %d at a time, %s (%s), created by pool %d, cpu %.0f ns\n", p,
                pool->name, pool->size,
                pool->scales     ? "follows --threads"
                : pool->per_task ? "follows the tasks"
                                 : "stays as it is",
                pool->why ? pool->why : "?", pool->creator, pool->cpu_ns);
        fprintf(out, "  threads:");
        for (size_t i = 0; i < pool->n_threads; i++)
            fprintf(out, " %zu", pool->threads[i]);
        fputc('\n', out);
    }
}

/* ---- objects ---- */

static void dump_object(const struct build *build, int object, FILE *out) {
    char *name = build_log_object_name(build, object);
    fprintf(out, "%d (%s)", object, name);
    free(name);
}

static void dump_section(const struct sections *sections, size_t index, FILE *out) {
    const struct section *section = &sections->sections[index];
    fprintf(out, "section %zu: thread %d, mutex %d, %llu to %llu", index, section->thread,
            section->mutex, (unsigned long long)section->acquire_ns,
            (unsigned long long)section->release_ns);
    for (size_t i = 0; i < section->n_waits; i++)
        fprintf(out, ", waits on %d", sections->waits[section->first_wait + i].condition);
    for (size_t i = 0; i < section->n_signals; i++) {
        const struct section_signal *signal = &sections->signals[section->first_signal + i];
        fprintf(out, ", %s %d", signal->broadcast ? "broadcasts" : "signals", signal->condition);
    }
    fputs(section->cut ? ", cut\n" : "\n", out);
}

void form_dump_sections(const struct build *build, FILE *out) {
    const struct sections *sections = &build->sections;
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        fprintf(out, "object ");
        dump_object(build, (int)o, out);
        fprintf(out, ": class %d, %.0f operations, %.0f waits of %.0f ns\n", object->class_id,
                object->operations, object->waits, object->wait_ns);
    }
    for (size_t s = 0; s < sections->n_sections; s++)
        dump_section(sections, s, out);
}

static void dump_contradictions(const struct contradiction *found, size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  contradicted at %llu by section %zu, which %s at %g\n",
                (unsigned long long)found[i].time_ns, found[i].section,
                found[i].waited ? "waited" : "went on", found[i].counter);
}

static void dump_counter(const struct monitors *monitors, const struct counter *counter,
                         FILE *out) {
    fprintf(out, "  condition %d, from %g, takes %g\n", counter->condition, counter->initial,
            counter->take);
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (counter->weight[c] || counter->waits[c])
            fprintf(out, "  class %zu: adds %d%s\n", c, counter->weight[c],
                    counter->waits[c] ? ", waits" : "");
}

static void dump_explanation(const struct build *build, const struct explanation *explanation,
                             FILE *out) {
    const struct tally *tally = &explanation->tally;
    fprintf(out, "%s of mutex ", build_log_verdict(explanation));
    dump_object(build, explanation->mutex, out);
    fprintf(out, ": %.0f decisions, %.0f waits, %.0f wrong\n", tally->decisions, tally->waited,
            tally->violations);
    if (explanation->by == BY_COUNTER)
        dump_counter(&build->monitors, &explanation->counter, out);
    dump_contradictions(tally->contradictions, tally->n_contradictions, out);
}

void form_dump_monitors(const struct build *build, FILE *out) {
    const struct monitors *monitors = &build->monitors;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        fprintf(out, "class %zu: mutex %d, %s:%d, %.0f sections, %.0f waits\n", c, class->mutex,
                class->function, class->line, class->count, class->waits);
    }
    for (size_t i = 0; i < monitors->explanations.count; i++)
        dump_explanation(build, &monitors->explanations.items[i], out);
}

void form_dump_sites(const struct build *build, FILE *out) {
    for (uint32_t c = 0; c < build->trace->n_contexts; c++) {
        fprintf(out, "call site %u is %u", c, build->places[c]);
        dump_place(build->trace, c, out);
        fputc('\n', out);
    }
}

/* Kind, and when the device had each. */
static void dump_requests(const struct trace *trace, const size_t *requests, size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++) {
        const struct trace_block *block = &trace->blocks[requests[i]];
        fprintf(out, " %d:%llu-%llu", (int)block->kind, (unsigned long long)block->issued_ns,
                (unsigned long long)block->completed_ns);
    }
    fputc('\n', out);
}

void form_dump_disks(const struct build *build, FILE *out) {
    const struct disk_service *disks = &build->disks;
    for (size_t t = 0; t < build->trace->n_threads; t++)
        if (disks->n_requests[t]) {
            fprintf(out, "thread %zu: %zu requests:", t, disks->n_requests[t]);
            dump_requests(build->trace, disks->requests[t], disks->n_requests[t], out);
        }
    const struct commits *commits = &build->commits;
    for (size_t c = 0; c < commits->n_commits; c++) {
        const struct commit *commit = &commits->items[c];
        fprintf(out, "commit %zu: until %llu, %zu calls, requests:", c,
                (unsigned long long)commit->end_ns, commit->n_calls);
        dump_requests(build->trace, &commits->requests[commit->first], commit->n, out);
    }
}

/* ---- the model ---- */

static void dump_step(const struct trace *trace, const struct step *step, FILE *out) {
    fprintf(out, "  %llu %s", (unsigned long long)step->start_ns, node_kind_name(step->kind));
    if (step_object(step) != MODEL_NONE)
        fprintf(out, " object %d", step_object(step));
    if (step_target_pool(step) != MODEL_NONE)
        fprintf(out, " pool %d", step_target_pool(step));
    if (step_section(step) > 0)
        fprintf(out, " section %d", step_section(step));
    if (step->outcome != OUTCOME_ANY)
        fprintf(out, " %s", step->outcome == OUTCOME_YES ? "yes" : "no");
    if (step_amount(step).count > 1)
        fprintf(out, " x %g", step_amount(step).count);
    if (step_has_time(step->kind))
        fprintf(out, " cpu %.0f ns, waits %.0f ns", step->time.cpu_ns, step->time.wait_ns);
    dump_place(trace, step->context, out);
    fputc('\n', out);
}

void form_dump_steps(const struct build *build, FILE *out) {
    for (size_t t = 0; t < build->trace->n_threads; t++) {
        const struct stream *stream = &build->streams.streams[t];
        fprintf(out, "thread %zu: %zu steps\n", t, stream->n_steps);
        for (size_t s = 0; s < stream->n_steps; s++)
            dump_step(build->trace, &stream->steps[s], out);
    }
}

void form_dump_objects(const struct build *build, FILE *out) {
    const struct model *model = build->model;
    for (size_t o = 0; o < model->n_objects; o++) {
        const struct object *object = &model->objects[o];
        fprintf(out, "object %zu: %s: %s, from %g%s: %s\n", o, object_kind_name(object->kind),
                object->name, object->amount.base, object->bounded ? ", bounded" : "",
                object->evidence ? object->evidence : "as the program calls it");
    }
}

static void dump_edge(const struct edge *edge, FILE *out) {
    static const char *const outcomes[] = {"", " on yes", " on no"};
    fprintf(out, "  to %d%s: weight %g, cpu %.0f ns", edge->to, outcomes[edge->when],
            edge->probability, dist_mean(&edge->cpu_ns));
    if (edge->runs.kind != DIST_NONE)
        fprintf(out, ", %g in a row", dist_mean(&edge->runs));
    fputs(edge->leaves ? ", leaves\n" : "\n", out);
}

void form_dump_graph(const struct build *build, FILE *out) {
    const struct model *model = build->model;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        fprintf(out, "node %zu: %s: %s, object %d\n", n, node_kind_name(node->kind), node->name,
                node->object);
        for (size_t e = 0; e < node->n_edges; e++)
            dump_edge(&node->edges[e], out);
    }
}

void form_dump_report(const struct build *build, FILE *out) {
    const struct model *model = build->model;
    for (size_t m = 0; m < model->n_monitors; m++) {
        const struct hand_made *made = &model->monitors[m];
        fprintf(out, "recognised: %s: %s, modelled %s, %.0f of %.0f agree: %s\n", made->name,
                hand_made_kind_name(made->kind), modelled_name(made->how),
                made->replayed - made->violations, made->replayed, made->why);
    }
    for (size_t i = 0; i < model->n_waiting; i++)
        fprintf(out, "waiting: %s: %.0f ns, modelled %s\n", model->waiting[i].what,
                model->waiting[i].wait_ns, modelled_name(model->waiting[i].how));
    dump_notes(model, out);
}

void form_dump_scaling(const struct build *build, FILE *out) {
    for (size_t p = 0; p < build->model->n_pools; p++) {
        const struct pool *pool = &build->model->pools[p];
        fprintf(out, "pool %s: %s, confidence %.2f: %s\n", pool->name,
                partition_names[pool->partition], pool->confidence,
                pool->rule ? pool->rule : "no rule");
    }
}
