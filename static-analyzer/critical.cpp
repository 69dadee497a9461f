#include "static-analyzer/critical.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace persik {

namespace {

/* The value an assignment leaves in its target. */
Expr value_left(const Expr &assign) {
    const Expr &value = assign.children.back();
    if (assign.text == "=")
        return value;
    if (assign.children.size() == 2 && assign.text.size() > 1 && assign.text.back() == '=')
        return expr_operation(assign.text.substr(0, assign.text.size() - 1).c_str(),
                              {assign.children[0], value});
    return Expr(); /* an atomic exchange and the like */
}

/* ---- the walk ---- */

/* Which functions are only understood together with their callers: they take or give a mutex for
 * them, or one that they are handed. */
std::vector<bool> find_wrappers(const Program &program) {
    std::vector<bool> wrappers(program.flows.size(), false);
    for (size_t f = 1; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        wrappers[f] = !flow.acquires.empty() || !flow.releases.empty();
        for (const CallSite &site : flow.calls) {
            if (site.api < 0 || catalog_info(site.api).object != ON_MUTEX ||
                site.call->children.empty())
                continue;
            std::string key = program.object(site.call->children[0]);
            for (const std::string &parameter : program.functions[f].parameters)
                wrappers[f] = wrappers[f] || key == "*" + parameter;
        }
    }
    return wrappers;
}

bool takes_mutex(const api_info &info) {
    bool mutex = info.object == ON_MUTEX || info.object == ON_SPIN;
    return mutex && info.op >= OP_LOCK && info.op <= OP_TIMEDLOCK;
}

/* In which functions a section may begin: they take a mutex, or call a wrapper that does. Few of a
 * large program's functions do, and a walk is long. */
std::vector<bool> find_lockers(const Program &program, const std::vector<bool> &wrappers) {
    std::vector<bool> lockers(program.flows.size(), false);
    auto locks = [&](const CallSite &site) {
        if (site.api >= 0)
            return takes_mutex(catalog_info(site.api));
        return std::any_of(site.callees.begin(), site.callees.end(), [&](int callee) {
            return wrappers[(size_t)callee] && lockers[(size_t)callee];
        });
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 1; f < program.flows.size(); f++) {
            const std::vector<CallSite> &calls = program.flows[f].calls;
            if (lockers[f] || !std::any_of(calls.begin(), calls.end(), locks))
                continue;
            lockers[f] = true;
            changed = true;
        }
    }
    return lockers;
}

/* Field or global pointer -> fields and globals whose address it gets. */
using Pointees = std::map<std::string, std::set<std::string>>;

Pointees find_pointees(const Program &program) {
    Pointees pointees;
    std::vector<const Assignment *> copies; /* of one pointer to another */
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments) {
            if (key_is_local(a.target->text) || a.op != "=")
                continue;
            if (a.value->kind == ExprKind::Variable && a.value->type == TypeKind::Pointer)
                copies.push_back(&a);
            if (a.value->kind == ExprKind::Address &&
                a.value->children[0].kind == ExprKind::Variable &&
                !key_is_local(a.value->children[0].text))
                pointees[a.target->text].insert(a.value->children[0].text);
        }
    for (bool changed = true; changed;) {
        changed = false;
        for (const Assignment *a : copies) {
            auto from = pointees.find(a->value->text);
            if (from == pointees.end() || a->value->text == a->target->text)
                continue;
            std::set<std::string> &to = pointees[a->target->text];
            size_t before = to.size();
            to.insert(from->second.begin(), from->second.end());
            changed |= to.size() > before;
        }
    }
    return pointees;
}

struct LooseSignal {
    std::string condition;
    Event event;
    std::vector<size_t> closed; /* sections that ended before, the last one first */
};

class SectionWalker {
  public:
    SectionWalker(const Program &program, const std::vector<bool> &wrappers,
                  const Pointees &pointees, int root, std::vector<CriticalSection> &out,
                  std::vector<LooseSignal> &loose)
        : program(program), wrappers(wrappers), pointees(pointees), root(root), out(out),
          loose(loose) {
    }

    void walk_root() {
        stack.push_back(root);
        walk(program.functions[(size_t)root].body);
        bool thread = program.flows[(size_t)root].entry.empty() && !wrappers[(size_t)root];
        for (auto &[mutex, index] : state.open)
            if (thread)
                sections[index].kept = true; /* never given back */
        hand_over();
    }

  private:
    struct Open {
        CriticalSection section;
        bool kept = false;
        std::set<const Expr *> waits; /* calls */
        int call = 0;                 /* which call of the root it began in; 0: the root itself */
        size_t base = 0;              /* length of the path where it began */
    };
    struct State {
        std::map<std::string, size_t> open; /* mutex -> index into sections */
        std::vector<Literal> path;
        bool live = true;
        /* Waits behind which nothing has been looked at again: (section, event). */
        std::set<std::pair<size_t, size_t>> fresh;
    };
    struct LoopFrame {
        size_t base; /* length of the path where it began */
        bool is_switch;
        std::vector<State> breaks;
        std::vector<std::vector<Literal>> break_guards;
        std::vector<std::pair<size_t, size_t>> waits; /* (section, event) inside */
        std::map<std::string, size_t> open;           /* where it began */
        size_t body = 0;                              /* length of the path behind its condition */
        int number = 0;                               /* no other loop has it */
        bool leaves_first = false; /* has a way out in front of the wait, which changes something */
        std::set<std::string> counted; /* keys updated in front of the wait */
    };

    const Program &program;
    const std::vector<bool> &wrappers;
    const Pointees &pointees;
    int root;
    std::vector<CriticalSection> &out;
    std::vector<LooseSignal> &loose;
    std::vector<LooseSignal> own_loose;
    std::vector<Open> sections;
    std::vector<size_t> closed;                                           /* in order */
    std::set<std::tuple<std::string, const Expr *, const Expr *>> opened; /* by lock call */
    State state;
    std::vector<int> stack; /* functions inlined */
    std::vector<Substitution> frames = {{}};
    struct Definition {
        Expr value;
        int loop;      /* number of the innermost one around it; 0 none */
        bool computed; /* not a plain copy */
    };
    std::map<std::string, Definition> definitions; /* of locals */
    Substitution copies;                           /* local pointers to what the state points at */
    std::vector<LoopFrame> loops;
    std::vector<std::vector<State> *> returns;
    int call_number = 0, current_call = 0, loop_number = 0, steps = 0;
    bool wrapper_of_root = false; /* the call at hand makes sense only with its caller */
    const Expr *root_call = nullptr;
    static constexpr int max_steps = 20000;

    /* ---- expressions ---- */

    Expr own_terms(const Expr &expr) const {
        return substitute(expr, frames.back());
    }

    /* Without the changes made on the way, which have happened by now: ++n is n, n++ is n - 1. */
    static Expr settled(const Expr &expr) {
        Expr copy = expr_map(expr, settled);
        if (expr.kind != ExprKind::Assign)
            return copy;
        const Exprs &operands = copy.children;
        if (expr.text == "=")
            return operands[1];
        if (!expr.before)
            return operands[0];
        return expr_operation(expr.text == "+=" ? "-" : "+", {operands[0], operands[1]});
    }

    int current_loop() const {
        for (size_t i = loops.size(); i-- > 0;)
            if (!loops[i].is_switch)
                return loops[i].number;
        return 0;
    }

    /* bool any = count > 0; if (any) ... What was read in front of the loop stays what it is: the
     * generation one waits for. */
    Expr look_through(const Expr &expr, bool whole = true) const {
        if (expr.kind == ExprKind::Variable) {
            auto known = definitions.find(expr.text);
            if (known == definitions.end())
                return expr;
            bool here = known->second.loop != 0 && known->second.loop == current_loop();
            return here || (whole && known->second.computed) ? known->second.value : expr;
        }
        static const std::set<std::string> transparent = {"!", "==", "!=", "&&", "||"};
        if (expr.kind != ExprKind::Operator)
            return expr;
        bool compares = expr.text == "==" || expr.text == "!=";
        whole = whole && transparent.count(expr.text) &&
                !(compares && expr.children[1].kind != ExprKind::Constant);
        return expr_map(expr, [&](const Expr &child) { return look_through(child, whole); });
    }

    Expr condition_of(const Expr &expr) const {
        return expand_calls(program, look_through(settled(own_terms(expr))));
    }

    /* The way back to it, of pthread_cleanup_push(), is not followed. */
    static bool is_setjmp(const Expr &expr) {
        static const std::set<std::string> names = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp",
                                                    "__sigsetjmp_cancel"};
        return expr.kind == ExprKind::Call && names.count(expr.text) > 0;
    }

    void add_literal(const Expr &expr, bool holds) {
        if (expr.kind == ExprKind::Operator && expr.text == "!" && expr.children.size() == 1) {
            add_literal(expr.children[0], !holds);
        } else if (expr.kind == ExprKind::Operator && expr.text == (holds ? "&&" : "||")) {
            add_literal(expr.children[0], holds);
            add_literal(expr.children[1], holds);
        } else if (expr.kind != ExprKind::Constant && !is_setjmp(expr)) {
            state.path.push_back({expr, holds});
        }
    }

    void shorten(size_t length) {
        state.path.resize(std::min(length, state.path.size()));
        for (auto &[mutex, index] : state.open)
            sections[index].base = std::min(sections[index].base, state.path.size());
    }

    void evaluate(const Expr &expr) {
        if (expr.kind == ExprKind::Operator && expr.children.size() >= 2 &&
            (expr.text == "&&" || expr.text == "||" || expr.text == "?:")) {
            evaluate(expr.children[0]);
            for (size_t i = 1; i < expr.children.size(); i++) {
                size_t length = state.path.size();
                add_literal(condition_of(expr.children[0]), expr.text == "||" ? false : i == 1);
                evaluate(expr.children[i]);
                shorten(length);
            }
            return;
        }
        for (const Expr &child : expr.children)
            evaluate(child);
        if (expr.kind == ExprKind::Call)
            call(expr);
        else if (expr.kind == ExprKind::Assign || expr.kind == ExprKind::Atomic)
            update(expr);
        if (expr.kind == ExprKind::Indirect)
            acted();
    }

    /* Whoever goes on after a wait without looking again has slept. */
    void acted() {
        for (auto [s, e] : state.fresh)
            sections[s].section.events[e].acts_before_retest = true;
    }

    std::vector<bool> acts_of(const State &at) const {
        std::vector<bool> acts;
        for (auto [s, e] : at.fresh)
            acts.push_back(sections[s].section.events[e].acts_before_retest);
        return acts;
    }

    void restore_acts(const State &at, const std::vector<bool> &acts) {
        size_t i = 0;
        for (auto [s, e] : at.fresh)
            sections[s].section.events[e].acts_before_retest = acts[i++];
    }

    void looked_at(const Expr &condition) {
        std::set<std::string> read = expr_variables(condition);
        auto again = [&](const std::pair<size_t, size_t> &wait) {
            const Event &event = sections[wait.first].section.events[wait.second];
            return std::any_of(
                event.predicate.begin(), event.predicate.end(), [&](const Literal &literal) {
                    std::set<std::string> keys = expr_variables(literal.expr);
                    return std::any_of(keys.begin(), keys.end(),
                                       [&](const std::string &key) { return read.count(key) > 0; });
                });
        };
        for (auto wait = state.fresh.begin(); wait != state.fresh.end();)
            wait = again(*wait) ? state.fresh.erase(wait) : std::next(wait);
    }

    std::vector<Literal> path_from(size_t base) const {
        return {state.path.begin() + (long)std::min(base, state.path.size()), state.path.end()};
    }

    size_t add_event(size_t section, Event event) {
        event.guards = path_from(sections[section].base);
        sections[section].section.events.push_back(std::move(event));
        return sections[section].section.events.size() - 1;
    }

    void update(const Expr &expr) {
        if (expr.children.size() < 2 || expr.children[0].kind != ExprKind::Variable)
            return;
        Event event;
        event.target = own_terms(expr.children[0]);
        event.value = settled(own_terms(value_left(expr)));
        if (event.target.kind != ExprKind::Variable)
            return;
        if (!key_is_local(event.target.text)) /* head = task->next, where task is head */
            event.value = substitute(event.value, copies);
        const std::string &key = event.target.text;
        if (key_is_local(key))
            define(key, event.value, expr);
        else
            note_update(key);
        for (auto &[mutex, index] : state.open)
            add_event(index, event);
        if (key[0] != '*' || state.open.empty())
            return;
        auto known = pointees.find(key.substr(1)); /* *last = item, where last was &first */
        if (known == pointees.end())
            return;
        for (const std::string &variable : known->second) {
            event.target.text = variable;
            for (auto &[mutex, index] : state.open)
                add_event(index, event);
        }
    }

    /* waiting++; wait; waiting-- is part of the wait. */
    void note_update(const std::string &key) {
        for (LoopFrame &loop : loops) {
            if (loop.waits.empty())
                loop.counted.insert(key);
            else if (loop.counted.count(key))
                return;
        }
        acted();
    }

    void define(const std::string &key, const Expr &value, const Expr &assign) {
        definitions.erase(key);
        copies.erase(key);
        if (assign.text != "=" || expr_reads(value, key))
            return;
        bool computed = value.kind == ExprKind::Operator || value.kind == ExprKind::Call;
        bool copied = value.kind == ExprKind::Variable && !key_is_local(value.text);
        if (computed || copied)
            definitions[key] = {value, current_loop(), computed};
        if (copied && value.type == TypeKind::Pointer)
            copies[key] = value;
    }

    void call(const Expr &expr) {
        int api = catalog_find(expr.text);
        if (api >= 0) {
            apply_catalog(expr, catalog_info(api));
        } else if (auto callee = program.by_key.find(expr.text); callee != program.by_key.end()) {
            if (wrappers[(size_t)callee->second] || !state.open.empty())
                inline_call(expr, callee->second);
            else
                acted();
        } else {
            library_call(expr);
        }
        if (expr.noreturn)
            state.live = false;
    }

    /* memcpy(&q->items[tail], item, size) stores like an assignment. */
    void library_call(const Expr &expr) {
        static const std::set<std::string> copies = {"memcpy", "memmove", "__builtin_memcpy",
                                                     "__builtin___memcpy_chk", "strcpy"};
        if (!copies.count(expr.text) || expr.children.size() < 2)
            return;
        Expr assign;
        assign.kind = ExprKind::Assign;
        assign.text = "=";
        for (size_t i = 0; i < 2; i++) {
            Expr variable;
            variable.kind = ExprKind::Variable;
            variable.text = program.object(expr.children[i]);
            variable.children = {expr.children[i]};
            if (variable.text.empty())
                return;
            assign.children.push_back(std::move(variable));
        }
        update(assign);
    }

    std::string object(const Expr &call, int argument) const {
        if (argument < 0 || (size_t)argument >= call.children.size())
            return "";
        return program.object(own_terms(call.children[(size_t)argument]));
    }

    void apply_catalog(const Expr &expr, const api_info &info) {
        std::string key = object(expr, info.object_argument);
        if (key.empty())
            return;
        bool mutex = info.object == ON_MUTEX || info.object == ON_SPIN;
        if (takes_mutex(info))
            open_section(key, expr);
        else if (mutex && info.op == OP_UNLOCK)
            close_section(key);
        else if (info.object == ON_CONDITION && (info.op == OP_WAIT || info.op == OP_TIMEDWAIT))
            wait(expr, key, object(expr, info.mutex_argument), info.op == OP_TIMEDWAIT);
        else if (info.object == ON_CONDITION && (info.op == OP_SIGNAL || info.op == OP_BROADCAST))
            signal(key, info.op == OP_SIGNAL ? EventKind::Signal : EventKind::Broadcast);
        else if (info.op != OP_INIT && info.op != OP_DESTROY)
            acted();
    }

    void open_section(const std::string &mutex, const Expr &expr) {
        Open open;
        /* On the second walk through a loop only what began in the first matters. */
        if (opened.insert({mutex, &expr, root_call}).second) {
            open.section.mutex = mutex;
            open.section.function = root;
            open.section.place = root_call ? root_call->place : expr.place;
        }
        open.call = current_call;
        sections.push_back(std::move(open));
        sections.back().base = state.path.size();
        state.open[mutex] = sections.size() - 1;
    }

    void close_section(const std::string &mutex) {
        auto open = state.open.find(mutex);
        if (open == state.open.end())
            return;
        Open &section = sections[open->second];
        bool inside = section.call != 0 && section.call == current_call;
        section.kept = section.kept || !inside || wrapper_of_root;
        closed.push_back(open->second);
        state.open.erase(open);
    }

    void wait(const Expr &call, const std::string &condition, const std::string &mutex,
              bool timed) {
        auto open = state.open.find(mutex);
        if (open == state.open.end() || !sections[open->second].waits.insert(&call).second)
            return;
        Event event;
        event.kind = EventKind::Wait;
        event.condition = condition;
        event.timed = timed;
        LoopFrame *loop = innermost_loop();
        bool around = loop && loop->open.count(mutex); /* the lock was taken before the loop */
        event.predicate = path_from(around ? loop->base : sections[open->second].base);
        size_t index = add_event(open->second, std::move(event));
        for (LoopFrame &frame : loops)
            frame.waits.push_back({open->second, index});
        bool alone = around && state.path.size() == loop->body;
        if (alone || timed)
            state.fresh.insert({open->second, index});
    }

    LoopFrame *innermost_loop() {
        for (size_t i = loops.size(); i-- > 0;)
            if (!loops[i].is_switch)
                return &loops[i];
        return nullptr;
    }

    void signal(const std::string &condition, EventKind kind) {
        LooseSignal signal;
        signal.condition = condition;
        signal.event.kind = kind;
        signal.event.condition = condition;
        for (auto &[mutex, index] : state.open)
            add_event(index, signal.event);
        if (!state.open.empty())
            return;
        signal.closed.assign(closed.rbegin(), closed.rend());
        own_loose.push_back(std::move(signal));
    }

    void inline_call(const Expr &expr, int callee) {
        const size_t max_depth = 6;
        if (stack.size() > max_depth || std::count(stack.begin(), stack.end(), callee) ||
            steps > max_steps)
            return;
        const Function &function = program.functions[(size_t)callee];
        Substitution known;
        for (size_t i = 0; i < function.parameters.size() && i < expr.children.size(); i++)
            known[function.parameters[i]] = own_terms(expr.children[i]);
        bool outermost = stack.size() == 1;
        if (outermost) {
            current_call = ++call_number;
            root_call = &expr;
            wrapper_of_root = has_own_mutex_parameter((size_t)callee);
        }
        stack.push_back(callee);
        frames.push_back(std::move(known));
        std::vector<State> ends;
        returns.push_back(&ends);
        State before = state;
        walk(function.body);
        if (state.live)
            ends.push_back(state);
        join(ends, before);
        returns.pop_back();
        frames.pop_back();
        stack.pop_back();
        if (outermost) {
            current_call = 0;
            root_call = nullptr;
            wrapper_of_root = false;
        }
    }

    bool has_own_mutex_parameter(size_t f) const {
        const Flow &flow = program.flows[f];
        return wrappers[f] && flow.acquires.empty() && flow.releases.empty();
    }

    /* ---- statements ---- */

    /* What all live ways kept of what was held before, and what some of them took. */
    void join(const std::vector<State> &ways, const State &before) {
        State after;
        after.live = false;
        after.path = before.path;
        for (const State &way : ways) {
            after.live |= way.live;
            if (!way.live)
                continue;
            for (const auto &[mutex, index] : way.open) { /* the last one taken goes on */
                size_t &known = after.open.emplace(mutex, index).first->second;
                known = std::max(known, index);
            }
            after.fresh.insert(way.fresh.begin(), way.fresh.end());
        }
        for (const auto &[mutex, index] : before.open)
            for (const State &way : ways)
                if (way.live && !way.open.count(mutex))
                    after.open.erase(mutex);
        state = std::move(after);
        shorten(state.path.size());
    }

    void walk(const Stmt &stmt) {
        if (++steps > max_steps)
            return;
        state.live = true;
        switch (stmt.kind) {
        case StmtKind::Block:
            walk_block(stmt);
            break;
        case StmtKind::Evaluate:
            evaluate(stmt.exprs[0]);
            break;
        case StmtKind::If:
            walk_if(stmt);
            break;
        case StmtKind::Loop:
            walk_loop(stmt, [&] { walk_loop_body(stmt); });
            break;
        case StmtKind::Switch:
            walk_switch(stmt);
            break;
        case StmtKind::Return:
            if (!stmt.exprs.empty())
                evaluate(stmt.exprs[0]);
            for (LoopFrame &loop : loops)
                note_leaving(loop);
            if (!returns.empty())
                returns.back()->push_back(state);
            state.live = false;
            break;
        case StmtKind::Break:
            walk_break();
            break;
        case StmtKind::Continue:
        case StmtKind::Goto:
            state.live = false;
            break;
        case StmtKind::Nothing:
            break;
        }
    }

    static bool jumps_to(const Stmt &stmt, const std::string &label) {
        return (stmt.kind == StmtKind::Goto && stmt.text == label) ||
               std::any_of(stmt.children.begin(), stmt.children.end(),
                           [&](const Stmt &child) { return jumps_to(child, label); });
    }

    /* From a label to the last jump back to it is a loop. */
    void walk_block(const Stmt &stmt) {
        bool live = true;
        for (size_t i = 0; i < stmt.children.size(); i++) {
            const Stmt &child = stmt.children[i];
            size_t last = i;
            if (child.kind == StmtKind::Block && !child.text.empty())
                for (size_t j = i; j < stmt.children.size(); j++)
                    if (jumps_to(stmt.children[j], child.text))
                        last = j;
            bool loops_back = child.kind == StmtKind::Block && !child.text.empty() &&
                              (last > i || jumps_to(child, child.text));
            if (loops_back) {
                walk_labelled(stmt, i, last);
                live = state.live;
                i = last;
            } else {
                walk(child);
                live = state.live;
            }
        }
        state.live = live;
    }

    void walk_labelled(const Stmt &stmt, size_t first, size_t last) {
        open_loop(false);
        for (size_t i = first; i <= last; i++) {
            if (i == first)
                for (const Stmt &child : stmt.children[i].children)
                    walk(child);
            else
                walk(stmt.children[i]);
        }
        LoopFrame ended = std::move(loops.back());
        loops.pop_back();
        settle_waits(stmt.children[first], ended);
        if (!loops.empty()) /* a break inside belongs to the loop around */
            for (State &way : ended.breaks)
                loops.back().breaks.push_back(std::move(way));
    }

    void open_loop(bool is_switch) {
        LoopFrame frame;
        frame.base = state.path.size();
        frame.is_switch = is_switch;
        frame.body = frame.base;
        frame.number = ++loop_number;
        frame.open = state.open;
        loops.push_back(std::move(frame));
    }

    /* Locking, waiting and waking do not fail: what would be done then is not part of the protocol.
     * Whether `condition` holds, if that decides it. */
    static std::optional<bool> without_failure(const Expr &condition) {
        if (condition.kind == ExprKind::Call) {
            int api = catalog_find(condition.text);
            if (api < 0)
                return std::nullopt;
            const api_info &info = catalog_info(api);
            bool sure = info.op == OP_LOCK || info.op == OP_UNLOCK || info.op == OP_WAIT ||
                        info.op == OP_SIGNAL || info.op == OP_BROADCAST;
            bool known = info.object == ON_MUTEX || info.object == ON_CONDITION;
            return sure && known ? std::optional(false) : std::nullopt;
        }
        size_t operands = condition.children.size();
        if (condition.kind != ExprKind::Operator || operands == 0)
            return std::nullopt;
        std::optional<bool> first = without_failure(condition.children[0]);
        if (!first)
            return std::nullopt;
        if (operands == 1)
            return condition.text == "!" ? std::optional(!*first) : std::nullopt;
        bool zero =
            condition.children[1].kind == ExprKind::Constant && condition.children[1].value == 0;
        if (condition.text == "==" || condition.text == "!=")
            return zero ? std::optional(*first == (condition.text == "!=")) : std::nullopt;
        return std::nullopt;
    }

    void walk_if(const Stmt &stmt) {
        evaluate(stmt.exprs[0]);
        Expr condition = condition_of(stmt.exprs[0]);
        if (std::optional<bool> decided = without_failure(condition)) {
            if (size_t branch = *decided ? 0 : 1; branch < stmt.children.size())
                walk(stmt.children[branch]);
            return;
        }
        looked_at(condition);
        State before = state;
        std::vector<State> ways;
        for (size_t branch = 0; branch < 2; branch++) {
            state = before;
            add_literal(condition, branch == 0);
            std::vector<bool> acted_before = acts_of(before);
            if (branch < stmt.children.size())
                walk(stmt.children[branch]);
            if (!state.live) /* who leaves need not look again */
                restore_acts(before, acted_before);
            ways.push_back(state);
        }
        join(ways, before);
        /* Behind `if (c) return;` c does not hold. */
        if (state.live && ways[0].live != ways[1].live)
            add_literal(condition, ways[0].live);
    }

    void walk_switch(const Stmt &stmt) {
        evaluate(stmt.exprs[0]);
        State before = state;
        open_loop(true);
        walk(stmt.children[0]);
        std::vector<State> ways = std::move(loops.back().breaks);
        loops.pop_back();
        ways.push_back(state);
        if (stmt.exprs[0].kind != ExprKind::Constant)
            ways.push_back(before);
        join(ways, before);
    }

    void walk_loop_body(const Stmt &stmt) {
        if (!stmt.exprs.empty() && stmt.text != "do") {
            evaluate(stmt.exprs[0]);
            add_literal(condition_of(stmt.exprs[0]), true);
            loops.back().body = state.path.size();
        }
        walk(stmt.children[1]);
        bool live = state.live;
        walk(stmt.children[2]);
        state.live = live;
    }

    template <typename F> void walk_loop(const Stmt &stmt, const F &body) {
        walk(stmt.children[0]);
        State before = state;
        open_loop(false);
        body();
        /* A section that began in the loop goes on at its start. */
        bool goes_on = std::any_of(state.open.begin(), state.open.end(), [&](const auto &open) {
            auto known = before.open.find(open.first);
            return known == before.open.end() || known->second != open.second;
        });
        goes_on |= loops.back().leaves_first && !loops.back().waits.empty();
        if (goes_on && state.live) {
            shorten(loops.back().base);
            body();
        }
        if (!stmt.exprs.empty() && stmt.text == "do")
            evaluate(stmt.exprs[0]);
        LoopFrame frame = std::move(loops.back());
        loops.pop_back();
        settle_waits(stmt, frame);
        state.fresh.clear();
        std::vector<State> ways = std::move(frame.breaks);
        if (!stmt.exprs.empty()) {
            ways.push_back(state);
            if (stmt.text != "do")
                ways.push_back(before);
        }
        join(ways, before);
    }

    /* Waits first and looks afterwards: what ends the loop is the opposite of the predicate. */
    void settle_waits(const Stmt &stmt, LoopFrame &frame) {
        for (auto [s, e] : frame.waits) {
            Event &event = sections[s].section.events[e];
            if (!event.predicate.empty())
                continue;
            if (stmt.text == "do" && !stmt.exprs.empty()) {
                State saved = state;
                state.path.clear();
                add_literal(condition_of(stmt.exprs[0]), true);
                event.predicate = state.path;
                state = saved;
            } else if (frame.break_guards.size() == 1 && !frame.break_guards[0].empty()) {
                const std::vector<Literal> &guards = frame.break_guards[0];
                if (guards.size() == 1)
                    event.predicate = {{guards[0].expr, !guards[0].holds}};
            }
        }
    }

    /* for (;;) { if (count > 0) { count--; break; } wait; } */
    static void note_leaving(LoopFrame &loop) {
        loop.leaves_first |= loop.waits.empty() && !loop.counted.empty();
    }

    void walk_break() {
        if (!loops.empty()) {
            note_leaving(loops.back());
            loops.back().breaks.push_back(state);
            loops.back().break_guards.push_back(path_from(loops.back().base));
        }
        state.live = false;
    }

    /* ---- at the end ---- */

    bool has_callers() const {
        return std::any_of(program.flows.begin(), program.flows.end(), [&](const Flow &flow) {
            return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
                return std::count(site.callees.begin(), site.callees.end(), root) > 0;
            });
        });
    }

    void hand_over() {
        std::map<size_t, size_t> number;
        for (size_t i = 0; i < sections.size(); i++) {
            const std::string &mutex = sections[i].section.mutex;
            const auto &parameters = program.functions[(size_t)root].parameters;
            bool handed = std::any_of(parameters.begin(), parameters.end(), [&](const auto &key) {
                return mutex == "*" + key && has_callers();
            });
            if (!sections[i].kept || mutex.empty() || handed)
                continue;
            number[i] = out.size();
            out.push_back(std::move(sections[i].section));
        }
        for (LooseSignal &signal : own_loose) {
            std::vector<size_t> mapped;
            for (size_t index : signal.closed)
                if (number.count(index))
                    mapped.push_back(number[index]);
            signal.closed = mapped;
            loose.push_back(std::move(signal));
        }
    }
};

} // namespace

std::vector<CriticalSection> find_critical_sections(const Program &program) {
    std::vector<CriticalSection> sections;
    std::vector<LooseSignal> loose;
    std::vector<bool> wrappers = find_wrappers(program);
    std::vector<bool> lockers = find_lockers(program, wrappers);
    Pointees pointees = find_pointees(program);
    for (size_t f = 1; f < program.flows.size(); f++)
        if (program.flows[f].reached && lockers[f])
            SectionWalker(program, wrappers, pointees, (int)f, sections, loose).walk_root();
    std::map<std::string, std::string> mutex_of; /* condition -> mutex */
    for (const CriticalSection &section : sections)
        for (const Event &event : section.events)
            if (event.kind == EventKind::Wait)
                mutex_of[event.condition] = section.mutex;
    for (LooseSignal &signal : loose)
        for (size_t index : signal.closed)
            if (sections[index].mutex == mutex_of[signal.condition]) {
                sections[index].events.push_back(signal.event);
                break;
            }
    return sections;
}

} // namespace persik
