/* The whole program: all files merged, who calls whom, and per function a flat list of what it
 * does (assignments, calls, loops, returns) with the locks held and the conditions passed. */
#ifndef PERSIK_STATIC_ANALYZER_PROGRAM_H
#define PERSIK_STATIC_ANALYZER_PROGRAM_H

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/catalog.h"
#include "static-analyzer/ir.h"

namespace persik {

/* Mutex (key) -> which of the function's critical sections, counted from 1; 0 = since the call. */
using Held = std::map<std::string, int>;

/* Where in its function something happens. */
struct Moment {
    int order = 0; /* position in the function's text */
    int line = 0;
    int loop = -1; /* innermost, index into Flow::loops */
    Held held;
    std::vector<const Expr *> guards; /* conditions around and in front of it, outermost first */
};

struct Assignment {
    const Expr *whole, *target, *value;
    std::string op; /* "=", "+=", ..., "atomic" */
    Moment at;
};

struct CallSite {
    const Expr *call;
    int api = -1;             /* index into the catalog */
    std::vector<int> callees; /* functions of the program it may reach */
    Moment at;
};

struct Return {
    const Expr *value; /* may be null */
    Moment at;
};

/* A way out of a loop other than its condition. */
struct Exit {
    std::vector<const Expr *> guards; /* inside the loop only */
    bool is_break;
};

struct Loop {
    const Stmt *stmt;
    int parent;            /* -1 outermost */
    int order, last_order; /* from its first to its last part */
    std::vector<Exit> exits;
    Held held;
};

struct Flow {
    std::vector<Assignment> assignments;
    std::vector<CallSite> calls;
    std::vector<Return> returns;
    std::vector<Loop> loops;
    std::set<std::string> acquires, releases; /* locks held at the end, given back from before */
    Held entry;                               /* locks that all callers hold */
    bool reached = false;
    bool has_fragments = false; /* catalog calls, directly or through calls */
    bool is_formula = false;    /* see below */
};

struct Program {
    std::vector<Function> functions; /* [0] holds the initialisers of globals */
    std::vector<Flow> flows;         /* same index */
    std::vector<StaticObject> objects;
    std::unordered_map<std::string, int> by_key;
    std::map<std::string, std::vector<int>> implementations; /* of virtual methods, by their keys */
    std::map<std::string, std::string> aliases; /* "*local:f.m" -> what that pointer always is */

    const Function *find(const std::string &key) const;

    /* The function that the call starts in a thread; -1: none, or the text does not say which. */
    int start_routine(const CallSite &site) const;

    /* As expr_object(), through local pointers that are set once to an object's address. */
    std::string object(const Expr &expr) const;
};

/* What the catalog says of a function, by its linker name; -1 if nothing. */
int catalog_find(const std::string &name);
const api_info &catalog_info(int api);

/* Argument number of the start routine of a thread-creating call; its argument is the next. */
int catalog_start_argument(int api);

/* Is it a catalog call, or does it lead to one? */
bool has_fragments(const Program &program, const CallSite &site);

/* A call, and the function that makes it. */
struct Caller {
    size_t function;
    const CallSite *site;
};

/* By function: the calls that may reach it, of all functions that are reached themselves. */
using Callers = std::map<size_t, std::vector<Caller>>;
Callers find_callers(const Program &program);

/* True if all that the function does is to return a value that can be written as one expression
 * (formula.cpp). */
bool is_formula(const Function &function);

bool loop_contains(const Flow &flow, int loop, int inner);
bool loop_contains(const Loop &loop, const Moment &at);

/* Is the variable set anew in the loop's rounds? */
bool loop_assigns(const Flow &flow, const Loop &loop, const std::string &key);

/* What a loop over all elements of something goes through; null: it is none. */
const Expr *loop_range(const Loop &loop);

bool expr_reads(const Expr &expr, const std::string &key);
bool is_variable(const Expr &expr, const std::string &key);
std::set<std::string> expr_variables(const Expr &expr);

/* What a cast and the like leaves as it is; else the expression itself. */
const Expr &unwrapped(const Expr &expr);

/* One of < <= > >= == != between two operands. */
bool is_comparison(const Expr &expr);

/* What such an operator says of two numbers. */
bool comparison_holds(const std::string &op, double a, double b);

/* Does it make a variable something of what it was before, like x += 1 and x = x->next? */
bool moves_on(const Assignment &assignment);

/* What debug information calls lambdas and other call operators, which are told apart here. */
extern const std::string call_operator;
bool is_call_operator(const std::string &function);

/* True for locals and parameters that one thread alone sees; not for what they point at. */
bool key_is_local(const std::string &key);

} // namespace persik

#endif
