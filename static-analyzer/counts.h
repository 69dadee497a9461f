/* How many threads a creation makes, by the calls that lead to it: a helper that makes as many as
 * it is told follows the thread count for one of its callers and not for another. */
#ifndef PERSIK_STATIC_ANALYZER_COUNTS_H
#define PERSIK_STATIC_ANALYZER_COUNTS_H

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "static-analyzer/taint.h"

namespace persik {

/* What a number of threads may be. */
struct Extent {
    enum Kind {
        Unknown,
        Open, /* the callers decide */
        Follows,
        Fixed,
    };
    Kind kind = Unknown;
    Linear linear;                     /* Follows: of the thread count ... */
    std::optional<double> most, least; /* ... within these */
    std::set<double> values;           /* Fixed: it is one of these ... */
    bool one_alone = false;            /* ... but 1 where the thread count is 1 */

    bool operator==(const Extent &other) const;
};

struct ThreadCount {
    struct Call {
        Place place;
        std::string function; /* key of the caller */
    };
    std::vector<Call> calls; /* that lead to the creation, the innermost first */
    std::string text;        /* what decides, for the reader */
    Extent extent;
};

class ThreadCounts {
  public:
    ThreadCounts(const Program &program, const Taint &taint);

    /* Of the creation at `site` in function `f`, that makes one thread in each round of a loop.
     * Empty where that is as many as the thread count says, by whatever calls, or not known. */
    std::vector<ThreadCount> of(size_t f, const CallSite &site) const;

    using Step = Caller;
    using Way = std::vector<Step>; /* the creation, the call of its function, and so on */

  private:
    struct Search {
        std::vector<ThreadCount> found;
        int steps = 0; /* so far */
    };

    const Program &program;
    const Taint &taint;
    const Callers callers;
    std::unordered_map<const Expr *, const Expr *> tests; /* of if (test) assignment; */

    void note_tests(const Stmt &stmt);
    bool goes_up_to_limit(const Step &step, const CreationLoop &creation) const;
    const Expr *limit_around(const Step &step, bool &found) const;
    void climb(const Way &way, Search &search) const;
    std::vector<ThreadCount> settle(const Way &way, size_t level, const Expr &limit,
                                    Search &search) const;
    std::vector<Way> longer(const Way &way) const;
    ThreadCount describe(const Way &way, size_t level, const Expr &limit,
                         const Extent &extent) const;
};

} // namespace persik

#endif
