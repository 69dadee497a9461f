#include "static-analyzer/taint.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace persik {

namespace {

const std::string constant_prefix = "constant:";
const double max_shift = 32;

bool is_thread_creation(const CallSite &site) {
    return catalog_start_argument(site.api) >= 0;
}

/* A constant that has a name is a variable that a new build sets. */
std::string key_of(const Expr &expr) {
    return expr.kind == ExprKind::Constant ? constant_prefix + expr.text : expr.text;
}

bool is_constant(const std::string &key) {
    return key.rfind(constant_prefix, 0) == 0;
}

/* x = x + 1 goes on evenly; x = x * a + c wanders about. */
bool wanders(const Expr &value, const std::string &key, bool inside_other) {
    if (value.kind == ExprKind::Variable)
        return inside_other && value.text == key;
    bool even = value.kind == ExprKind::Operator && (value.text == "+" || value.text == "-");
    return std::any_of(value.children.begin(), value.children.end(), [&](const Expr &child) {
        return wanders(child, key, inside_other || !even);
    });
}

/* What the loop's moving variable, whose key goes into `index`, is compared with; null: nothing. */
const Expr *find_limit(const Flow &flow, const Loop &loop, std::string &index) {
    const Expr *limit = nullptr;
    if (loop.stmt->exprs.empty())
        return limit;
    expr_walk(loop.stmt->exprs[0], [&](const Expr &e) {
        if (!is_comparison(e))
            return;
        for (size_t side = 0; side < 2; side++) {
            const Expr *variable = only_variable(e.children[side]);
            if (!limit && variable && variable->kind == ExprKind::Variable &&
                loop_assigns(flow, loop, variable->text)) {
                index = variable->text;
                limit = &e.children[1 - side];
            }
        }
    });
    return limit;
}

/* Does it move by the same step each time? What is taken off a rest in pieces as large as they
 * come counts no threads. */
bool is_counted(const Flow &flow, const Loop &loop, const std::string &index) {
    return std::none_of(flow.assignments.begin(), flow.assignments.end(), [&](const auto &a) {
        return is_variable(*a.target, index) && loop_contains(loop, a.at) &&
               (a.op == "+=" || a.op == "-=") && a.value->kind != ExprKind::Constant;
    });
}

/* while (position < end) { position++; if (position > next) { create(...); next += step; } }: not
 * each round makes a thread. */
bool is_only_when_due(const Flow &flow, const Loop &loop, const std::string &index,
                      const CallSite &site) {
    auto moves_in_loop = [&](const std::string &key) {
        return std::any_of(
            flow.assignments.begin(), flow.assignments.end(), [&](const Assignment &a) {
                return a.target->text == key && moves_on(a) && loop_contains(loop, a.at);
            });
    };
    bool inside = false;
    for (const Expr *guard : site.at.guards) {
        if (inside)
            for (const std::string &key : expr_variables(*guard))
                if (key != index && moves_in_loop(key))
                    return true;
        inside = inside || guard == &loop.stmt->exprs[0];
    }
    return false;
}

/* What a value is a copy of: a variable, also where a constant stands in for it when it is out of
 * range (n > 0 ? n : 1). Null: of nothing. */
const Expr *copied(const Expr &value) {
    if (value.kind == ExprKind::Variable)
        return &value;
    if (value.kind != ExprKind::Operator || value.text != "?:" || value.children.size() != 3)
        return nullptr;
    const Expr *arms[] = {&value.children[1], &value.children[2]};
    for (int i = 0; i < 2; i++)
        if (arms[i]->kind == ExprKind::Variable && arms[1 - i]->kind == ExprKind::Constant &&
            expr_reads(value.children[0], arms[i]->text))
            return arms[i];
    return nullptr;
}

/* 2 * n - 1: n, in `key`, and how much of it. False: it is no formula of one variable. */
bool linear_of(const Expr &wrapped, std::string &key, Linear &linear) {
    const Expr &expr = unwrapped(wrapped);
    if (expr.kind == ExprKind::Constant) {
        linear = {0, expr.value};
        return true;
    }
    if (expr.kind == ExprKind::Variable && (key.empty() || key == expr.text)) {
        key = expr.text;
        linear = {1, 0};
        return true;
    }
    Linear left, right;
    return expr.kind == ExprKind::Operator && expr.children.size() == 2 &&
           linear_of(expr.children[0], key, left) && linear_of(expr.children[1], key, right) &&
           linear_combine(expr.text, left, right, linear);
}

std::string return_key(const std::string &function) {
    return "return:" + function;
}

} // namespace

bool linear_combine(const std::string &op, const Linear &a, const Linear &b, Linear &result) {
    if (op == "+")
        result = {a.factor + b.factor, a.offset + b.offset};
    else if (op == "-")
        result = {a.factor - b.factor, a.offset - b.offset};
    else if (op == "*" && a.factor == 0)
        result = {a.offset * b.factor, a.offset * b.offset};
    else if (op == "*" && b.factor == 0)
        result = {b.offset * a.factor, b.offset * a.offset};
    else if (op == "<<" && b.factor == 0 && b.offset >= 0 && b.offset < max_shift)
        result = {a.factor * std::exp2(b.offset), a.offset * std::exp2(b.offset)};
    else if (op == "/" && b.factor == 0 && b.offset >= 1 && b.offset == std::floor(b.offset))
        /* in the middle between what is cut off least and most, so that the nearest number is it */
        result = {a.factor / b.offset, (a.offset - (b.offset - 1) / 2) / b.offset};
    else
        return false;
    return true;
}

bool Value::merge(const Value &other) {
    bool changed = (other.all & ~all) || (other.own & ~own) || (other.parameters & ~parameters);
    if (why.empty())
        why = other.why;
    all |= other.all;
    own |= other.own;
    parameters |= other.parameters;
    if (!(other.all & TAINT_COUNT))
        return changed;
    bool conflicts =
        other.linear_conflict || !other.linear_known || (linear_known && !(linear == other.linear));
    if (conflicts && !linear_conflict) {
        linear_conflict = true;
        changed = true;
    } else if (!linear_conflict && !linear_known) {
        linear_known = true;
        linear = other.linear;
        changed = true;
    }
    linear_known = linear_known && !linear_conflict;
    return changed;
}

Taint::Taint(const Program &program) : program(program) {
    for (const Function &function : program.functions)
        for (size_t i = 0; i < function.parameters.size() && i < 16; i++)
            parameter_bits[function.parameters[i]] = 1U << i;
    find_constants();
    find_evolving();
    find_moving();
    spawns = find_spawns(program);
    find_creation_loops();
    forget_constant_counts();
    collect_copies();
    seed_counts();
    seed_openmp();
    seed_numbers();
    propagate();
    find_team_loops();
    propagate();
}

void Taint::propagate() {
    const int max_rounds = 50; /* each adds a bit somewhere; chains of calls are far shorter */
    for (int round = 0; round < max_rounds; round++)
        if (!propagate_round())
            break;
}

/* ---- where it starts ---- */

void Taint::find_creation_loops() {
    std::set<int> creators = single_creators(program, spawns);
    for (size_t f = 1; f < program.flows.size(); f++) {
        if (!program.flows[f].reached)
            continue;
        for (const CallSite &site : program.flows[f].calls) {
            bool creates = is_thread_creation(site) ||
                           std::any_of(site.callees.begin(), site.callees.end(),
                                       [&](int callee) { return creators.count(callee) > 0; });
            if (creates && site.at.loop >= 0 && !spawns_threads(*site.call))
                add_creation_loop((int)f, site);
        }
    }
}

/* Where a variable tells how many threads there are, a constant elsewhere does not. */
void Taint::forget_constant_counts() {
    std::string count = thread_count_key();
    for (CreationLoop &creation : creations)
        if (!count.empty() && !is_constant(count) && is_constant(creation.count))
            creation.count.clear();
}

void Taint::add_creation_loop(int f, const CallSite &site) {
    const Flow &flow = program.flows[(size_t)f];
    int l = site.at.loop;
    const Loop &loop = flow.loops[(size_t)l];
    for (const CreationLoop &known : creations)
        if (known.function == f && known.loop == l)
            return;
    CreationLoop creation = {f, l, "", "", nullptr};
    const Expr *each = loop_range(loop);
    creation.limit = each ? each : find_limit(flow, loop, creation.index);
    if (!creation.limit || !is_counted(flow, loop, creation.index) ||
        is_only_when_due(flow, loop, creation.index, site))
        return;
    const Expr *count = only_variable(*creation.limit);
    if (!count) /* counts down: for (i = n; i-- > 0;) */
        for (const Assignment &assignment : flow.assignments)
            if (assignment.target->text == creation.index && assignment.op == "=" &&
                assignment.at.order <= loop.last_order)
                count = only_variable(*assignment.value);
    if (count && (each || count->type == TypeKind::Integer))
        creation.count = key_of(*count);
    creations.push_back(creation);
}

/* Other loops over all threads, that prepare what they get: threads[i].id = i. */
void Taint::find_team_loops() {
    for (size_t f = 1; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        for (size_t l = 0; flow.reached && l < flow.loops.size(); l++) {
            CreationLoop team = {(int)f, (int)l, "", "", nullptr};
            const Expr *limit = find_limit(flow, flow.loops[l], team.index);
            if (!limit)
                continue;
            Value value = evaluate(*limit, (int)f, nullptr);
            if (value.all == TAINT_COUNT && value.linear_known && value.linear == Linear{1, 0})
                teams.push_back(team);
        }
    }
}

/* Rather a variable than a constant. */
std::string Taint::thread_count_key() const {
    std::vector<std::string> bounds;
    for (const CreationLoop &creation : creations) {
        auto origin = origins.find(creation.count);
        if (!creation.count.empty())
            bounds.push_back(origin == origins.end() ? creation.count : origin->second);
    }
    for (const Spawn &spawn : spawns)
        bounds.push_back(key_of(*spawn.count));
    auto variable = std::find_if_not(bounds.begin(), bounds.end(), is_constant);
    return bounds.empty() ? "" : variable != bounds.end() ? *variable : bounds.front();
}

std::string Taint::thread_count() const {
    std::string count = thread_count_key();
    return is_constant(count) ? count.substr(constant_prefix.size()) : count;
}

bool Taint::spawns_threads(const Expr &call) const {
    return std::any_of(spawns.begin(), spawns.end(),
                       [&](const Spawn &spawn) { return spawn.call == &call; });
}

bool Taint::divides_work(const Expr &call) const {
    return std::any_of(spawns.begin(), spawns.end(), [&](const Spawn &spawn) {
        return spawn.call == &call && spawn.divides_work;
    });
}

void Taint::find_evolving() {
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments) {
            if (a.target->kind != ExprKind::Variable)
                continue;
            bool even = a.op == "=" || a.op == "+=" || a.op == "-=" || a.op == "atomic";
            if (!even || wanders(*a.value, a.target->text, false))
                evolving.insert(a.target->text);
        }
}

/* for (i = first; i < last; i++): i starts with a share but is no share. If the loop also sets it
 * anew in each round it does not move. */
void Taint::find_moving() {
    auto same_variable = [](const Assignment &a, const Assignment &b) {
        return a.target->text == b.target->text && a.target->kind == ExprKind::Variable;
    };
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments) {
            bool moves = a.op == "+=" || a.op == "-=" ||
                         (a.op == "=" && a.target->kind == ExprKind::Variable &&
                          expr_reads(*a.value, a.target->text));
            if (!moves || a.at.loop < 0)
                continue;
            bool reset = std::any_of(
                flow.assignments.begin(), flow.assignments.end(), [&](const Assignment &b) {
                    return same_variable(a, b) && b.op == "=" && b.at.loop == a.at.loop &&
                           !expr_reads(*b.value, b.target->text);
                });
            if (!reset)
                movers[a.target->text].push_back({(int)(&flow - program.flows.data()), a.at.loop});
        }
}

/* Behind the loop that moved it, as to the end of a line, a variable holds what it came to. */
bool Taint::is_moving(const std::string &key, int f, const Moment *at) const {
    auto known = movers.find(key);
    return known != movers.end() &&
           std::any_of(known->second.begin(), known->second.end(), [&](const Mover &mover) {
               return !at || mover.function != f ||
                      loop_contains(program.flows[(size_t)f], mover.loop, at->loop);
           });
}

/* ---- copies, to find where a count came from ---- */

void Taint::collect_copies() {
    for (size_t f = 0; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        if (!flow.reached)
            continue;
        for (const Assignment &a : flow.assignments) {
            const Expr *source = copied(*a.value);
            if (a.op != "=" || !source || a.target->kind != ExprKind::Variable)
                continue;
            bool clamp =
                std::any_of(a.at.guards.begin(), a.at.guards.end(), [&](const Expr *guard) {
                    return expr_reads(*guard, a.target->text) && expr_reads(*guard, source->text);
                });
            copies.push_back({a.target->text, source->text, clamp});
        }
        for (const CallSite &site : flow.calls)
            for_arguments(site, [&](const std::string &parameter, const Expr &argument) {
                if (const Expr *source = copied(argument))
                    copies.push_back({parameter, source->text, false});
            });
    }
}

/* What the variable is ever set to; null: nothing, or several things. */
const Expr *Taint::only_value(const std::string &key) const {
    const Expr *value = nullptr;
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments) {
            if (!flow.reached || !is_variable(*a.target, key))
                continue;
            if (value || a.op != "=")
                return nullptr;
            value = a.value;
        }
    return value;
}

/* Is it a number that was text: on the command line, in a file? */
bool Taint::is_read_in(const std::string &key) const {
    static const std::set<std::string> readers = {"atoi",    "atol",    "atoll",   "strtol",
                                                  "strtoul", "strtoll", "strtoull"};
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments) {
            bool reads = false;
            if (flow.reached && is_variable(*a.target, key))
                expr_walk(*a.value, [&](const Expr &e) {
                    reads = reads || (e.kind == ExprKind::Call && readers.count(e.text) > 0);
                });
            if (reads)
                return true;
        }
    return false;
}

/* Is the bound of a creation always the same formula of another variable, which the user sets? The
 * thread count is what the user says then. */
bool Taint::is_formula_of(const std::string &bound, std::string &key) const {
    const Expr *value = bound.empty() ? nullptr : only_value(bound);
    std::string of;
    Linear linear;
    if (!value || !linear_of(*value, of, linear) || of.empty() || of == bound ||
        linear.factor <= 0 || linear == Linear{1, 0})
        return false;
    bool is_asked = is_read_in(of) || std::any_of(copies.begin(), copies.end(), [&](const Copy &c) {
                        return c.target == of && is_read_in(c.source);
                    });
    if (is_asked)
        key = of;
    return is_asked;
}

/* What OpenMP answers. */
void Taint::seed_openmp() {
    Value count;
    count.all = count.own = TAINT_COUNT;
    count.linear_known = true;
    count.linear = {1, 0};
    for (const char *asks : {"omp_get_max_threads", "omp_get_num_threads"})
        values[return_key(asks)].merge(count);
}

/* From the bound of each creation loop back along plain copies. Not through a variable that is
 * copied to several fields: it is somebody's general-purpose "value". */
void Taint::seed_counts() {
    std::map<std::string, std::set<std::string>> fields_fed;
    for (const Copy &copy : copies)
        if (!key_is_local(copy.target))
            fields_fed[copy.source].insert(copy.target);
    std::deque<std::string> queue;
    for (const CreationLoop &creation : creations) {
        std::string origin;
        if (is_formula_of(creation.count, origin))
            origins[creation.count] = origin;
        if (!creation.count.empty())
            queue.push_back(origin.empty() ? creation.count : origin);
    }
    for (const Spawn &spawn : spawns)
        queue.push_back(key_of(*spawn.count));
    while (!queue.empty()) {
        std::string key = queue.front();
        queue.pop_front();
        if (!counts.insert(key).second)
            continue;
        Value count;
        count.all = count.own = TAINT_COUNT;
        count.linear_known = true;
        count.linear = {1, 0};
        values[key].merge(count);
        for (const Copy &copy : copies)
            if (copy.target == key && !copy.clamp &&
                (!key_is_local(copy.source) || fields_fed[copy.source].size() <= 1))
                queue.push_back(copy.source);
    }
}

namespace {

/* Is one more counted there, under a mutex that is held at the other moment, too? */
bool counts_up(const Assignment &a, const std::string &counter, const Moment &other) {
    return is_variable(*a.target, counter) && a.op == "+=" && a.at.loop < 0 &&
           std::any_of(a.at.held.begin(), a.at.held.end(),
                       [&](const auto &held) { return other.held.count(held.first) > 0; });
}

/* mine = next; next++; under a lock, or mine = next++, as one step or under a lock. */
bool takes_number(const Flow &flow, const Assignment &a) {
    if (a.op != "=" || a.at.loop >= 0 || !key_is_local(a.target->text))
        return false;
    const Expr &value = *a.value;
    bool moves = value.kind == ExprKind::Atomic ||
                 (value.kind == ExprKind::Assign && value.text == "+=" && !a.at.held.empty());
    if (moves)
        return value.children[0].kind == ExprKind::Variable &&
               !key_is_local(value.children[0].text);
    return value.kind == ExprKind::Variable && !key_is_local(value.text) &&
           std::any_of(flow.assignments.begin(), flow.assignments.end(),
                       [&](const Assignment &b) { return counts_up(b, value.text, a.at); });
}

} // namespace

/* Threads that are not told which one they are ask, first of all. */
void Taint::seed_numbers() {
    std::set<int> routines;
    for (const Flow &flow : program.flows)
        for (const CallSite &site : flow.calls)
            routines.insert(flow.reached ? program.start_routine(site) : -1);
    routines.erase(-1);
    for (int routine : routines)
        for (const Assignment &a : program.flows[(size_t)routine].assignments)
            if (takes_number(program.flows[(size_t)routine], a)) {
                Value number;
                number.all = number.own = TAINT_INDEX;
                values[a.target->text].merge(number);
            }
}

/* ---- forward ---- */

bool Taint::bind(const std::string &key, const Value &value) {
    if (value.all == 0 && value.parameters == 0)
        return false;
    Value kept = value;
    if (evolving.count(key)) {
        kept.all &= ~(unsigned)TAINT_INDEX;
        kept.own &= ~(unsigned)TAINT_INDEX;
        kept.linear_known = false;
    }
    return values[key].merge(kept);
}

bool Taint::propagate_round() {
    bool changed = false;
    find_general_parameters();
    for (size_t f = 0; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        if (!flow.reached)
            continue;
        for (const Assignment &a : flow.assignments) {
            if (a.target->kind != ExprKind::Variable || a.target->type == TypeKind::Real ||
                a.target->type == TypeKind::Record)
                continue;
            Value value = evaluate(*a.value, (int)f, &a.at);
            if (!key_is_local(a.target->text))
                value.parameters = 0;
            if (a.op == "*=" && value.all) /* an unknown multiple */
                value.linear_known = false;
            if (a.op == "/=" || a.op == "%=") {
                Value divided;
                if (value.all & TAINT_COUNT) {
                    bool up = evaluate(*a.target, (int)f, &a.at).all & TAINT_COUNT;
                    divided.all = divided.own = TAINT_SHARE | (up ? TAINT_CHUNKS : 0U);
                    divided.why = expr_display(*a.whole);
                }
                value = divided;
            } else if (a.op != "=" && a.op != "*=") {
                value.linear_known = false;
                value.all &= ~(unsigned)TAINT_COUNT; /* sums and steps are no counts */
                value.own &= ~(unsigned)TAINT_COUNT;
            }
            for (const Expr *guard : a.at.guards)
                if (asks_for_last(*guard, (int)f, &a.at) &&
                    values[a.target->text].all & TAINT_SHARE)
                    value.all |= TAINT_LAST;
            changed |= bind(a.target->text, value);
            if (a.op != "=")
                changed |= steps[a.target->text].merge(value);
        }
        for (const Return &back : flow.returns)
            if (back.value && back.value->type != TypeKind::Real)
                changed |= bind(return_key(program.functions[f].key),
                                evaluate(*back.value, (int)f, &back.at));
        for (const CallSite &site : flow.calls)
            changed |= bind_arguments((int)f, site);
    }
    return changed;
}

/* Into a parameter goes all but what distinguishes it inside the function. Whether it is a count
 * or index is only said of parameters that never are anything else: set_option(kind, value) would
 * mix all options up. */
bool Taint::bind_arguments(int f, const CallSite &site) {
    bool changed = false;
    auto pass = [&](const std::string &parameter, const Expr &argument) {
        Value value = evaluate(argument, f, &site.at);
        value.own = value.parameters = 0;
        if (general.count(parameter))
            value.all &= TAINT_PART;
        changed |= bind(parameter, value);
    };
    for_arguments(site, pass);
    if (int routine = program.start_routine(site); routine >= 0) {
        const auto &parameters = program.functions[(size_t)routine].parameters;
        const auto &arguments = site.call->children;
        size_t first = (size_t)catalog_start_argument(site.api) + 1; /* several: of a std::thread */
        for (size_t i = 0; i < parameters.size() && first + i < arguments.size(); i++)
            pass(parameters[i], arguments[first + i]);
    }
    return changed;
}

/* Parameters for which some caller passes what has nothing to do with threads. */
void Taint::find_general_parameters() {
    general.clear();
    for (size_t f = 0; f < program.flows.size(); f++) {
        if (!program.flows[f].reached)
            continue;
        for (const CallSite &site : program.flows[f].calls)
            for_arguments(site, [&](const std::string &parameter, const Expr &argument) {
                bool plain = evaluate(argument, (int)f, &site.at).all == 0;
                bool itself = is_variable(argument, parameter);
                if (plain && !itself && !constant(argument))
                    general.insert(parameter);
            });
    }
}

/* ---- values of expressions ---- */

unsigned Taint::index_bits(const std::string &key, int f, const Moment *at) const {
    if (!at)
        return 0;
    auto runs_through = [&](const CreationLoop &loop) {
        return loop.function == f && loop.index == key &&
               loop_contains(program.flows[(size_t)f].loops[(size_t)loop.loop], *at);
    };
    bool found = std::any_of(creations.begin(), creations.end(), runs_through) ||
                 std::any_of(teams.begin(), teams.end(), runs_through);
    return found ? TAINT_INDEX : 0;
}

Value Taint::start_value(const std::string &key) const {
    Value value;
    if (auto known = values.find(key); known != values.end())
        value = known->second;
    if (auto bit = parameter_bits.find(key); bit != parameter_bits.end())
        value.parameters |= bit->second;
    return value;
}

Value Taint::evaluate_limit(const Expr &expr, int f, int loop) const {
    Moment at;
    at.order = -1; /* in no creation loop */
    at.loop = loop;
    return evaluate(expr, f, &at);
}

Value Taint::evaluate(const Expr &expr, int f, const Moment *at) const {
    switch (expr.kind) {
    case ExprKind::Constant: {
        auto known = values.find(key_of(expr));
        return known == values.end() || expr.text.empty() ? Value() : known->second;
    }
    case ExprKind::Variable: {
        Value value;
        if (auto known = values.find(expr.text); known != values.end())
            value = known->second;
        if (is_moving(expr.text, f, at)) {
            auto step = steps.find(expr.text);
            unsigned kept = TAINT_COUNT | (step == steps.end() ? 0 : step->second.all & TAINT_PART);
            value.all &= kept;
            value.own &= kept;
        }
        unsigned index = index_bits(expr.text, f, at);
        bool kept =
            std::any_of(expr.children.begin(), expr.children.end(), [&](const Expr &at_what) {
                return evaluate(at_what, f, at).all & (TAINT_INDEX | TAINT_KEPT);
            });
        index |= kept ? TAINT_KEPT : 0U;
        value.all |= index;
        value.own |= index;
        if (auto bit = parameter_bits.find(expr.text); bit != parameter_bits.end())
            value.parameters |= bit->second;
        return value;
    }
    case ExprKind::Operator:
        return evaluate_operator(expr, f, at);
    case ExprKind::Call:
        return evaluate_call(expr, f, at);
    case ExprKind::Assign:
        return evaluate(expr.children[expr.text == "=" ? 1 : 0], f, at);
    case ExprKind::Other:
        return expr.children.size() == 1 ? evaluate(expr.children[0], f, at) : Value();
    default:
        return Value();
    }
}

namespace {

/* n << 3 is n * 8 */
Expr doubled(Expr shift) {
    shift.text = "*";
    shift.children[1].text.clear();
    shift.children[1].value = std::exp2(shift.children[1].value);
    return shift;
}

/* What bits a op b has when a and b have these. */
unsigned combine_bits(const std::string &op, unsigned a, unsigned b, bool a_is_no_total) {
    bool divides = op == "/" || op == "%";
    if (op == "%" && (a & TAINT_INDEX))
        return a; /* this thread's or a neighbour's number */
    /* (n + threads - 1) / threads rounds up */
    if (divides && (b & TAINT_COUNT) && !a_is_no_total)
        return TAINT_SHARE | ((op == "/" && (a & TAINT_COUNT)) ? TAINT_CHUNKS : 0U);
    if (divides)
        return a | (b & TAINT_PART);
    unsigned both = a | b;
    bool mixed =
        ((a & TAINT_INDEX) && (b & TAINT_COUNT)) || ((b & TAINT_INDEX) && (a & TAINT_COUNT));
    if (op == "*" && mixed)
        return TAINT_SHARE | (both & TAINT_REST);
    if (both & TAINT_SHARE)
        return both & TAINT_PART;
    if (both & TAINT_INDEX)
        return TAINT_INDEX;
    return both;
}

/* Nothing but so many for each thread: a quotient of it is no share of work. */
bool is_of_threads(const Value &value) {
    return (value.all & TAINT_COUNT) && value.linear_known && value.linear.factor > 0 &&
           value.linear.offset <= 0;
}

} // namespace

Value Taint::evaluate_operator(const Expr &expr, int f, const Moment *at) const {
    static const std::set<std::string> arithmetic = {"+", "-", "*", "/", "%"};
    static const std::set<std::string> masks = {"&", "<<", ">>"}; /* rounding of a share */
    if (expr.text == "<<" && expr.children.size() == 2 &&
        expr.children[1].kind == ExprKind::Constant && expr.children[1].value < max_shift)
        return evaluate_operator(doubled(expr), f, at);
    Value result;
    const auto &operands = expr.children;
    if (expr.text == "?:" && operands.size() == 3) {
        result = evaluate(operands[1], f, at);
        Value other = evaluate(operands[2], f, at);
        if (result.all & TAINT_COUNT && !(other.all & TAINT_COUNT)) /* a clamp */
            other.linear_known = other.linear_conflict = false;
        result.merge(other);
        if (result.all & TAINT_SHARE && asks_for_last(operands[0], f, at))
            result.all |= TAINT_LAST;
        return result;
    }
    if (expr.text == "," && operands.size() == 2)
        return evaluate(operands[1], f, at);
    if (operands.size() != 2 || expr.type == TypeKind::Real)
        return result;
    Value a = evaluate(operands[0], f, at), b = evaluate(operands[1], f, at);
    if (masks.count(expr.text)) {
        result.all = (a.all | b.all) & TAINT_PART;
        result.own = (a.own | b.own) & TAINT_PART;
        result.why = a.why.empty() ? b.why : a.why;
        return result;
    }
    if (!arithmetic.count(expr.text))
        return result;
    bool a_is_no_total = expr.text == "/" && is_of_threads(a); /* threads of a group */
    result.all = combine_bits(expr.text, a.all, b.all, a_is_no_total);
    result.own = combine_bits(expr.text, a.own, b.own, a_is_no_total);
    result.parameters = a.parameters | b.parameters;
    if (expr.type == TypeKind::Pointer) { /* base + index is an element, base + share a part */
        result.all &= TAINT_PART;
        result.own &= TAINT_PART;
    }
    if (result.all & TAINT_SHARE) {
        result.why = (a.all & TAINT_SHARE) ? a.why : (b.all & TAINT_SHARE) ? b.why : "";
        if (result.why.empty())
            result.why = expr_display(expr);
        if (!((a.all | b.all) & TAINT_SHARE)) /* it became one right here */
            result.own |= result.all & TAINT_PART;
    }
    if (result.all & TAINT_COUNT) {
        auto linear_of = [&](const Value &value, const Expr &operand, Linear &linear) {
            linear = value.linear;
            if (value.all & TAINT_COUNT)
                return value.linear_known;
            auto number = constant(operand);
            linear = {0, number.value_or(0)};
            return number.has_value();
        };
        Linear left, right;
        bool known = linear_of(a, operands[0], left) && linear_of(b, operands[1], right);
        result.linear_known = known && linear_combine(expr.text, left, right, result.linear);
    }
    return result;
}

/* index == threads - 1: what depends on it is another thing in the last thread. */
bool Taint::asks_for_last(const Expr &condition, int f, const Moment *at) const {
    bool found = false;
    expr_walk(condition, [&](const Expr &e) {
        if (!is_comparison(e))
            return;
        Value a = evaluate(e.children[0], f, at), b = evaluate(e.children[1], f, at);
        auto last = [](const Value &value) {
            return value.all == TAINT_COUNT && value.linear_known && value.linear == Linear{1, -1};
        };
        found = found || (a.all == TAINT_INDEX && last(b)) || (b.all == TAINT_INDEX && last(a));
    });
    return found;
}

/* By the callee's result, which tells on what parameters it depends. */
Value Taint::evaluate_call(const Expr &expr, int f, const Moment *at) const {
    auto known = values.find(return_key(expr.text));
    Value result;
    if (known == values.end())
        return result;
    const Value &back = known->second;
    unsigned through = 0;
    for (size_t i = 0; i < expr.children.size() && i < 16; i++) {
        if (!(back.parameters & (1U << i)))
            continue;
        Value argument = evaluate(expr.children[i], f, at);
        result.merge(argument);
        through |= argument.all;
    }
    result.all |= back.own;
    result.own |= back.own;
    if (through) {
        result.all |= back.all & TAINT_PART;
        result.own |= back.all & TAINT_PART;
    }
    if (result.all & TAINT_SHARE && result.why.empty())
        result.why = back.why.empty() ? expr_display(expr) : back.why;
    result.linear_known = back.own & TAINT_COUNT && back.linear_known;
    result.linear = back.linear;
    return result;
}

/* ---- constants ---- */

std::optional<double> Taint::constant(const Expr &expr) const {
    if (expr.kind == ExprKind::Constant)
        return expr.value;
    if (expr.kind == ExprKind::Variable) {
        auto known = constants.find(expr.text);
        if (known == constants.end() || known->second.conflict)
            return std::nullopt;
        return known->second.value;
    }
    if (expr.kind != ExprKind::Operator || expr.children.size() != 2)
        return std::nullopt;
    auto a = constant(expr.children[0]), b = constant(expr.children[1]);
    if (!a || !b)
        return std::nullopt;
    if (expr.text == "+")
        return *a + *b;
    if (expr.text == "-")
        return *a - *b;
    if (expr.text == "*")
        return *a * *b;
    if (expr.text == "<<" && *b >= 0 && *b < max_shift)
        return *a * std::exp2(*b);
    if (expr.text == "/" && *b != 0)
        return std::trunc(*a / *b);
    if (expr.text == "%" && *b != 0)
        return std::fmod(*a, *b);
    return std::nullopt;
}

/* Not known yet, but may still turn out to be constant. */
bool Taint::is_pending(const Expr &expr) const {
    if (expr.kind == ExprKind::Constant)
        return true;
    if (expr.kind == ExprKind::Variable) {
        auto known = constants.find(expr.text);
        return known == constants.end() || !known->second.conflict;
    }
    return expr.kind == ExprKind::Operator && expr.children.size() == 2 &&
           is_pending(expr.children[0]) && is_pending(expr.children[1]);
}

/* Unknown -> one constant -> conflict, never back. A null value is one that nobody knows. */
bool Taint::lower_constant(const std::string &key, const Expr *value) {
    auto known = constants.find(key);
    if (known != constants.end() && known->second.conflict)
        return false;
    std::optional<double> number;
    if (value)
        number = constant(*value);
    if (!number && value && is_pending(*value))
        return false;
    if (!number) {
        constants[key] = {true, 0};
        return true;
    }
    if (known == constants.end()) {
        constants[key] = {false, *number};
        return true;
    }
    known->second.conflict = known->second.value != *number;
    return known->second.conflict;
}

bool Taint::lower_arguments(const CallSite &site) {
    bool changed = false;
    for (const Expr &argument : site.call->children) /* whoever gets the address may change it */
        if (argument.kind == ExprKind::Address && argument.children[0].type == TypeKind::Integer)
            changed |= lower_constant(argument.children[0].text, nullptr);
    for_arguments(site, [&](const std::string &parameter, const Expr &argument) {
        changed |= lower_constant(parameter, &argument);
    });
    return changed;
}

void Taint::find_constants() {
    bool changed = true;
    const int max_rounds = 20; /* length of a chain of copies that is worth following */
    for (int round = 0; changed && round < max_rounds; round++) {
        changed = false;
        for (const Flow &flow : program.flows) {
            for (const Assignment &a : flow.assignments)
                if (a.target->kind == ExprKind::Variable)
                    changed |= lower_constant(a.target->text, a.op == "=" ? a.value : nullptr);
            for (const CallSite &site : flow.calls)
                changed |= lower_arguments(site);
        }
    }
}

} // namespace persik
