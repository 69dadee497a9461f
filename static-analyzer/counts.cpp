#include "static-analyzer/counts.h"

#include <algorithm>
#include <cmath>

#include "static-analyzer/critical.h"

namespace persik {

namespace {

/* Helpers are but a few calls away from who knows the number. */
const size_t max_calls = 8;
/* What more calls lead to, or takes longer to follow, is too general to say anything of. */
const size_t max_ways = 32;
const int max_steps = 1000;

using Step = ThreadCounts::Step;
using Way = ThreadCounts::Way;
using Tests = std::unordered_map<const Expr *, const Expr *>;

Extent fixed(double value) {
    Extent extent;
    extent.kind = Extent::Fixed;
    extent.values = {value};
    return extent;
}

bool is_one_number(const Extent &extent) {
    return extent.kind == Extent::Fixed && extent.values.size() == 1 && !extent.one_alone;
}

double number_of(const Extent &extent) {
    return *extent.values.begin();
}

bool is_bounded(const Extent &extent) {
    return extent.most || extent.least;
}

bool is_thread_count(const Extent &extent) {
    return extent.kind == Extent::Follows && extent.linear == Linear{1, 0};
}

bool is_number_of_threads(double value) {
    const double most = 1e6;
    return value >= 0 && value <= most && value == std::trunc(value);
}

/* Whole numbers that can be. */
bool is_sane(const Extent &extent) {
    return std::all_of(extent.values.begin(), extent.values.end(), is_number_of_threads) &&
           is_number_of_threads(extent.least.value_or(0)) &&
           is_number_of_threads(extent.most.value_or(1)) && extent.most.value_or(1) >= 1;
}

/* Does it say more than that there is one for each thread? */
bool tells(const Extent &extent) {
    return extent.kind == Extent::Fixed ||
           (extent.kind == Extent::Follows && (is_bounded(extent) || !is_thread_count(extent)));
}

/* What cannot be told of one of the two can be told of neither. */
bool is_undecided(const Extent &a, const Extent &b, Extent &result) {
    if (a.kind == Extent::Unknown || b.kind == Extent::Unknown) {
        result = {};
        return true;
    }
    result = a.kind == Extent::Open ? a : b;
    return a.kind == Extent::Open || b.kind == Extent::Open;
}

/* It is one or the other. */
Extent either(const Extent &a, const Extent &b) {
    Extent result;
    if (a == b || is_undecided(a, b, result))
        return a == b ? a : result;
    if (a.kind != Extent::Fixed || b.kind != Extent::Fixed || a.one_alone != b.one_alone)
        return {};
    result = a;
    result.values.insert(b.values.begin(), b.values.end());
    return result;
}

Extent bounded_numbers(const Extent &numbers, double bound, bool smaller) {
    Extent result = numbers;
    result.values.clear();
    for (double value : numbers.values)
        result.values.insert(smaller ? std::min(value, bound) : std::max(value, bound));
    bool one_stays = smaller ? bound >= 1 : bound <= 1;
    return numbers.one_alone && !one_stays ? Extent() : result;
}

/* The smaller of the two, or the larger. */
Extent bounded(Extent a, Extent b, bool smaller) {
    Extent result;
    if (a == b || is_undecided(a, b, result))
        return a == b ? a : result;
    if (is_one_number(a))
        std::swap(a, b);
    if (!is_one_number(b))
        return {};
    double bound = number_of(b);
    if (a.kind == Extent::Fixed)
        return bounded_numbers(a, bound, smaller);
    if (smaller)
        a.most = std::min(a.most.value_or(bound), bound);
    else
        a.least = std::max(a.least.value_or(bound), bound);
    return a.most && a.least && *a.least > *a.most ? Extent() : a;
}

Extent combined(const std::string &op, const Extent &a, const Extent &b) {
    Extent result;
    if (is_undecided(a, b, result))
        return result;
    auto linear_of = [](const Extent &extent, Linear &linear) {
        linear = extent.kind == Extent::Follows ? extent.linear : Linear{0, number_of(extent)};
        return extent.kind == Extent::Follows ? !is_bounded(extent) : is_one_number(extent);
    };
    result = {};
    Linear left, right;
    if (!linear_of(a, left) || !linear_of(b, right) ||
        !linear_combine(op, left, right, result.linear))
        return {};
    if (result.linear.factor == 0)
        return fixed(result.linear.offset);
    result.kind = Extent::Follows;
    return result;
}

bool is_same(const Expr &a, const Expr &b) {
    return expr_display(unwrapped(a)) == expr_display(unwrapped(b));
}

/* One that orders its two sides or tells whether they are the same, with `left` on the left. */
struct Comparison {
    const Expr *left = nullptr, *right = nullptr;
    std::string op;

    bool is_less() const {
        return op == "<" || op == "<=";
    }
    bool is_more() const {
        return op == ">" || op == ">=";
    }
};

bool comparison_of(const Expr &wrapped, Comparison &out) {
    static const std::set<std::string> comparisons = {"<", ">", "<=", ">=", "==", "!="};
    const Expr &expr = unwrapped(wrapped);
    if (expr.kind != ExprKind::Operator || expr.children.size() != 2 ||
        !comparisons.count(expr.text))
        return false;
    out = {&unwrapped(expr.children[0]), &unwrapped(expr.children[1]), expr.text};
    return true;
}

Comparison mirrored(const Comparison &c) {
    static const std::map<std::string, std::string> ops = {
        {"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}, {"==", "=="}, {"!=", "!="}};
    return {c.right, c.left, ops.at(c.op)};
}

/* The argument that `step` passes for parameter `i`; null: none. */
const Expr *argument_of(const Step &step, size_t i) {
    const Exprs &children = step.site->call->children;
    size_t first = step.site->call->kind == ExprKind::Indirect ? 1 : 0;
    return i + first < children.size() ? &children[i + first] : nullptr;
}

bool is_set(const Assignment &a, const std::string &key) {
    return is_variable(*a.target, key);
}

/* What an expression is along one way of calls. */
class Evaluator {
  public:
    /* `closed`: nobody follows the way any further. */
    Evaluator(const Program &program, const Taint &taint, const Tests &tests, const Way &way,
              bool closed)
        : program(program), taint(taint), tests(tests), way(way), closed(closed) {
    }

    /* In the function of way[level]. */
    Extent of(const Expr &wrapped, size_t level) {
        const Expr &expr = unwrapped(wrapped);
        if (expr.kind == ExprKind::Variable)
            return variable(expr, level);
        if (expr.kind == ExprKind::Assign && expr.text == "=")
            return of(expr.children[1], level);
        if (expr.kind == ExprKind::Operator && expr.text == "?:" && expr.children.size() == 3)
            return choice(expr, level);
        if (expr.kind == ExprKind::Operator && expr.children.size() == 2)
            return combined(expr.text, of(expr.children[0], level), of(expr.children[1], level));
        if (expr.kind == ExprKind::Call)
            if (Expr body = expand_calls(program, expr); body.kind == ExprKind::Operator)
                return of(body, level);
        return origin(expr, level);
    }

  private:
    const Program &program;
    const Taint &taint;
    const Tests &tests;
    const Way &way;
    const bool closed;
    std::map<std::string, Extent> known; /* variables that are being followed, so far */

    const Flow &flow_of(size_t level) const {
        return program.flows[way[level].function];
    }

    /* Where nothing leads any further: the thread count itself, or not. */
    Extent origin(const Expr &expr, size_t level) const {
        Extent extent;
        Value value = taint.evaluate(expr, (int)way[level].function, nullptr);
        if (value.all & TAINT_COUNT) {
            extent.kind = value.linear_known ? Extent::Follows : Extent::Unknown;
            extent.linear = value.linear;
            return extent;
        }
        auto constant = taint.constant(expr);
        return constant ? fixed(*constant) : extent;
    }

    Extent incoming(const Expr &parameter, size_t i, size_t level) {
        if (level + 1 < way.size()) {
            const Expr *argument = argument_of(way[level + 1], i);
            return argument ? of(*argument, level + 1) : Extent();
        }
        if (closed)
            return origin(parameter, level);
        Extent extent;
        extent.kind = Extent::Open;
        return extent;
    }

    bool is_handed_out(const std::string &key, size_t level) const {
        const auto &calls = flow_of(level).calls;
        return std::any_of(calls.begin(), calls.end(), [&](const CallSite &site) {
            return std::any_of(site.call->children.begin(), site.call->children.end(),
                               [&](const Expr &argument) {
                                   const Expr &e = unwrapped(argument);
                                   return e.kind == ExprKind::Address && e.children[0].text == key;
                               });
        });
    }

    Extent variable(const Expr &expr, size_t level) {
        const std::string &key = expr.text;
        if (auto so_far = known.find(key); so_far != known.end())
            return so_far->second;
        if (!key_is_local(key) || is_handed_out(key, level))
            return origin(expr, level);
        const auto &parameters = program.functions[way[level].function].parameters;
        auto parameter = std::find(parameters.begin(), parameters.end(), key);
        known[key] = {}; /* who reads it for its own value is not understood */
        Extent extent;
        if (parameter != parameters.end())
            extent = changed_parameter(
                key, incoming(expr, (size_t)(parameter - parameters.begin()), level), level);
        else
            extent = local(expr, level);
        known.erase(key);
        return extent;
    }

    Extent changed_parameter(const std::string &key, Extent extent, size_t level) {
        for (const Assignment &a : flow_of(level).assignments)
            if (is_set(a, key))
                extent = may_change(a) ? changed(a, extent, level) : Extent();
        return extent;
    }

    /* What is read from the command line or elsewhere, and has its defaults and limits there, is
     * the thread count itself. */
    Extent local(const Expr &expr, size_t level) {
        std::optional<Extent> extent;
        bool bounds = false;
        for (const Assignment &a : flow_of(level).assignments) {
            if (!is_set(a, expr.text))
                continue;
            if (extent && may_change(a))
                extent = changed(a, *extent, level);
            else if (a.op != "=")
                extent = Extent();
            else if (Extent value = of(*a.value, level); true)
                extent = extent ? either(*extent, value) : value;
            bounds = bounds || is_bounded(*extent);
        }
        bool is_origin = !extent || (extent->kind == Extent::Unknown && !bounds);
        return is_origin ? origin(expr, level) : *extent;
    }

    /* Does it set a variable to something that depends on what it was? */
    bool may_change(const Assignment &a) const {
        bool always = a.at.guards.empty() && a.at.loop < 0;
        return a.op == "=" &&
               (tests.count(a.whole) || (always && expr_reads(*a.value, a.target->text)));
    }

    Extent changed(const Assignment &a, const Extent &before, size_t level) {
        known[a.target->text] = before;
        auto test = tests.find(a.whole);
        Extent after =
            test == tests.end() ? of(*a.value, level) : limited(a, *test->second, before, level);
        known[a.target->text] = {};
        return after;
    }

    /* if (n > 3) n = 3; */
    Extent limited(const Assignment &a, const Expr &test, const Extent &before, size_t level) {
        Comparison c;
        if (!comparison_of(test, c))
            return {};
        if (c.left->text != a.target->text)
            c = mirrored(c);
        Extent limit = of(*c.right, level), value = of(*a.value, level);
        if (c.left->kind != ExprKind::Variable || c.left->text != a.target->text ||
            !is_one_number(limit) || !is_one_number(value))
            return {};
        double beyond = number_of(value) - number_of(limit);
        bool at_most = c.is_more() && (beyond == 0 || (c.op == ">=" && beyond == -1));
        bool at_least = (c.is_less() && (beyond == 0 || (c.op == "<=" && beyond == 1))) ||
                        (c.op == "==" && number_of(limit) == 0 && beyond == 1);
        return at_most || at_least ? bounded(before, value, at_most) : Extent();
    }

    Extent choice(const Expr &expr, size_t level) {
        const Expr &yes = expr.children[1], &no = expr.children[2];
        Extent if_true = of(yes, level), if_false = of(no, level);
        Comparison c;
        if (!comparison_of(expr.children[0], c))
            return either(if_true, if_false);
        bool straight = is_same(*c.left, yes) && is_same(*c.right, no);
        bool crossed = is_same(*c.left, no) && is_same(*c.right, yes);
        if ((straight || crossed) && (c.is_less() || c.is_more()))
            return bounded(if_true, if_false, straight == c.is_less());
        bool alone = true;
        if (!asks_for_one(c, alone))
            return either(if_true, if_false);
        Extent asked = of(*c.left, level);
        if (asked.kind == Extent::Open)
            return asked;
        return is_thread_count(asked) && !is_bounded(asked)
                   ? alone_or(alone ? if_true : if_false, alone ? if_false : if_true)
                   : either(if_true, if_false);
    }

    /* n == 1, n > 1 ...; `alone`: whether that holds for 1 */
    static bool asks_for_one(const Comparison &c, bool &alone) {
        if (c.right->kind != ExprKind::Constant)
            return false;
        double value = c.right->value;
        alone = c.op == "==" || c.is_less();
        bool next = c.op == "<" || c.op == ">=";
        return value == (next ? 2 : 1);
    }

    static Extent alone_or(const Extent &one, Extent more) {
        if (one == fixed(1) && is_thread_count(more))
            return more;
        if (!(one == fixed(1)) || more.kind != Extent::Fixed)
            return either(one, more);
        more.one_alone = more.one_alone || !(more == one);
        return more;
    }
};

} // namespace

bool Extent::operator==(const Extent &other) const {
    return kind == other.kind && linear == other.linear && most == other.most &&
           least == other.least && values == other.values && one_alone == other.one_alone;
}

ThreadCounts::ThreadCounts(const Program &program, const Taint &taint)
    : program(program), taint(taint), callers(find_callers(program)) {
    for (size_t f = 1; f < program.flows.size(); f++)
        if (program.flows[f].reached)
            note_tests(program.functions[f].body);
}

void ThreadCounts::note_tests(const Stmt &stmt) {
    for (const Stmt &child : stmt.children)
        note_tests(child);
    bool otherwise = stmt.children.size() > 1 && stmt.children[1].kind != StmtKind::Nothing;
    if (stmt.kind != StmtKind::If || stmt.exprs.empty() || stmt.children.empty() || otherwise)
        return;
    const Stmt *body = &stmt.children[0];
    while (body->kind == StmtKind::Block && body->children.size() == 1)
        body = &body->children[0];
    if (body->kind == StmtKind::Evaluate && body->exprs[0].kind == ExprKind::Assign)
        tests[&body->exprs[0]] = &stmt.exprs[0];
}

/* Does the loop around `step` have as many rounds as its limit says: from 0 up to below it, or from
 * 1 up to it? */
bool ThreadCounts::goes_up_to_limit(const Step &step, const CreationLoop &creation) const {
    const Flow &flow = program.flows[step.function];
    Comparison test;
    expr_walk(flow.loops[(size_t)creation.loop].stmt->exprs[0], [&](const Expr &e) {
        if (Comparison c; comparison_of(e, c) && (c.right == &unwrapped(*creation.limit) ||
                                                  c.left == &unwrapped(*creation.limit)))
            test = c.right == &unwrapped(*creation.limit) ? c : mirrored(c);
    });
    if (!test.left || test.left->kind != ExprKind::Variable)
        return false;
    const Expr *start = nullptr;
    for (const Assignment &a : flow.assignments)
        if (is_set(a, creation.index) && a.op == "=" && a.at.order < step.site->at.order)
            start = a.value;
    auto first = start ? taint.constant(*start) : std::nullopt;
    bool below = test.op == "<" || test.op == "!=";
    return first && ((below && *first == 0) || (test.op == "<=" && *first == 1));
}

/* Of the loop that creates a thread in each round; null: `step` is in none, or in one whose number
 * of rounds is not plain. */
const Expr *ThreadCounts::limit_around(const Step &step, bool &found) const {
    const auto &loops = program.flows[step.function].loops;
    for (int l = step.site->at.loop; l >= 0; l = loops[(size_t)l].parent)
        for (const CreationLoop &creation : taint.creation_loops())
            if (creation.function == (int)step.function && creation.loop == l) {
                found = true;
                bool plain = (!creation.count.empty() || taint.constant(*creation.limit)) &&
                             (loop_range(loops[(size_t)l]) || goes_up_to_limit(step, creation));
                return plain ? creation.limit : nullptr;
            }
    return nullptr;
}

std::vector<Way> ThreadCounts::longer(const Way &way) const {
    std::vector<Way> found;
    auto known = callers.find(way.back().function);
    if (known == callers.end() || way.size() > max_calls)
        return found;
    for (const Step &caller : known->second) {
        bool again = std::any_of(way.begin(), way.end(), [&](const Step &step) {
            return step.function == caller.function;
        });
        if (again)
            continue;
        found.push_back(way);
        found.back().push_back(caller);
    }
    return found;
}

std::vector<ThreadCount> ThreadCounts::of(size_t f, const CallSite &site) const {
    Search search;
    climb({{f, &site}}, search);
    auto &found = search.found;
    found.erase(
        std::remove_if(found.begin(), found.end(),
                       [](const ThreadCount &c) { return c.extent.kind == Extent::Unknown; }),
        found.end());
    bool any = std::any_of(found.begin(), found.end(),
                           [](const ThreadCount &count) { return tells(count.extent); });
    return any && search.steps < max_steps && found.size() <= max_ways ? found
                                                                       : std::vector<ThreadCount>();
}

/* Up to the loop, which may be in a caller: pool_create() may call start_worker() in one. */
void ThreadCounts::climb(const Way &way, Search &search) const {
    if (search.steps++ >= max_steps)
        return;
    bool in_loop = false;
    const Expr *limit = limit_around(way.back(), in_loop);
    if (limit) {
        auto counts = settle(way, way.size() - 1, *limit, search);
        search.found.insert(search.found.end(), counts.begin(), counts.end());
    }
    if (in_loop)
        return;
    for (const Way &next : longer(way))
        climb(next, search);
}

/* As few calls as tell it: callers that do not differ need not be told apart. */
std::vector<ThreadCount> ThreadCounts::settle(const Way &way, size_t level, const Expr &limit,
                                              Search &search) const {
    if (search.steps++ >= max_steps)
        return {};
    Extent extent = Evaluator(program, taint, tests, way, false).of(limit, level);
    std::vector<ThreadCount> counts;
    if (extent.kind == Extent::Open) {
        for (const Way &next : longer(way)) {
            auto more = settle(next, level, limit, search);
            counts.insert(counts.end(), more.begin(), more.end());
        }
        bool differ = std::any_of(counts.begin(), counts.end(), [&](const ThreadCount &count) {
            return !(count.extent == counts[0].extent);
        });
        if (differ)
            return counts;
        extent = counts.empty() ? Evaluator(program, taint, tests, way, true).of(limit, level)
                                : counts[0].extent;
    }
    return {describe(way, level, limit, extent)};
}

ThreadCount ThreadCounts::describe(const Way &way, size_t level, const Expr &limit,
                                   const Extent &extent) const {
    ThreadCount count;
    count.extent = is_sane(extent) ? extent : Extent();
    if (count.extent.least && *count.extent.least <= 1) /* fewer there never are */
        count.extent.least.reset();
    for (size_t i = 1; i < way.size(); i++)
        count.calls.push_back({way[i].site->call->place, program.functions[way[i].function].key});
    const Expr *shown = &limit;
    const auto &parameters = program.functions[way[level].function].parameters;
    const Expr *variable = only_variable(limit);
    for (size_t i = 0; variable && level + 1 < way.size() && i < parameters.size(); i++)
        if (parameters[i] == variable->text)
            if (const Expr *argument = argument_of(way[level + 1], i))
                shown = argument;
    count.text = expr_display(*shown);
    return count;
}

} // namespace persik
