#include "static-analyzer/program.h"

#include <algorithm>

namespace persik {

namespace {

const api_info catalog[] = {
#define API(name, class_, object_, op_, probe_, object_argument, mutex_argument, amount_argument,  \
            timeout_argument, ...)                                                                 \
    {#name,           CLASS_##class_, ON_##object_,    OP_##op_,        PROBE_##probe_,            \
     object_argument, mutex_argument, amount_argument, timeout_argument},
#define ROLE(name, class_, object_, op_)                                                           \
    {"user:" #name, CLASS_##class_, ON_##object_, OP_##op_, PROBE_TIMED, -1, -1, -1, -1},
#include "formats/catalog.def"
#undef API
};

} // namespace

int catalog_find(const std::string &name) {
    static const std::unordered_map<std::string, int> index = [] {
        std::unordered_map<std::string, int> names;
        for (int i = 0; i < API_COUNT; i++)
            names[catalog[i].name] = i;
        return names;
    }();
    auto found = index.find(name);
    return found == index.end() ? -1 : found->second;
}

const api_info &catalog_info(int api) {
    return catalog[api];
}

int catalog_start_argument(int api) {
    if (api < 0 || catalog[api].op != OP_CREATE || catalog[api].object != ON_THREAD)
        return -1;
    return std::string(catalog[api].name) == "pthread_create" ? 2 : 1;
}

const Function *Program::find(const std::string &key) const {
    auto found = by_key.find(key);
    return found == by_key.end() ? nullptr : &functions[(size_t)found->second];
}

int Program::start_routine(const CallSite &site) const {
    int start = catalog_start_argument(site.api);
    if (start < 0 || (size_t)start >= site.call->children.size())
        return -1;
    auto found = by_key.find(site.call->children[(size_t)start].text);
    return found == by_key.end() ? -1 : found->second;
}

std::string Program::object(const Expr &expr) const {
    std::string key = expr_object(expr);
    auto alias = aliases.find(key);
    return alias == aliases.end() ? key : alias->second;
}

bool loop_contains(const Flow &flow, int loop, int inner) {
    while (inner >= 0 && inner != loop)
        inner = flow.loops[(size_t)inner].parent;
    return inner == loop;
}

bool loop_contains(const Loop &loop, const Moment &at) {
    return at.order >= loop.order && at.order <= loop.last_order;
}

bool loop_assigns(const Flow &flow, const Loop &loop, const std::string &key) {
    return std::any_of(flow.assignments.begin(), flow.assignments.end(), [&](const auto &a) {
        return is_variable(*a.target, key) && loop_contains(loop, a.at);
    });
}

const Expr *loop_range(const Loop &loop) {
    return loop.stmt->text == "each" ? &loop.stmt->exprs[0].children[0] : nullptr;
}

bool has_fragments(const Program &program, const CallSite &site) {
    return site.api >= 0 || std::any_of(site.callees.begin(), site.callees.end(), [&](int callee) {
               return program.flows[(size_t)callee].has_fragments;
           });
}

bool is_variable(const Expr &expr, const std::string &key) {
    return expr.kind == ExprKind::Variable && expr.text == key;
}

const Expr &unwrapped(const Expr &expr) {
    bool wraps = expr.kind == ExprKind::Other ||
                 (expr.kind == ExprKind::Operator && (expr.text.empty() || expr.text == "(cast)"));
    return wraps && expr.children.size() == 1 ? unwrapped(expr.children[0]) : expr;
}

bool expr_reads(const Expr &expr, const std::string &key) {
    bool found = false;
    expr_walk(expr, [&](const Expr &e) { found = found || is_variable(e, key); });
    return found;
}

std::set<std::string> expr_variables(const Expr &expr) {
    std::set<std::string> keys;
    expr_walk(expr, [&](const Expr &e) {
        if (e.kind == ExprKind::Variable)
            keys.insert(e.text);
    });
    return keys;
}

bool is_comparison(const Expr &expr) {
    static const std::set<std::string> comparisons = {"<", ">", "<=", ">=", "==", "!="};
    return expr.kind == ExprKind::Operator && expr.children.size() == 2 &&
           comparisons.count(expr.text) > 0;
}

bool comparison_holds(const std::string &op, double a, double b) {
    return op == "=="   ? a == b
           : op == "!=" ? a != b
           : op == "<"  ? a < b
           : op == "<=" ? a <= b
           : op == ">"  ? a > b
                        : a >= b;
}

Callers find_callers(const Program &program) {
    Callers callers;
    for (size_t f = 1; f < program.flows.size(); f++)
        if (program.flows[f].reached)
            for (const CallSite &site : program.flows[f].calls)
                for (int callee : site.callees)
                    callers[(size_t)callee].push_back({f, &site});
    return callers;
}

bool moves_on(const Assignment &assignment) {
    const Expr &target = *assignment.target;
    return target.kind == ExprKind::Variable &&
           (assignment.op != "=" || expr_reads(*assignment.value, target.text));
}

const std::string call_operator = "operator()";

bool is_call_operator(const std::string &function) {
    return function.compare(0, call_operator.size(), call_operator) == 0;
}

bool key_is_local(const std::string &key) {
    return key.rfind("local:", 0) == 0;
}

} // namespace persik
