/* Data that belongs to one thread of many: each was given another element of an array, or an object
 * made for it, as the argument of its start routine. What it changes there nobody takes away. */
#ifndef PERSIK_STATIC_ANALYZER_OWN_DATA_H
#define PERSIK_STATIC_ANALYZER_OWN_DATA_H

#include <set>
#include <string>

#include "static-analyzer/program.h"

namespace persik {

class OwnData {
  public:
    explicit OwnData(const Program &program);

    /* Does the assignment change a field of the thread's own object that no other thread moves on
     * from where it is? Setting it to something else is no such change: so it is told what to do.
     */
    bool is_changed(const Assignment &assignment) const;

  private:
    const Program &program;
    std::set<std::string> pointers; /* locals that point at an object of the thread's own */
    std::set<std::string> common;   /* fields that threads move on in objects of others */

    bool is_fresh(const Flow &flow, const Expr &value, int copies) const;
    bool makes(int function, int copies) const;
    bool differs_by_round(const Flow &flow, const Loop &loop, const Expr &value, int copies) const;
    void find_routines();
    void add_routine(int routine);
    bool is_own(const Expr &variable) const;
};

} // namespace persik

#endif
