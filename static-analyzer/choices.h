/* All that an amount may be, where the program sets it in several ways: by branches, or because
 * several objects of a type are made with different arguments. */
#ifndef PERSIK_STATIC_ANALYZER_CHOICES_H
#define PERSIK_STATIC_ANALYZER_CHOICES_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "static-analyzer/findings.h"

namespace persik {

class Choices {
  public:
    Choices(const Program &program, const Taint &taint);

    /* What `expr` in function `f` may be, followed back through assignments and arguments. `key`:
     * the variable that is set to it, if it is not the amount itself. */
    std::vector<Amount> of(const Expr &expr, int f, const std::string &key = "") const;

    /* Leaves them out if none says more than `amount` and the trace do. */
    static void attach(Amount &amount, const std::vector<Amount> &choices);

  private:
    struct Source {
        const Expr *value;
        int function;
        const Place *place; /* of the call whose argument it is; null: an assignment */
    };
    struct Way {
        std::set<std::string> visited; /* the variables from the amount to here */
        int steps = 0;                 /* so far, on all ways */
    };

    const Taint &taint;
    std::vector<std::string> names;                     /* of the functions */
    std::map<std::string, std::vector<Source>> sources; /* of each variable */
    std::map<std::string, std::set<std::string>> feeds; /* a local -> what else it is copied to */

    void add_assignment(const Assignment &a, int f);
    std::vector<Amount> follow(const Expr &expr, int f, Way &way) const;
    std::vector<Amount> follow_variable(const Expr &expr, int f, Way &way) const;
    std::vector<Amount> follow_sources(const Expr &expr, Way &way) const;
    std::vector<Amount> follow_operator(const Expr &expr, int f, Way &way) const;
};

} // namespace persik

#endif
