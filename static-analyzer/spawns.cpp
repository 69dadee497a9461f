#include "static-analyzer/spawns.h"

#include <algorithm>

namespace persik {

namespace {

bool creates_thread(const CallSite &site) {
    return catalog_start_argument(site.api) >= 0;
}

/* x += 1, x++, x = x + 1 */
bool counts_up(const Assignment &a) {
    if (a.target->kind != ExprKind::Variable)
        return false;
    const Expr *step = a.value;
    if (a.op == "=" && a.value->kind == ExprKind::Operator && a.value->text == "+" &&
        a.value->children.size() == 2 && a.value->children[0].text == a.target->text)
        step = &a.value->children[1];
    else if (a.op != "+=" && a.op != "atomic")
        return false;
    return step->kind == ExprKind::Constant && step->value == 1;
}

bool contains(const Expr &expr, const Expr &part) {
    bool found = false;
    expr_walk(expr, [&](const Expr &e) { found = found || &e == &part; });
    return found;
}

/* Of n > 1 && create(...) == 0 the first part. */
void add_conjuncts(const Stmt &stmt, const Expr &call, std::vector<const Expr *> &found) {
    for (const Expr &expr : stmt.exprs)
        expr_walk(expr, [&](const Expr &e) {
            if (e.kind == ExprKind::Operator && e.text == "&&" && e.children.size() == 2 &&
                contains(e.children[1], call))
                found.push_back(&e.children[0]);
        });
    for (const Stmt &child : stmt.children)
        add_conjuncts(child, call, found);
}

class SpawnFinder {
  public:
    explicit SpawnFinder(const Program &program)
        : program(program), creators(single_creators(program, {})) {
        for (const Flow &flow : program.flows)
            for (const Assignment &a : flow.assignments)
                if (flow.reached && moves_on(a))
                    stepped.insert(a.target->text);
    }

    std::vector<Spawn> find() const {
        std::vector<Spawn> spawns;
        for (size_t f = 1; f < program.flows.size(); f++)
            for (const CallSite &site : program.flows[f].calls) {
                if (!program.flows[f].reached)
                    continue;
                if (const Expr *count = team_size(site))
                    spawns.push_back({site.call, count, false});
                if (!creates(site))
                    continue;
                const Expr *count = on_demand(f, site);
                if (count)
                    spawns.push_back({site.call, count, hands_rest_on(f, site)});
                else if (creates_thread(site))
                    by_division(f, site, spawns);
            }
        return spawns;
    }

  private:
    const Program &program;
    const std::set<int> creators;
    std::set<std::string> stepped; /* variables that somebody moves on from where they are */

    bool creates(const CallSite &site) const {
        return creates_thread(site) || calls_creator(site);
    }

    bool calls_creator(const CallSite &site) const {
        return site.call->kind == ExprKind::Call && !site.callees.empty() &&
               creators.count(site.callees[0]);
    }

    /* Of OpenMP's teams, where the program says it. */
    static const Expr *team_size(const CallSite &site) {
        bool tells =
            site.call->kind == ExprKind::Call && !site.call->children.empty() &&
            (site.call->text == "omp_set_num_threads" || site.call->text == parallel_region);
        const Expr *count = tells ? only_variable(site.call->children[0]) : nullptr;
        return count && count->kind == ExprKind::Variable ? count : nullptr;
    }

    /* ---- on demand ---- */

    /* if (running < limit) { create(...); running++; } */
    const Expr *on_demand(size_t f, const CallSite &site) const {
        const Expr *limit = nullptr;
        for (const Expr *condition : conditions_of(program, f, site))
            expr_walk(*condition, [&](const Expr &e) {
                for (size_t side = 0; !limit && is_comparison(e) && side < 2; side++)
                    if (is_counter(e.children[side], *condition, f, site))
                        limit = steady(e.children[1 - side]);
            });
        return limit;
    }

    /* sort(part) { if (running < limit) create(sort_rest, rest) else sort(rest); ... sort(part) }:
     * with what is left to it, the new thread does as the one that makes it does. */
    bool hands_rest_on(size_t f, const CallSite &site) const {
        int routine = program.start_routine(site);
        return routine > 0 && calls(f, f) && calls((size_t)routine, f);
    }

    bool calls(size_t caller, size_t callee) const {
        bool found = false;
        for_calls_of(callee, caller, [&](const Expr &) { found = true; });
        return found;
    }

    /* What work there is would be another limit, but one that moves. */
    const Expr *steady(const Expr &expr) const {
        const Expr *variable = only_variable(expr);
        bool integer = variable && variable->type == TypeKind::Integer;
        return integer && !stepped.count(variable->text) ? variable : nullptr;
    }

    /* A loop with its own counter is no demand: it says how many rounds there are. */
    bool is_loop_condition(const Expr &condition, size_t f) const {
        const auto &loops = program.flows[f].loops;
        return std::any_of(loops.begin(), loops.end(), [&](const Loop &loop) {
            return !loop.stmt->exprs.empty() && &loop.stmt->exprs[0] == &condition;
        });
    }

    bool is_counter(const Expr &expr, const Expr &condition, size_t f, const CallSite &site) const {
        const Expr &variable = expr.kind == ExprKind::Assign || expr.kind == ExprKind::Atomic
                                   ? expr.children[0]
                                   : expr;
        if (variable.kind != ExprKind::Variable || !stepped.count(variable.text))
            return false;
        bool around = std::find(site.at.guards.begin(), site.at.guards.end(), &condition) !=
                      site.at.guards.end();
        for (const Assignment &a : program.flows[f].assignments) {
            const auto &guards = a.at.guards;
            bool beside = !around || &expr == a.whole ||
                          std::find(guards.begin(), guards.end(), &condition) != guards.end();
            if (a.target->text == variable.text && counts_up(a) && beside &&
                a.at.loop == site.at.loop)
                return !is_loop_condition(condition, f);
        }
        std::set<int> seen;
        return calls_creator(site) && counted_in(site.callees[0], variable.text, seen);
    }

    /* By the creator itself, or by one that it calls. */
    bool counted_in(int creator, const std::string &key, std::set<int> &seen) const {
        const Flow &flow = program.flows[(size_t)creator];
        if (!seen.insert(creator).second)
            return false;
        return std::any_of(flow.assignments.begin(), flow.assignments.end(),
                           [&](const Assignment &a) {
                               return a.target->text == key && counts_up(a) && a.at.loop < 0;
                           }) ||
               std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
                   return calls_creator(site) && counted_in(site.callees[0], key, seen);
               });
    }

    /* ---- by division ---- */

    /* split(n) { if (n > 1) { create(split_half, n / 2); split(n - n / 2); } } follows the n that
     * it is first called with. */
    void by_division(size_t f, const CallSite &site, std::vector<Spawn> &spawns) const {
        int routine = program.start_routine(site);
        const auto &parameters = program.functions[f].parameters;
        for (size_t p = 0; p < parameters.size(); p++)
            if (ends_at_one(f, site, parameters[p]) && is_divided(f, routine, p)) {
                if (const Expr *count = first_value(f, routine, p))
                    spawns.push_back({site.call, count, work_is_divided(f, p)});
                return;
            }
    }

    bool ends_at_one(size_t f, const CallSite &site, const std::string &parameter) const {
        bool found = false;
        for (const Expr *condition : conditions_of(program, f, site))
            expr_walk(*condition, [&](const Expr &e) {
                for (size_t side = 0; is_comparison(e) && side < 2; side++) {
                    const Expr &end = e.children[1 - side];
                    found = found ||
                            (e.children[side].text == parameter &&
                             e.children[side].kind == ExprKind::Variable &&
                             end.kind == ExprKind::Constant && (end.value == 1 || end.value == 2));
                }
            });
        return found;
    }

    template <typename F> void for_calls_of(size_t callee, size_t caller, const F &visit) const {
        for (const CallSite &site : program.flows[caller].calls)
            if (site.call->kind == ExprKind::Call && !site.callees.empty() &&
                site.callees[0] == (int)callee)
                visit(*site.call);
    }

    /* Does `f`, itself or in the new thread, call itself with a part of parameter `p`? */
    bool is_divided(size_t f, int routine, size_t p) const {
        bool found = false;
        auto look = [&](const Expr &call) {
            const int max_copies = 4; /* through locals and the argument's record */
            found = found || (p < call.children.size() &&
                              is_part(call.children[p], f, routine, p, max_copies));
        };
        for_calls_of(f, f, look);
        if (routine > 0 && routine != (int)f)
            for_calls_of(f, (size_t)routine, look);
        return found;
    }

    bool is_part(const Expr &expr, size_t f, int routine, size_t p, int copies) const {
        const std::string &parameter = program.functions[f].parameters[p];
        bool found = false;
        expr_walk(expr, [&](const Expr &e) {
            bool divides = e.kind == ExprKind::Operator && e.children.size() == 2 &&
                           (e.text == "/" || e.text == ">>");
            if (divides && expr_reads(e.children[0], parameter))
                found = e.children[1].kind == ExprKind::Constant;
            if (e.kind != ExprKind::Variable || e.text == parameter || copies == 0 || found)
                return;
            found = is_part_in(f, e.text, f, routine, p, copies - 1) ||
                    (routine > 0 && is_part_in((size_t)routine, e.text, f, routine, p, copies - 1));
        });
        return found;
    }

    /* Is what `in` assigns to `key` a part? */
    bool is_part_in(size_t in, const std::string &key, size_t f, int routine, size_t p,
                    int copies) const {
        const auto &assignments = program.flows[in].assignments;
        return std::any_of(assignments.begin(), assignments.end(), [&](const Assignment &a) {
            return a.target->text == key && a.op == "=" && is_part(*a.value, f, routine, p, copies);
        });
    }

    /* Does `f`, beside its part of the threads in parameter `p`, call itself with other work than
     * it got? A number of the thread's own, which moves by threads or by a constant, is no work. */
    bool work_is_divided(size_t f, size_t p) const {
        const auto &parameters = program.functions[f].parameters;
        bool found = false;
        for_calls_of(f, f, [&](const Expr &call) {
            const int max_copies = 4; /* as in is_divided() */
            for (size_t q = 0; q < call.children.size() && q < parameters.size(); q++) {
                std::set<std::string> known = {parameters[p], parameters[q]};
                found = found || (q != p && (is_part(call.children[q], f, -1, q, max_copies) ||
                                             reads_more(call.children[q], f, known)));
            }
        });
        return found;
    }

    /* Does the expression, in `f`, depend on anything but `known` variables and constants? */
    bool reads_more(const Expr &expr, size_t f, std::set<std::string> &known) const {
        const auto &assignments = program.flows[f].assignments;
        const auto keys = expr_variables(expr);
        return std::any_of(keys.begin(), keys.end(), [&](const std::string &key) {
            if (!known.insert(key).second)
                return false;
            bool is_set = false, found = false;
            for (const Assignment &a : assignments)
                if (a.target->text == key) {
                    is_set = true;
                    found = found || reads_more(*a.value, f, known);
                }
            return found || !is_set;
        });
    }

    /* What those who do not divide pass for parameter `p`. */
    const Expr *first_value(size_t f, int routine, size_t p) const {
        const Expr *found = nullptr;
        for (size_t caller = 1; caller < program.flows.size(); caller++)
            if (caller != f && (int)caller != routine)
                for_calls_of(f, caller, [&](const Expr &call) {
                    if (!found && p < call.children.size())
                        found = only_variable(call.children[p]);
                });
        return found;
    }
};

} // namespace

std::set<int> single_creators(const Program &program, const std::vector<Spawn> &spawns) {
    std::set<int> creators;
    std::set<const Expr *> spawning;
    for (const Spawn &spawn : spawns)
        spawning.insert(spawn.call);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 1; f < program.flows.size(); f++)
            for (const CallSite &site : program.flows[f].calls) {
                bool calls = site.call->kind == ExprKind::Call && !site.callees.empty() &&
                             creators.count(site.callees[0]);
                size_t tests = creates_thread(site) ? 1 : 0;
                if ((calls || creates_thread(site)) && site.at.loop < 0 &&
                    site.at.guards.size() <= tests && !spawning.count(site.call))
                    changed |= creators.insert((int)f).second;
            }
    }
    return creators;
}

const Expr *only_variable(const Expr &expr) {
    if (expr.kind == ExprKind::Variable || (expr.kind == ExprKind::Constant && !expr.text.empty()))
        return &expr;
    const Expr *found = nullptr;
    for (const Expr &child : expr.children) {
        const Expr *below = only_variable(child);
        if (below && found)
            return nullptr;
        found = below ? below : found;
    }
    return found;
}

std::vector<const Expr *> conditions_of(const Program &program, size_t f, const CallSite &site) {
    std::vector<const Expr *> all = site.at.guards;
    add_conjuncts(program.functions[f].body, *site.call, all);
    for (const Return &back : program.flows[f].returns)
        if (back.at.order < site.at.order && !back.at.guards.empty())
            all.push_back(back.at.guards.back());
    return all;
}

std::vector<Spawn> find_spawns(const Program &program) {
    return SpawnFinder(program).find();
}

} // namespace persik
