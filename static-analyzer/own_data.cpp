#include "static-analyzer/own_data.h"

#include <map>

namespace persik {

namespace {

/* Does the value differ from round to round of the loop: by what is assigned in there, or as a
 * fresh object of a call? */
bool differs_by_round(const Flow &flow, int loop, const Expr &value, int copies) {
    bool found = false;
    expr_walk(value, [&](const Expr &e) {
        if (e.kind == ExprKind::Call || e.kind == ExprKind::Indirect)
            found = true;
        if (e.kind != ExprKind::Variable || !key_is_local(e.text) || copies == 0 || found)
            return;
        for (const Assignment &a : flow.assignments)
            if (a.target->kind == ExprKind::Variable && a.target->text == e.text &&
                loop_contains(flow.loops[(size_t)loop], a.at))
                found = found || moves_on(a) || differs_by_round(flow, loop, *a.value, copies - 1);
    });
    return found;
}

} // namespace

OwnData::OwnData(const Program &program) : program(program) {
    find_routines();
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments)
            if (flow.reached && moves_on(a) && !is_own(*a.target))
                common.insert(a.target->text);
}

/* Routines all of whose threads get something else at each creation. */
void OwnData::find_routines() {
    const int max_copies = 4; /* from local to local */
    std::map<int, bool> gets_own;
    for (const Flow &flow : program.flows)
        for (const CallSite &site : flow.calls) {
            int routine = flow.reached ? program.start_routine(site) : -1;
            auto argument = (size_t)catalog_start_argument(site.api) + 1;
            if (routine < 0 || argument >= site.call->children.size())
                continue;
            bool own =
                site.at.loop >= 0 &&
                differs_by_round(flow, site.at.loop, site.call->children[argument], max_copies);
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
        bool copy =
            a.op == "=" && a.value->kind == ExprKind::Variable && a.value->text == parameter;
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
