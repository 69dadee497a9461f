/* Where a program goes another way with one thread than with several: `if (threads > 1)`. */
#ifndef PERSIK_STATIC_ANALYZER_BRANCHES_H
#define PERSIK_STATIC_ANALYZER_BRANCHES_H

#include <string>

#include "static-analyzer/program.h"
#include "static-analyzer/taint.h"

namespace persik {

class Branches {
  public:
    Branches(const Program &program, const Taint &taint)
        : program(program), taint(taint), callers(find_callers(program)) {
    }

    /* The condition, with its function, under which the call in function `f` is made or not made,
     * of those that all ways to it pass; also one under which a function is left in front of it.
     * Empty: none is seen. */
    std::string on_the_way_to(size_t f, const CallSite &site) const;

  private:
    const Program &program;
    const Taint &taint;
    const Callers callers;

    bool tells_one_from_more(const Expr &condition, size_t f) const;
};

} // namespace persik

#endif
