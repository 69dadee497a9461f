/* Creations that make one thread for each of a number without a loop that says so: on demand, one
 * more as long as a counter is below its limit, and by division, where a function hands one half of
 * its threads to a new one. */
#ifndef PERSIK_STATIC_ANALYZER_SPAWNS_H
#define PERSIK_STATIC_ANALYZER_SPAWNS_H

#include <string>
#include <vector>

#include "static-analyzer/program.h"

namespace persik {

struct Spawn {
    const Expr *call;  /* that creates the thread, itself or in what it calls */
    const Expr *count; /* how many there get to be: a variable or a constant with a name */
    bool divides_work; /* each hands a part of its work on with its part of the threads */
};

std::vector<Spawn> find_spawns(const Program &program);

/* Functions that start a thread each time they are called: not those that only do on some
 * condition, but for a test right at the creation, nor by what `spawns` has. */
std::set<int> single_creators(const Program &program, const std::vector<Spawn> &spawns);

/* The conditions under which the call `site` in function `f` is reached, also those in front of it
 * in its own expression, and those under which a return lies in front of it. */
std::vector<const Expr *> conditions_of(const Program &program, size_t f, const CallSite &site);

/* The only variable, or constant with a name, of an expression like n or n - 1; null if there is
 * none or are several. */
const Expr *only_variable(const Expr &expr);

} // namespace persik

#endif
