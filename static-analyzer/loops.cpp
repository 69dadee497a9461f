/* What decides how often a loop runs. */
#include <algorithm>
#include <map>
#include <optional>

#include "static-analyzer/findings.h"
#include "static-analyzer/progress.h"

namespace persik {

namespace {

/* The parts of a loop that decide its number of rounds. */
struct Header {
    std::vector<const Expr *> conditions; /* to stay in, or to leave by break */
    std::set<std::string> induction;      /* variables of the condition that the loop moves */
    bool counts = false;  /* one of them is the function's own, or set before the loop */
    bool is_even = false; /* one of them moves by the same step in each round */
    bool adds = false;    /* ... by what is added to it or taken off it */
    bool starts_over =
        false; /* one of them wraps round at its limit, which it never reaches by counting */
    bool told = false; /* one of them is set by what is called, and to nothing but constants here */
    Value limit, start, step;
    std::string limit_text;
    std::optional<Linear> rounds; /* of the thread count, where it is known to be that */
};

/* Is the expression part of what is done only if something holds? */
bool is_conditional(const Stmt &stmt, const Expr *part, bool under_if) {
    for (const Expr &expr : stmt.exprs) {
        bool found = false;
        expr_walk(expr, [&](const Expr &e) { found = found || &e == part; });
        if (found)
            return under_if;
    }
    return std::any_of(stmt.children.begin(), stmt.children.end(), [&](const Stmt &child) {
        return is_conditional(child, part, under_if || stmt.kind == StmtKind::If);
    });
}

void find_conditions(const Loop &loop, Header &header) {
    if (!loop.stmt->exprs.empty())
        header.conditions.push_back(&loop.stmt->exprs[0]);
    else
        for (const Exit &exit : loop.exits)
            if (!exit.guards.empty())
                header.conditions.push_back(exit.guards.back());
}

class HeaderReader {
  public:
    HeaderReader(const Flow &flow, const Loop &loop, int f, const Taint &taint)
        : flow(flow), loop(loop), f(f), taint(taint) {
    }

    Header read() {
        find_conditions(loop, header);
        Moment inside;
        inside.order = loop.last_order;
        for (const Expr *condition : header.conditions)
            for (const std::string &key : expr_variables(*condition))
                if (loop_assigns(flow, loop, key))
                    header.induction.insert(key);
        for (const Expr *condition : header.conditions)
            read_limit(*condition, inside);
        for (const std::string &key : header.induction)
            read_movement(key);
        header.rounds = count_rounds();
        header.told = std::any_of(header.induction.begin(), header.induction.end(),
                                  [this](const std::string &key) { return is_told(key); });
        return header;
    }

  private:
    const Flow &flow;
    const Loop &loop;
    int f;
    const Taint &taint;
    Header header;

    /* Each side of a comparison, but for the moving variable, whose start and step count. */
    void read_limit(const Expr &expr, const Moment &at) {
        if (expr.kind == ExprKind::Operator && expr.children.size() == 2 && is_logical(expr.text)) {
            bool joins = expr.text == "&&" || expr.text == "||";
            bool counted = joins && moves(expr);
            for (const Expr &child : expr.children)
                if (!counted || moves(child)) /* not what ends a count before its limit */
                    read_limit(child, at);
            return;
        }
        if (expr.kind == ExprKind::Assign || moves(expr))
            return;
        Value value = taint.evaluate_limit(expr, f, (int)(&loop - flow.loops.data()));
        if (value.all & ~(unsigned)TAINT_KEPT && header.limit_text.empty())
            header.limit_text = expr_display(expr);
        header.limit.merge(value);
    }

    static bool is_logical(const std::string &op) {
        static const std::set<std::string> ops = {
            "&&", "||", "<", ">", "<=", ">=", "==", "!=", ","};
        return ops.count(op) > 0;
    }

    bool moves(const Expr &expr) const {
        for (const std::string &key : expr_variables(expr))
            if (header.induction.count(key))
                return true;
        return false;
    }

    /* What sets the variable before the first round; null: nothing here. */
    const Assignment *start_of(const std::string &key) const {
        const Assignment *start = nullptr;
        for (const Assignment &a : flow.assignments)
            if (is_variable(*a.target, key) && a.at.order <= loop.last_order && !in_body(a))
                start = &a;
        return start;
    }

    void read_movement(const std::string &key) {
        for (const Assignment &a : flow.assignments)
            if (is_variable(*a.target, key) && in_body(a))
                read_step(a);
        const Assignment *start = start_of(key);
        header.counts |= (start && start->op == "=") || key_is_local(key);
        if (start && start->op == "=") {
            header.start.merge(taint.evaluate(*start->value, f, &start->at));
        } else if (!start) { /* a parameter that the loop itself moves */
            header.start.merge(taint.start_value(key));
        }
    }

    /* The thread count, or a constant. */
    std::optional<Linear> linear_of(const Expr &expr, const Moment *at) const {
        Amount amount = amount_of(taint, expr, f, at);
        return amount.follows_threads || amount.constant
                   ? std::optional(Linear{amount.factor, amount.offset})
                   : std::nullopt;
    }

    /* By how much the loop moves the variable in each round; 0: not by the same. */
    double step_of(const std::string &key) const {
        double step = 0;
        for (const Assignment &a : flow.assignments) {
            if (!is_variable(*a.target, key) || !in_body(a))
                continue;
            std::optional<double> by = taint.constant(*a.value);
            bool adds = (a.op == "+=" || a.op == "-=") && by && step == 0;
            if (!adds || is_conditional(*loop.stmt, a.whole, false))
                return 0;
            step = a.op == "+=" ? *by : -*by;
        }
        return step;
    }

    /* for (i = a; i < b; i++), up or down, with a and b made of the thread count and constants. */
    std::optional<Linear> count_rounds() const {
        static const std::map<std::string, std::string> turned = {
            {"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}, {"!=", "!="}};
        if (header.conditions.size() != 1 || !loop.exits.empty() || loop.stmt->text == "do")
            return std::nullopt;
        const Expr &condition = *header.conditions[0];
        if (condition.kind != ExprKind::Operator || !turned.count(condition.text))
            return std::nullopt;
        for (size_t side = 0; side < 2; side++) {
            const Expr &moved = condition.children[side], &limit = condition.children[1 - side];
            if (moved.kind == ExprKind::Variable && header.induction.count(moved.text))
                return rounds_between(moved.text,
                                      side == 0 ? condition.text : turned.at(condition.text),
                                      linear_of(limit, nullptr));
        }
        return std::nullopt;
    }

    std::optional<Linear> rounds_between(const std::string &key, const std::string &op,
                                         std::optional<Linear> limit) const {
        const Assignment *start = start_of(key);
        double step = step_of(key);
        if (!start || start->op != "=" || !limit || (step != 1 && step != -1))
            return std::nullopt;
        std::optional<Linear> first = linear_of(*start->value, &start->at);
        Linear rounds;
        if (!first ||
            !linear_combine("-", step > 0 ? *limit : *first, step > 0 ? *first : *limit, rounds))
            return std::nullopt;
        bool fits = op == "!=" || (step > 0) == (op[0] == '<');
        rounds.offset += op == "<=" || op == ">=";
        return fits ? std::optional(rounds) : std::nullopt;
    }

    /* done = false; next(&item, &done); */
    bool is_told(const std::string &key) const {
        bool is_given =
            std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
                return loop_contains(loop, site.at) &&
                       std::any_of(
                           site.call->children.begin(), site.call->children.end(),
                           [&](const Expr &argument) { return is_address_of(argument, key); });
            });
        return is_given && std::none_of(flow.assignments.begin(), flow.assignments.end(),
                                        [&](const Assignment &a) {
                                            return is_variable(*a.target, key) && in_body(a) &&
                                                   a.value->kind != ExprKind::Constant;
                                        });
    }

    static bool is_address_of(const Expr &expr, const std::string &key) {
        return expr.kind == ExprKind::Address && is_variable(expr.children[0], key);
    }

    /* The first part of a for loop is inside its text but in front of its rounds. */
    bool in_body(const Assignment &a) const {
        return loop_contains(loop, a.at) && a.at.loop >= 0 &&
               loop_contains(flow, loop_index(), a.at.loop);
    }

    int loop_index() const {
        return (int)(&loop - flow.loops.data());
    }

    /* Is it a side of one of the conditions? */
    bool is_limit(const Expr &expr) const {
        const std::string text = expr_display(expr);
        bool found = false;
        for (const Expr *condition : header.conditions)
            for (const Expr &side : condition->children)
                found |= expr_display(side) == text;
        return found;
    }

    /* while (i < n) i = (i + 1) % n */
    bool wraps(const Assignment &a) const {
        bool found = false;
        expr_walk(*a.value, [&](const Expr &part) {
            found = found ||
                    (part.kind == ExprKind::Operator && part.text == "%" &&
                     expr_reads(part.children[0], a.target->text) && is_limit(part.children[1]));
        });
        return found;
    }

    void read_step(const Assignment &a) {
        header.starts_over |= wraps(a);
        bool adds = a.op == "+=" || a.op == "-=";
        header.adds |= adds || expr_reads(*a.value, a.target->text);
        Value step = taint.evaluate(*a.value, f, &a.at);
        header.is_even |= (!adds || step.all || taint.constant(*a.value)) &&
                          !is_conditional(*loop.stmt, a.whole, false);
        if (adds) {
            header.step.merge(step);
            return;
        }
        /* i = i + step: what is added */
        const Expr &value = *a.value;
        if (value.kind == ExprKind::Operator && value.children.size() == 2)
            for (const Expr &child : value.children)
                if (!expr_reads(child, a.target->text))
                    header.step.merge(taint.evaluate(child, f, &a.at));
    }
};

/* The comparison with the thread's number that decides what is done in a round, such as
 * if (i % threads != index) continue, alone or with other reasons to skip the round; `asks` tells
 * whether the other side is one to compare with. `joined`: the operator around it; "": none. */
template <typename Asks>
const Expr *find_comparison(const Expr &condition, const std::string &joined, int f,
                            const Taint &taint, const Asks &asks) {
    if (condition.kind != ExprKind::Operator || condition.children.size() != 2)
        return nullptr;
    if ((condition.text == "||" || condition.text == "&&") &&
        (joined.empty() || joined == condition.text)) {
        for (const Expr &child : condition.children)
            if (const Expr *found = find_comparison(child, condition.text, f, taint, asks))
                return found;
        return nullptr;
    }
    /* What others do too, for another reason, is no part of the thread's own. */
    if (!(condition.text == "==" && joined != "||") && !(condition.text == "!=" && joined != "&&"))
        return nullptr;
    for (size_t side = 0; side < 2; side++)
        if (taint.evaluate(condition.children[side], f, nullptr).all & TAINT_INDEX &&
            asks(condition.children[1 - side]))
            return &condition;
    return nullptr;
}

/* The comparison in a condition of the loop's body. */
template <typename Asks>
const Expr *find_filter(const Stmt &stmt, int f, const Taint &taint, const Asks &asks,
                        int depth = 0) {
    const int max_depth = 3; /* block, if, block */
    if (stmt.kind == StmtKind::If)
        if (const Expr *filter = find_comparison(stmt.exprs[0], "", f, taint, asks))
            return filter;
    if (stmt.kind == StmtKind::Block && depth < max_depth)
        for (const Stmt &child : stmt.children)
            if (const Expr *filter = find_filter(child, f, taint, asks, depth + 1))
                return filter;
    return nullptr;
}

/* Does it tell of a round whose it is: owner(i), owners[i], i / size? */
bool tells_owner(const Flow &flow, const Loop &loop, const Expr &expr) {
    if (only_variable(expr) == &expr && expr.children.empty())
        return false; /* i itself: a round for each thread */
    const std::set<std::string> variables = expr_variables(expr);
    return std::any_of(variables.begin(), variables.end(), [&](const std::string &key) {
        return key_is_local(key) && loop_assigns(flow, loop, key);
    });
}

/* for (box = boxes[index]; box; box = box->next): as long as there is another one? */
bool follows_list(const Header &header) {
    if (header.conditions.size() != 1 || header.induction.size() != 1)
        return false;
    const Expr &condition = *header.conditions[0];
    bool compares = condition.kind == ExprKind::Operator && condition.text == "!=" &&
                    condition.children[1].kind == ExprKind::Constant;
    const Expr &next = compares ? condition.children[0] : condition;
    return is_variable(next, *header.induction.begin()) && next.type == TypeKind::Pointer;
}

bool is_global(const std::string &key) {
    return key.rfind("global:", 0) == 0;
}

bool meets_others(const Flow &flow, const Loop &loop) {
    return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
        return site.api >= 0 && loop_contains(loop, site.at) &&
               catalog_info(site.api).op == OP_BARRIER;
    });
}

bool is_wait_loop(const Flow &flow, int l) {
    return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
        return site.api >= 0 && site.at.loop == l &&
               (catalog_info(site.api).op == OP_WAIT || catalog_info(site.api).op == OP_TIMEDWAIT);
    });
}

bool reads_others(const Expr &expr) {
    const std::set<std::string> variables = expr_variables(expr);
    return !std::all_of(variables.begin(), variables.end(), key_is_local);
}

bool reads_others(const Stmt &stmt) {
    return std::any_of(stmt.exprs.begin(), stmt.exprs.end(),
                       [](const Expr &expr) { return reads_others(expr); }) ||
           std::any_of(stmt.children.begin(), stmt.children.end(),
                       [](const Stmt &child) { return reads_others(child); });
}

/* next(&mine): what it asks about may be the function's own. */
bool is_given_own(const Expr &call) {
    bool own = false;
    for (const Expr &argument : call.children)
        expr_walk(argument, [&](const Expr &part) {
            own = own || (part.kind == ExprKind::Variable && key_is_local(part.text));
        });
    return own;
}

/* Is the condition about what is not the function's own, itself or by what it calls? */
bool asks_others(const Program &program, const Flow &flow, const Expr &condition) {
    bool asks = reads_others(condition);
    expr_walk(condition, [&](const Expr &part) {
        for (const CallSite &site : flow.calls)
            for (int callee : site.callees)
                asks = asks || (site.call == &part && !is_given_own(part) &&
                                reads_others(program.functions[(size_t)callee].body));
    });
    return asks;
}

Bounds::Bound ended_elsewhere(const Expr &condition, const char *how) {
    Bounds::Bound bound;
    bound.why = expr_display(condition) + how;
    bound.by_others = true;
    return bound;
}

Bounds::Bound share_bound(const Header &header) {
    Bounds::Bound bound;
    bound.kind = BOUND_SHARE;
    for (const Value *value : {&header.limit, &header.start, &header.step})
        if (value->all & TAINT_SHARE) {
            bound.why = value->why;
            break;
        }
    bound.taint = (header.limit.all | header.start.all | header.step.all) & TAINT_REST;
    unsigned own = header.limit.own | header.start.own | header.step.own;
    if (!(own & TAINT_SHARE))
        bound.parameters =
            header.limit.parameters | header.start.parameters | header.step.parameters;
    return bound;
}

} // namespace

Bounds::Bounds(const Program &program, const Taint &taint, const Sharing &sharing)
    : program(program), taint(taint), sharing(sharing), own(program), bounds(program.flows.size()) {
    for (size_t f = 0; f < program.flows.size(); f++)
        for (size_t l = 0; l < program.flows[f].loops.size(); l++)
            bounds[f].push_back(program.flows[f].reached ? classify(f, l) : Bound());
}

Bounds::Bound Bounds::classify(size_t f, size_t l) const {
    const Flow &flow = program.flows[f];
    const Loop &loop = flow.loops[l];
    const SharedLoop *shared = sharing.loop((int)f, (int)l);
    if (shared && shared->decided_by_condition)
        return {BOUND_SHARED, shared->why, 0};
    if (is_wait_loop(flow, (int)l))
        return {BOUND_UNKNOWN, "waits on a condition variable", 0};
    Header header = HeaderReader(flow, loop, (int)f, taint).read();
    unsigned limit = header.limit.all, start = header.start.all, step = header.step.all;
    if ((limit | start | step) & TAINT_SHARE)
        return share_bound(header);
    if (step & TAINT_COUNT)
        return {BOUND_SHARE, "steps by the thread count", 0};
    auto is_share = [&](const Expr &expr) {
        return (taint.evaluate(expr, (int)f, nullptr).all & TAINT_SHARE) > 0;
    };
    const Stmt &body = loop.stmt->children[1];
    if (const Expr *filter = find_filter(body, (int)f, taint, is_share))
        return {BOUND_SHARE, expr_display(*filter), 0};
    if (shared)
        return {BOUND_SHARED, shared->why, 0};
    /* However they were made: from here to there is this thread's part, from there on the next's.
     */
    if ((start & TAINT_KEPT) && ((limit & TAINT_KEPT) || follows_list(header)))
        return {BOUND_SHARE, "its ends are kept for each thread", 0, TAINT_REST};
    /* A capacity may follow the thread count; what fills it up comes and goes elsewhere. */
    if ((limit & TAINT_COUNT) && !header.induction.empty() && !header.counts)
        return {BOUND_UNKNOWN, expr_display(*header.conditions[0]) + " changes elsewhere", 0};
    if ((limit & TAINT_COUNT) && !header.induction.empty() && !header.is_even)
        return {BOUND_UNKNOWN, header.limit_text + " is reached in as many rounds as it takes", 0};
    bool counts_down = (start & TAINT_COUNT) && header.start.linear_known;
    if ((limit & TAINT_COUNT) || counts_down)
        return {BOUND_THREADS,
                header.limit_text.empty() ? "starts at the thread count" : header.limit_text, 0, 0,
                header.rounds};
    auto is_owner = [&](const Expr &expr) { return tells_owner(flow, loop, expr); };
    if (const Expr *filter = find_filter(body, (int)f, taint, is_owner))
        return {BOUND_SHARE, expr_display(*filter), 0};
    if ((limit & TAINT_INDEX) && (start & TAINT_INDEX))
        return {BOUND_FIXED, "same length for each thread", 0};
    if (limit & TAINT_INDEX)
        return {BOUND_THREADS, header.limit_text + ", the thread's index", 0};
    if ((start & TAINT_INDEX) && header.adds)
        return {BOUND_SHARE, "starts at the thread's index", 0};
    if (header.conditions.empty())
        return {BOUND_UNKNOWN, "has no end of its own", 0};
    if (const Expr *range = loop_range(loop)) {
        bool counts = taint.evaluate(*range, (int)f, nullptr).all & TAINT_COUNT;
        return {counts ? BOUND_THREADS : BOUND_FIXED, "each of " + expr_display(*range), 0};
    }
    if (!meets_others(flow, loop) &&
        std::none_of(header.induction.begin(), header.induction.end(), key_is_local))
        for (const Expr *condition : header.conditions)
            if (const std::string key = joint_progress(program, own, flow, loop, *condition);
                !key.empty())
                return {BOUND_SHARED, key_display(key) + " counts what all have done", 0};
    if (header.induction.empty()) {
        Bound bound = ended_elsewhere(*header.conditions[0], " changes elsewhere");
        bound.by_others = asks_others(program, flow, *header.conditions[0]);
        return bound;
    }
    /* Where it goes on from is not its own: others may have brought it there. Unless all meet in
     * each round, and look then. */
    if (!header.counts && !meets_others(flow, loop) &&
        std::all_of(header.induction.begin(), header.induction.end(), is_global))
        return ended_elsewhere(*header.conditions[0], " is moved elsewhere, too");
    if (moved_by_threads(f, l, header.induction))
        return {BOUND_SHARE, expr_display(*header.conditions[0]) + " is moved once for each thread",
                0};
    if (header.told)
        return {BOUND_UNKNOWN, expr_display(*header.conditions[0]) + " is told by what is called",
                0};
    if (header.starts_over)
        return {BOUND_UNKNOWN, expr_display(*header.conditions[0]) + " starts over again", 0};
    if (const std::string *taken = sharing.perhaps_shared((int)f, (int)l)) {
        Bound bound = {BOUND_UNKNOWN, *taken + ", perhaps under a lock of the program's own", 0};
        bound.by_others = true;
        return bound;
    }
    return {BOUND_FIXED, expr_display(*header.conditions[0]), 0};
}

/* Does a loop inside of it, over the thread count, move one of the variables? */
bool Bounds::moved_by_threads(size_t f, size_t l, const std::set<std::string> &variables) const {
    const Flow &flow = program.flows[f];
    for (size_t inner = 0; inner < flow.loops.size(); inner++) {
        if (inner == l || !loop_contains(flow, (int)l, (int)inner) ||
            classify(f, inner).kind != BOUND_THREADS)
            continue;
        for (const std::string &key : variables)
            if (loop_assigns(flow, flow.loops[inner], key))
                return true;
    }
    return false;
}

bool Bounds::has_fragments(size_t f, size_t l) const {
    const Flow &flow = program.flows[f];
    return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
        return loop_contains(flow.loops[l], site.at) && persik::has_fragments(program, site);
    });
}

enum rest rest_of_taint(unsigned taint) {
    switch (taint & TAINT_REST) {
    case 0:
        return REST_EVEN;
    case TAINT_LAST:
        return REST_LAST;
    case TAINT_CHUNKS:
        return REST_CHUNKS;
    default:
        return REST_NONE;
    }
}

static enum rest rest_of_bound(const Bounds::Bound &bound) {
    return bound.kind == BOUND_SHARE ? rest_of_taint(bound.taint) : REST_NONE;
}

void find_lambdas(const Program &program, Findings &findings) {
    for (size_t f = 1; f < program.functions.size(); f++) {
        const Function &function = program.functions[f];
        if (program.flows[f].reached && is_call_operator(function.key))
            findings.lambdas.push_back(
                {function.file, function.key, function.line, function.last_line});
    }
}

void find_loops(const Program &program, const Bounds &bounds, Findings &findings) {
    for (size_t f = 1; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        for (size_t l = 0; flow.reached && l < flow.loops.size(); l++) {
            const Bounds::Bound &bound = bounds.of(f, l);
            bool fragments = bounds.has_fragments(f, l);
            bool plain = bound.kind == BOUND_FIXED || bound.kind == BOUND_UNKNOWN;
            if (!fragments && plain && !bound.by_others)
                continue; /* mere computation, as often for any number of threads */
            const Function &function = program.functions[f];
            const Stmt &stmt = *flow.loops[l].stmt;
            findings.loops.push_back({function.file, function.key, stmt.first_line, stmt.last_line,
                                      bound.kind, rest_of_bound(bound), fragments,
                                      is_wait_loop(flow, (int)l), bound.why, bound.rounds});
        }
    }
}

/* ---- calls that run a share ---- */

namespace {

/* A function that runs a share: in any case, or if these parameters are one. */
struct Sharer {
    bool always = false;
    unsigned parameters = 0;
    unsigned taint = 0; /* TAINT_REST of what does not come by the parameters */
    bool shared = false;
    std::string why;
    bool operator==(const Sharer &other) const {
        return always == other.always && parameters == other.parameters && taint == other.taint;
    }
};

class ShareFinder {
  public:
    ShareFinder(const Program &program, const Taint &taint, const Bounds &bounds)
        : program(program), taint(taint), bounds(bounds), sharers(program.flows.size()) {
        for (size_t f = 1; f < sharers.size(); f++)
            add_loops(f);
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t f = 1; f < sharers.size(); f++)
                changed |= add_calls(f);
        }
    }

    void report(Findings &findings) const {
        for (size_t f = 1; f < sharers.size(); f++) {
            if (!program.flows[f].reached)
                continue;
            for (const CallSite &site : program.flows[f].calls) {
                Sharer sharer = at_call((int)f, site);
                if (sharer.always || sharer.parameters)
                    findings.shares.push_back(
                        {site.call->place, sharer.shared ? REST_NONE : rest_of_taint(sharer.taint),
                         program.functions[f].key, program.functions[(size_t)site.callees[0]].key,
                         sharer.why, sharer.shared});
            }
        }
    }

  private:
    const Program &program;
    const Taint &taint;
    const Bounds &bounds;
    std::vector<Sharer> sharers;

    void add_loops(size_t f) {
        for (size_t l = 0; l < program.flows[f].loops.size(); l++) {
            const Bounds::Bound &bound = bounds.of(f, l);
            /* A supply is taken from through calls that the trace shows, or an atomic. */
            bool shared = bound.kind == BOUND_SHARED && !bounds.has_fragments(f, l);
            if (bound.kind != BOUND_SHARE && !shared)
                continue;
            Sharer &sharer = sharers[f];
            sharer.always |= bound.parameters == 0;
            sharer.parameters |= bound.parameters;
            sharer.taint |= bound.parameters == 0 ? bound.taint : 0;
            sharer.shared |= shared;
            if (sharer.why.empty())
                sharer.why = bound.why;
        }
    }

    /* Such a function lies between no two calls of its caller that the trace shows: the creation is
     * one, too. And in a large program most functions can lead to one that creates threads. */
    bool creates_threads(int f) const {
        const std::vector<CallSite> &calls = program.flows[(size_t)f].calls;
        return std::any_of(calls.begin(), calls.end(), [](const CallSite &site) {
            return site.api >= 0 && catalog_start_argument(site.api) >= 0;
        });
    }

    /* Seen from the caller: `parameters` are the caller's own. */
    Sharer at_call(int f, const CallSite &site) const {
        Sharer result;
        if (std::any_of(site.callees.begin(), site.callees.end(),
                        [this](int callee) { return creates_threads(callee); }))
            return result;
        /* Of the functions that a pointer may lead to only what all of them do is sure. */
        if (!std::all_of(site.callees.begin(), site.callees.end(), [this](int callee) {
                const Sharer &sharer = sharers[(size_t)callee];
                return sharer.always || sharer.parameters;
            }))
            return result;
        size_t first = site.call->kind == ExprKind::Indirect ? 1 : 0;
        for (int callee : site.callees) {
            const Sharer &sharer = sharers[(size_t)callee];
            result.always |= sharer.always;
            result.taint |= sharer.taint;
            result.shared |= sharer.shared;
            if (sharer.always && result.why.empty())
                result.why = sharer.why;
            for (size_t i = 0; i < 16 && i + first < site.call->children.size(); i++) {
                if (!(sharer.parameters & (1U << i)))
                    continue;
                Value value = taint.evaluate(site.call->children[i + first], f, &site.at);
                if (!(value.all & TAINT_SHARE))
                    continue;
                if (value.own & TAINT_SHARE || value.parameters == 0)
                    result.always = true;
                else
                    result.parameters |= value.parameters;
                if (result.always)
                    result.taint |= value.all & TAINT_REST;
                result.why = result.why.empty() ? value.why : result.why;
            }
        }
        return result;
    }

    bool add_calls(size_t f) {
        Sharer before = sharers[f];
        if (!program.flows[f].reached)
            return false;
        for (const CallSite &site : program.flows[f].calls) {
            Sharer callee = at_call((int)f, site);
            sharers[f].always |= callee.always;
            sharers[f].parameters |= callee.parameters;
            sharers[f].taint |= callee.taint;
            sharers[f].shared |= callee.shared;
            if (sharers[f].why.empty())
                sharers[f].why = callee.why;
        }
        return !(before == sharers[f]);
    }
};

} // namespace

void find_shares(const Program &program, const Taint &taint, const Bounds &bounds,
                 Findings &findings) {
    ShareFinder(program, taint, bounds).report(findings);
}

} // namespace persik
