#include "static-analyzer/program_build.h"

#include <algorithm>
#include <deque>

#include "static-analyzer/flow.h"
#include "static-analyzer/virtual.h"

namespace persik {

namespace {

void note_function_addresses(const Expr &expr, std::set<std::string> &taken) {
    expr_walk(expr, [&](const Expr &e) {
        if (e.kind == ExprKind::Function)
            taken.insert(e.text);
    });
}

void note_function_addresses(const Stmt &stmt, std::set<std::string> &taken) {
    for (const Expr &expr : stmt.exprs)
        note_function_addresses(expr, taken);
    for (const Stmt &child : stmt.children)
        note_function_addresses(child, taken);
}

void merge_units(std::vector<Unit> &units, Program &program) {
    Function &initialisers = program.functions.emplace_back();
    initialisers.body.kind = StmtKind::Block;
    std::set<std::string> objects;
    for (Unit &unit : units) {
        for (Stmt &stmt : unit.initialisers)
            program.functions[0].body.children.push_back(std::move(stmt));
        for (StaticObject &object : unit.objects)
            if (objects.insert(object.key).second)
                program.objects.push_back(std::move(object));
        for (Function &function : unit.functions)
            if (program.by_key.emplace(function.key, program.functions.size()).second)
                program.functions.push_back(std::move(function));
        unit = Unit{unit.file,        {}, {}, {}, std::move(unit.problems), {}, unit.parsed,
                    unit.lacks_header};
    }
}

void find_aliases(Program &program) {
    std::map<std::string, int> times_set;
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments)
            times_set[a.target->text]++;
    for (const Flow &flow : program.flows)
        for (const Assignment &a : flow.assignments)
            if (key_is_local(a.target->text) && times_set[a.target->text] == 1 &&
                a.value->kind == ExprKind::Address &&
                a.value->children[0].kind == ExprKind::Variable)
                program.aliases["*" + a.target->text] = a.value->children[0].text;
}

using BySignature = std::map<std::string, std::vector<int>>;

std::vector<int> callees_through(const Program &program, const BySignature &by_signature,
                                 const std::string &text) {
    auto methods = program.implementations.find(text);
    if (methods != program.implementations.end())
        return methods->second;
    auto functions = by_signature.find(text);
    return functions == by_signature.end() ? std::vector<int>() : functions->second;
}

/* Calls through pointers may reach any function of that type whose address is taken. */
void resolve_calls(Program &program) {
    std::set<std::string> taken;
    for (const Function &function : program.functions)
        note_function_addresses(function.body, taken);
    BySignature by_signature;
    for (const std::string &key : taken)
        if (auto known = program.by_key.find(key); known != program.by_key.end())
            by_signature[program.functions[(size_t)known->second].signature].push_back(
                known->second);
    for (Flow &flow : program.flows) {
        for (CallSite &site : flow.calls) {
            site.callees.clear();
            if (site.call->kind == ExprKind::Indirect)
                site.callees = callees_through(program, by_signature, site.call->text);
            else if (auto known = program.by_key.find(site.call->text);
                     known != program.by_key.end())
                site.callees = {known->second};
        }
    }
}

std::deque<int> root_functions(const Program &program, const std::vector<std::string> &roots) {
    std::set<std::string> wanted;
    for (const std::string &name : roots) /* gcc makes work.part.0 out of work */
        wanted.insert(name.substr(0, name.find('.')));
    std::deque<int> found;
    for (size_t i = 1; i < program.functions.size(); i++) {
        std::string name = key_display(program.functions[i].key);
        if (wanted.count(is_call_operator(name) ? call_operator : name))
            found.push_back((int)i);
    }
    if (found.empty())
        for (size_t i = 1; i < program.functions.size(); i++)
            found.push_back((int)i);
    found.push_back(0);
    return found;
}

/* Calls, and functions whose address a reached function takes: it may hand them on. */
void mark_reached(Program &program, const std::vector<std::string> &roots) {
    std::deque<int> queue = root_functions(program, roots);
    while (!queue.empty()) {
        auto f = (size_t)queue.front();
        queue.pop_front();
        if (program.flows[f].reached)
            continue;
        program.flows[f].reached = true;
        for (const CallSite &site : program.flows[f].calls)
            queue.insert(queue.end(), site.callees.begin(), site.callees.end());
        if (f == 0)
            continue; /* tables of functions: reached by the calls through them */
        std::set<std::string> taken;
        note_function_addresses(program.functions[f].body, taken);
        for (const std::string &key : taken)
            if (auto known = program.by_key.find(key); known != program.by_key.end())
                queue.push_back(known->second);
    }
}

void mark_fragments(Program &program) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Flow &flow : program.flows) {
            if (flow.has_fragments)
                continue;
            flow.has_fragments =
                std::any_of(flow.calls.begin(), flow.calls.end(),
                            [&](const CallSite &site) { return has_fragments(program, site); });
            changed |= flow.has_fragments;
        }
    }
}

/* Locks held by all callers. Functions that nobody calls, threads among them, start with none. */
void find_entry_locks(Program &program) {
    std::vector<bool> known(program.flows.size(), false);
    std::vector<std::vector<std::pair<size_t, const CallSite *>>> callers(program.flows.size());
    for (size_t f = 0; f < program.flows.size(); f++)
        if (program.flows[f].reached)
            for (const CallSite &site : program.flows[f].calls)
                for (int callee : site.callees)
                    callers[(size_t)callee].push_back({f, &site});
    for (size_t f = 0; f < known.size(); f++)
        known[f] = callers[f].empty();
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < known.size(); f++) {
            Held common;
            bool any = false;
            for (auto [caller, site] : callers[f]) {
                if (!known[caller])
                    continue;
                Held held = program.flows[caller].entry;
                held.insert(site->at.held.begin(), site->at.held.end());
                Held both;
                for (const auto &[key, section] : held)
                    if (!any || common.count(key))
                        both[key] = 0;
                common = both;
                any = true;
            }
            if (!any || (known[f] && common == program.flows[f].entry))
                continue;
            program.flows[f].entry = common;
            changed = !known[f] || changed;
            known[f] = true;
        }
    }
}

void add_entry_locks(Program &program) {
    for (Flow &flow : program.flows) {
        if (flow.entry.empty())
            continue;
        auto add = [&](Held &held) { held.insert(flow.entry.begin(), flow.entry.end()); };
        for (Assignment &assignment : flow.assignments)
            add(assignment.at.held);
        for (CallSite &site : flow.calls)
            add(site.at.held);
        for (Return &back : flow.returns)
            add(back.at.held);
        for (Loop &loop : flow.loops)
            add(loop.held);
    }
}

} // namespace

Program program_build(std::vector<Unit> &units, const std::vector<std::string> &roots) {
    Program program;
    merge_units(units, program);
    link_virtual_calls(program);
    program.flows.resize(program.functions.size());
    /* A function's effect on locks depends on its callees': until nothing changes, and at most as
     * deep as wrappers reasonably go. */
    const int max_wrapper_depth = 4;
    flow_build(program);
    find_aliases(program);
    for (int round = 0; round < max_wrapper_depth; round++)
        if (!flow_build(program))
            break;
    for (size_t f = 0; f < program.flows.size(); f++)
        program.flows[f].is_formula = is_formula(program.functions[f]);
    resolve_calls(program);
    mark_reached(program, roots);
    mark_fragments(program);
    find_entry_locks(program);
    add_entry_locks(program);
    return program;
}

} // namespace persik
