/* Thread counts that are kept within the number of cores: min(threads, cores), or
 * if (threads > cores) threads = cores; */
#include <algorithm>
#include <map>
#include <optional>

#include "static-analyzer/findings.h"
#include "static-analyzer/spawns.h"

namespace persik {

namespace {

const int max_steps = 6; /* from a variable to what it was set to */

/* factor * cores + offset; `any`: cores are in it. */
struct OfCores {
    Linear linear;
    bool any = false, online = false;
};

class CapFinder {
  public:
    CapFinder(const Program &program, const Taint &taint) : program(program), taint(taint) {
    }

    CoreCap find() const {
        CoreCap cap;
        for (size_t f = 0; f < program.flows.size(); f++)
            for (const Assignment &a : program.flows[f].assignments)
                if (program.flows[f].reached && a.op == "=" &&
                    a.target->kind == ExprKind::Variable && taint.is_count(a.target->text))
                    look_at(a, (int)f, cap);
        for (const CreationLoop &loop : taint.creation_loops())
            if (loop.limit)
                smaller_of(*loop.limit, loop.function, cap);
        return cap;
    }

  private:
    const Program &program;
    const Taint &taint;

    /* What the system answers; false: it is another question. The cores that a process may use
     * follow its affinity, those of the machine do not. */
    static bool is_question(const Expr &call, bool &online) {
        static const std::map<std::string, bool> questions = {
            {"omp_get_num_procs", false},    {"__sched_cpucount", false}, /* CPU_COUNT() */
            {"g_get_num_processors", false}, {"get_nprocs", true},
            {"get_nprocs_conf", true},       {"_ZNSt6thread20hardware_concurrencyEv", true},
        };
        const double configured = 83, here = 84; /* _SC_NPROCESSORS_CONF, _SC_NPROCESSORS_ONLN */
        auto known = questions.find(call.text);
        online = known == questions.end() || known->second;
        if (known != questions.end())
            return true;
        if (call.text != "sysconf" || call.children.size() != 1)
            return false;
        const Expr &what = unwrapped(call.children[0]);
        return what.kind == ExprKind::Constant && (what.value == here || what.value == configured);
    }

    std::optional<OfCores> of(const Expr &wrapped, int steps) const {
        const Expr &expr = unwrapped(wrapped);
        OfCores value;
        if (steps == 0)
            return std::nullopt;
        if (expr.kind == ExprKind::Constant) {
            value.linear = {0, expr.value};
            return value;
        }
        if (expr.kind == ExprKind::Variable)
            return of_variable(expr.text, steps - 1);
        if (expr.kind == ExprKind::Call && is_question(expr, value.online)) {
            value.linear = {1, 0};
            value.any = true;
            return value;
        }
        if (expr.kind == ExprKind::Call)
            return of_function(expr, steps - 1);
        if (expr.kind == ExprKind::Operator && expr.children.size() == 2) {
            auto left = of(expr.children[0], steps - 1), right = of(expr.children[1], steps - 1);
            if (!left || !right ||
                !linear_combine(expr.text, left->linear, right->linear, value.linear))
                return std::nullopt;
            value.any = left->any || right->any;
            value.online = left->online || right->online;
            return value;
        }
        return std::nullopt;
    }

    /* Set to the cores once; constants stand in where the system does not tell. */
    std::optional<OfCores> only_one(const std::vector<const Expr *> &values, int steps) const {
        std::optional<OfCores> found;
        for (const Expr *expr : values) {
            std::optional<OfCores> value = of(*expr, steps);
            if (!value || (value->any && found))
                return std::nullopt;
            if (value->any)
                found = value;
        }
        return found;
    }

    std::optional<OfCores> of_variable(const std::string &key, int steps) const {
        std::vector<const Expr *> values;
        for (const Flow &flow : program.flows)
            for (const Assignment &a : flow.assignments)
                if (is_variable(*a.target, key)) {
                    if (a.op != "=")
                        return std::nullopt;
                    values.push_back(a.value);
                }
        return only_one(values, steps);
    }

    std::optional<OfCores> of_function(const Expr &call, int steps) const {
        auto callee = program.by_key.find(call.text);
        std::vector<const Expr *> values;
        if (callee == program.by_key.end())
            return std::nullopt;
        for (const Return &back : program.flows[(size_t)callee->second].returns)
            if (back.value)
                values.push_back(back.value);
        return only_one(values, steps);
    }

    static void add(const OfCores &limit, const Expr &shown, int f, const Program &program,
                    CoreCap &cap) {
        bool differs = cap.found && !(cap.limit == limit.linear && cap.online == limit.online);
        cap.unclear = cap.unclear || differs;
        cap.found = true;
        cap.limit = limit.linear;
        cap.online = limit.online;
        cap.text = expr_display(shown) + " in " + key_display(program.functions[(size_t)f].key);
    }

    /* The branch of a ?: that is taken where `left` is the smaller one: yes, no, or neither. */
    static int smaller_branch(const Expr &choice) {
        const Expr &test = unwrapped(choice.children[0]);
        if (test.kind != ExprKind::Operator || test.children.size() != 2)
            return 0;
        bool less = test.text == "<" || test.text == "<=",
             more = test.text == ">" || test.text == ">=";
        auto same = [](const Expr &a, const Expr &b) {
            return expr_display(unwrapped(a)) == expr_display(unwrapped(b));
        };
        const Expr &yes = choice.children[1], &no = choice.children[2];
        bool straight = same(test.children[0], yes) && same(test.children[1], no);
        bool crossed = same(test.children[0], no) && same(test.children[1], yes);
        return (straight && less) || (crossed && more) ? 1 : 0;
    }

    /* min(threads, cores), however it is written. */
    void smaller_of(const Expr &wrapped, int f, CoreCap &cap) const {
        const Expr &expr = unwrapped(wrapped);
        bool is_min =
            expr.kind == ExprKind::Call && expr.children.size() >= 2 &&
            (expr.text.rfind("_ZSt3min", 0) == 0 || expr.text.rfind("_ZSt5clamp", 0) == 0);
        bool is_choice = expr.kind == ExprKind::Operator && expr.text == "?:" &&
                         expr.children.size() == 3 && smaller_branch(expr) != 0;
        if (!is_min && !is_choice)
            return;
        size_t n = expr.children.size();
        const Expr *sides[] = {&expr.children[n - 2], &expr.children[n - 1]};
        if (expr.text.rfind("_ZSt5clamp", 0) == 0)
            sides[0] = &expr.children[0];
        for (int side = 0; side < 2; side++) {
            auto limit = of(*sides[side], max_steps);
            auto other = of(*sides[1 - side], max_steps);
            if (limit && limit->any && !(other && other->any))
                add(*limit, expr, f, program, cap);
        }
    }

    /* if (threads > cores) threads = cores; */
    void look_at(const Assignment &a, int f, CoreCap &cap) const {
        smaller_of(*a.value, f, cap);
        auto value = of(*a.value, max_steps);
        if (!value || !value->any)
            return;
        for (const Expr *guard : a.at.guards)
            expr_walk(*guard, [&](const Expr &e) {
                for (size_t side = 0; is_comparison(e) && side < 2; side++) {
                    auto limit = of(e.children[1 - side], max_steps);
                    bool more = side == 0 ? e.text == ">" || e.text == ">="
                                          : e.text == "<" || e.text == "<=";
                    if (more && e.children[side].text == a.target->text && limit && limit->any)
                        add(*value, e, f, program, cap);
                }
            });
    }
};

} // namespace

CoreCap find_core_cap(const Program &program, const Taint &taint) {
    return CapFinder(program, taint).find();
}

} // namespace persik
