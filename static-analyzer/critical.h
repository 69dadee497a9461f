/* Critical sections, one by one: what happens from the call that takes a mutex to the one that
 * gives it back, in the order of the text, each with the conditions under which it happens.
 *
 * Helpers that are called with the mutex held are part of the section, and so are wrappers that
 * only take or give it; their parameters are replaced by what they get. A section belongs to the
 * innermost function in which it both begins and ends. */
#ifndef PERSIK_STATIC_ANALYZER_CRITICAL_H
#define PERSIK_STATIC_ANALYZER_CRITICAL_H

#include <string>
#include <vector>

#include "static-analyzer/program.h"

namespace persik {

/* A condition passed on the way: `expr` held, or did not. */
struct Literal {
    Expr expr;
    bool holds = true;
};

enum class EventKind { Update, Wait, Signal, Broadcast };

struct Event {
    EventKind kind = EventKind::Update;
    std::vector<Literal> guards;    /* since the section began */
    Expr target, value;             /* update: the new value in terms of the old */
    std::string condition;          /* else: key */
    std::vector<Literal> predicate; /* wait: it waits while all of these hold */
    bool timed = false;             /* wait: it may give up */
    bool acts_before_retest =
        false; /* wait: something is done before the predicate is read again */
};

struct CriticalSection {
    std::string mutex; /* key */
    int function = 0;
    Place place; /* of the call in `function` that takes the mutex */
    std::vector<Event> events;
};

/* All sections of all reached functions. */
std::vector<CriticalSection> find_critical_sections(const Program &program);

/* What a call of a simple function evaluates to, as an expression in the caller's terms; the call
 * itself where that is not simple. Also inside of `expr`. */
Expr expand_calls(const Program &program, const Expr &expr);

Expr expr_operation(const std::string &op, std::vector<Expr> operands);

/* All literals together; only for at least one. */
Expr conjunction(const std::vector<Literal> &literals);

/* As in facts_expression, with indices into `variables` (keys). */
std::string postfix(const Expr &expr, const std::vector<std::string> &variables);

/* Replaces variables by expressions: parameters by arguments. */
using Substitution = std::map<std::string, Expr>;
Expr substitute(const Expr &expr, const Substitution &known);

} // namespace persik

#endif
