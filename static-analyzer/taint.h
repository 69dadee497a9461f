/* Where the thread count goes: a flow-insensitive analysis over the variables of the whole program.
 *
 *   COUNT  the number of threads: what bounds a loop that creates threads, where that came from,
 *          or what OpenMP says when it is asked; copies of it, and what is computed from it alone
 *   INDEX  the number of a thread: the variable of that loop, or of another over all threads, and
 *          what is stored from it; or what each thread takes once from a counter of them
 *   SHARE  a part of something: divided by the count, or made of index and count
 *   LAST   with SHARE: the last thread's part is another one, the rest of the division
 *   CHUNKS with SHARE: the division is rounded up, so the last threads get less
 *   KEPT   what is kept for each thread, at its index: part[index], ends[index].last
 *
 * Fields are told apart by (record, name), not by object. Values do not travel through array
 * indexes: partial[index] is data of one thread, not a share; a loop from what is kept for a thread
 * to what is kept for it, as from part[index] to part[index + 1], is one (loops.cpp). A function's
 * result depends on the arguments of each call, so helpers like min() do not mix their callers up.
 */
#ifndef PERSIK_STATIC_ANALYZER_TAINT_H
#define PERSIK_STATIC_ANALYZER_TAINT_H

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "static-analyzer/program.h"
#include "static-analyzer/spawns.h"

namespace persik {

enum : unsigned {
    TAINT_COUNT = 1,
    TAINT_INDEX = 2,
    TAINT_SHARE = 4,
    TAINT_LAST = 8,
    TAINT_CHUNKS = 16,
    TAINT_KEPT = 32,
    TAINT_REST = TAINT_LAST | TAINT_CHUNKS, /* what a division leaves over */
    TAINT_PART = TAINT_SHARE | TAINT_REST,
};

/* factor * threads + offset */
struct Linear {
    double factor = 0, offset = 0;
    bool operator==(const Linear &other) const {
        return factor == other.factor && offset == other.offset;
    }
};

/* `a` op `b` of whole numbers; false when that is not linear. Of a quotient, which is cut off, the
 * nearest whole number is meant. */
bool linear_combine(const std::string &op, const Linear &a, const Linear &b, Linear &result);

struct Value {
    unsigned all = 0;          /* TAINT_*, by whatever way */
    unsigned own = 0;          /* ... not through parameters of the function at hand */
    unsigned parameters = 0;   /* bit i: computed from parameter i */
    bool linear_known = false; /* `linear` holds (with COUNT) */
    bool linear_conflict = false;
    Linear linear;
    std::string why; /* the expression that made it a share */

    bool merge(const Value &other); /* true if changed */
};

/* A loop over the threads. */
struct CreationLoop {
    int function, loop;
    std::string index, count; /* keys; count empty when it is a constant that counts no threads */
    const Expr *limit = nullptr; /* what the index is compared with */
};

class Taint {
  public:
    explicit Taint(const Program &program);

    /* Value of `expr`, somewhere in function `f` at `at` (null: outside of any creation loop). */
    Value evaluate(const Expr &expr, int f, const Moment *at) const;
    /* ... of what a loop in function `f` compares with, inside of creation loops, too. */
    Value evaluate_limit(const Expr &expr, int f, int loop) const;
    std::optional<double> constant(const Expr &expr) const;

    /* Value of a variable at the start of a loop that moves it. */
    Value start_value(const std::string &key) const;

    const std::vector<CreationLoop> &creation_loops() const {
        return creations;
    }
    std::string thread_count() const; /* key; empty: not found */

    /* Is the variable `key` the count itself or what it is copied from? */
    bool is_count(const std::string &key) const {
        return counts.count(key) > 0;
    }

    /* Does this call create one thread for each of the count, though in no loop over them? */
    bool spawns_threads(const Expr &call) const;
    /* ... of which each gets a part of its creator's work? */
    bool divides_work(const Expr &call) const;

  private:
    struct Constant {
        bool conflict;
        double value;
    };
    struct Mover { /* the innermost loop that moves a variable */
        int function, loop;
    };
    struct Copy { /* target = source, both plain variables; or an argument and its parameter */
        std::string target, source;
        bool clamp; /* only taken when source and target were compared */
    };

    const Program &program;
    std::vector<CreationLoop> creations, teams; /* teams: run over all threads, but create none */
    std::vector<Spawn> spawns;
    std::unordered_set<std::string>
        counts; /* of threads: the bounds of creations and their sources */
    /* Bounds of creations that are formulas of a count, as 2 * threads - 1, and that count. */
    std::unordered_map<std::string, std::string> origins;
    std::unordered_map<std::string, Value> values;
    std::unordered_map<std::string, Value> steps; /* of moving variables */
    std::unordered_map<std::string, Constant> constants;
    std::unordered_map<std::string, unsigned> parameter_bits;
    std::vector<Copy> copies;
    std::unordered_set<std::string>
        evolving; /* updated by other than + and -: random numbers, hashes */
    std::unordered_set<std::string> general; /* parameters that also get what has no taint */
    std::unordered_map<std::string, std::vector<Mover>>
        movers; /* what runs through a loop: each value is one item of many there */

    /* Calls `visit` for each parameter of a callee and the argument it gets. */
    template <typename F> void for_arguments(const CallSite &site, const F &visit) const {
        size_t first = site.call->kind == ExprKind::Indirect ? 1 : 0;
        for (int callee : site.callees) {
            const auto &parameters = program.functions[(size_t)callee].parameters;
            for (size_t i = 0; i < parameters.size(); i++)
                if (i + first < site.call->children.size())
                    visit(parameters[i], site.call->children[i + first]);
        }
    }

    void find_creation_loops();
    std::string thread_count_key() const;
    bool is_read_in(const std::string &key) const;
    const Expr *only_value(const std::string &key) const;
    bool is_formula_of(const std::string &bound, std::string &key) const;
    void forget_constant_counts();
    void add_creation_loop(int f, const CallSite &site);
    void collect_copies();
    void seed_counts();
    void seed_openmp();
    void seed_numbers();
    void propagate();
    void find_team_loops();
    void find_evolving();
    void find_moving();
    bool is_moving(const std::string &key, int f, const Moment *at) const;
    bool propagate_round();
    void find_general_parameters();
    bool bind_arguments(int f, const CallSite &site);
    bool bind(const std::string &key, const Value &value);
    void find_constants();
    bool is_pending(const Expr &expr) const;
    bool lower_constant(const std::string &key, const Expr *value);
    bool lower_arguments(const CallSite &site);

    Value evaluate_operator(const Expr &expr, int f, const Moment *at) const;
    Value evaluate_call(const Expr &expr, int f, const Moment *at) const;
    bool asks_for_last(const Expr &condition, int f, const Moment *at) const;
    unsigned index_bits(const std::string &key, int f, const Moment *at) const;
};

} // namespace persik

#endif
