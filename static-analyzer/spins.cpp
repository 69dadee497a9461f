/* Loops that wait by looking again and again.
 *
 * Such a loop changes nothing that anybody else sees, calls nothing that waits or computes (naps,
 * yields and pauses aside), and goes on for as long as a condition holds on a variable that is
 * changed elsewhere; not on the way through a list or an array, where each round looks at another
 * one. Or it repeats an attempt: a call that works on the program's own atomic variables and says
 * whether it came to anything; then it may do whatever it likes with what came of it. */
#include <algorithm>
#include <unordered_map>

#include "static-analyzer/findings.h"

namespace persik {

namespace {

constexpr int max_depth = 3; /* of functions that only pause */

bool is_nap(int api) {
    return catalog_info(api).op == OP_YIELD || catalog_info(api).op == OP_SLEEP;
}

bool starts_with(const std::string &text, const char *start) {
    return text.rfind(start, 0) == 0;
}

/* Calls without a body in the program that neither wait for others nor compute. */
bool is_builtin(const std::string &name) {
    return starts_with(name, "__builtin_") || name == "_mm_pause" ||
           starts_with(name, "std::this_thread::");
}

bool is_plain(const Expr &expr) {
    return expr.kind == ExprKind::Variable && expr.children.empty();
}

/* An assignment, and the function that it is in. */
struct Change {
    size_t function;
    const Assignment *assignment;
};

/* By what is changed, in the order of the functions: of a large program's assignments few are to
 * the variable at hand. */
using Changes = std::unordered_map<std::string, std::vector<Change>>;

Changes find_changes(const Program &program) {
    Changes changes;
    for (size_t f = 1; f < program.flows.size(); f++)
        for (const Assignment &a : program.flows[f].assignments)
            if (!key_is_local(a.target->text))
                changes[a.target->text].push_back({f, &a});
    return changes;
}

class Reader {
  public:
    Reader(const Program &program, const Changes &changes, size_t f, int l)
        : program(program), changes(changes), f(f), l(l), flow(program.flows[f]),
          loop(flow.loops[(size_t)l]) {
    }

    bool read(Spin &spin) {
        find_attempts();
        if (!calls_only_look() || computes_within() || !stores_only_its_own())
            return false;
        if (works)
            std::any_of(attempts.begin(), attempts.end(),
                        [&](const Expr *call) { return note_attempt(*call, spin); });
        else
            for (const Expr *condition : conditions())
                if (read_condition(*condition, spin))
                    break;
        spin.works = works;
        if (spin.variable.empty())
            return false;
        find_ways_out(spin);
        const Function &function = program.functions[f];
        spin.file = function.file;
        spin.function = function.key;
        spin.first_line = loop.stmt->first_line;
        spin.last_line = loop.stmt->last_line;
        return true;
    }

  private:
    const Program &program;
    const Changes &changes;
    size_t f;
    int l;
    const Flow &flow;
    const Loop &loop;
    std::set<std::string> copies; /* locals that each round sets anew */
    std::set<std::string> moved;  /* locals that go on from round to round */
    std::set<std::string> tried;  /* atomically, in each round */
    std::map<std::string, const Expr *> values;
    std::vector<const Expr *> attempts; /* calls */
    std::set<std::string> results;      /* locals that attempts set */
    bool works = false;                 /* with what came of an attempt */

    bool is_inside(const Moment &at) const {
        return at.loop >= 0 && loop_contains(flow, l, at.loop);
    }

    /* On a way that leads out: what was waited for is there. */
    bool leaves(const Moment &at) const {
        return std::any_of(loop.exits.begin(), loop.exits.end(), [&](const Exit &exit) {
            return !exit.guards.empty() &&
                   std::all_of(exit.guards.begin(), exit.guards.end(), [&](const Expr *guard) {
                       return std::find(at.guards.begin(), at.guards.end(), guard) !=
                              at.guards.end();
                   });
        });
    }

    /* ---- what it does ---- */

    bool is_attempt(const Expr &call) const {
        auto known =
            call.kind == ExprKind::Call ? program.by_key.find(call.text) : program.by_key.end();
        return known != program.by_key.end() && is_attempt(known->second);
    }

    void find_attempts() {
        for (const CallSite &site : flow.calls)
            if (is_inside(site.at) && is_attempt(*site.call))
                attempts.push_back(site.call);
        for (const Assignment &a : flow.assignments)
            if (is_inside(a.at) && is_plain(*a.target) && is_attempt(*a.value))
                results.insert(a.target->text);
    }

    bool tells_of_attempt(const Expr &guard) const {
        bool tells = false;
        expr_walk(guard, [&](const Expr &expr) {
            tells = tells || is_attempt(expr) ||
                    (expr.kind == ExprKind::Variable && results.count(expr.text));
        });
        return tells;
    }

    /* Does it happen only with what came of an attempt? */
    bool is_work(const Moment &at) {
        bool found = std::any_of(at.guards.begin(), at.guards.end(),
                                 [&](const Expr *guard) { return tells_of_attempt(*guard); });
        works |= found;
        return found;
    }

    /* Who goes round a loop without a pause computes. */
    static bool computes(const Flow &body) {
        for (size_t inner = 0; inner < body.loops.size(); inner++)
            if (std::none_of(body.calls.begin(), body.calls.end(), [&](const CallSite &site) {
                    return site.at.loop >= 0 && loop_contains(body, (int)inner, site.at.loop);
                }))
                return true;
        return false;
    }

    /* Is there a loop inside that makes more than its own rounds, and no pause? Some delay the next
     * look by counting to a number. */
    bool computes_within() {
        for (size_t inner = 0; inner < flow.loops.size(); inner++) {
            if ((int)inner == l || !loop_contains(flow, l, (int)inner))
                continue;
            std::set<std::string> counted;
            for (const Expr &condition : flow.loops[inner].stmt->exprs)
                counted.merge(expr_variables(condition));
            auto is_in = [&](const Moment &at) {
                return at.loop >= 0 && loop_contains(flow, (int)inner, at.loop);
            };
            bool pauses = std::any_of(flow.calls.begin(), flow.calls.end(),
                                      [&](const CallSite &site) { return is_in(site.at); });
            if (!pauses && std::any_of(flow.assignments.begin(), flow.assignments.end(),
                                       [&](const Assignment &a) {
                                           return is_in(a.at) && !counted.count(a.target->text) &&
                                                  !is_work(a.at);
                                       }))
                return true;
        }
        return false;
    }

    bool only_pauses(int callee, int depth) const {
        const Flow &body = program.flows[(size_t)callee];
        return depth < max_depth && !computes(body) &&
               std::all_of(body.assignments.begin(), body.assignments.end(),
                           [](const Assignment &a) { return key_is_local(a.target->text); }) &&
               std::all_of(body.calls.begin(), body.calls.end(), [&](const CallSite &site) {
                   if (site.api >= 0)
                       return is_nap(site.api);
                   return site.callees.empty()
                              ? is_builtin(site.call->text)
                              : std::all_of(site.callees.begin(), site.callees.end(),
                                            [&](int c) { return only_pauses(c, depth + 1); });
               });
    }

    bool is_attempt(int callee) const {
        const Flow &body = program.flows[(size_t)callee];
        return !body.has_fragments &&
               std::any_of(body.assignments.begin(), body.assignments.end(),
                           [](const Assignment &a) { return a.op == "atomic"; });
    }

    bool only_looks(const CallSite &site) const {
        if (site.api >= 0)
            return is_nap(site.api);
        if (site.callees.empty())
            return is_builtin(site.call->text);
        return std::all_of(site.callees.begin(), site.callees.end(),
                           [&](int c) { return only_pauses(c, 0) || is_attempt(c); });
    }

    bool calls_only_look() {
        return std::all_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
            return !is_inside(site.at) || leaves(site.at) || only_looks(site) || is_work(site.at);
        });
    }

    void find_ways_out(Spin &spin) const {
        for (const CallSite &site : flow.calls) {
            if (!is_inside(site.at) || !leaves(site.at) || only_looks(site))
                continue;
            for (int callee : site.callees)
                spin.leads_to.insert(program.functions[(size_t)callee].key);
            if (site.callees.empty())
                spin.leads_to.insert(site.call->text);
        }
    }

    /* A counter of rounds may go on; what gathers results may not. */
    static bool is_count(const Assignment &a) {
        std::set<std::string> variables = expr_variables(*a.value);
        variables.erase(a.target->text);
        return variables.empty() && a.value->kind != ExprKind::Call;
    }

    bool stores_only_its_own() {
        for (const Assignment &a : flow.assignments) {
            if (!is_inside(a.at) || leaves(a.at))
                continue;
            const std::string &key = a.target->text;
            if (a.op == "atomic") {
                tried.insert(key);
            } else if (!is_plain(*a.target) || !key_is_local(key)) {
                if (!is_work(a.at))
                    return false;
            } else if (a.op == "=" && !expr_reads(*a.value, key)) {
                copies.insert(key);
                values[key] = a.value;
            } else if (is_count(a)) {
                moved.insert(key);
            } else if (!is_work(a.at)) {
                return false;
            }
        }
        return true;
    }

    /* ---- what it waits for ---- */

    static void split(const Expr &expr, std::vector<const Expr *> &parts) {
        bool joins = expr.kind == ExprKind::Operator &&
                     (expr.text == "&&" || expr.text == "||" || expr.text == "!");
        if (!joins)
            parts.push_back(&expr);
        for (const Expr &child : expr.children)
            if (joins)
                split(child, parts);
    }

    std::vector<const Expr *> conditions() const {
        std::vector<const Expr *> parts;
        if (!loop.stmt->exprs.empty())
            split(loop.stmt->exprs[0], parts);
        for (const Exit &exit : loop.exits)
            for (const Expr *guard : exit.guards)
                split(*guard, parts);
        return parts;
    }

    /* Is it looked at in the same place in every round? */
    bool stays(const Expr &variable) const {
        for (const Expr &base : variable.children)
            for (const std::string &key : expr_variables(base))
                if (copies.count(key) || moved.count(key))
                    return false;
        return true;
    }

    bool read_condition(const Expr &condition, Spin &spin) const {
        std::vector<const Expr *> parts = {&condition};
        for (const std::string &key : expr_variables(condition)) {
            if (moved.count(key))
                return false;
            if (auto value = values.find(key); value != values.end())
                parts.push_back(value->second);
        }
        bool found = false;
        for (const Expr *part : parts)
            expr_walk(*part, [&](const Expr &expr) {
                if (!found && expr.kind == ExprKind::Variable && !key_is_local(expr.text))
                    found = stays(expr) && note_variable(expr.text, spin);
                else if (!found && expr.kind == ExprKind::Call)
                    found = note_attempt(expr, spin);
            });
        return found;
    }

    /* Before a constructor has come to its end, nobody else waits for what it sets. */
    static bool is_made_by(const Function &function, const std::string &key) {
        return !function.constructs.empty() &&
               starts_with(key, (function.constructs + ".").c_str());
    }

    bool note_variable(const std::string &key, Spin &spin) const {
        bool also_here = false;
        auto known = changes.find(key);
        if (known == changes.end())
            return false;
        for (const auto &[other, a] : known->second) {
            if (is_made_by(program.functions[other], key) ||
                (other == f && is_inside(a->at) && !leaves(a->at)))
                continue;
            spin.changed_by.insert(program.functions[other].key);
            also_here |= other == f;
        }
        if (spin.changed_by.empty())
            return false;
        spin.variable = key;
        spin.kind = tried.count(key) ? SPIN_LOCK : also_here ? SPIN_BARRIER : SPIN_WAIT;
        return true;
    }

    /* All that a function may decide by. */
    static std::set<std::string> looked_at(const Flow &body) {
        std::set<std::string> keys;
        auto add = [&](const Expr *expr) {
            if (expr)
                keys.merge(expr_variables(*expr));
        };
        for (const Assignment &a : body.assignments) {
            add(a.whole);
            std::for_each(a.at.guards.begin(), a.at.guards.end(), add);
        }
        for (const Return &back : body.returns) {
            add(back.value);
            std::for_each(back.at.guards.begin(), back.at.guards.end(), add);
        }
        return keys;
    }

    /* The variable that the attempt looks at and others change. */
    bool note_attempt(const Expr &call, Spin &spin) const {
        auto known = program.by_key.find(call.text);
        if (known == program.by_key.end() || !is_attempt(known->second))
            return false;
        std::set<std::string> worked_on = looked_at(program.flows[(size_t)known->second]);
        for (size_t other = 1; other < program.flows.size(); other++)
            for (const Assignment &a : program.flows[other].assignments)
                if ((int)other != known->second && !key_is_local(a.target->text) &&
                    worked_on.count(a.target->text)) {
                    spin.changed_by.insert(program.functions[other].key);
                    if (spin.variable.empty() || a.op == "atomic")
                        spin.variable = a.target->text;
                }
        if (spin.changed_by.empty())
            return false;
        spin.kind = SPIN_ATTEMPT;
        spin.attempt = call.text;
        return true;
    }
};

} // namespace

void find_spins(const Program &program, Findings &findings) {
    Changes changes = find_changes(program);
    for (size_t f = 1; f < program.flows.size(); f++)
        for (size_t l = 0; program.flows[f].reached && l < program.flows[f].loops.size(); l++) {
            Spin spin;
            if (Reader(program, changes, f, (int)l).read(spin))
                findings.spins.push_back(spin);
        }
}

} // namespace persik
