#include "static-analyzer/protocol.h"

#include <algorithm>

namespace persik {

bool is_state(const std::string &key) {
    return !key.empty() && !key_is_local(key) && key.rfind("*local:", 0) != 0;
}

std::string key_without_stars(const std::string &key) {
    return key.substr(std::min(key.find_first_not_of('*'), key.size()));
}

Change change_of(const Event &update) {
    const Expr &value = update.value;
    const std::string &key = update.target.text;
    if (value.kind == ExprKind::Constant)
        return {ChangeKind::Set, value.value, true, ""};
    bool sum = value.kind == ExprKind::Operator && value.children.size() == 2 &&
               (value.text == "+" || value.text == "-");
    for (size_t side = 0; sum && side < 2; side++) {
        const Expr &old = value.children[side], &step = value.children[1 - side];
        if (old.kind != ExprKind::Variable || old.text != key || expr_reads(step, key) ||
            (side == 1 && value.text == "-"))
            continue;
        bool constant = step.kind == ExprKind::Constant;
        bool up = (value.text == "+") == (!constant || step.value >= 0);
        return {up ? ChangeKind::Up : ChangeKind::Down, constant ? std::abs(step.value) : 0,
                constant, ""};
    }
    bool moves = expr_reads(value, key);
    return {moves ? ChangeKind::Move : ChangeKind::Other, 0, false, moves ? value.text : Text()};
}

bool is_step(const Change &change) {
    return (change.kind == ChangeKind::Up || change.kind == ChangeKind::Down) && change.constant;
}

bool same_direction(const Change &a, const Change &b) {
    return a.kind == b.kind && a.kind != ChangeKind::Other &&
           (a.kind != ChangeKind::Set || a.by == b.by) &&
           (a.kind != ChangeKind::Move || a.op == b.op);
}

bool guarded_by(const Event &event, const std::string &key) {
    return std::any_of(event.guards.begin(), event.guards.end(),
                       [&](const Literal &guard) { return expr_reads(guard.expr, key); });
}

bool updates(const CriticalSection &section, const std::string &key) {
    return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
        return event.kind == EventKind::Update && event.target.text == key;
    });
}

bool updates_any(const CriticalSection &section, const std::set<std::string> &keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string &key) { return updates(section, key); });
}

namespace {

Blocking opposite(Blocking blocking) {
    return blocking == Blocking::Low    ? Blocking::High
           : blocking == Blocking::High ? Blocking::Low
                                        : blocking;
}

Blocking merge(Blocking a, Blocking b) {
    if (a == Blocking::None || a == b)
        return b;
    return b == Blocking::None ? a : Blocking::Unclear;
}

/* Of `key op other`, with `op` as it must hold. */
Blocking blocking_of(const std::string &op, const Expr &other) {
    bool zero = other.kind == ExprKind::Constant && other.value == 0;
    if (op == ">" || op == ">=")
        return Blocking::High;
    if (op == "<" || op == "<=")
        return Blocking::Low;
    if (op == "==")
        return zero ? Blocking::Low : Blocking::High;
    return zero ? Blocking::High : Blocking::Unclear;
}

std::string negated(const std::string &op) {
    static const std::map<std::string, std::string> table = {
        {"==", "!="}, {"!=", "=="}, {"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}};
    auto found = table.find(op);
    return found == table.end() ? "" : found->second;
}

std::string mirrored(const std::string &op) {
    static const std::map<std::string, std::string> table = {
        {"==", "=="}, {"!=", "!="}, {"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}};
    auto found = table.find(op);
    return found == table.end() ? "" : found->second;
}

/* Values of `key` with which `expr` is true (or not true, if not `holds`). */
Blocking blocking_in(const Expr &expr, bool holds, const std::string &key) {
    if (expr.kind == ExprKind::Variable)
        return expr.text != key ? Blocking::None : holds ? Blocking::High : Blocking::Low;
    if (expr.kind == ExprKind::Operator && expr.text == "!")
        return blocking_in(expr.children[0], !holds, key);
    if (!expr_reads(expr, key))
        return Blocking::None;
    if (expr.kind != ExprKind::Operator || expr.children.size() != 2)
        return Blocking::Unclear;
    if (expr.text == "&&" || expr.text == "||")
        return merge(blocking_in(expr.children[0], holds, key),
                     blocking_in(expr.children[1], holds, key));
    std::string op = holds ? expr.text : negated(expr.text);
    if (mirrored(op).empty())
        return Blocking::Unclear;
    size_t side = expr_reads(expr.children[0], key) ? 0 : 1;
    const Expr &moving = expr.children[side], &other = expr.children[1 - side];
    if (expr_reads(other, key))
        return Blocking::Unclear;
    Blocking blocking = blocking_of(side == 0 ? op : mirrored(op), other);
    bool subtracted = moving.kind == ExprKind::Operator && moving.text == "-" &&
                      moving.children.size() == 2 && expr_reads(moving.children[1], key);
    return subtracted ? opposite(blocking) : blocking;
}

const Expr *base_of(const Expr &variable) {
    const Expr *base = &variable;
    while (!base->children.empty())
        base = &base->children[0];
    return base == &variable ? nullptr : base;
}

} // namespace

Protocol::Protocol(const Program &program, std::string mutex,
                   std::vector<const CriticalSection *> sections)
    : program(program), mutex(std::move(mutex)), sections(std::move(sections)) {
    for (const CriticalSection *section : this->sections)
        for (const Event &event : section->events)
            if (event.kind == EventKind::Update && is_state(event.target.text))
                changed.insert(event.target.text);
    find_waits();
}

/* ---- waits ---- */

void Protocol::find_waits() {
    for (const CriticalSection *section : sections)
        for (size_t e = 0; e < section->events.size(); e++) {
            const Event &event = section->events[e];
            if (event.kind != EventKind::Wait)
                continue;
            Wait wait;
            wait.section = section;
            wait.event = &event;
            wait.index = e;
            wait.sleeps = event.acts_before_retest || event.predicate.empty();
            sort_keys(wait);
            wait.own_turn = find_own_turn(wait);
            waits.push_back(std::move(wait));
        }
}

/* A predicate function that is not simple counts with all that it looks at. */
static void add_read_by_call(const Program &program, const Expr &call, int depth,
                             std::set<std::string> &keys) {
    auto callee = program.by_key.find(call.text);
    if (callee == program.by_key.end() || depth <= 0)
        return;
    auto add = [&](const Expr &expr) {
        keys.merge(expr_variables(expr));
        expr_walk(expr, [&](const Expr &e) {
            if (e.kind == ExprKind::Call)
                add_read_by_call(program, e, depth - 1, keys);
        });
    };
    for (const Return &back : program.flows[(size_t)callee->second].returns) {
        if (back.value)
            add(*back.value);
        for (const Expr *guard : back.at.guards)
            add(*guard);
    }
}

std::set<std::string> Protocol::predicate_keys(const Wait &wait) const {
    const int max_depth = 2;
    std::set<std::string> keys;
    for (const Literal &literal : wait.event->predicate) {
        keys.merge(expr_variables(literal.expr));
        expr_walk(literal.expr, [&](const Expr &e) {
            if (e.kind == ExprKind::Call)
                add_read_by_call(program, e, max_depth, keys);
        });
    }
    return keys;
}

void Protocol::sort_keys(Wait &wait) const {
    for (const std::string &key : predicate_keys(wait))
        if (changed.count(key))
            wait.keys.insert(key);
    for (const std::string &key : wait.keys)
        (is_one_way(key) ? wait.flags : wait.main).insert(key);
    if (wait.main.empty())
        wait.main.swap(wait.flags);
    for (const Event *event : after(wait))
        if (wait.main.count(event->target.text))
            wait.takes.insert(event->target.text);
    if (wait.takes.empty())
        for (const std::string &key : wait.main)
            if (takes_later(wait, key))
                wait.takes.insert(key);
}

/* job = first; unlock; the work; lock; first = job->next: taken when it is done. */
bool Protocol::takes_later(const Wait &wait, const std::string &key) const {
    std::set<std::string> taken;
    for (const Event &event : wait.section->events)
        if (event.kind == EventKind::Update && !is_state(event.target.text) &&
            is_variable(event.value, key))
            taken.insert(event.target.text);
    if (taken.empty())
        return false;
    taken.insert(key); /* such a local may stand for what it was read from */
    auto takes = [&](const Event &event) {
        if (event.kind != EventKind::Update || event.target.text != key)
            return false;
        std::set<std::string> read = expr_variables(event.value);
        return std::any_of(read.begin(), read.end(),
                           [&](const std::string &local) { return taken.count(local) > 0; });
    };
    return std::any_of(sections.begin(), sections.end(), [&](const CriticalSection *section) {
        return section->function == wait.section->function &&
               std::any_of(section->events.begin(), section->events.end(), takes);
    });
}

bool Protocol::is_one_way(const std::string &key) const {
    std::set<double> values;
    for (const CriticalSection *section : sections)
        for (const Event &event : section->events) {
            if (event.kind != EventKind::Update || event.target.text != key)
                continue;
            Change change = change_of(event);
            if (change.kind != ChangeKind::Set)
                return false;
            values.insert(change.by);
        }
    return values.size() == 1;
}

std::vector<const Event *> Protocol::after(const Wait &wait) const {
    std::vector<const Event *> found;
    const auto &events = wait.section->events;
    for (size_t e = wait.index + 1; e < events.size(); e++) {
        const Event &event = events[e];
        if (event.kind != EventKind::Update || !is_state(event.target.text))
            continue;
        /* waiting++; wait; waiting-- leaves nothing behind. */
        Change change = change_of(event);
        bool undone =
            is_step(change) && std::any_of(events.begin(), events.begin() + (long)wait.index,
                                           [&](const Event &before) {
                                               Change other = change_of(before);
                                               return before.kind == EventKind::Update &&
                                                      before.target.text == event.target.text &&
                                                      is_step(other) && other.kind != change.kind;
                                           });
        if (!undone)
            found.push_back(&event);
    }
    return found;
}

bool Protocol::takes(const Wait &wait, const std::string &key) const {
    return wait.takes.count(key) > 0;
}

Blocking Protocol::blocking(const Wait &wait, const std::string &key) const {
    Blocking all = Blocking::None;
    for (const Literal &literal : wait.event->predicate)
        all = merge(all, blocking_in(literal.expr, literal.holds, key));
    return all;
}

/* What `a` does behind its wait moves what `b` waits for and the other way round, and they do not
 * do the same. */
bool Protocol::opposed(const Wait &a, const Wait &b) const {
    auto moves = [&](const Wait &one, const Wait &other) {
        std::vector<const Event *> done = after(one);
        return std::any_of(done.begin(), done.end(), [&](const Event *event) {
            return other.main.count(event->target.text) > 0;
        });
    };
    if (a.takes.empty() || b.takes.empty() || !moves(a, b) || !moves(b, a))
        return false;
    for (const Event *x : after(a))
        for (const Event *y : after(b))
            if (x->target.text == y->target.text &&
                (a.main.count(x->target.text) || b.main.count(x->target.text)) &&
                same_direction(change_of(*x), change_of(*y)))
                return false;
    return true;
}

bool Protocol::waits_like(const CriticalSection &section, const Wait &wait) const {
    return std::any_of(waits.begin(), waits.end(), [&](const Wait &other) {
        return other.section == &section && other.main == wait.main && other.takes == wait.takes &&
               (&other == &wait || !opposed(other, wait));
    });
}

bool Protocol::is_copy(const Wait &wait, const std::string &local) const {
    return std::any_of(
        wait.section->events.begin(), wait.section->events.end(), [&](const Event &event) {
            return event.kind == EventKind::Update && event.target.text == local &&
                   event.value.kind == ExprKind::Variable && is_state(event.value.text);
        });
}

/* turn != me, next < ticket: the state on one side, on the other only what is the thread's own. */
std::string Protocol::find_own_turn(const Wait &wait) const {
    for (const Literal &literal : wait.event->predicate) {
        const Expr &expr = literal.expr;
        std::string op = literal.holds ? expr.text : negated(expr.text);
        if (expr.kind != ExprKind::Operator || expr.children.size() != 2 || mirrored(op).empty())
            continue;
        for (size_t side = 0; side < 2; side++) {
            const Expr &turn = expr.children[side], &own = expr.children[1 - side];
            std::string relation = side == 0 ? op : mirrored(op);
            bool waits = relation == "!=" || relation == "<" || relation == "<=";
            if (!waits || turn.kind != ExprKind::Variable || !wait.main.count(turn.text))
                continue;
            const Expr *base = base_of(turn);
            bool mine = false, common = false;
            auto look = [&](auto &&self, const Expr &e) -> void {
                if (e.kind == ExprKind::Variable && changed.count(e.text))
                    common = true;
                if (e.kind == ExprKind::Variable) {
                    const Expr *its = base_of(e);
                    bool field = its && its->kind == ExprKind::Variable &&
                                 key_is_local(its->text) && (!base || its->text != base->text);
                    mine |= field && relation == "!=";
                    mine |= !its && key_is_local(e.text) && !is_copy(wait, e.text);
                    return;
                }
                for (const Expr &child : e.children)
                    self(self, child);
            };
            look(look, own);
            bool consumed = false; /* left < n, then left -= n: permits */
            for (const Event *event : after(wait))
                consumed |=
                    event->target.text == turn.text && change_of(*event).kind == ChangeKind::Down;
            if (mine && !common && !consumed)
                return turn.text;
        }
    }
    return "";
}

std::string Protocol::owner() const {
    std::string key = key_without_stars(mutex);
    size_t dot = key.rfind('.', key.find('@'));
    bool field = key.rfind("struct ", 0) == 0 || key.rfind("union ", 0) == 0;
    return field || key.find(':') == std::string::npos || key.find(':') > dot ? key.substr(0, dot)
                                                                              : key;
}

std::string Protocol::predicate(const Wait &wait) const {
    if (wait.event->predicate.empty())
        return "?";
    return expr_display(conjunction(wait.event->predicate));
}

/* ---- data ---- */

/* Locals that hold something read from the state. */
static std::set<std::string> derived_locals(const CriticalSection &section) {
    std::set<std::string> locals;
    for (const Event &event : section.events)
        if (event.kind == EventKind::Update && !is_state(event.target.text))
            for (const std::string &key : expr_variables(event.value))
                if (is_state(key) || locals.count(key))
                    locals.insert(event.target.text);
    return locals;
}

/* Does the value come from the thread itself? What the state's own fields say is not its own, nor
 * is the pointer by which they are reached. */
static bool is_own_data(const Expr &value, const std::set<std::string> &derived) {
    if (value.kind == ExprKind::Variable)
        return !is_state(value.text) && !derived.count(value.text);
    if (value.kind == ExprKind::Address && !value.children.empty()) {
        const Expr *base = base_of(value.children[0]);
        return base && base->kind == ExprKind::Variable && is_own_data(*base, derived);
    }
    return std::any_of(value.children.begin(), value.children.end(),
                       [&](const Expr &child) { return is_own_data(child, derived); });
}

bool Protocol::stores(const CriticalSection &section) const {
    std::set<std::string> derived = derived_locals(section);
    return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
        ChangeKind change =
            event.kind == EventKind::Update ? change_of(event).kind : ChangeKind::Set;
        return is_state(event.target.text) && change == ChangeKind::Other &&
               is_own_data(event.value, derived);
    });
}

static bool is_truth_value(const Expr &expr) {
    static const std::set<std::string> operators = {"==", "!=", "<",  "<=", ">",
                                                    ">=", "&&", "||", "!"};
    return expr.kind == ExprKind::Operator && operators.count(expr.text);
}

bool Protocol::reads(const CriticalSection &section) const {
    for (const Event &event : section.events) {
        if (event.kind != EventKind::Update || is_state(event.target.text) ||
            is_truth_value(event.value))
            continue;
        std::set<std::string> read = expr_variables(event.value);
        if (std::any_of(read.begin(), read.end(), is_state))
            return true;
    }
    /* return q->items[--q->count]; */
    for (const Return &back : program.flows[(size_t)section.function].returns)
        if (back.value && back.value->kind == ExprKind::Variable && is_state(back.value->text) &&
            back.at.held.count(section.mutex))
            return true;
    return false;
}

std::set<std::string> Protocol::positions(const Wait &wait) const {
    std::set<std::string> moved, found;
    for (const Event *event : after(wait))
        moved.insert(event->target.text);
    for (const Event &event : wait.section->events) {
        if (event.kind != EventKind::Update || is_state(event.target.text))
            continue;
        for (const Expr &part : event.value.children)
            for (const std::string &key : expr_variables(part))
                if (moved.count(key))
                    found.insert(key);
    }
    return found;
}

/* ---- who calls whom ---- */

static std::set<int> callers_of(const Program &program, int f) {
    std::set<int> callers = {f};
    const int levels = 2;
    for (int level = 0; level < levels; level++)
        for (size_t g = 1; g < program.flows.size(); g++)
            for (const CallSite &site : program.flows[g].calls)
                for (int callee : site.callees)
                    if (site.call->kind == ExprKind::Call && callers.count(callee)) {
                        callers.insert((int)g);
                        break;
                    }
    return callers;
}

bool Protocol::same_thread(int f, int g) const {
    std::set<int> a = callers_of(program, f), b = callers_of(program, g);
    return std::any_of(a.begin(), a.end(), [&](int caller) { return b.count(caller) > 0; });
}

/* Does `section` hand on the turn `wait` waits for? Starting the count again is not enough where a
 * number is to be reached. */
bool Protocol::moves_on(const CriticalSection &section, const Wait &wait) const {
    bool reached = blocking(wait, wait.own_turn) == Blocking::Low;
    return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
        return event.kind == EventKind::Update && event.target.text == wait.own_turn &&
               !(reached && change_of(event).kind == ChangeKind::Set);
    });
}

/* The locals of `f` that hold what a call of `callee` returned or stored through an argument. */
static std::set<std::string> results_of(const Program &program, int f, int callee) {
    std::set<std::string> results;
    const Flow &flow = program.flows[(size_t)f];
    const std::string &key = program.functions[(size_t)callee].key;
    for (const Assignment &a : flow.assignments) {
        bool from = false;
        expr_walk(*a.value,
                  [&](const Expr &e) { from |= e.kind == ExprKind::Call && e.text == key; });
        if (from && key_is_local(a.target->text))
            results.insert(a.target->text);
    }
    for (const CallSite &site : flow.calls)
        if (site.call->kind == ExprKind::Call && site.call->text == key)
            for (const Expr &argument : site.call->children)
                if (argument.kind == ExprKind::Address && !argument.children.empty() &&
                    key_is_local(argument.children[0].text))
                    results.insert(argument.children[0].text);
    return results;
}

static bool calls_through(const Flow &flow, const std::set<std::string> &locals) {
    return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
        if (site.call->kind != ExprKind::Indirect)
            return false;
        std::set<std::string> read = expr_variables(site.call->children[0]);
        return std::any_of(read.begin(), read.end(),
                           [&](const std::string &key) { return locals.count(key) > 0; });
    });
}

bool Protocol::items_are_called(const Wait &get) const {
    int f = get.section->function;
    std::set<std::string> taken = derived_locals(*get.section);
    for (const Event &event : get.section->events) /* work = tpool_work_get(pool) */
        if (event.kind == EventKind::Update && event.value.kind == ExprKind::Call &&
            program.find(event.value.text) && key_is_local(event.target.text))
            taken.insert(event.target.text);
    for (const Assignment &a : program.flows[(size_t)f].assignments) { /* container_of(link) */
        std::set<std::string> read = expr_variables(*a.value);
        if (key_is_local(a.target->text) &&
            std::any_of(read.begin(), read.end(),
                        [&](const std::string &key) { return taken.count(key) > 0; }))
            taken.insert(a.target->text);
    }
    if (calls_through(program.flows[(size_t)f], taken))
        return true;
    for (const CallSite &site : program.flows[(size_t)f].calls)
        for (int callee : site.callees)
            if (site.call->kind == ExprKind::Call &&
                calls_through(program.flows[(size_t)callee], taken))
                return true;
    for (size_t g = 1; g < program.flows.size(); g++)
        if ((int)g != f && program.flows[g].reached &&
            calls_through(program.flows[g], results_of(program, (int)g, f)))
            return true;
    return false;
}

/* ---- tokens ---- */

bool Protocol::is_bitmap(const Wait &wait) const {
    for (const Event *event : after(wait))
        if (wait.takes.count(event->target.text) && event->value.kind == ExprKind::Operator &&
            (event->value.text == "&" || event->value.text == "^" || event->value.text == "|"))
            return true;
    return false;
}

bool Protocol::comes_back(const Wait &wait,
                          const std::vector<const CriticalSection *> &givers) const {
    return is_filled_at_start(wait) || flows_back(wait, givers);
}

bool Protocol::is_filled_at_start(const Wait &wait) const {
    for (const std::string &key : wait.takes)
        for (const Assignment *start : starts(key)) {
            bool empty = start->value->kind == ExprKind::Constant && start->value->value == 0;
            bool once = start->target->type != TypeKind::Pointer && start->op == "=";
            if (!empty && blocking(wait, key) == Blocking::Low && (once || start->at.loop >= 0))
                return true;
        }
    return false;
}

/* x = get(); ... put(x) */
bool Protocol::flows_back(const Wait &wait,
                          const std::vector<const CriticalSection *> &givers) const {
    int get = wait.section->function;
    for (const CriticalSection *giver : givers) {
        if (giver->function == get) {
            std::set<std::string> taken = derived_locals(*wait.section);
            for (const Event &event : giver->events)
                if (event.kind == EventKind::Update && is_state(event.target.text) &&
                    event.value.kind == ExprKind::Variable && taken.count(event.value.text))
                    return true;
            continue;
        }
        for (size_t g = 1; g < program.flows.size(); g++) {
            std::set<std::string> results = results_of(program, (int)g, get);
            if (results.empty())
                continue;
            for (const CallSite &site : program.flows[g].calls)
                if (std::count(site.callees.begin(), site.callees.end(), giver->function))
                    for (const Expr &argument : site.call->children)
                        if (argument.kind == ExprKind::Variable && results.count(argument.text))
                            return true;
        }
    }
    return false;
}

/* Does a predicate function look through an array? Null if not. */
const Loop *Protocol::scan(const Wait &wait) const {
    const Loop *found = nullptr;
    for (const Literal &literal : wait.event->predicate)
        expr_walk(literal.expr, [&](const Expr &e) {
            auto callee =
                e.kind == ExprKind::Call ? program.by_key.find(e.text) : program.by_key.end();
            if (callee != program.by_key.end())
                for (const Loop &loop : program.flows[(size_t)callee->second].loops)
                    found = &loop;
        });
    return found;
}

/* Starts again what others count up: while (done < n) wait; done = 0 */
bool Protocol::is_rewound(const Wait &wait) const {
    for (const Event *event : after(wait))
        if (wait.takes.count(event->target.text) &&
            (change_of(*event).kind != ChangeKind::Set || !is_counted(event->target.text)))
            return false;
    return !wait.takes.empty();
}

bool Protocol::only_sets(const Wait &wait,
                         const std::vector<const CriticalSection *> &givers) const {
    std::vector<const CriticalSection *> all = givers;
    all.push_back(wait.section);
    for (const CriticalSection *section : all)
        for (const Event &event : section->events)
            if (event.kind == EventKind::Update && wait.takes.count(event.target.text) &&
                change_of(event).kind != ChangeKind::Set)
                return false;
    return true;
}

bool Protocol::starts_open(const Wait &wait) const {
    for (const std::string &key : wait.takes) {
        bool nonzero = false;
        for (const Assignment *start : starts(key))
            nonzero |= start->value->kind != ExprKind::Constant || start->value->value != 0;
        if (nonzero == (blocking(wait, key) == Blocking::Low))
            return true;
    }
    return false;
}

/* ---- counters ---- */

bool Protocol::is_counted(const std::string &key) const {
    for (const CriticalSection *section : sections)
        for (const Event &event : section->events)
            if (event.kind == EventKind::Update && event.target.text == key &&
                (change_of(event).kind == ChangeKind::Up ||
                 change_of(event).kind == ChangeKind::Down))
                return true;
    return false;
}

/* Waits until a version changes, whatever it changes to. */
bool Protocol::is_compared_with_copy(const Wait &wait, const std::string &key) const {
    for (const Literal &literal : wait.event->predicate) {
        const Expr &expr = literal.expr;
        if (expr.kind != ExprKind::Operator || expr.children.size() != 2 ||
            (expr.text != "==" && expr.text != "!="))
            continue;
        for (size_t side = 0; side < 2; side++) {
            const Expr &own = expr.children[1 - side];
            if (expr.children[side].kind == ExprKind::Variable && expr.children[side].text == key &&
                own.kind == ExprKind::Variable && !is_state(own.text))
                return true;
        }
    }
    return false;
}

std::string Protocol::counter(const Wait &wait, const std::set<std::string> &keys) const {
    for (const std::string &key : keys)
        if (wait.main.count(key) && is_counted(key))
            return key;
    return wait.takes.empty() ? *wait.main.begin() : *wait.takes.begin();
}

std::vector<const Assignment *> Protocol::starts(const std::string &key) const {
    std::vector<const Assignment *> found;
    for (size_t f = 0; f < program.flows.size(); f++)
        for (const Assignment &a : program.flows[f].assignments)
            if (a.target->text == key && (a.op == "=" || a.op == "+=") && !a.at.held.count(mutex))
                found.push_back(&a);
    return found;
}

/* ---- as guarded commands ---- */

namespace {

class Describer {
  public:
    Describer(const Protocol &protocol, const Amounts &amounts, Monitor &monitor)
        : p(protocol), amounts(amounts), monitor(monitor) {
    }

    void describe(const std::set<std::string> &keys) {
        relevant = keys;
        for (const Wait &wait : p.waits)
            if (is_ours(wait.event->condition))
                for (const Literal &literal : wait.event->predicate)
                    add_variables(literal.expr);
        for (const std::string &key : keys)
            add_variable(key);
        for (const CriticalSection *section : p.sections) /* what decides about the changes */
            for (const Event &event : section->events)
                if (is_step(event))
                    for (const Literal &guard : event.guards)
                        add_variables(guard.expr);
        for (const CriticalSection *section : p.sections)
            add_section(*section);
        for (const std::string &key : variables)
            monitor.variables.push_back({key, is_state(key) ? start_of(key) : Amount()});
    }

  private:
    const Protocol &p;
    const Amounts &amounts;
    Monitor &monitor;

    /* Choices that do not follow the threads are of no use for a variable. */
    Amount start_of(const std::string &key) const {
        Amount start = amounts.initial(key);
        bool follows = std::any_of(start.choices.begin(), start.choices.end(),
                                   [](const Amount &choice) { return choice.follows_threads; });
        bool told = start.follows_threads || start.constant;
        if (!follows)
            start.choices.clear();
        return start.choices.empty() && !told && start.text == key_display(key) ? Amount() : start;
    }

    std::set<std::string> relevant;
    std::vector<std::string> variables;
    static constexpr size_t max_variables = 24;

    bool is_ours(const std::string &condition) const {
        const auto &list = monitor.conditions;
        return std::find(list.begin(), list.end(), key_without_stars(condition)) != list.end();
    }

    void add_variable(const std::string &key) {
        if (variables.size() < max_variables &&
            std::find(variables.begin(), variables.end(), key) == variables.end())
            variables.push_back(key);
    }

    /* Not the pointers through which a field is reached. */
    void add_variables(const Expr &expr) {
        if (expr.kind == ExprKind::Variable)
            add_variable(expr.text);
        else
            for (const Expr &child : expr.children)
                add_variables(child);
    }

    bool is_step(const Event &event) const {
        if (event.kind == EventKind::Update)
            return std::find(variables.begin(), variables.end(), event.target.text) !=
                   variables.end();
        return is_ours(event.condition);
    }

    Formula formula(const Expr &expr) const {
        return {expr_display(expr), postfix(expr, variables)};
    }

    void add_section(const CriticalSection &section) {
        MonitorSection out;
        out.place = section.place;
        out.function = p.program.functions[(size_t)section.function].key;
        bool matters = false;
        auto waits = [](const Event &event) { return event.kind == EventKind::Wait; };
        auto wait = std::find_if(section.events.begin(), section.events.end(), waits);
        for (auto event = section.events.begin(); event != section.events.end(); ++event) {
            if (!is_step(*event))
                continue;
            matters |= event->kind != EventKind::Update || is_state(event->target.text);
            out.steps.push_back(step_of(*event));
            out.steps.back().early = wait != section.events.end() && event < wait;
        }
        if (matters)
            monitor.sections.push_back(std::move(out));
    }

    MonitorStep step_of(const Event &event) const {
        static const facts_step_kind kinds[] = {STEP_UPDATE, STEP_WAIT, STEP_SIGNAL,
                                                STEP_BROADCAST};
        MonitorStep step;
        step.kind = kinds[(int)event.kind];
        if (!event.guards.empty())
            step.guard = formula(conjunction(event.guards));
        step.timed = event.timed;
        if (event.kind == EventKind::Wait)
            step.value =
                event.predicate.empty() ? Formula{"?", "?"} : formula(conjunction(event.predicate));
        if (event.kind != EventKind::Update) {
            step.condition = key_without_stars(event.condition);
            return step;
        }
        auto variable = std::find(variables.begin(), variables.end(), event.target.text);
        Change change = change_of(event);
        step.variable = (size_t)(variable - variables.begin());
        step.value = formula(event.value);
        step.by = change.kind == ChangeKind::Down ? -change.by : change.by;
        if (change.constant)
            step.change = change.kind == ChangeKind::Set ? CHANGE_SET : CHANGE_ADD;
        return step;
    }
};

} // namespace

void Protocol::describe(Monitor &monitor, const std::set<std::string> &keys,
                        const Amounts &amounts) const {
    Describer(*this, amounts, monitor).describe(keys);
}

} // namespace persik
