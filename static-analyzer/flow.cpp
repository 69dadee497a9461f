#include "static-analyzer/flow.h"

#include <algorithm>

namespace persik {

namespace {

/* Locks at one point of the walk; `live` is false behind return, break and goto. */
struct State {
    Held held;
    bool live = true;
};

/* After a branch: what some live way acquired and what all live ways kept. An `if (threaded)
 * lock();` ... `if (threaded) unlock();` pair is thereby a critical section. */
State join(const Held &before, const std::vector<State> &ways) {
    State after;
    after.live = false;
    for (const State &way : ways)
        after.live |= way.live;
    if (!after.live) {
        after.held = before;
        return after;
    }
    for (const State &way : ways)
        if (way.live)
            after.held.insert(way.held.begin(), way.held.end());
    for (const auto &[key, section] : before)
        for (const State &way : ways)
            if (way.live && !way.held.count(key))
                after.held.erase(key);
    return after;
}

class Walker {
  public:
    Walker(const Program &program, const Function &function, Flow &flow)
        : program(program), function(function), flow(flow) {
    }

    void walk_function() {
        walk(function.body);
        if (state.live)
            ends.push_back(state);
        bool first = true;
        for (const State &end : ends) {
            std::set<std::string> held;
            for (const auto &[key, section] : end.held)
                if (first || flow.acquires.count(key))
                    held.insert(key);
            flow.acquires = held;
            first = false;
        }
    }

  private:
    struct OpenLoop {
        int index; /* -1: a switch, which only catches breaks */
        size_t guards;
        std::vector<State> breaks;
    };

    const Program &program;
    const Function &function;
    Flow &flow;
    State state;
    std::vector<State> ends;
    std::vector<OpenLoop> open;
    std::vector<const Expr *> guards;
    int order = 0, sections = 0, line = 0;

    int current_loop() const {
        for (size_t i = open.size(); i-- > 0;)
            if (open[i].index >= 0)
                return open[i].index;
        return -1;
    }

    Moment now() {
        Moment at;
        at.order = ++order;
        at.line = line;
        at.loop = current_loop();
        at.held = state.held;
        at.guards = guards;
        return at;
    }

    /* ---- expressions ---- */

    void evaluate(const Expr &expr) {
        for (const Expr &child : expr.children)
            evaluate(child);
        if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Indirect)
            call(expr);
        else if (expr.kind == ExprKind::Assign)
            flow.assignments.push_back(
                {&expr, &expr.children[0], &expr.children[1], expr.text, now()});
        else if (expr.kind == ExprKind::Atomic && !expr.children.empty())
            flow.assignments.push_back(
                {&expr, &expr.children[0], &expr.children.back(), "atomic", now()});
    }

    void call(const Expr &expr) {
        CallSite site;
        site.call = &expr;
        site.at = now();
        auto callee = program.by_key.end();
        if (expr.kind == ExprKind::Call) {
            site.api = catalog_find(expr.text);
            callee = program.by_key.find(expr.text);
        }
        if (site.api >= 0)
            apply_catalog(expr, catalog_info(site.api));
        else if (callee != program.by_key.end())
            apply_effects(expr, (size_t)callee->second);
        flow.calls.push_back(std::move(site));
        if (expr.noreturn)
            state.live = false;
    }

    void apply_catalog(const Expr &expr, const api_info &info) {
        bool lockable =
            info.object == ON_MUTEX || info.object == ON_SPIN || info.object == ON_RWLOCK;
        if (!lockable || (size_t)info.object_argument >= expr.children.size())
            return;
        std::string key = program.object(expr.children[(size_t)info.object_argument]);
        if ((info.op >= OP_LOCK && info.op <= OP_TIMEDLOCK) ||
            (info.op >= OP_RDLOCK && info.op <= OP_TIMEDWRLOCK))
            acquire(key);
        else if (info.op == OP_UNLOCK || info.op == OP_RWUNLOCK)
            release(key);
    }

    void acquire(const std::string &key) {
        if (!key.empty())
            state.held[key] = ++sections;
    }

    void release(const std::string &key) {
        if (!key.empty() && state.held.erase(key) == 0)
            flow.releases.insert(key);
    }

    void apply_effects(const Expr &expr, size_t callee) {
        const Flow &effect = program.flows[callee];
        for (const std::string &key : effect.releases)
            release(in_callers_terms(key, expr, program.functions[callee]));
        for (const std::string &key : effect.acquires)
            acquire(in_callers_terms(key, expr, program.functions[callee]));
    }

    /* A wrapper's "*local:wrapper.mutex" is what the caller passes for it. */
    std::string in_callers_terms(const std::string &key, const Expr &call,
                                 const Function &callee) const {
        for (size_t i = 0; i < callee.parameters.size() && i < call.children.size(); i++)
            if (key == "*" + callee.parameters[i])
                return program.object(call.children[i]);
        return key;
    }

    /* ---- statements ---- */

    void walk(const Stmt &stmt) {
        state.live = true; /* behind a jump only labels are reached, with the locks as they were */
        if (stmt.first_line)
            line = stmt.first_line;
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
            walk_loop(stmt);
            break;
        case StmtKind::Switch:
            walk_switch(stmt);
            break;
        case StmtKind::Return:
            walk_return(stmt);
            break;
        case StmtKind::Break:
            walk_break();
            break;
        case StmtKind::Continue:
        case StmtKind::Goto:
            leave(stmt.kind);
            break;
        case StmtKind::Nothing:
            break;
        }
    }

    /* Behind a jump the locks are as they were there, but for the cases of a switch: to those one
     * comes from it, with `cases`. */
    void walk_block(const Stmt &stmt, const Held *cases = nullptr) {
        bool live = true;
        for (const Stmt &child : stmt.children) {
            if (!live && cases)
                state.held = *cases;
            walk(child);
            live = state.live;
        }
        state.live = live;
    }

    void walk_if(const Stmt &stmt) {
        evaluate(stmt.exprs[0]);
        guards.push_back(&stmt.exprs[0]);
        Held before = state.held;
        std::vector<State> ways;
        for (const Stmt &branch : stmt.children) {
            state = {before, true};
            walk(branch);
            ways.push_back(state);
        }
        guards.pop_back();
        state = join(before, ways);
    }

    void walk_switch(const Stmt &stmt) {
        evaluate(stmt.exprs[0]);
        guards.push_back(&stmt.exprs[0]);
        Held before = state.held;
        open.push_back({-1, guards.size(), {}});
        const Stmt &body = stmt.children[0];
        if (body.kind == StmtKind::Block)
            walk_block(body, &before);
        else
            walk(body);
        std::vector<State> ways = std::move(open.back().breaks);
        open.pop_back();
        ways.push_back(state);
        guards.pop_back();
        state = join(before, ways);
    }

    void walk_loop(const Stmt &stmt) {
        int index = (int)flow.loops.size();
        flow.loops.push_back({&stmt, current_loop(), order + 1, 0, {}, {}});
        walk(stmt.children[0]);
        flow.loops[(size_t)index].held = state.held;
        Held before = state.held;
        bool has_condition = !stmt.exprs.empty();
        bool tested_first = stmt.text != "do";
        if (has_condition)
            guards.push_back(&stmt.exprs[0]);
        open.push_back({index, guards.size(), {}});
        if (has_condition && tested_first)
            evaluate(stmt.exprs[0]);
        walk(stmt.children[1]);
        line = stmt.first_line;
        State end = state;
        walk(stmt.children[2]);
        if (has_condition && !tested_first)
            evaluate(stmt.exprs[0]);
        std::vector<State> ways = std::move(open.back().breaks);
        open.pop_back();
        if (has_condition)
            guards.pop_back();
        flow.loops[(size_t)index].last_order = order;
        if (has_condition) {
            ways.push_back(end);
            if (tested_first)
                ways.push_back({before, true});
        }
        state = join(before, ways);
    }

    void note_exit(size_t depth, bool is_break) {
        Exit exit = {{guards.begin() + (long)open[depth].guards, guards.end()}, is_break};
        flow.loops[(size_t)open[depth].index].exits.push_back(std::move(exit));
    }

    void walk_return(const Stmt &stmt) {
        if (!stmt.exprs.empty())
            evaluate(stmt.exprs[0]);
        flow.returns.push_back({stmt.exprs.empty() ? nullptr : &stmt.exprs[0], now()});
        ends.push_back(state);
        leave(StmtKind::Return);
    }

    void walk_break() {
        if (open.empty())
            return;
        open.back().breaks.push_back(state);
        if (open.back().index >= 0)
            note_exit(open.size() - 1, true);
        state.live = false;
    }

    /* Jumps are taken to leave all loops; nearly always they do. */
    void leave(StmtKind kind) {
        if (kind != StmtKind::Continue)
            for (size_t depth = 0; depth < open.size(); depth++)
                if (open[depth].index >= 0)
                    note_exit(depth, false);
        state.live = false;
    }
};

} // namespace

bool flow_build(Program &program) {
    std::vector<Flow> flows(program.functions.size());
    bool changed = false;
    for (size_t f = 0; f < flows.size(); f++) {
        flows[f].assignments.reserve(program.flows[f].assignments.size()); /* as the last time */
        flows[f].calls.reserve(program.flows[f].calls.size());
        Walker(program, program.functions[f], flows[f]).walk_function();
        changed |= flows[f].acquires != program.flows[f].acquires ||
                   flows[f].releases != program.flows[f].releases;
    }
    program.flows = std::move(flows);
    return changed;
}

} // namespace persik
