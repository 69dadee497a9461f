/* What the analyses find, as it goes to static.json (formats/facts.h has the meanings). */
#ifndef PERSIK_STATIC_ANALYZER_FINDINGS_H
#define PERSIK_STATIC_ANALYZER_FINDINGS_H

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/facts.h"
#include "static-analyzer/counts.h"
#include "static-analyzer/own_data.h"
#include "static-analyzer/program.h"
#include "static-analyzer/sharing.h"
#include "static-analyzer/taint.h"

namespace persik {

struct Fragment {
    Place place;
    std::string function; /* key */
    int api;
    std::string object; /* key; empty: not nameable */
};

struct LoopFact {
    std::string file, function;
    int first_line, last_line;
    facts_bound bound;
    enum rest rest;
    bool has_fragments, waits;
    std::string why;
    std::optional<Linear> rounds;
};

/* A call operator. */
struct Lambda {
    std::string file, function;
    int first_line, last_line;
};

/* Lines that one thread alone runs, or all others. */
struct Solo {
    std::string file, function;
    int first_line, last_line;
    bool others;
};

struct Spin {
    std::string file, function;
    int first_line = 0, last_line = 0;
    facts_spin_kind kind = SPIN_WAIT;
    std::string variable;             /* key */
    std::set<std::string> changed_by; /* keys of functions */
    std::set<std::string> leads_to;   /* those called on ways out */
    std::string attempt;              /* key of the function that is tried; empty: none */
    bool works = false;               /* with what came of the attempt */
};

struct ShareFact {
    Place place;
    enum rest rest;
    std::string function, callee, why;
    bool shared;
};

struct Amount {
    std::string text; /* empty: nothing is known */
    double factor = 0, offset = 0;
    bool follows_threads = false, constant = false;
    Place place; /* of a choice: the call by which the object is made so; empty: any */
    std::string function;
    std::vector<Amount> choices; /* it may also be one of these */
};

struct Creation {
    Place place;
    std::string function;
    api_object object;
    std::string name;
    Amount amount;
    bool per_thread = false, divides_work = false;
    std::string one_thread; /* the condition that decides it for one thread; empty: none */
    std::vector<ThreadCount> counts;
};

/* For the reader, and as words in postfix order (formats/facts.h); both empty: none. */
struct Formula {
    std::string text, postfix;
};

struct MonitorOperation {
    facts_role role;
    Place place; /* of the call that takes the mutex */
    std::string function;
};

struct MonitorVariable {
    std::string key;
    Amount initial;
};

struct MonitorStep {
    facts_step_kind kind;
    Formula guard;
    size_t variable = 0;
    facts_change change = CHANGE_OTHER;
    double by = 0;
    Formula value;
    std::string condition;
    bool timed = false;
    bool early = false; /* the section may wait behind it, and not in front of it */
};

struct MonitorSection {
    Place place;
    std::string function;
    std::vector<MonitorStep> steps;
};

struct Monitor {
    facts_monitor_kind kind = MONITOR_OTHER;
    std::string name, mutex;
    std::vector<std::string> conditions;
    std::vector<MonitorOperation> operations;
    std::string count;
    Amount amount;
    std::vector<MonitorVariable> variables;
    std::vector<MonitorSection> sections;
    std::string why;
};

/* The thread count is never above limit.factor * cores + limit.offset. */
struct CoreCap {
    bool found = false;
    bool online = false;  /* of the machine's cores; else of those that the program may use */
    bool unclear = false; /* there are several such limits, which differ */
    Linear limit;
    std::string text; /* the expression that decides */
};

struct Findings {
    CoreCap core_cap;
    std::string thread_count;
    std::vector<Fragment> fragments;
    std::vector<LoopFact> loops;
    std::vector<Spin> spins;
    std::vector<ShareFact> shares;
    std::vector<Lambda> lambdas;
    std::vector<Solo> solos;
    std::vector<Creation> creations;
    std::vector<Monitor> monitors;
    std::vector<std::string> files, problems;
};

/* What `expr`, met in function `f` at `at`, amounts to. The thread count itself may be constant in
 * the source, but it is what gets changed. `at` may be null. */
Amount amount_of(const Taint &taint, const Expr &expr, int f, const Moment *at);

/* By TAINT_REST bits; of several, from several callers, none is known. */
enum rest rest_of_taint(unsigned taint);

/* Bound of every loop. */
class Bounds {
  public:
    struct Bound {
        facts_bound kind = BOUND_UNKNOWN;
        std::string why;
        unsigned parameters = 0; /* a share only if these parameters are (bit i: number i) */
        unsigned taint = 0;      /* of a share: TAINT_REST */
        std::optional<Linear> rounds = std::nullopt; /* of BOUND_THREADS, where it is told */
        bool by_others = false; /* of BOUND_UNKNOWN: what ends it is not the loop's own */
    };

    Bounds(const Program &program, const Taint &taint, const Sharing &sharing);

    const Bound &of(size_t f, size_t l) const {
        return bounds[f][l];
    }
    bool has_fragments(size_t f, size_t l) const;

  private:
    const Program &program;
    const Taint &taint;
    const Sharing &sharing;
    const OwnData own;
    std::vector<std::vector<Bound>> bounds;

    Bound classify(size_t f, size_t l) const;
    bool moved_by_threads(size_t f, size_t l, const std::set<std::string> &variables) const;
};

void find_loops(const Program &program, const Bounds &bounds, Findings &findings);
void find_lambdas(const Program &program, Findings &findings);
void find_solos(const Program &program, const Taint &taint, Findings &findings);
void find_spins(const Program &program, Findings &findings);
void find_shares(const Program &program, const Taint &taint, const Bounds &bounds,
                 Findings &findings);
void find_fragments(const Program &program, Findings &findings);
void find_creations(const Program &program, const Taint &taint, const Bounds &bounds,
                    Findings &findings);
void find_monitors(const Program &program, const Taint &taint, Findings &findings);

/* Writes static.json; false with a line in `error`. */
CoreCap find_core_cap(const Program &program, const Taint &taint);

bool findings_save(const Findings &findings, const std::string &path, std::string &error);

} // namespace persik

#endif
