#include "static-analyzer/sharing.h"

#include <algorithm>
#include <iterator>

#include "static-analyzer/own_data.h"

namespace persik {

namespace {

/* Section number of a function's own text when its callers hold the lock, whichever it is. */
constexpr int bare_section = -1;

/* A taker inside takers further down hands on something else: an error, a buffer for the work. */
constexpr int max_wrappers = 2;

bool is_state(const std::string &key) {
    return !key.empty() && !key_is_local(key);
}

/* The function's own, or what a parameter points at. */
bool is_handed(const std::string &key) {
    return key_is_local(key) || key.rfind("*local:", 0) == 0;
}

bool reads_any(const Expr &expr, const std::set<std::string> &keys) {
    bool found = false;
    expr_walk(expr, [&](const Expr &e) {
        found = found || (e.kind == ExprKind::Variable && keys.count(e.text));
    });
    return found;
}

bool contains(const Expr &expr, const Expr *part) {
    bool found = false;
    expr_walk(expr, [&](const Expr &e) { found = found || &e == part; });
    return found;
}

bool in_section(const Moment &at, const std::string &mutex, int section) {
    if (section == bare_section)
        return true;
    auto held = at.held.find(mutex);
    return held != at.held.end() && held->second == section;
}

/* What a section does to the state. */
struct Section {
    std::set<std::string> derived; /* locals read from state in the section */
    Take take;
};

/* Locals that hold something read from shared state, so that head = task->next is a change in
 * terms of itself. */
void find_derived(const std::vector<const Assignment *> &inside, Section &section) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Assignment *a : inside) {
            if (!key_is_local(a->target->text))
                continue;
            bool from_state = false;
            expr_walk(*a->value, [&](const Expr &e) {
                from_state = from_state || (e.kind == ExprKind::Variable &&
                                            (is_state(e.text) || section.derived.count(e.text)));
            });
            if (from_state)
                changed |= section.derived.insert(a->target->text).second;
        }
    }
}

/* True if the value comes from the thread itself and not out of the shared state. */
bool is_own_data(const Expr &value, const std::set<std::string> &derived) {
    bool own = false;
    auto look = [&](auto &&self, const Expr &e) -> void {
        if (e.kind == ExprKind::Variable && key_is_local(e.text) && !derived.count(e.text))
            own = true;
        if (e.kind == ExprKind::Variable && is_state(e.text))
            return; /* its base only says where */
        for (const Expr &child : e.children)
            self(self, child);
    };
    look(look, value);
    return own;
}

/* Is the old value kept before the state is moved on (mine = next; next += size)? Then so much of
 * what it counts is taken, whoever says how much. */
bool is_fetched(const Flow &flow, const Take &take, const Assignment &move) {
    return move.op == "+=" &&
           std::any_of(flow.assignments.begin(), flow.assignments.end(), [&](const Assignment &a) {
               const std::string &key = a.target->text;
               return is_handed(key) && a.op == "=" && a.at.order < move.at.order &&
                      in_section(a.at, take.mutex, take.section) &&
                      is_variable(*a.value, move.target->text);
           });
}

/* `section.take` knows which section it is. */
bool find_take(const Flow &flow, const std::vector<const Assignment *> &inside, Section &section) {
    Take &take = section.take;
    find_derived(inside, section);
    take.reserves = true;
    for (const Assignment *a : inside) {
        const std::string &key = a->target->text;
        if (a->target->kind != ExprKind::Variable || !is_state(key))
            continue;
        bool own = is_own_data(*a->value, section.derived);
        bool fetched = own && is_fetched(flow, take, *a);
        bool itself = a->op != "=" || expr_reads(*a->value, key) ||
                      (!own && reads_any(*a->value, section.derived));
        if (own && a->op == "=" && !expr_reads(*a->value, key)) {
            take.stored.insert(key);
        }
        if (!itself || (own && !fetched))
            continue;
        if (take.state.empty())
            take.why = expr_display(*a->whole);
        take.at.push_back(a->at);
        take.state.insert(key);
        take.reserves &= fetched;
    }
    /* What is kept up to date with it: empty = head == tail. */
    for (const Assignment *a : inside)
        if (a->target->kind == ExprKind::Variable && is_state(a->target->text) &&
            reads_any(*a->value, take.state))
            take.state.insert(a->target->text);
    return !take.state.empty();
}

/* A loop that tries again until a compare and swap succeeds. do at = next; while (!swap(&next, &at,
 * at + chunk)) takes what next counts; one that puts the thread's own value there, as a maximum or
 * to lock something, or after which nobody asks for what was seen, as of a sum, takes nothing. */
class Retry {
  public:
    Retry(const Flow &flow, const Assignment &swap) : flow(flow), swap(swap) {
        if (swap.whole->text != "cas" || swap.whole->children.size() != 3 || swap.at.loop < 0)
            return;
        const Loop &around = flow.loops[(size_t)swap.at.loop];
        bool ends = !around.stmt->exprs.empty() && contains(around.stmt->exprs[0], swap.whole);
        for (const Exit &exit : around.exits)
            for (const Expr *guard : exit.guards)
                ends = ends || contains(*guard, swap.whole);
        if (ends)
            loop = &around;
    }

    bool is_one() const {
        return loop != nullptr;
    }

    /* What was seen, and what was made of it; empty: nothing is taken. */
    std::set<std::string> taken() const {
        std::set<std::string> seen = find_seen();
        auto reads = [&](const Expr &expr, const Moment &at) {
            return at.order > loop->last_order && reads_any(expr, seen);
        };
        bool used = std::any_of(seen.begin(), seen.end(),
                                [](const std::string &key) { return !key_is_local(key); });
        for (const Assignment &a : flow.assignments)
            used = used || reads(*a.value, a.at);
        for (const CallSite &site : flow.calls)
            used = used || reads(*site.call, site.at);
        for (const Return &back : flow.returns)
            used = used || (back.value && reads(*back.value, back.at));
        return used && reads_any(*swap.value, seen) ? seen : std::set<std::string>();
    }

    /* Is something done in the loop when it has succeeded, with what was seen, perhaps? Where the
     * loop's own condition swaps, its body is for failures. */
    bool goes_on_inside() const {
        if (!loop->stmt->exprs.empty() && contains(loop->stmt->exprs[0], swap.whole))
            return false;
        auto follows = [&](const Moment &at) {
            return std::any_of(at.guards.begin(), at.guards.end(),
                               [&](const Expr *guard) { return contains(*guard, swap.whole); }) &&
                   loop_contains(*loop, at);
        };
        return std::any_of(flow.assignments.begin(), flow.assignments.end(),
                           [&](const Assignment &a) { return follows(a.at); }) ||
               std::any_of(flow.calls.begin(), flow.calls.end(),
                           [&](const CallSite &site) { return follows(site.at); });
    }

  private:
    const Flow &flow;
    const Assignment &swap;
    const Loop *loop = nullptr;

    std::set<std::string> find_seen() const {
        std::set<std::string> seen = {expr_object(swap.whole->children[1])};
        for (bool changed = true; changed;) {
            changed = false;
            for (const Assignment &a : flow.assignments)
                if (loop_contains(*loop, a.at) && is_handed(a.target->text) &&
                    reads_any(*a.value, seen))
                    changed |= seen.insert(a.target->text).second;
        }
        return seen;
    }
};

bool is_global(const std::string &key) {
    return key.rfind("global:", 0) == 0;
}

/* What no known lock guards is shared as far as it is global: what else is moved besides, as by
 * pointers, may be the thread's own. */
void add_take_of_globals(const Flow &flow, std::vector<const Assignment *> inside,
                         std::vector<Take> &takes) {
    inside.erase(std::remove_if(inside.begin(), inside.end(),
                                [](const Assignment *a) {
                                    return is_state(a->target->text) && !is_global(a->target->text);
                                }),
                 inside.end());
    Section section;
    section.take.section = bare_section;
    section.take.of_globals = true;
    if (find_take(flow, inside, section))
        takes.push_back(section.take);
}

std::vector<Take> find_sections(const Flow &flow, const OwnData &own) {
    std::map<std::pair<std::string, int>, std::vector<const Assignment *>> sections;
    std::vector<Take> takes;
    for (const Assignment &a : flow.assignments) {
        if (own.is_changed(a))
            continue;
        if (a.op == "atomic") {
            Take take;
            take.at = {a.at};
            take.expr = a.whole;
            take.why = "atomic operation on " + expr_display(*a.target);
            if (const Retry retry(flow, a); retry.is_one()) {
                take.outs = retry.taken();
                if (!take.outs.empty())
                    take.retry = a.at.loop;
                else if (!retry.goes_on_inside())
                    continue;
            }
            takes.push_back(take);
            continue;
        }
        /* Under a lock of the callers, what a parameter points at may well be theirs alone. */
        bool passed = a.target->text.rfind("*local:", 0) == 0;
        for (const auto &[mutex, section] : a.at.held)
            if (!passed || !flow.entry.count(mutex))
                sections[{mutex, section}].push_back(&a);
        if (a.at.held.empty())
            sections[{"", bare_section}].push_back(&a);
    }
    for (const auto &[which, inside] : sections) {
        Section section;
        section.take.mutex = which.first;
        section.take.section = which.second;
        if (find_take(flow, inside, section))
            takes.push_back(section.take);
        if (which.second == bare_section)
            add_take_of_globals(flow, inside, takes);
    }
    return takes;
}

/* What is known to come out of some takes within a stretch of a function. */
class Outcome {
  public:
    Outcome(const Flow &flow, const std::vector<const Take *> &takes, int first, int last)
        : takes(takes) {
        for (const Take *take : takes)
            keys.insert(take->outs.begin(), take->outs.end());
        for (bool changed = true; changed;) {
            changed = false;
            for (const Assignment &a : flow.assignments)
                if (a.at.order >= first && a.at.order <= last && comes_out(a))
                    changed |= keys.insert(a.target->text).second;
        }
    }

    /* Is `expr` made of what was taken? */
    bool decides(const Expr &expr) const {
        return reads_any(expr, keys) ||
               std::any_of(takes.begin(), takes.end(), [&](const Take *take) {
                   return take->expr && contains(expr, take->expr);
               });
    }

    /* A condition that looks at the state itself; of a put it says "full", not "nothing left". */
    bool decides_or_looks(const Expr &expr) const {
        return decides(expr) || std::any_of(takes.begin(), takes.end(), [&](const Take *take) {
                   return take->stored.empty() && reads_any(expr, take->state);
               });
    }

    const std::set<std::string> &results() const {
        return keys;
    }

  private:
    const std::vector<const Take *> &takes;
    std::set<std::string> keys; /* locals, and what parameters point at */

    /* What a function makes of a piece of work, status = process(item), is not taken. */
    bool is_made_of_taken(const Expr &value) const {
        for (const Take *take : takes)
            if (take->expr == &value)
                return true;
        if (value.kind == ExprKind::Call || value.kind == ExprKind::Indirect)
            return false;
        if (value.kind == ExprKind::Variable && keys.count(value.text))
            return true;
        return std::any_of(value.children.begin(), value.children.end(),
                           [&](const Expr &child) { return is_made_of_taken(child); });
    }

    bool comes_out(const Assignment &a) const {
        const std::string &key = a.target->text;
        if (!is_handed(key) || a.target->kind != ExprKind::Variable)
            return false;
        if (is_made_of_taken(*a.value))
            return true;
        for (const Take *take : takes)
            if (!take->state.empty() && in_section(a.at, take->mutex, take->section) &&
                reads_any(*a.value, take->state))
                return true;
        bool flag = a.value->kind == ExprKind::Constant; /* if (i >= n) done = true; */
        bool asked = a.value->kind == ExprKind::Call;    /* if (!item) done = is_all_done(); */
        return std::any_of(a.at.guards.begin(), a.at.guards.end(), [&](const Expr *guard) {
            return (flag && decides_or_looks(*guard)) || (asked && finds_nothing(*guard));
        });
    }

    /* !item, item == NULL, number < 0: a condition for having got nothing. */
    bool finds_nothing(const Expr &guard) const {
        if (guard.kind != ExprKind::Operator || !decides(guard))
            return false;
        if (guard.children.size() == 1)
            return guard.text == "!";
        auto is_none = [](const Expr &expr) {
            return expr.kind == ExprKind::Constant && expr.value <= 0;
        };
        return guard.children.size() == 2 &&
               ((guard.text == "==" &&
                 (is_none(guard.children[0]) || is_none(guard.children[1]))) ||
                (guard.text == "<" && is_none(guard.children[1])));
    }
};

/* Does a function that is called, directly or a few calls further down, assign one of `keys`? */
class Assigns {
  public:
    Assigns(const Program &program, const std::set<std::string> &keys)
        : program(program), keys(keys) {
    }

    bool in(int f, int depth = 0) {
        const int max_depth = 4;
        auto [known, fresh] = tried.try_emplace(f, depth);
        if (!fresh && known->second <= depth)
            return false; /* from there it was not found */
        known->second = depth;
        const Flow &flow = program.flows[(size_t)f];
        for (const Assignment &a : flow.assignments)
            if (a.target->kind == ExprKind::Variable && a.at.held.empty() &&
                keys.count(a.target->text))
                return true;
        for (const CallSite &site : flow.calls)
            if (depth < max_depth && site.call->kind == ExprKind::Call && !site.callees.empty() &&
                in(site.callees[0], depth + 1))
                return true;
        return false;
    }

  private:
    const Program &program;
    const std::set<std::string> &keys;
    std::map<int, int> tried; /* function -> the least depth at which it was looked at */
};

/* Does this way out depend on what the loop itself computes, like a counter, be it in a function
 * that it calls? */
bool is_counted(const Program &program, const Flow &flow, const Loop &loop, const Expr &condition) {
    std::set<std::string> read = expr_variables(condition);
    std::set<std::string> state;
    for (const std::string &key : read)
        if (is_state(key))
            state.insert(key);
    Assigns assigns(program, state);
    for (const CallSite &site : flow.calls)
        if (!state.empty() && loop_contains(loop, site.at) && site.call->kind == ExprKind::Call &&
            !site.callees.empty() && assigns.in(site.callees[0]))
            return true;
    return std::any_of(flow.assignments.begin(), flow.assignments.end(), [&](const auto &a) {
        return loop_contains(loop, a.at) && a.target->kind == ExprKind::Variable &&
               read.count(a.target->text);
    });
}

std::string take_why(const std::vector<const Take *> &takes) {
    const Take &take = *takes[0];
    return take.mutex.empty() ? take.why : take.why + " under " + key_display(take.mutex);
}

bool classify(const Program &program, const Flow &flow, int l,
              const std::vector<const Take *> &takes, SharedLoop &result) {
    const Loop &loop = flow.loops[(size_t)l];
    Outcome outcome(flow, takes, loop.order, loop.last_order);
    result.why = take_why(takes);
    const Expr *condition = loop.stmt->exprs.empty() ? nullptr : &loop.stmt->exprs[0];
    result.decided_by_condition = true;
    if (condition && outcome.decides(*condition))
        return true;
    bool counted = condition && is_counted(program, flow, loop, *condition);
    /* Who counts its own rounds and gets a place for each looks whether there is one. */
    if (counted &&
        std::all_of(takes.begin(), takes.end(), [](const Take *t) { return t->reserves; }))
        return false;
    bool broken = false;
    for (const Exit &exit : loop.exits)
        for (const Expr *guard : exit.guards) {
            broken = broken || outcome.decides_or_looks(*guard);
            counted = counted || (!broken && is_counted(program, flow, loop, *guard));
        }
    /* An endless loop ends by what it takes, if it takes something and does not merely count. */
    bool endless = !counted && !outcome.results().empty();
    result.decided_by_condition = endless;
    return broken || endless;
}

/* Does something in the loop happen without the mutex? Else whoever has it takes all there is. */
bool is_given_up(const Flow &flow, const Loop &loop, const std::string &mutex) {
    return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
        return loop_contains(loop, site.at) && !site.at.held.count(mutex);
    });
}

/* Does the loop go round while there is something, which the section takes in its rounds? */
bool goes_by_state(const Flow &flow, const Loop &loop, const Take &take) {
    bool inside = std::any_of(take.at.begin(), take.at.end(),
                              [&](const Moment &at) { return loop_contains(loop, at); });
    std::set<std::string> taken;
    std::set_difference(take.state.begin(), take.state.end(), take.stored.begin(),
                        take.stored.end(), std::inserter(taken, taken.end()));
    return inside && !take.mutex.empty() && !loop.stmt->exprs.empty() &&
           reads_any(loop.stmt->exprs[0], taken) && is_given_up(flow, loop, take.mutex);
}

/* Does the loop change something atomically, itself or in a function that it calls: a lock of the
 * program's own, perhaps? */
bool has_atomics(const Program &program, const Flow &flow, const Loop &loop) {
    auto is_atomic = [](const Assignment &a) { return a.op == "atomic"; };
    for (const Assignment &a : flow.assignments)
        if (loop_contains(loop, a.at) && is_atomic(a))
            return true;
    for (const CallSite &site : flow.calls)
        for (int callee : site.callees) {
            const std::vector<Assignment> &changes = program.flows[(size_t)callee].assignments;
            if (loop_contains(loop, site.at) &&
                std::any_of(changes.begin(), changes.end(), is_atomic))
                return true;
        }
    return false;
}

/* Does it move what all threads share under what may be a lock of the program's own? */
bool is_guarded_otherwise(const Program &program, const Flow &flow, const Loop &loop,
                          const Take &take) {
    return take.of_globals && has_atomics(program, flow, loop);
}

/* Does it call what goes round a loop of its own about something atomic: a lock that it waits for?
 */
bool may_lock(const Program &program, const Flow &flow, const Loop &loop) {
    auto is_atomic = [](const Assignment &a) { return a.op == "atomic"; };
    for (const CallSite &site : flow.calls)
        for (int callee : site.callees) {
            const Flow &called = program.flows[(size_t)callee];
            if (loop_contains(loop, site.at) && !called.loops.empty() &&
                std::any_of(called.assignments.begin(), called.assignments.end(), is_atomic))
                return true;
        }
    return false;
}

bool same_constant(const Expr *a, const Expr *b) {
    return a && b && a->kind == b->kind &&
           (a->kind == ExprKind::Constant ? a->value == b->value : a->text == b->text) &&
           a->kind != ExprKind::Operator && a->kind != ExprKind::Call;
}

/* Does the result tell what was taken: by itself, or by which of several results it is? */
bool returns_taken(const Flow &flow, const std::vector<const Take *> &takes,
                   const Outcome &outcome) {
    bool same = true;
    for (const Return &back : flow.returns)
        same = same && same_constant(flow.returns[0].value, back.value);
    for (const Return &back : flow.returns) {
        if (!back.value)
            continue;
        if (outcome.decides(*back.value))
            return true;
        for (const Take *take : takes)
            if (take->stored.empty() && in_section(back.at, take->mutex, take->section) &&
                reads_any(*back.value, take->state))
                return true;
        if (same)
            continue;
        for (const Expr *guard : back.at.guards)
            if (outcome.decides_or_looks(*guard))
                return true;
    }
    return false;
}

Handing hands_on(const Flow &flow, const std::vector<const Take *> &takes,
                 const std::vector<std::string> &parameters) {
    Outcome outcome(flow, takes, 0, INT32_MAX);
    Handing handing;
    for (size_t i = 0; i < parameters.size(); i++)
        if (outcome.results().count("*" + parameters[i]))
            handing.parameters.insert(i);
    handing.returns = returns_taken(flow, takes, outcome);
    return handing;
}

} // namespace

bool stores_own_data(const std::vector<const Assignment *> &inside) {
    Section section;
    find_derived(inside, section);
    return std::any_of(inside.begin(), inside.end(), [&](const Assignment *a) {
        return a->op == "=" && a->target->kind == ExprKind::Variable && is_state(a->target->text) &&
               is_own_data(*a->value, section.derived) && !expr_reads(*a->value, a->target->text);
    });
}

bool reads_state(const std::vector<const Assignment *> &inside) {
    Section section;
    find_derived(inside, section);
    return !section.derived.empty();
}

Sharing::Sharing(const Program &program) : program(program) {
    const OwnData own(program);
    for (const Flow &flow : program.flows)
        sections.push_back(flow.reached ? find_sections(flow, own) : std::vector<Take>());
    const int max_rounds = 8; /* depth of wrappers around a taker */
    for (int round = 0; round < max_rounds; round++) {
        bool changed = false;
        for (size_t f = 1; f < program.flows.size(); f++)
            changed |= analyse((int)f);
        if (!changed)
            break;
    }
}

/* What of this call's arguments and value is taken work; `bare`: would be under a lock. */
Handing Sharing::handing_of(const CallSite &site, bool bare) const {
    Handing handing;
    if (!bare && site.api >= 0 && catalog_info(site.api).api_class == CLASS_IN) {
        handing.returns = true;
        handing.reserves = false;
        for (size_t i = 0; i < site.call->children.size(); i++)
            handing.parameters.insert(i);
    }
    auto add = [&](const std::map<int, Handing> &known, int callee) {
        auto found = known.find(callee);
        if (found == known.end())
            return;
        handing.depth = std::max(handing.depth, found->second.depth);
        handing.reserves &= found->second.reserves;
        handing.returns |= found->second.returns;
        handing.parameters.insert(found->second.parameters.begin(), found->second.parameters.end());
    };
    if (site.call->kind == ExprKind::Indirect)
        return handing; /* may be anything */
    for (int callee : site.callees) {
        if (!bare)
            add(takers, callee);
        if (bare || !site.at.held.empty())
            add(bare_takers, callee);
    }
    return handing;
}

/* while (!take(&item)) pause(): what is taken in the end is taken once for the loop around. */
int repeating_loop(const Flow &flow, const CallSite &taker) {
    const int l = taker.at.loop;
    if (l < 0)
        return -1;
    const Loop &loop = flow.loops[(size_t)l];
    if (loop.stmt->exprs.empty() || !loop.exits.empty())
        return -1;
    const Expr &condition = loop.stmt->exprs[0];
    auto is_none = [](const Expr &expr) {
        return expr.kind == ExprKind::Constant && expr.value <= 0;
    };
    bool fails = condition.kind == ExprKind::Operator && contains(condition, taker.call) &&
                 ((condition.children.size() == 1 && condition.text == "!") ||
                  (condition.children.size() == 2 &&
                   ((condition.text == "==" && is_none(condition.children[1])) ||
                    (condition.text == "<" && is_none(condition.children[1])))));
    bool pauses =
        std::none_of(flow.assignments.begin(), flow.assignments.end(),
                     [&](const Assignment &a) {
                         return loop_contains(loop, a.at) && !contains(condition, a.whole);
                     }) &&
        std::all_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
            bool naps = site.api >= 0 && (catalog_info(site.api).op == OP_YIELD ||
                                          catalog_info(site.api).op == OP_SLEEP);
            return !loop_contains(loop, site.at) || contains(condition, site.call) || naps ||
                   (site.api < 0 && site.callees.empty());
        });
    return fails && pauses ? l : -1;
}

std::vector<Take> Sharing::takes_of(int f) const {
    std::vector<Take> takes = sections[(size_t)f];
    for (const CallSite &site : program.flows[(size_t)f].calls) {
        const size_t before = takes.size();
        add_take(site, false, takes);
        if (site.at.held.empty())
            add_take(site, true, takes);
        for (size_t t = before; t < takes.size(); t++)
            takes[t].retry = repeating_loop(program.flows[(size_t)f], site);
    }
    return takes;
}

void Sharing::add_take(const CallSite &site, bool bare, std::vector<Take> &takes) const {
    Handing handing = handing_of(site, bare);
    if (!handing.returns && handing.parameters.empty())
        return;
    Take take;
    take.section = bare ? bare_section : 0;
    take.at = {site.at};
    take.depth = handing.depth + 1;
    take.reserves = handing.reserves;
    take.expr = handing.returns ? site.call : nullptr;
    take.why = expr_display(*site.call);
    for (size_t i : handing.parameters) {
        if (i >= site.call->children.size())
            continue;
        const Expr &argument = site.call->children[i];
        std::string key = expr_object(argument);
        if (is_handed(key))
            take.outs.insert(key);
    }
    takes.push_back(take);
}

bool Sharing::analyse(int f) {
    const Flow &flow = program.flows[(size_t)f];
    std::vector<Take> takes = flow.reached ? takes_of(f) : std::vector<Take>();
    if (takes.empty())
        return false;
    bool changed = false;
    std::set<const Take *> used; /* by a loop further inside */
    for (size_t l = flow.loops.size(); l-- > 0;) {
        std::vector<const Take *> inside;
        for (const Take &take : takes)
            if ((take.section != bare_section ||
                 is_guarded_otherwise(program, flow, flow.loops[l], take)) &&
                take.retry != (int)l && !used.count(&take) &&
                loop_contains(flow.loops[l], take.at.front()))
                inside.push_back(&take);
        const Loop &loop = flow.loops[l];
        for (const Take &take : takes)
            if (!used.count(&take) && goes_by_state(flow, loop, take)) {
                used.insert(&take);
                SharedLoop by_state = {true, expr_display(loop.stmt->exprs[0]) + " under " +
                                                 key_display(take.mutex)};
                changed |= loops.emplace(std::make_pair(f, (int)l), by_state).second;
            }
        if (std::string state = taken_perhaps(flow, (int)l, takes); !state.empty())
            perhaps[{f, (int)l}] = state;
        SharedLoop result;
        if (inside.empty() || !classify(program, flow, (int)l, inside, result))
            continue;
        used.insert(inside.begin(), inside.end());
        changed |= loops.emplace(std::make_pair(f, (int)l), result).second;
    }
    std::vector<const Take *> left, bare;
    for (const Take &take : takes) {
        if (!take.of_globals) /* which are among those of its section */
            bare.push_back(&take);
        if (take.section != bare_section && !used.count(&take))
            left.push_back(&take);
    }
    const auto &parameters = program.functions[(size_t)f].parameters;
    auto note = [&](std::map<int, Handing> &known, const std::vector<const Take *> &from) {
        Handing handing = hands_on(flow, from, parameters);
        for (const Take *take : from) {
            handing.depth = std::max(handing.depth, take->depth);
            handing.reserves &= take->reserves;
        }
        if ((!handing.returns && handing.parameters.empty()) || handing.depth > max_wrappers)
            return;
        changed |= !(known[f] == handing);
        known[f] = handing;
    };
    if (!left.empty())
        note(takers, left);
    else if (used.empty())
        note(bare_takers, bare);
    return changed;
}

/* What decides the loop, as it moves in the function's own text, under what may be a lock; empty:
 * nothing. */
std::string Sharing::taken_perhaps(const Flow &flow, int l, const std::vector<Take> &takes) const {
    const Loop &loop = flow.loops[(size_t)l];
    std::vector<const Take *> bare;
    for (const Take &take : takes)
        if (take.section == bare_section && !take.state.empty() && !take.of_globals &&
            std::any_of(take.at.begin(), take.at.end(),
                        [&](const Moment &at) { return loop_contains(loop, at); }))
            bare.push_back(&take);
    SharedLoop result;
    bool decides =
        !bare.empty() && may_lock(program, flow, loop) && classify(program, flow, l, bare, result);
    return decides ? result.why : "";
}

const std::string *Sharing::perhaps_shared(int f, int l) const {
    auto found = perhaps.find({f, l});
    return found == perhaps.end() ? nullptr : &found->second;
}

const SharedLoop *Sharing::loop(int f, int l) const {
    auto found = loops.find({f, l});
    return found == loops.end() ? nullptr : &found->second;
}

} // namespace persik
