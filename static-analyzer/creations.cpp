/* Fragments (calls to catalog functions), and where objects and threads come to life. */
#include <algorithm>

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
        : program(program), taint(taint), bounds(bounds) {
        find_per_thread_functions();
    }

    void find(size_t f, const CallSite &site, Findings &findings) const {
        const api_info &info = catalog_info(site.api);
        Creation creation;
        creation.place = site.call->place;
        creation.function = program.functions[f].key;
        creation.object = info.object;
        creation.per_thread = is_per_thread(f, site.at);
        if (catalog_start_argument(site.api) >= 0) {
            find_threads(creation, site, findings);
            return;
        }
        creation.name = object_name(argument_object(program, *site.call, info.object_argument));
        if (info.amount_argument >= 0 && (size_t)info.amount_argument < site.call->children.size())
            creation.amount = amount_of(taint, site.call->children[(size_t)info.amount_argument],
                                        (int)f, &site.at);
        findings.creations.push_back(creation);
    }

  private:
    const Program &program;
    const Taint &taint;
    const Bounds &bounds;
    std::set<int> per_thread; /* functions that are only called once per thread */

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

    void find_per_thread_functions() {
        std::map<int, std::vector<bool>> calls; /* callee -> for each call: in such a loop? */
        for (size_t f = 1; f < program.flows.size(); f++)
            if (program.flows[f].reached)
                for (const CallSite &site : program.flows[f].calls)
                    for (int callee : site.callees)
                        calls[callee].push_back(in_thread_loop(f, site.at));
        for (const auto &[callee, inside] : calls)
            if (std::all_of(inside.begin(), inside.end(), [](bool in) { return in; }))
                per_thread.insert(callee);
    }

    bool is_per_thread(size_t f, const Moment &at) const {
        return in_thread_loop(f, at) || per_thread.count((int)f);
    }

    /* One for each start routine: a spawning helper is handed several. */
    void find_threads(Creation creation, const CallSite &site, Findings &findings) const {
        auto start = (size_t)catalog_start_argument(site.api);
        if (start >= site.call->children.size())
            return;
        const Expr &routine = site.call->children[start];
        if (routine.kind == ExprKind::Function) {
            creation.name = routine.text;
            findings.creations.push_back(creation);
            return;
        }
        size_t before = findings.creations.size();
        if (routine.kind == ExprKind::Variable)
            for (const auto &[name, per_thread_there] : functions_passed_for(routine.text)) {
                Creation thread = creation;
                thread.name = name;
                thread.per_thread |= per_thread_there;
                findings.creations.push_back(thread);
            }
        if (findings.creations.size() > before)
            return;
        creation.name = object_name(expr_object(routine));
        findings.creations.push_back(creation);
    }

    /* What is assigned to `key` or passed for it -> is that in a loop over the threads? */
    std::map<std::string, bool> functions_passed_for(const std::string &key) const {
        std::map<std::string, bool> found;
        for (size_t f = 0; f < program.flows.size(); f++) {
            for (const Assignment &a : program.flows[f].assignments)
                if (a.target->text == key && a.value->kind == ExprKind::Function)
                    found[a.value->text] |= is_per_thread(f, a.at);
            for (const CallSite &site : program.flows[f].calls)
                for (int callee : site.callees) {
                    const auto &parameters = program.functions[(size_t)callee].parameters;
                    for (size_t i = 0; i < parameters.size() && i < site.call->children.size(); i++)
                        if (parameters[i] == key &&
                            site.call->children[i].kind == ExprKind::Function)
                            found[site.call->children[i].text] |= is_per_thread(f, site.at);
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
            if (site.api < 0)
                continue;
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
