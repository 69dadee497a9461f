/* Fragments (calls to catalog functions), and where objects and threads come to life. */
#include <algorithm>

#include "static-analyzer/branches.h"
#include "static-analyzer/findings.h"

namespace persik {

namespace {

std::string argument_object(const Program &program, const Expr &call, int argument) {
    if (argument < 0 || (size_t)argument >= call.children.size())
        return "";
    return program.object(call.children[(size_t)argument]);
}

/* "*KEY" where KEY points at the object: what the reader knows is KEY. */
std::string object_name(std::string key) {
    while (!key.empty() && key[0] == '*')
        key.erase(0, 1);
    return key;
}

class CreationFinder {
  public:
    CreationFinder(const Program &program, const Taint &taint, const Bounds &bounds)
        : program(program), taint(taint), bounds(bounds), counts(program, taint),
          branches(program, taint), creators(single_creators(program, {})) {
        find_per_thread_functions();
    }

    void find(size_t f, const CallSite &site, Findings &findings) const {
        const api_info &info = catalog_info(site.api);
        Creation creation;
        creation.place = site.call->place;
        creation.function = program.functions[f].key;
        creation.object = info.object;
        creation.per_thread = is_per_thread(f, site);
        if (catalog_start_argument(site.api) >= 0) {
            creation.divides_work = taint.divides_work(*site.call);
            if (creation.per_thread)
                describe_thread(f, site, creation);
            find_threads(creation, site, findings);
            return;
        }
        creation.name = object_name(argument_object(program, *site.call, info.object_argument));
        if (info.amount_argument >= 0 && (size_t)info.amount_argument < site.call->children.size())
            creation.amount = amount_of(taint, site.call->children[(size_t)info.amount_argument],
                                        (int)f, &site.at);
        findings.creations.push_back(creation);
    }

    /* A call of a function that creates a thread each time: which of its calls make one for each
     * thread only they can tell, and the thread runs what it is handed. */
    void find_wrapped(size_t f, const CallSite &site, Findings &findings) const {
        if (site.call->kind != ExprKind::Call || site.callees.empty() ||
            !creators.count(site.callees[0]) || per_thread.count(site.callees[0]))
            return;
        const Expr *routine = only_function(*site.call);
        Creation creation;
        creation.place = site.call->place;
        creation.function = program.functions[f].key;
        creation.object = ON_THREAD;
        creation.per_thread = is_per_thread(f, site);
        if (creation.per_thread)
            describe_thread(f, site, creation);
        if (routine)
            creation.name = routine->text;
        if (routine || creation.per_thread)
            findings.creations.push_back(creation);
    }

    /* A team of OpenMP that one thread may do without. */
    void find_region(size_t f, const CallSite &site, Findings &findings) const {
        if (site.call->kind != ExprKind::Call || site.call->text != parallel_region)
            return;
        Creation creation;
        creation.place = site.call->place;
        creation.function = program.functions[f].key;
        creation.object = ON_THREAD;
        creation.per_thread = true;
        creation.one_thread = branches.on_the_way_to(f, site);
        if (!creation.one_thread.empty())
            findings.creations.push_back(creation);
    }

  private:
    const Program &program;
    const Taint &taint;
    const Bounds &bounds;
    const ThreadCounts counts;
    const Branches branches;
    const std::set<int> creators;
    std::set<int> per_thread; /* functions that are only called once per thread */

    void describe_thread(size_t f, const CallSite &site, Creation &creation) const {
        creation.counts = counts.of(f, site);
        creation.one_thread = branches.on_the_way_to(f, site);
    }

    static const Expr *only_function(const Expr &call) {
        const Expr *found = nullptr;
        for (const Expr &argument : call.children) {
            if (argument.kind == ExprKind::Function && found)
                return nullptr;
            found = argument.kind == ExprKind::Function ? &argument : found;
        }
        return found;
    }

    bool in_thread_loop(size_t f, const Moment &at) const {
        const Flow &flow = program.flows[f];
        for (int l = at.loop; l >= 0; l = flow.loops[(size_t)l].parent) {
            if (bounds.of(f, (size_t)l).kind == BOUND_THREADS)
                return true;
            for (const CreationLoop &creation : taint.creation_loops())
                if (creation.function == (int)f && creation.loop == l)
                    return true;
        }
        return false;
    }

    bool in_thread_loop(size_t f, const CallSite &site) const {
        return in_thread_loop(f, site.at) || taint.spawns_threads(*site.call);
    }

    /* A function that is only called by such functions is one too. */
    void find_per_thread_functions() {
        const Callers callers = find_callers(program);
        for (bool changed = true; changed;) {
            changed = false;
            for (const auto &[callee, calls] : callers)
                if (std::all_of(calls.begin(), calls.end(), [&](const Caller &caller) {
                        return is_per_thread(caller.function, *caller.site);
                    }))
                    changed |= per_thread.insert((int)callee).second;
        }
    }

    bool is_per_thread(size_t f, const CallSite &site) const {
        return in_thread_loop(f, site) || per_thread.count((int)f);
    }

    /* One for each start routine: a spawning helper is handed several. */
    void find_threads(Creation creation, const CallSite &site, Findings &findings) const {
        auto start = (size_t)catalog_start_argument(site.api);
        if (start >= site.call->children.size())
            return;
        const Expr &routine = site.call->children[start];
        std::set<std::string> names;
        if (routine.kind == ExprKind::Function)
            names.insert(routine.text);
        else if (routine.kind == ExprKind::Variable)
            names = functions_passed_for(routine.text);
        if (names.empty())
            names.insert(object_name(expr_object(routine)));
        for (const std::string &name : names) {
            creation.name = name;
            findings.creations.push_back(creation);
        }
    }

    /* What is assigned to `key` or passed for it. */
    std::set<std::string> functions_passed_for(const std::string &key) const {
        std::set<std::string> found;
        for (const Flow &flow : program.flows) {
            for (const Assignment &a : flow.assignments)
                if (a.target->text == key && a.value->kind == ExprKind::Function)
                    found.insert(a.value->text);
            for (const CallSite &site : flow.calls)
                for (int callee : site.callees) {
                    const auto &parameters = program.functions[(size_t)callee].parameters;
                    for (size_t i = 0; i < parameters.size() && i < site.call->children.size(); i++)
                        if (parameters[i] == key &&
                            site.call->children[i].kind == ExprKind::Function)
                            found.insert(site.call->children[i].text);
                }
        }
        return found;
    }
};

api_object static_object_kind(const std::string &type) {
    if (type == "pthread_mutex_t" || type == "GMutex" || type == "GRecMutex")
        return ON_MUTEX;
    if (type == "pthread_cond_t" || type == "GCond")
        return ON_CONDITION;
    if (type == "pthread_rwlock_t" || type == "GRWLock")
        return ON_RWLOCK;
    return ON_ONCE;
}

} // namespace

Amount amount_of(const Taint &taint, const Expr &expr, int f, const Moment *at) {
    Amount amount;
    amount.text = expr_display(expr);
    Value value = taint.evaluate(expr, f, at);
    amount.follows_threads = (value.all & TAINT_COUNT) && value.linear_known;
    if (amount.follows_threads) {
        amount.factor = value.linear.factor;
        amount.offset = value.linear.offset;
    } else if (auto constant = taint.constant(expr)) {
        amount.constant = true;
        amount.offset = *constant;
    }
    return amount;
}

void find_fragments(const Program &program, Findings &findings) {
    for (size_t f = 1; f < program.flows.size(); f++) {
        if (!program.flows[f].reached)
            continue;
        for (const CallSite &site : program.flows[f].calls)
            if (site.api >= 0)
                findings.fragments.push_back(
                    {site.call->place, program.functions[f].key, site.api,
                     object_name(argument_object(program, *site.call,
                                                 catalog_info(site.api).object_argument))});
    }
}

void find_creations(const Program &program, const Taint &taint, const Bounds &bounds,
                    Findings &findings) {
    CreationFinder finder(program, taint, bounds);
    for (size_t f = 1; f < program.flows.size(); f++) {
        if (!program.flows[f].reached)
            continue;
        for (const CallSite &site : program.flows[f].calls) {
            if (site.api < 0) {
                finder.find_region(f, site, findings);
                finder.find_wrapped(f, site, findings);
                continue;
            }
            const api_info &info = catalog_info(site.api);
            if (info.op == OP_INIT || catalog_start_argument(site.api) >= 0)
                finder.find(f, site, findings);
        }
    }
    for (const StaticObject &object : program.objects) {
        Creation creation;
        creation.place = object.place;
        creation.function = object.function;
        creation.object = static_object_kind(object.type);
        creation.name = object.key;
        findings.creations.push_back(creation);
    }
}

} // namespace persik
