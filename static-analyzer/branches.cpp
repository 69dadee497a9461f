#include "static-analyzer/branches.h"

#include <optional>

namespace persik {

namespace {

const int max_calls = 8; /* up the way */

std::optional<bool> compare(const std::string &op, double a, double b) {
    if (op == "<")
        return a < b;
    if (op == "<=")
        return a <= b;
    if (op == ">")
        return a > b;
    if (op == ">=")
        return a >= b;
    if (op == "==")
        return a == b;
    if (op == "!=")
        return a != b;
    return std::nullopt;
}

} // namespace

/* A comparison of what follows the thread count with a constant, which comes out the same for two
 * threads and for three, but not for one. */
bool Branches::tells_one_from_more(const Expr &condition, size_t f) const {
    bool tells = false;
    expr_walk(condition, [&](const Expr &e) {
        if (e.kind != ExprKind::Operator || e.children.size() != 2)
            return;
        for (size_t side = 0; side < 2 && !tells; side++) {
            Value count = taint.evaluate(e.children[side], (int)f, nullptr);
            std::optional<double> limit = taint.constant(e.children[1 - side]);
            if (!(count.all & TAINT_COUNT) || !count.linear_known || !limit)
                continue;
            std::optional<bool> holds[3];
            for (int threads = 1; threads <= 3; threads++) {
                double value = count.linear.factor * threads + count.linear.offset;
                holds[threads - 1] =
                    side == 0 ? compare(e.text, value, *limit) : compare(e.text, *limit, value);
            }
            tells = holds[0] && holds[0] != holds[1] && holds[1] == holds[2];
        }
    });
    return tells;
}

const Expr *Branches::condition_in(size_t f, const CallSite &site) const {
    for (const Expr *condition : site.at.guards)
        if (tells_one_from_more(*condition, f))
            return condition;
    for (const Return &back : program.flows[f].returns)
        if (back.at.order < site.at.order && !back.at.guards.empty() &&
            tells_one_from_more(*back.at.guards.back(), f))
            return back.at.guards.back();
    return nullptr;
}

/* The one place where the function is called; null: there are none, or several. */
const CallSite *Branches::only_call(size_t of, size_t &caller) const {
    const CallSite *only = nullptr;
    for (size_t f = 1; f < program.flows.size(); f++)
        for (const CallSite &site : program.flows[f].calls)
            for (int callee : site.callees) {
                if (!program.flows[f].reached || (size_t)callee != of)
                    continue;
                if (only)
                    return nullptr;
                only = &site;
                caller = f;
            }
    return only;
}

std::string Branches::on_the_way_to(size_t f, const CallSite &site) const {
    const CallSite *at = &site;
    for (int calls = 0; at && calls < max_calls; calls++) {
        if (const Expr *condition = condition_in(f, *at))
            return expr_display(*condition) + " in " + key_display(program.functions[f].key);
        at = only_call(f, f);
    }
    return "";
}

} // namespace persik
