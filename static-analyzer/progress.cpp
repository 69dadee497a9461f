#include "static-analyzer/progress.h"

#include <algorithm>

namespace persik {

namespace {

/* Adds the variables that the condition compares, also where a called function compares them. */
void add_compared(const Program &program, const Flow &flow, const Expr &expr,
                  std::set<std::string> &keys) {
    expr_walk(expr, [&](const Expr &part) {
        if (is_comparison(part)) {
            const std::set<std::string> variables = expr_variables(part);
            keys.insert(variables.begin(), variables.end());
        }
        if (part.kind != ExprKind::Call)
            return;
        for (const CallSite &site : flow.calls)
            for (int callee : site.callees) {
                const Flow &called = program.flows[(size_t)callee];
                if (site.call == &part && called.assignments.empty() &&
                    called.returns.size() == 1 && called.returns[0].value)
                    add_compared(program, called, *called.returns[0].value, keys);
            }
    });
}

/* Adds something to the variable, and only one thread at a time does. */
bool counts_up(const Assignment &a) {
    const bool adds = a.op == "+=" || (a.op == "atomic" && a.whole->text == "+=");
    return adds && a.target->type == TypeKind::Integer && (a.op == "atomic" || !a.at.held.empty());
}

/* How the program changes a variable. */
struct Changes {
    bool in_loop = false;   /* the loop's rounds count it up */
    bool elsewhere = false; /* other code changes it, after it was set to a constant */
};

void add_changes(const OwnData &own, const Flow &flow, const Loop *loop, const std::string &key,
                 Changes &changes) {
    for (const Assignment &a : flow.assignments) {
        if (!is_variable(*a.target, key))
            continue;
        const bool starts = a.op == "=" && a.value->kind == ExprKind::Constant;
        const bool inside = loop && loop_contains(*loop, a.at);
        if (inside && counts_up(a) && !own.is_changed(a))
            changes.in_loop = true;
        else if (inside || !starts)
            changes.elsewhere = true;
    }
}

bool is_counted_up(const Program &program, const OwnData &own, const Flow &flow, const Loop &loop,
                   const std::string &key) {
    Changes changes;
    for (const Flow &other : program.flows)
        if (other.reached)
            add_changes(own, other, &other == &flow ? &loop : nullptr, key, changes);
    return changes.in_loop && !changes.elsewhere;
}

} // namespace

std::string joint_progress(const Program &program, const OwnData &own, const Flow &flow,
                           const Loop &loop, const Expr &condition) {
    std::set<std::string> keys;
    add_compared(program, flow, condition, keys);
    for (const std::string &key : keys)
        if (!key_is_local(key) && is_counted_up(program, own, flow, loop, key))
            return key;
    return "";
}

} // namespace persik
