/* What a mutex with condition variables is: a proposal for modelgen, which tests it on the trace.
 *
 * All is read from wait loops and from what the critical sections of the same mutex do to the
 * variables of their predicates:
 *   bounded queue    one function waits, then stores its own data; another waits, then reads what
 *                    was stored; each changes what the other waits for
 *   unbounded queue  only the reader waits
 *   semaphore        the waiter takes one off a counter, others add to it, no data is handed over
 *   barrier          the waiter itself has counted before, and the last one wakes the others
 *   latch            the waiter changes nothing; others count down or set a flag */
#include <algorithm>

#include "static-analyzer/findings.h"

namespace persik {

namespace {

enum class Change { Add, Subtract, Advance, Set, Other };

Change change_of(const Assignment &a) {
    const Expr &value = *a.value;
    bool one = value.kind == ExprKind::Constant;
    if (a.op == "+=")
        return Change::Add;
    if (a.op == "-=")
        return Change::Subtract;
    if (a.op != "=")
        return Change::Other;
    if (one)
        return Change::Set;
    bool itself = expr_reads(value, a.target->text);
    if (itself && value.kind == ExprKind::Operator && value.text == "+")
        return Change::Add;
    if (itself && value.kind == ExprKind::Operator && value.text == "-")
        return Change::Subtract;
    return itself ? Change::Advance : Change::Other;
}

struct Effect {
    const Assignment *assignment;
    Change change;
    int order; /* in the operation; of the call, if the effect is a callee's */
};

/* A function that has critical sections of the mutex. */
struct Operation {
    int function;
    bool locks;     /* by itself; else its callers do */
    bool fragments; /* has catalog calls of its own */
    std::vector<Effect> effects;
    bool stores, reads; /* the thread's own data into the state; the state into the thread */

    const Effect *effect_on(const std::string &key, int after = 0) const {
        for (const Effect &effect : effects)
            if (effect.assignment->target->text == key && effect.order > after)
                return &effect;
        return nullptr;
    }
    bool changes(const std::string &key, Change change) const {
        return std::any_of(effects.begin(), effects.end(), [&](const Effect &effect) {
            return effect.assignment->target->text == key && effect.change == change;
        });
    }
    bool changes_any(const std::set<std::string> &keys, int after = 0) const {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string &key) {
            return effect_on(key, after) != nullptr;
        });
    }
};

struct Wait {
    int function;
    Moment at;
    std::string condition, mutex;
    std::vector<const Expr *> predicates; /* with the insides of functions they call */
    std::set<std::string> keys;           /* what the predicates read */
    std::set<std::string> escapes;        /* what other ways out of the wait loop read */
    bool used = false;                    /* part of a proposal already */
};

std::string owner_of(const std::string &mutex) {
    size_t start = mutex.find_first_not_of('*');
    std::string key = mutex.substr(start == std::string::npos ? 0 : start);
    size_t dot = key.rfind('.', key.find('@'));
    return key.rfind("struct ", 0) == 0 || key.rfind("union ", 0) == 0 || key.find(':') > dot
               ? key.substr(0, dot)
               : key;
}

std::string plain(const std::string &mutex) {
    return mutex.substr(std::min(mutex.find_first_not_of('*'), mutex.size()));
}

/* ---- waits ---- */

class WaitFinder {
  public:
    explicit WaitFinder(const Program &program) : program(program) {
    }

    std::vector<Wait> find() {
        for (size_t f = 1; f < program.flows.size(); f++)
            if (program.flows[f].reached)
                for (const CallSite &site : program.flows[f].calls)
                    if (site.api >= 0 && (catalog_info(site.api).op == OP_WAIT ||
                                          catalog_info(site.api).op == OP_TIMEDWAIT))
                        add_call((int)f, site);
        return waits;
    }

  private:
    const Program &program;
    std::vector<Wait> waits;

    void add_call(int f, const CallSite &site) {
        const api_info &info = catalog_info(site.api);
        const auto &arguments = site.call->children;
        if ((size_t)std::max(info.object_argument, info.mutex_argument) >= arguments.size())
            return;
        add(f, site.at, program.object(arguments[(size_t)info.object_argument]),
            program.object(arguments[(size_t)info.mutex_argument]), 0);
    }

    /* In a wrapper that is handed the objects, the wait is where the wrapper is called. */
    void add(int f, const Moment &at, const std::string &condition, const std::string &mutex,
             int depth) {
        const int max_wrappers = 3;
        int c = parameter_number(f, condition), m = parameter_number(f, mutex);
        if (c < 0 || m < 0 || depth >= max_wrappers) {
            if (!condition.empty() && !mutex.empty())
                add_wait(f, at, condition, mutex);
            return;
        }
        for (size_t caller = 1; caller < program.flows.size(); caller++)
            for (const CallSite &site : program.flows[caller].calls)
                if (std::count(site.callees.begin(), site.callees.end(), f) &&
                    (size_t)std::max(c, m) < site.call->children.size())
                    add((int)caller, site.at, program.object(site.call->children[(size_t)c]),
                        program.object(site.call->children[(size_t)m]), depth + 1);
    }

    int parameter_number(int f, const std::string &key) const {
        const auto &parameters = program.functions[(size_t)f].parameters;
        for (size_t i = 0; i < parameters.size(); i++)
            if (key == "*" + parameters[i])
                return (int)i;
        return -1;
    }

    void add_wait(int f, const Moment &at, const std::string &condition, const std::string &mutex) {
        Wait wait;
        wait.function = f;
        wait.at = at;
        wait.condition = condition;
        wait.mutex = mutex;
        const Flow &flow = program.flows[(size_t)f];
        const Loop *loop = at.loop >= 0 ? &flow.loops[(size_t)at.loop] : nullptr;
        if (loop && !loop->stmt->exprs.empty())
            add_predicate(wait, loop->stmt->exprs[0], 0);
        else if (loop)
            for (const Exit &exit : loop->exits)
                for (const Expr *guard : exit.guards)
                    add_predicate(wait, *guard, 0);
        if (wait.predicates.empty() && !at.guards.empty())
            add_predicate(wait, *at.guards.back(), 0);
        for (size_t i = 0; loop && i < loop->exits.size(); i++)
            for (const Expr *guard : loop->exits[i].guards)
                wait.escapes.merge(expr_variables(*guard));
        waits.push_back(wait);
    }

    void add_predicate(Wait &wait, const Expr &expr, int depth) {
        const int max_depth = 2; /* of functions like is_full() */
        wait.predicates.push_back(&expr);
        wait.keys.merge(expr_variables(expr));
        if (depth >= max_depth)
            return;
        expr_walk(expr, [&](const Expr &e) {
            auto callee =
                e.kind == ExprKind::Call ? program.by_key.find(e.text) : program.by_key.end();
            if (callee == program.by_key.end())
                return;
            for (const Return &back : program.flows[(size_t)callee->second].returns) {
                if (back.value)
                    add_predicate(wait, *back.value, depth + 1);
                for (const Expr *guard : back.at.guards)
                    add_predicate(wait, *guard, depth + 1);
            }
        });
    }
};

/* ---- operations ---- */

void add_effects(const Program &program, int f, const std::string &mutex, int order,
                 std::vector<int> &path, Operation &operation) {
    const size_t max_depth = 4;
    if (path.size() >= max_depth || std::count(path.begin(), path.end(), f))
        return;
    path.push_back(f);
    const Flow &flow = program.flows[(size_t)f];
    bool outermost = path.size() == 1;
    for (const Assignment &a : flow.assignments)
        if (!outermost || a.at.held.count(mutex))
            operation.effects.push_back({&a, change_of(a), outermost ? a.at.order : order});
    for (const CallSite &site : flow.calls)
        if ((!outermost || site.at.held.count(mutex)) && site.call->kind == ExprKind::Call)
            for (int callee : site.callees)
                add_effects(program, callee, mutex, outermost ? site.at.order : order, path,
                            operation);
    path.pop_back();
}

std::vector<Operation> find_operations(const Program &program, const std::string &mutex) {
    std::vector<Operation> operations;
    for (size_t f = 1; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        auto inside = [&](const Moment &at) { return at.held.count(mutex) > 0; };
        bool any = std::any_of(flow.assignments.begin(), flow.assignments.end(),
                               [&](const Assignment &a) { return inside(a.at); }) ||
                   std::any_of(flow.calls.begin(), flow.calls.end(),
                               [&](const CallSite &site) { return inside(site.at); });
        if (!flow.reached || !any)
            continue;
        Operation operation;
        operation.function = (int)f;
        operation.locks = flow.entry.count(mutex) == 0;
        operation.fragments = std::any_of(flow.calls.begin(), flow.calls.end(),
                                          [](const CallSite &site) { return site.api >= 0; });
        std::vector<int> path;
        add_effects(program, (int)f, mutex, 0, path, operation);
        std::vector<const Assignment *> section;
        for (const Effect &effect : operation.effects)
            section.push_back(effect.assignment);
        operation.stores = stores_own_data(section);
        operation.reads = reads_state(section);
        operations.push_back(std::move(operation));
    }
    return operations;
}

/* ---- classification ---- */

class Classifier {
  public:
    Classifier(const Program &program, const Taint &taint, std::string mutex,
               std::vector<Wait *> waits, std::vector<Monitor> &monitors)
        : program(program), taint(taint), mutex(std::move(mutex)), waits(std::move(waits)),
          operations(find_operations(program, this->mutex)), monitors(monitors) {
    }

    void classify() {
        find_queue();
        for (Wait *wait : waits)
            if (!wait->used)
                classify_single(*wait);
    }

  private:
    const Program &program;
    const Taint &taint;
    std::string mutex;
    std::vector<Wait *> waits;
    std::vector<Operation> operations;
    std::vector<Monitor> &monitors;

    const Operation &operation_of(const Wait &wait) const {
        for (const Operation &operation : operations)
            if (operation.function == wait.function)
                return operation;
        static const Operation none = {-1, false, false, {}, false, false};
        return none;
    }

    std::string function_name(int f) const {
        return program.functions[(size_t)f].key;
    }

    bool consumes(const Wait &wait) const {
        return operation_of(wait).changes_any(wait.keys, wait.at.order);
    }

    /* Higher for the side that puts. */
    int put_score(const Wait &wait) const {
        const Operation &operation = operation_of(wait);
        int score = operation.stores ? 2 : 0;
        for (const std::string &key : wait.keys) {
            score += operation.changes(key, Change::Add);
            score -= operation.changes(key, Change::Subtract);
        }
        return score;
    }

    Monitor make(facts_monitor_kind kind) const {
        Monitor monitor;
        monitor.kind = kind;
        monitor.name = owner_of(mutex);
        monitor.mutex = plain(mutex);
        return monitor;
    }

    static void add_once(std::vector<std::string> &list, const std::string &text) {
        if (std::find(list.begin(), list.end(), text) == list.end())
            list.push_back(text);
    }

    void use(Monitor &monitor, Wait &wait) const {
        wait.used = true;
        add_once(monitor.conditions, plain(wait.condition));
        std::string text = key_display(function_name(wait.function)) + " waits for " +
                           key_display(plain(wait.condition)) + " while " + predicate_text(wait);
        monitor.why += (monitor.why.empty() ? "" : "; ") + text;
    }

    static facts_role waiting_role(facts_monitor_kind kind) {
        return kind == MONITOR_SEMAPHORE ? FACTS_ACQUIRE
               : kind == MONITOR_BARRIER ? FACTS_ARRIVE
                                         : FACTS_WAIT;
    }

    static facts_role changing_role(facts_monitor_kind kind) {
        return kind == MONITOR_SEMAPHORE    ? FACTS_RELEASE
               : kind == MONITOR_COMPLETION ? FACTS_ARRIVE
                                            : FACTS_SIGNAL;
    }

    void add_operation(Monitor &monitor, facts_role role, int function) const {
        const Flow &flow = program.flows[(size_t)function];
        Place place;
        for (const CallSite &site : flow.calls)
            if (place.file.empty() && (site.at.held.count(mutex) == 0 || site.api >= 0))
                place = site.call->place;
        monitor.operations.push_back({role, place, function_name(function)});
    }

    static std::string predicate_text(const Wait &wait) {
        return wait.predicates.empty() ? "?" : expr_display(*wait.predicates[0]);
    }

    /* ---- queues ---- */

    void find_queue() {
        Wait *put = nullptr, *get = nullptr;
        for (Wait *a : waits)
            for (Wait *b : waits) {
                if (put || a->function == b->function || !consumes(*a) || !consumes(*b))
                    continue;
                bool opposed =
                    operation_of(*a).changes_any(b->keys) && operation_of(*b).changes_any(a->keys);
                if (opposed && put_score(*a) > put_score(*b) && operation_of(*a).stores) {
                    put = a;
                    get = b;
                }
            }
        if (!put)
            get = find_reader();
        if (get)
            propose_queue(put, *get);
    }

    /* A wait that takes what others, who do not wait, have stored. */
    Wait *find_reader() const {
        for (Wait *wait : waits) {
            const Operation &reader = operation_of(*wait);
            if (!consumes(*wait) || reader.stores || !reader.reads)
                continue;
            for (const Operation &other : operations)
                if (other.function != wait->function && other.stores &&
                    other.changes_any(wait->keys))
                    return wait;
        }
        return nullptr;
    }

    void propose_queue(Wait *put, Wait &get) {
        Monitor monitor = make(put ? MONITOR_BOUNDED_QUEUE : MONITOR_UNBOUNDED_QUEUE);
        std::set<std::string> keys = get.keys;
        if (put) {
            keys.insert(put->keys.begin(), put->keys.end());
            use(monitor, *put);
        }
        use(monitor, get);
        sort_operations(monitor, put, get, keys);
        if (put)
            set_capacity(monitor, *put, get);
        for (Wait *wait : waits)
            if (!wait->used &&
                (wait->condition == get.condition || (put && wait->condition == put->condition)))
                use(monitor, *wait); /* as for POOL_joinJobs(): waits until it is empty */
        monitors.push_back(monitor);
    }

    /* Does `operation` do to one of `keys` what `model` does to it? */
    static bool alike(const Operation &operation, const Operation &model,
                      const std::set<std::string> &keys) {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string &key) {
            return std::any_of(model.effects.begin(), model.effects.end(), [&](const Effect &e) {
                return e.assignment->target->text == key && e.change != Change::Set &&
                       operation.changes(key, e.change);
            });
        });
    }

    void sort_operations(Monitor &monitor, const Wait *put, const Wait &get,
                         const std::set<std::string> &keys) {
        std::set<std::string> closers = get.escapes;
        closers.insert(keys.begin(), keys.end());
        if (put)
            closers.insert(put->escapes.begin(), put->escapes.end());
        std::vector<const Operation *> putters, getters, rest;
        for (const Operation &operation : operations) {
            if (!operation.locks && !operation.fragments)
                continue; /* a helper: the trace never sees it */
            bool puts =
                put ? alike(operation, operation_of(*put), keys) : operation.changes_any(keys);
            bool is_get = operation.function == get.function;
            bool is_put =
                (put && operation.function == put->function) || (operation.stores && puts);
            bool gets = operation.reads && alike(operation, operation_of(get), keys);
            if (!is_get && is_put)
                putters.push_back(&operation);
            else if (is_get || gets)
                getters.push_back(&operation);
            else
                rest.push_back(&operation);
        }
        monitor.count = count_key(get, putters, getters);
        for (const Operation *operation : putters)
            add_operation(monitor, FACTS_PUT, operation->function);
        for (const Operation *operation : getters)
            add_operation(monitor, FACTS_GET, operation->function);
        for (const Operation *operation : rest)
            if (closes(*operation, closers, monitor.count))
                add_operation(monitor, FACTS_CLOSE, operation->function);
    }

    /* Sets a flag that the waiters look at, or counts down what keeps it open. */
    static bool closes(const Operation &operation, const std::set<std::string> &keys,
                       const std::string &count) {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string &key) {
            return key != count && !key_is_local(key) &&
                   (operation.changes(key, Change::Set) ||
                    operation.changes(key, Change::Subtract));
        });
    }

    /* The predicate's variable that says how many, or whether any: both sides change it. */
    static std::string count_key(const Wait &get, const std::vector<const Operation *> &putters,
                                 const std::vector<const Operation *> &getters) {
        auto changed_by = [](const std::vector<const Operation *> &group, const std::string &key) {
            return std::any_of(group.begin(), group.end(), [&](const Operation *operation) {
                return operation->effect_on(key) != nullptr;
            });
        };
        std::string best;
        for (const std::string &key : get.keys) {
            if (key_is_local(key) || !changed_by(putters, key) || !changed_by(getters, key))
                continue;
            bool counts = std::any_of(putters.begin(), putters.end(), [&](const Operation *op) {
                return op->changes(key, Change::Add) || op->changes(key, Change::Subtract);
            });
            if (best.empty() || counts)
                best = key;
        }
        return best;
    }

    bool is_mutable(const std::string &key) const {
        return std::any_of(operations.begin(), operations.end(), [&](const Operation &operation) {
            const Effect *effect = operation.effect_on(key);
            return effect && effect->change != Change::Other;
        });
    }

    bool reads_mutable(const Expr &expr) const {
        std::set<std::string> keys = expr_variables(expr);
        return std::any_of(keys.begin(), keys.end(),
                           [&](const std::string &key) { return is_mutable(key); });
    }

    /* count == capacity, or (tail + 1) % size == head, which leaves one place empty. */
    void set_capacity(Monitor &monitor, const Wait &put, const Wait &get) const {
        const Expr *limit = nullptr, *ring = nullptr;
        for (const Expr *predicate : put.predicates)
            expr_walk(*predicate, [&](const Expr &e) {
                if (e.kind != ExprKind::Operator || e.children.size() != 2)
                    return;
                if (e.text == "%" && !ring)
                    ring = &e.children[1];
                static const std::set<std::string> comparisons = {"==", ">=", "<", "!=", "<=", ">"};
                for (size_t side = 0; comparisons.count(e.text) && side < 2; side++)
                    if (!limit && reads_mutable(e.children[side]) &&
                        !reads_mutable(e.children[1 - side]))
                        limit = &e.children[1 - side];
            });
        if (ring) {
            monitor.amount = amount_of(taint, *ring, put.function, &put.at);
            monitor.amount.text += " - 1";
            monitor.amount.offset -= 1;
        } else if (limit && taint.constant(*limit).value_or(1) != 0) {
            monitor.amount = amount_of(taint, *limit, put.function, &put.at);
        } else {
            set_capacity_by_start(monitor, put, get);
        }
    }

    /* A flag makes it one place; a counter of free places starts at the capacity. */
    void set_capacity_by_start(Monitor &monitor, const Wait &put, const Wait &get) const {
        for (const std::string &key : put.keys)
            if (operation_of(put).changes(key, Change::Subtract) && !get.keys.count(key)) {
                for (const Flow &flow : program.flows)
                    for (const Assignment &a : flow.assignments)
                        if (a.target->text == key && a.op == "=" && !a.at.held.count(mutex)) {
                            monitor.amount = amount_of(taint, *a.value, 0, nullptr);
                            return;
                        }
            }
        monitor.amount.text = "1";
        monitor.amount.offset = 1;
        monitor.amount.constant = true;
    }

    /* ---- the others ---- */

    void classify_single(Wait &wait) {
        std::string count;
        facts_monitor_kind kind = kind_of(wait, count);
        Monitor monitor = make(kind);
        use(monitor, wait);
        for (Wait *other : waits) /* the same kind of wait elsewhere */
            if (!other->used && other->condition == wait.condition)
                use(monitor, *other);
        monitor.count = count;
        for (const Operation &operation : operations) {
            bool waits_here = std::any_of(waits.begin(), waits.end(), [&](const Wait *other) {
                return other->function == operation.function && other->condition == wait.condition;
            });
            if (waits_here)
                add_operation(monitor, waiting_role(kind), operation.function);
            else if (operation.changes_any(wait.keys))
                add_operation(monitor, changing_role(kind), operation.function);
        }
        if (kind == MONITOR_BARRIER)
            set_parties(monitor, count);
        monitors.push_back(monitor);
    }

    facts_monitor_kind kind_of(const Wait &wait, std::string &count) const {
        const Operation &waiter = operation_of(wait);
        if (is_barrier(wait, count))
            return MONITOR_BARRIER;
        for (const std::string &key : wait.keys) {
            bool own = key_is_local(key) && !is_copy_of_state(wait, key);
            bool parameter = own && is_parameter(wait.function, key);
            if (parameter && changed_by_anyone(wait.keys) && is_compared_value(wait, key))
                return MONITOR_OTHER; /* waits for a turn of its own */
        }
        for (const std::string &key : wait.keys) {
            const Effect *taken = waiter.effect_on(key, wait.at.order);
            if (!taken || key_is_local(key))
                continue;
            count = key;
            bool given = false;
            for (const Operation &other : operations)
                given = given || (other.function != wait.function && other.effect_on(key));
            bool takes = taken->change == Change::Subtract || taken->change == Change::Set;
            return takes && given ? MONITOR_SEMAPHORE : MONITOR_OTHER;
        }
        size_t changing = 0;
        for (const std::string &key : wait.keys)
            if (!key_is_local(key) && changed_by_anyone({key})) {
                changing++;
                count = count.empty() ? key : count;
            }
        return changing >= 1 ? (counted(count) ? MONITOR_COMPLETION : MONITOR_EVENT)
                             : MONITOR_OTHER;
    }

    bool counted(const std::string &key) const {
        return std::any_of(operations.begin(), operations.end(), [&](const Operation &operation) {
            return operation.changes(key, Change::Add) || operation.changes(key, Change::Subtract);
        });
    }

    bool changed_by_anyone(const std::set<std::string> &keys) const {
        return std::any_of(operations.begin(), operations.end(),
                           [&](const Operation &operation) { return operation.changes_any(keys); });
    }

    bool is_parameter(int f, const std::string &key) const {
        const auto &parameters = program.functions[(size_t)f].parameters;
        return std::find(parameters.begin(), parameters.end(), key) != parameters.end();
    }

    /* Not just the base of a field, q in q->count. */
    static bool is_compared_value(const Wait &wait, const std::string &key) {
        bool found = false;
        for (const Expr *predicate : wait.predicates)
            expr_walk(*predicate, [&](const Expr &e) {
                if (e.kind == ExprKind::Operator)
                    for (const Expr &child : e.children)
                        found = found || (child.kind == ExprKind::Variable && child.text == key &&
                                          child.type == TypeKind::Integer);
            });
        return found;
    }

    bool is_copy_of_state(const Wait &wait, const std::string &key) const {
        const Flow &flow = program.flows[(size_t)wait.function];
        return std::any_of(
            flow.assignments.begin(), flow.assignments.end(), [&](const Assignment &a) {
                return a.target->text == key && a.value->kind == ExprKind::Variable &&
                       !key_is_local(a.value->text);
            });
    }

    /* The waiter has counted itself in front of the wait, compares the count, and wakes the
     * others on the same condition if it is the last. */
    bool is_barrier(const Wait &wait, std::string &count) const {
        const Flow &flow = program.flows[(size_t)wait.function];
        bool wakes = std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
            return site.api >= 0 && catalog_info(site.api).op == OP_BROADCAST &&
                   program.object(site.call->children[0]) == wait.condition;
        });
        if (!wakes)
            return false;
        for (const Effect &effect : operation_of(wait).effects) {
            const std::string &key = effect.assignment->target->text;
            bool counts = effect.change == Change::Add || effect.change == Change::Subtract;
            if (!counts || key_is_local(key) || effect.order > wait.at.order)
                continue;
            if (comparison_with(wait.function, key)) {
                count = key;
                return true;
            }
        }
        return false;
    }

    /* The condition in function `f` that compares `key` for equality, or looks if it is 0. */
    const Expr *comparison_with(int f, const std::string &key) const {
        const Flow &flow = program.flows[(size_t)f];
        const Expr *found = nullptr;
        auto look = [&](const Moment &at) {
            for (const Expr *guard : at.guards)
                if (!found && expr_reads(*guard, key))
                    found = guard;
        };
        for (const Assignment &a : flow.assignments)
            look(a.at);
        for (const CallSite &site : flow.calls)
            look(site.at);
        return found;
    }

    void set_parties(Monitor &monitor, const std::string &count) const {
        for (const Operation &operation : operations) {
            const Expr *comparison = comparison_with(operation.function, count);
            if (!comparison || comparison->children.size() != 2)
                continue;
            for (size_t side = 0; side < 2; side++) {
                const Expr &other = comparison->children[1 - side];
                if (!expr_reads(comparison->children[side], count) || expr_reads(other, count))
                    continue;
                monitor.amount = amount_of(taint, other, operation.function, nullptr);
                return;
            }
        }
    }
};

} // namespace

void find_monitors(const Program &program, const Taint &taint, Findings &findings) {
    std::vector<Wait> waits = WaitFinder(program).find();
    std::map<std::string, std::vector<Wait *>> by_mutex;
    for (Wait &wait : waits)
        by_mutex[wait.mutex].push_back(&wait);
    for (auto &[mutex, group] : by_mutex)
        Classifier(program, taint, mutex, group, findings.monitors).classify();
}

} // namespace persik
