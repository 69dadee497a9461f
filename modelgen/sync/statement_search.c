#include "modelgen/sync/statement_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/postfix.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/sync/counter_search.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/select.h"

/* ---- what matters ---- */

static bool mark_read(const struct facts_expression *expression,
                      const struct facts_monitor *monitor, const bool *is_own, bool *asked) {
    struct postfix program;
    bool more = false;
    postfix_parse(expression->postfix, monitor->n_variables, is_own, &program);
    for (size_t v = 0; v < monitor->n_variables; v++)
        if (!asked[v] && postfix_reads(&program, v))
            asked[v] = more = true;
    postfix_free(&program);
    return more;
}

/* The variables on which it depends who waits and who signals: counters that nobody asks need not
 * be kept. */
static bool *find_asked(const struct facts_monitor *monitor, const bool *is_own) {
    bool *asked = memory_alloc(monitor->n_variables, sizeof *asked);
    for (bool more = true; more;) {
        more = false;
        for (size_t s = 0; s < monitor->n_sections; s++)
            for (size_t i = 0; i < monitor->sections[s].n_steps; i++) {
                const struct facts_step *step = &monitor->sections[s].steps[i];
                if (step->kind == STEP_UPDATE && !asked[step->variable])
                    continue;
                more |= mark_read(&step->guard, monitor, is_own, asked);
                more |= mark_read(&step->value, monitor, is_own, asked);
            }
    }
    return asked;
}

/* ---- can they be simulated? ---- */

struct search_of_statements {
    const struct trace *trace;
    const struct sections *sections;
    const struct facts *facts;
    const struct thread_pools *pools;
    struct monitors *monitors;
    double life_ns; /* of all threads */
    double threads;
};

/* Is what a step reads in the variables, all of it? */
static bool is_told(const struct facts_expression *expression, const struct facts_monitor *monitor,
                    const bool *is_own) {
    struct postfix program;
    bool told = !postfix_parse(expression->postfix, monitor->n_variables, is_own, &program) &&
                !postfix_has_unknown(&program);
    postfix_free(&program);
    return told;
}

static bool is_section_told(const struct explanation *statements,
                            const struct facts_section *section, const bool *is_own) {
    for (size_t i = 0; i < section->n_steps; i++) {
        const struct facts_step *step = &section->steps[i];
        bool reads =
            step->kind == STEP_WAIT || (step->kind == STEP_UPDATE && step->change == CHANGE_OTHER);
        if (!statements_matter(&statements->statements, step))
            continue;
        if ((step->guard.text && !is_told(&step->guard, statements->proposal, is_own)) ||
            (reads && !is_told(&step->value, statements->proposal, is_own)))
            return false;
    }
    return true;
}

/* Of the sections that the run came to. */
static bool are_told(const struct explanation *statements) {
    const struct facts_monitor *proposal = statements->proposal;
    bool *is_own = command_program_own_variables(proposal);
    bool told = true;
    for (size_t s = 0; s < proposal->n_sections && told; s++)
        told = statements->statements.number[s] == MODEL_NONE ||
               is_section_told(statements, &proposal->sections[s], is_own);
    free(is_own);
    return told;
}

/* Numbers the proposal's sections that the run came to. */
static void number_sections(const struct sections *sections, struct explanation *statements) {
    const struct facts_monitor *proposal = statements->proposal;
    int number = 0;
    for (size_t s = 0; s < proposal->n_sections; s++)
        statements->statements.number[s] = MODEL_NONE;
    for (size_t s = 0; s < sections->n_sections; s++)
        if (statements->statements.section_of[s] != MODEL_NONE)
            statements->statements.number[statements->statements.section_of[s]] = 0;
    for (size_t s = 0; s < proposal->n_sections; s++)
        if (statements->statements.number[s] != MODEL_NONE)
            statements->statements.number[s] = number++;
}

/* How the threads waited for a mutex' conditions in the traced run. */
struct waits {
    double count; /* sections that waited */
    double timed_out;
    double wait_ns;
    double open_ns;     /* nothing explains them that the run does not contradict now and then */
    double flag_ns;     /* for which nothing is found, not even something that is only alike */
    struct score known; /* of what was found */
};

/* What the source takes for a barrier or a read-write lock is no counter, though a run with few
 * waits may look so. */
static bool is_mistaken(const struct monitors *monitors, int mutex) {
    const struct facts_monitor *proposal = monitors->proposal_of[mutex];
    if (!proposal || (proposal->kind != MONITOR_BARRIER && proposal->kind != MONITOR_RWLOCK))
        return false;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (e->mutex == mutex)
            return false;
    return true;
}

/* By something else than one of several ways to work out its amounts? What the run contradicts
 * explains it: the contradictions count. */
static bool is_explained(const struct monitors *monitors, size_t section, int mutex) {
    if (is_mistaken(monitors, mutex))
        return false;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.waits[monitors->class_of[section]] &&
            (e->counter.worked_out || e->counter.unknown_units))
            return false;
    return monitors_explain(monitors, section);
}

/* By a counter that the run contradicts? */
static bool is_bent(const struct monitors *monitors, size_t section) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.waits[monitors->class_of[section]] && e->tally.violations > 0)
            return true;
    return false;
}

static struct waits waits_of(const struct search_of_statements *search, int mutex) {
    const struct sections *sections = search->sections;
    struct waits waits = {0};
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; section->mutex == mutex && w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            double time_ns = (double)(wait->end_ns - wait->start_ns);
            waits.count += w == 0;
            waits.timed_out += section_wait_timed_out(search->trace, section, wait);
            waits.wait_ns += time_ns;
            waits.flag_ns += monitors_explain(search->monitors, s) ? 0 : time_ns;
            bool is_open = !is_explained(search->monitors, s, mutex);
            waits.known.unexplained += w == 0 && is_open;
            waits.open_ns += is_open || is_bent(search->monitors, s) ? time_ns : 0;
        }
    }
    for (size_t i = 0; i < search->monitors->explanations.count; i++)
        if (search->monitors->explanations.items[i].mutex == mutex)
            waits.known.contradictions += search->monitors->explanations.items[i].tally.violations;
    return waits;
}

/* Are the conditions on which threads wait under the mutex signalled in its sections only? */
static bool are_signals_inside(const struct search_of_statements *search, int mutex) {
    const struct sections *sections = search->sections;
    bool *is_ours = memory_alloc(sections->n_objects, sizeof *is_ours);
    double signals = 0;
    for (size_t s = 0; s < sections->n_sections; s++)
        for (size_t w = 0; w < sections->sections[s].n_waits; w++)
            if (sections->sections[s].mutex == mutex)
                is_ours[sections->waits[sections->sections[s].first_wait + w].condition] = true;
    for (size_t t = 0; t < search->trace->n_threads; t++)
        for (size_t r = 0; r < search->trace->threads[t].n_records; r++) {
            const struct trace_record *record = &search->trace->threads[t].records[r];
            enum api_op op = trace_op(record);
            int object = sections_object(sections, record);
            signals += object >= 0 && is_ours[object] && (op == OP_SIGNAL || op == OP_BROADCAST);
        }
    for (size_t s = 0; s < sections->n_sections; s++)
        for (size_t i = 0; i < sections->sections[s].n_signals; i++)
            if (sections->sections[s].mutex == mutex)
                signals -=
                    is_ours[sections->signals[sections->sections[s].first_signal + i].condition];
    free(is_ours);
    return signals == 0;
}

/* NULL, or why the statements cannot stand for the mutex. */
static const char *why_not(const struct search_of_statements *search,
                           const struct explanation *statements, const struct waits *waits) {
    const struct tally *verdict = &statements->tally;
    if (waits->timed_out > 0)
        return "waits timed out in the traced run";
    if (verdict->strange > 0)
        return "critical sections that are not understood wait or signal, too";
    if (verdict->unknown + verdict->unknown_signals > 0 || !are_told(statements))
        return "they depend on what its variables do not tell";
    if (verdict->decisions == 0)
        return "the traced run decided nothing by them";
    if (verdict->waited < waits->count)
        return "they do not say why some threads waited";
    if (!violations_are_few(verdict->violations + verdict->untold, verdict->decisions))
        return "the traced run contradicts them";
    if (!are_signals_inside(search, statements->mutex))
        return "its conditions are also signalled elsewhere";
    return NULL;
}

/* ---- which way threads go on ---- */

/* What the thread does after the section: its next section's entry, or one past the last. */
static size_t next_of(const struct search_of_statements *search, size_t s) {
    const struct sections *sections = search->sections;
    const struct monitors *monitors = search->monitors;
    bool has_next = s + 1 < sections->n_sections &&
                    sections->sections[s + 1].thread == sections->sections[s].thread;
    return has_next ? (size_t)monitors->classes[monitors->class_of[s + 1]].entry
                    : monitors->n_entries;
}

/* How much what the pool's threads do next differs by whether the step's guard held. */
static double distance_in_pool(const struct search_of_statements *search,
                               const struct explanation *statements, const replay_trail *trail,
                               int section, size_t step, int pool) {
    size_t n = search->monitors->n_entries + 1;
    double *after[2] = {memory_alloc(n, sizeof(double)), memory_alloc(n, sizeof(double))};
    double total[2] = {0, 0}, distance = 0;
    for (size_t s = 0; s < search->sections->n_sections; s++) {
        const struct section *at = &search->sections->sections[s];
        if (statements->statements.section_of[s] != section || at->cut ||
            search->pools->pool_of[at->thread] != pool)
            continue;
        int held = (int)(trail[s] >> step & 1);
        after[held][next_of(search, s)]++;
        total[held]++;
    }
    if (total[0] > 0 && total[1] > 0 && total[0] + total[1] >= evidence.several)
        for (size_t i = 0; i < n; i++) {
            double more = after[1][i] / total[1] - after[0][i] / total[0];
            distance += more > 0 ? more : 0;
        }
    free(after[0]);
    free(after[1]);
    return distance;
}

/* A guard that can be asked in the simulation, too. */
static bool may_answer(const struct explanation *statements, const struct facts_step *step,
                       const bool *is_own) {
    return step->kind != STEP_WAIT && step->guard.text &&
           statements_matter(&statements->statements, step) &&
           is_told(&step->guard, statements->proposal, is_own);
}

/* Threads that find nothing go elsewhere: the step whose guard tells it best. */
static int find_answer(const struct search_of_statements *search,
                       const struct explanation *statements, const replay_trail *trail,
                       int section) {
    const struct facts_section *commands = &statements->proposal->sections[section];
    bool *is_own = command_program_own_variables(statements->proposal);
    double best_distance = evidence.telling_distance;
    int best = MODEL_NONE;
    for (size_t i = 0; i < commands->n_steps && i < COMMANDS_REMEMBERED; i++)
        for (size_t p = 0; p < search->pools->n_pools; p++) {
            if (!may_answer(statements, &commands->steps[i], is_own))
                continue;
            double distance = distance_in_pool(search, statements, trail, section, i, (int)p);
            if (distance > best_distance) {
                best_distance = distance;
                best = (int)i;
            }
        }
    free(is_own);
    return best;
}

/* Who still waits when the program ends is not let through: that is a "no", too. */
static void tell_outcomes(const struct search_of_statements *search, struct explanation *statements,
                          const replay_trail *trail) {
    const struct facts_monitor *proposal = statements->proposal;
    bool *has_cut = memory_alloc(proposal->n_sections, sizeof *has_cut);
    for (size_t i = 0; i < proposal->n_sections; i++)
        statements->statements.answer[i] = find_answer(search, statements, trail, (int)i);
    for (size_t s = 0; s < search->sections->n_sections; s++)
        if (statements->statements.section_of[s] != MODEL_NONE)
            has_cut[statements->statements.section_of[s]] |= search->sections->sections[s].cut;
    for (size_t s = 0; s < search->sections->n_sections; s++) {
        int section = statements->statements.section_of[s];
        if (section == MODEL_NONE ||
            (statements->statements.answer[section] == MODEL_NONE && !has_cut[section]))
            continue;
        bool held = statements->statements.answer[section] == MODEL_NONE ||
                    (trail[s] >> statements->statements.answer[section] & 1);
        statements->statements.outcome[s] =
            held && !search->sections->sections[s].cut ? OUTCOME_YES : OUTCOME_NO;
    }
    free(has_cut);
}

/* ---- one mutex ---- */

/* Of the sections that the run came to. */
static double count_commands(const struct explanation *statements) {
    double n = 0;
    for (size_t s = 0; s < statements->proposal->n_sections; s++)
        if (statements->statements.number[s] != MODEL_NONE)
            n += (double)statements->proposal->sections[s].n_steps;
    return n;
}

static struct explanation try_proposal(const struct search_of_statements *search, int mutex,
                                       const struct facts_monitor *proposal, replay_trail *trail) {
    size_t n = search->sections->n_sections;
    struct explanation result = {
        .by = BY_STATEMENTS,
        .mutex = mutex,
        .proposal = proposal,
        .object = MODEL_NONE,
        .statements = {.section_of =
                           source_replay_roles(search->trace, search->sections, proposal, mutex),
                       .outcome = memory_alloc(n, sizeof(enum outcome)),
                       .answer = memory_alloc(proposal->n_sections, sizeof(int)),
                       .number = memory_alloc(proposal->n_sections, sizeof(int))}};
    bool *is_own = command_program_own_variables(proposal);
    result.statements.asked = find_asked(proposal, is_own);
    free(is_own);
    memset(trail, 0, n * sizeof *trail);
    result.tally = source_replay(search->sections, proposal, mutex, result.statements.section_of,
                                 search->threads, trail);
    number_sections(search->sections, &result);
    result.score = (struct score){.contradictions = result.tally.violations + result.tally.untold,
                                  .complexity = count_commands(&result),
                                  .is_said = true};
    return result;
}

static bool is_wanted(const struct facts_monitor *proposal) {
    return proposal && proposal->statements;
}

/* Is so much of the mutex' waiting worth an explanation? */
static bool is_much(const struct search_of_statements *search, const struct waits *waits,
                    double wait_ns) {
    return wait_ns > evidence.statement_wait_share * search->life_ns &&
           wait_ns > evidence.violation_share * waits->wait_ns;
}

/* Is it what else was found of the mutex? */
static bool is_replaced(const struct explanation *explanation, const void *mutex) {
    return explanation->mutex == *(const int *)mutex && explanation->by != BY_STATEMENTS;
}

static void find_in_mutex(const struct search_of_statements *search, int mutex,
                          struct model *model) {
    const struct facts_monitor *known = search->monitors->proposal_of[mutex];
    struct waits waits = waits_of(search, mutex);
    if (!known || known->ignored || (!is_wanted(known) && !is_much(search, &waits, waits.open_ns)))
        return;
    replay_trail *trail = memory_alloc(search->sections->n_sections, sizeof *trail);
    const char *why = "the source says nothing of them";
    for (size_t m = 0; why && m < search->facts->n_monitors; m++) {
        const struct facts_monitor *proposal = &search->facts->monitors[m];
        if (!facts_same_mutex(proposal, known) || proposal->n_sections == 0)
            continue;
        struct explanation statements = try_proposal(search, mutex, proposal, trail);
        why = why_not(search, &statements, &waits);
        if (!why && !is_wanted(known) && !score_is_better(&statements.score, &waits.known)) {
            why = "they explain no more than what else was found";
            select_reject(search->monitors, &statements, &statements.score);
        }
        if (why) {
            explanation_free(&statements);
            continue;
        }
        tell_outcomes(search, &statements, trail);
        explanations_drop(search->monitors, is_replaced, &mutex);
        explanation_add(search->monitors, statements);
    }
    if (why && (is_wanted(known) || is_much(search, &waits, waits.flag_ns)))
        notes_add(model, "the statements of \"%s\" cannot be simulated: %s",
                  known->name ? known->name : known->mutex, why);
    free(trail);
}

void statements_find(const struct trace *trace, const struct sections *sections,
                     const struct facts *facts, const struct thread_pools *pools,
                     struct monitors *monitors, struct model *model) {
    struct search_of_statements search = {.trace = trace,
                                          .sections = sections,
                                          .facts = facts,
                                          .pools = pools,
                                          .monitors = monitors,
                                          .threads = thread_pools_count(pools)};
    for (size_t t = 0; t < trace->n_threads; t++)
        search.life_ns += (double)(trace->threads[t].end_ns - trace->threads[t].start_ns);
    for (size_t o = 0; facts && o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone)
            find_in_mutex(&search, (int)o, model);
}
