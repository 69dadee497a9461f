#include "static-analyzer/own_data.h"

#include <map>

namespace persik {

namespace {

const int max_copies = 4; /* from local to local, and from function to function */

/* Functions outside the program that give something else at each call. */
const std::set<std::string> allocators = {
    "malloc",    "calloc",     "realloc",     "reallocarray",  "aligned_alloc",  "memalign",
    "valloc",    "strdup",     "strndup",     "operator new",  "operator new[]", "g_malloc",
    "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_slice_alloc", "g_slice_alloc0",
};

} // namespace

OwnData::OwnData(const Program &program) : program(program) {
    find_routines();
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments)
            if (flow.reached && moves_on(a) && !is_own(*a.target))
                common.insert(a.target->text);
}

/* Is the value an object that was made for it? Then nothing else points at it yet. */
bool OwnData::is_fresh(const Flow &flow, const Expr &value, int copies) const {
    if (value.kind == ExprKind::Call) {
        auto callee = program.by_key.find(value.text);
        return callee == program.by_key.end() ? allocators.count(key_display(value.text)) > 0
                                              : copies > 0 && makes(callee->second, copies - 1);
    }
    if (value.kind != ExprKind::Variable || !key_is_local(value.text) || copies == 0)
        return false;
    bool set = false, fresh = true;
    for (const Assignment &a : flow.assignments)
        if (is_variable(*a.target, value.text)) {
            set = true;
            fresh = fresh && is_fresh(flow, *a.value, copies - 1);
        }
    return set && fresh;
}

/* Does the function return a new object, or a constant if it can't? */
bool OwnData::makes(int function, int copies) const {
    const Flow &flow = program.flows[(size_t)function];
    bool any = false;
    for (const Return &back : flow.returns) {
        if (!back.value || back.value->kind == ExprKind::Constant)
            continue;
        if (!is_fresh(flow, *back.value, copies))
            return false;
        any = true;
    }
    return any;
}

/* Does the value differ from round to round of the loop: by what is assigned in there, or as an
 * object made in there? */
bool OwnData::differs_by_round(const Flow &flow, const Loop &loop, const Expr &value,
                               int copies) const {
    bool found = false;
    expr_walk(value, [&](const Expr &e) {
        found = found || (e.kind == ExprKind::Call && is_fresh(flow, e, copies));
        if (e.kind != ExprKind::Variable || !key_is_local(e.text) || copies == 0)
            return;
        for (const Assignment &a : flow.assignments)
            found = found || (is_variable(*a.target, e.text) && loop_contains(loop, a.at) &&
                              (moves_on(a) || differs_by_round(flow, loop, *a.value, copies - 1)));
    });
    return found;
}

/* Routines all of whose threads get something else at each creation. */
void OwnData::find_routines() {
    std::map<int, bool> gets_own;
    for (const Flow &flow : program.flows)
        for (const CallSite &site : flow.calls) {
            int routine = flow.reached ? program.start_routine(site) : -1;
            auto argument = (size_t)catalog_start_argument(site.api) + 1;
            if (routine < 0 || argument >= site.call->children.size())
                continue;
            bool own =
                site.at.loop >= 0 && differs_by_round(flow, flow.loops[(size_t)site.at.loop],
                                                      site.call->children[argument], max_copies);
            gets_own.emplace(routine, true).first->second &= own;
        }
    for (auto [routine, own] : gets_own)
        if (own)
            add_routine(routine);
}

/* Its parameter, and locals that are nothing else. */
void OwnData::add_routine(int routine) {
    const Function &function = program.functions[(size_t)routine];
    if (function.parameters.empty())
        return;
    const std::string &parameter = function.parameters[0];
    std::map<std::string, bool> copies;
    for (const Assignment &a : program.flows[(size_t)routine].assignments) {
        if (a.target->kind != ExprKind::Variable || !key_is_local(a.target->text))
            continue;
        bool copy = a.op == "=" && is_variable(*a.value, parameter);
        copies.emplace(a.target->text, true).first->second &= copy;
    }
    copies.emplace(parameter, true);
    for (const auto &[key, copy] : copies)
        if (copy)
            pointers.insert(key);
}

/* A field of such an object, or of a record inside it. */
bool OwnData::is_own(const Expr &variable) const {
    if (variable.children.empty() || variable.children[0].kind != ExprKind::Variable)
        return false;
    const Expr &base = variable.children[0];
    return pointers.count(base.text) > 0 || (base.type == TypeKind::Record && is_own(base));
}

bool OwnData::is_changed(const Assignment &assignment) const {
    const Expr &target = *assignment.target;
    return target.kind == ExprKind::Variable && is_own(target) && !common.count(target.text);
}

} // namespace persik
