#include "static-analyzer/branches.h"

#include <optional>

#include "static-analyzer/spawns.h"

namespace persik {

namespace {

const int max_calls = 8; /* up the way */

} // namespace

/* A comparison of what follows the thread count with a constant, which comes out the same for two
 * threads and for three, but not for one. */
bool Branches::tells_one_from_more(const Expr &condition, size_t f) const {
    bool tells = false;
    expr_walk(condition, [&](const Expr &e) {
        if (!is_comparison(e))
            return;
        for (size_t side = 0; side < 2 && !tells; side++) {
            Value count = taint.evaluate(e.children[side], (int)f, nullptr);
            std::optional<double> limit = taint.constant(e.children[1 - side]);
            if (!(count.all & TAINT_COUNT) || !count.linear_known || !limit)
                continue;
            bool holds[3];
            for (int threads = 1; threads <= 3; threads++) {
                double value = count.linear.factor * threads + count.linear.offset;
                holds[threads - 1] = side == 0 ? comparison_holds(e.text, value, *limit)
                                               : comparison_holds(e.text, *limit, value);
            }
            tells = holds[0] != holds[1] && holds[1] == holds[2];
        }
    });
    return tells;
}

std::string Branches::on_the_way_to(size_t f, const CallSite &site) const {
    Caller at = {f, &site};
    for (int calls = 0; calls < max_calls; calls++) {
        for (const Expr *condition : conditions_of(program, at.function, *at.site))
            if (tells_one_from_more(*condition, at.function))
                return expr_display(*condition) + " in " +
                       key_display(program.functions[at.function].key);
        auto known = callers.find(at.function);
        if (known == callers.end() || known->second.size() != 1)
            break; /* there is no call, or there are several ways */
        at = known->second[0];
    }
    return "";
}

} // namespace persik
